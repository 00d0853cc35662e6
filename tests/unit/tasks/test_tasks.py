"""Speeds and postures for tasks, against bounded least squares and differences of poses."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.errors import ConvergenceWarning

DT = 1e-3


def _tip(robot):
    return robot.link_names[-1]


def _between(robot, seed, share):
    """A posture, and the pose of the tip at one that is a share of the way to another."""
    q, other = robot.random(seed), robot.random(seed + 100)
    beside = robot.integrate(q, share * robot.difference(q, other))
    return q, robot.frame_pose(beside, _tip(robot))


def _turning(R):
    """Rotation vector of a rotation matrix."""
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    size = np.linalg.norm(axis)
    return axis * (np.arctan2(size, (np.trace(R) - 1) / 2) / size if size else 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_speeds_are_the_bounded_least_squares(seed):
    """Of a pose and a posture, some joints at limits of position or speed, one beyond its limit."""
    robot = rd.load("arm7")
    q, X = _between(robot, seed, 0.02 * (1 + seed))
    q[1] = robot.upper_limits[1] - 1e-4
    q[3] = robot.lower_limits[3] - 1e-3 * (seed % 2)
    wish, weight = 0.1 * np.ones(7), 0.02
    tasks = [
        rd.Task(X, frame=_tip(robot), weight=[1, 1, 1, 0.1, 0.1, 0.1], gain=0.5),
        rd.Task(wish, quantity="posture", weight=weight),
    ]
    v = robot.velocity_for(tasks, q, dt=DT, damping=1e-4)

    now = robot.frame_pose(q, _tip(robot))
    error = np.append(X[:3, 3] - now[:3, 3], _turning(X[:3, :3] @ now[:3, :3].T))
    J = robot.frame_jacobian(q, _tip(robot), axes="world")
    root = np.sqrt([1, 1, 1, 0.1, 0.1, 0.1])
    A = [root[:, None] * J, np.sqrt(weight) * np.eye(7), 1e-2 * np.eye(7)]
    b = [root * 0.5 * error / DT, np.sqrt(weight) * (wish - q) / DT, np.zeros(7)]
    most = robot.velocity_limits
    low = np.clip((robot.lower_limits - q) / DT, -most, most)
    high = np.clip((robot.upper_limits - q) / DT, -most, most)
    high = np.where(high <= low, low + 1e-9, high)  # SciPy wants an interval
    expected = lsq_linear(np.vstack(A), np.concatenate(b), (low, high), method="bvls", tol=1e-14).x
    np.testing.assert_allclose(v, expected, atol=2e-7 * max(1, np.abs(expected).max()))
    assert (v >= low - 1e-9).all() and (v <= high + 1e-8).all()


def _tasks(robot, q, kind):
    """A task whose error is not zero at a posture, by the kind of it."""
    tip, near = _tip(robot), robot.integrate(q, 0.1 * np.ones(robot.nv))
    X = robot.frame_pose(near, tip)
    first = robot.link_names[1]
    return {
        "pose": rd.Task(X, frame=tip),
        "point": rd.Task(X[:3, 3], frame=tip),
        "rotation": rd.Task(X[:3, :3], frame=tip),
        "relative": rd.Task(robot.frame_pose(near, tip, relative_to=first), frame=(tip, first)),
        "center of mass": rd.Task([0.3, 0.2, 0.1], quantity="center_of_mass"),
        "posture": rd.Task(near, quantity="posture"),
    }[kind]


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("kind", ["point", "relative", "center of mass", "posture"])
def test_jacobians_are_slopes_of_errors(kind, base):
    robot = rd.load("pan_tilt" if kind == "posture" else "puma560", base=base)
    q = robot.random(3)
    task = _tasks(robot, q, kind)
    f, target = robot.function("task_rows", tasks=task), np.ravel(task.target)
    error, J = f(q, target)
    h = 1e-6
    for k, dv in enumerate(h * np.eye(robot.nv)):
        ahead = f(robot.integrate(q, dv), target)[0]
        behind = f(robot.integrate(q, -dv), target)[0]
        slope = -(ahead - behind) / (2 * h)
        if kind == "relative":  # the slope of a rotation vector is that of the turn near zero alone
            slope, own = slope[:3], J[:3, k]
        else:
            own = J[:, k]
        tolerance = 0.1 if kind == "posture" and base == "floating" else 1e-8
        np.testing.assert_allclose(own, slope, atol=tolerance)
    assert np.abs(error).max() > 1e-3


@pytest.mark.parametrize("kind", ["pose", "point", "rotation", "relative", "posture"])
def test_a_step_takes_an_error_away(kind):
    """To second order, of errors that are small."""
    robot = rd.load("arm7")
    q = robot.random(4)
    task = _tasks(robot, robot.integrate(q, -0.0999 * np.ones(7)), kind)
    for _ in range(3):
        v = robot.velocity_for([task], q, dt=1.0, limits=False, damping=1e-10)
        q = robot.integrate(q, v)
    error, _ = robot.function("task_rows", tasks=task)(q, np.ravel(task.target))
    assert np.abs(error).max() < 1e-9


def test_a_turn_of_any_size_is_one_step():
    robot = rd.load("satellite", base="floating")
    q = robot.random(1)
    for seed in range(4):
        goal = robot.frame_pose(robot.random(10 + seed), robot.link_names[0])[:3, :3]
        hold = rd.Task({x: 0.0 for x in robot.joint_names[1:]}, quantity="posture", weight=1e-9)
        task = rd.Task(goal, frame=robot.link_names[0])
        v = robot.velocity_for([task, hold], q, dt=0.1, limits=False, damping=1e-12)
        turned = robot.frame_pose(robot.integrate(q, 0.1 * v), robot.link_names[0])[:3, :3]
        np.testing.assert_allclose(turned, goal, atol=1e-6)


@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-9, 1e-4])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (-1, 2, 0.5)])
def test_half_a_turn_is_an_error(axis, off):
    """There the matrix is symmetric, so that what differs from its transpose says nothing."""
    robot = rd.load("satellite", base="floating")
    link, q = robot.link_names[0], robot.random(1)
    n = np.array(axis) / np.linalg.norm(axis)
    goal = Rotation.from_rotvec((np.pi + off) * n).as_matrix() @ robot.frame_pose(q, link)[:3, :3]
    task = rd.Task(goal, frame=link)
    error, _ = robot.function("task_rows", tasks=task)(q, goal.ravel())
    np.testing.assert_allclose(np.linalg.norm(error), np.pi - abs(off), atol=1e-7)
    np.testing.assert_allclose(abs(error @ n), np.pi - abs(off), atol=1e-6)
    turned = Rotation.from_rotvec(error).as_matrix() @ robot.frame_pose(q, link)[:3, :3]
    np.testing.assert_allclose(turned, goal, atol=1e-6)


def test_a_posture_half_a_turn_away_is_found():
    robot = rd.load("arm7")
    q = robot.random(0)
    X = robot.frame_pose(q, _tip(robot))
    for turn in np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1]):
        found = robot.inverse_kinematics(tasks=rd.Task(X[:3, :3] @ turn, frame=_tip(robot)), q0=q)
        assert found.converged
        reached = robot.frame_pose(found.q, _tip(robot))[:3, :3]
        np.testing.assert_allclose(reached, X[:3, :3] @ turn, atol=1e-8)


def test_momentum_is_a_rate():
    robot = rd.load("puma560", base="floating")
    q, h = robot.random(2), np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.1])
    for dt in (1.0, 0.01):
        task = rd.Task(h, quantity="momentum")
        v = robot.velocity_for(task, q, dt=dt, limits=False, damping=1e-12)
        np.testing.assert_allclose(robot.centroidal_matrix(q) @ v, h, atol=1e-6)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("beyond", "expected"), [(-0.004, 0.4), (0.0, 0.0), (0.003, -0.3)])
def test_limits_of_positions_hold_after_the_step_on_both_sides(side, beyond, expected):
    """Where a position is beyond its limit, it comes back at most as fast as speeds may be."""
    robot = rd.load("puma560")
    q, most = robot.neutral(), robot.velocity_limits[1]
    q[1] = (robot.upper_limits if side > 0 else robot.lower_limits)[1] + side * beyond
    task = rd.Task(q + side * np.eye(6)[1], quantity="posture")
    v = robot.velocity_for(task, q, dt=0.01)
    assert v[1] == pytest.approx(side * expected, abs=1e-9)
    far = q + side * np.eye(6)[1]
    assert robot.velocity_for(task, far, dt=0.01)[1] == pytest.approx(-side * most, abs=1e-9)


@pytest.mark.parametrize("name", ["puma560", "delta"])
def test_damping_is_the_weight_of_the_squares_of_all_speeds(name):
    robot = rd.load(name)
    q, damping = (robot.neutral() if robot.nc else robot.random(1)), 0.3
    link = "platform" if robot.nc else "flange"
    task = rd.Task(robot.frame_pose(q, link)[:3, 3] + [0.0, 0.01, 0.02], frame=link)
    v = robot.velocity_for(task, q, dt=0.1, limits=False, damping=damping)
    J = robot.frame_jacobian(q, link, axes="world")[:3]
    K = robot.loop_jacobian(q) if robot.nc else np.zeros((0, robot.nv))
    sizes, rows = np.linalg.svd(K)[1:]
    B = rows[int((sizes > 1e-9).sum()) :].T
    slope = J.T @ (J @ v - np.array([0.0, 0.1, 0.2])) + damping * v
    np.testing.assert_allclose(B.T @ slope, 0.0, atol=1e-9)
    assert np.abs(slope).max() > 1e-3 or not robot.nc


@pytest.mark.parametrize("name", ["delta", "palletizer"])
def test_loops_stay_closed(name):
    robot = rd.load(name)
    link = "platform" if name == "delta" else "flange"
    q = robot.neutral()
    p = robot.frame_pose(q, link)[:3, 3]
    v = robot.velocity_for(rd.Task(p + np.array([0.0, 1e-4, 1e-4]), frame=link), q, dt=DT)
    assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-12
    moved = robot.frame_twist(q, v, link, axes="world")[:3]
    np.testing.assert_allclose(moved, [0.0, 0.1, 0.1], atol=1e-4)


def test_both_kinds_of_coordinates_give_the_same_speeds():
    tree = rd.load("palletizer")
    minimal = rd.load("palletizer", coordinates="minimal")
    u = minimal.neutral() + 0.1
    q = minimal.expand(u)
    X = tree.frame_pose(q, "flange")
    X[:3, 3] += [1e-4, -2e-4, 1e-4]
    task = rd.Task(X, frame="flange", components=(0, 1, 2, 5))
    small = minimal.velocity_for(task, u, dt=DT, damping=1e-9, limits=False)
    large = tree.velocity_for(task, q, dt=DT, damping=1e-9, limits=False)
    np.testing.assert_allclose(minimal.expand_velocity(u, small), large, atol=1e-6)


def test_limits_of_a_linkage_hold():
    """Those of joints that have a speed, dependent ones too."""
    robot = rd.load("palletizer")
    q = robot.neutral()
    task = rd.Task(robot.frame_pose(q, "flange")[:3, 3] + [0.3, 0.2, 0.1], frame="flange")
    v = robot.velocity_for(task, q, dt=DT)
    ratio = np.abs(v) / robot.velocity_limits
    assert ratio.max() == pytest.approx(1.0, abs=1e-9)
    assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-10


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("kept", ["velocity", "position"])
def test_limits_of_dependent_joints_hold(kept, side):
    robot, dt = rd.load("four_bar"), 0.01
    q = robot.random(2)
    limits = rd.Limits(lower=-np.inf, upper=np.inf, velocity=0.5)
    if kept == "position":
        limits = rd.Limits(lower=q[2] - 0.005, upper=np.inf)
        if side > 0:
            limits = rd.Limits(lower=-np.inf, upper=q[2] + 0.005)
    joints = [replace(x, kind="revolute", limits=limits) if x.name == "rocker_pivot" else x
              for x in robot.mechanism.joints]  # fmt: skip
    limited = rd.load(replace(robot.mechanism, joints=tuple(joints)))
    task = rd.Task({"crank_drive": q[0] + side * 0.1}, quantity="posture")
    v = limited.velocity_for(task, q, dt=dt)
    assert v[2] == pytest.approx(side * 0.5, abs=1e-6)
    assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-9
    locked = limited.velocity_for(task, q, dt=dt, locked=["rocker_pivot"])
    np.testing.assert_allclose(locked, 0.0, atol=1e-6)


def test_locked_joints_stay():
    robot = rd.load("arm7")
    q, X = _between(robot, 3, 0.01)
    locked = [robot.joint_names[0], robot.joint_names[4]]
    v = robot.velocity_for(rd.Task(X[:3, 3], frame=_tip(robot)), q, dt=0.1, locked=locked)
    assert v[0] == v[4] == 0.0 and np.abs(v).max() > 1e-3


def test_later_levels_do_not_disturb_those_before():
    robot = rd.load("arm7")
    q, X = _between(robot, 5, 0.01)
    first = rd.Task(X, frame=_tip(robot))
    wish = rd.Task(np.zeros(7), quantity="posture")
    alone = robot.velocity_for(first, q, dt=0.1, limits=False, damping=1e-12)
    both = robot.velocity_for([[first], [wish]], q, dt=0.1, limits=False, damping=1e-12)
    J = robot.frame_jacobian(q, _tip(robot), axes="world")
    np.testing.assert_allclose(J @ both, J @ alone, atol=1e-8)
    N = np.eye(7) - np.linalg.pinv(J) @ J
    expected = alone + N @ (-q / 0.1 - alone)  # Siciliano et al., Robotics, (3.54)
    np.testing.assert_allclose(both, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["arm7", "palletizer"])
def test_each_level_is_the_best_within_what_those_before_leave_open(name):
    """Of three levels, by bounded least squares in the null spaces of those before."""
    robot = rd.load(name)
    q = robot.random(3)
    link = _tip(robot) if name == "arm7" else "flange"
    X, dt = robot.frame_pose(q, link), 0.05
    levels = [
        rd.Task(X[:3, 3] + [0.0, 0.002, 0.003], frame=link, components=(2, 1)),
        rd.Task(X[:3, 3] + [0.02, 0.0, 0.0], frame=link, components=(0,)),
        rd.Task(robot.frame_pose(robot.random(5), link)[:3, :3], frame=link),
    ]
    K = robot.loop_jacobian(q) if robot.nc else np.zeros((0, robot.nv))
    T, v, most = _null(K), np.zeros(robot.nv), np.minimum(robot.velocity_limits, 1e6)
    low = np.maximum((robot.lower_limits - q) / dt, -most)
    high = np.minimum((robot.upper_limits - q) / dt, most)
    for task in levels:
        error, J = robot.function("task_rows", tasks=task)(q, np.ravel(task.target))
        v = _bounded(J, error / dt, T, v, low, high)
        T = T @ _null(J @ T)
    found = robot.velocity_for([[task] for task in levels], q, dt=dt, damping=1e-10)
    np.testing.assert_allclose(found, v, atol=2e-5 * np.abs(v).max())
    assert (np.isclose(found, low) | np.isclose(found, high)).any()


def _null(A):
    sizes, rows = np.linalg.svd(A)[1:]
    return rows[int((sizes > 1e-9).sum()) :].T


def _bounded(J, rates, T, v, low, high):
    """The speeds ``v + T z`` within bounds with the least ``|J v - rates|``."""
    z = scipy.optimize.minimize(
        lambda z: 0.5 * np.sum((J @ (v + T @ z) - rates) ** 2),
        np.zeros(T.shape[1]),
        jac=lambda z: T.T @ J.T @ (J @ (v + T @ z) - rates),
        constraints=[
            {"type": "ineq", "fun": lambda z: v + T @ z - low, "jac": lambda z: T},
            {"type": "ineq", "fun": lambda z: high - v - T @ z, "jac": lambda z: -T},
        ],
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 500},
    ).x
    return v + T @ z


def test_postures_by_joint():
    robot = rd.load("puma560")
    q = robot.random(1)
    name = robot.joint_names[2]
    task = rd.Task({name: q[2] + 0.001}, quantity="posture")
    v = robot.velocity_for(task, q, dt=0.01, limits=False, damping=1e-9)
    np.testing.assert_allclose(v, 0.1 * np.eye(6)[2], atol=1e-6)


def test_what_is_written_into_a_target_is_wanted():
    robot = rd.load("puma560")
    q = robot.random(1)
    goal = robot.frame_pose(q, _tip(robot))[:3, 3].copy()
    task = rd.Task(goal, frame=_tip(robot))
    assert np.abs(robot.velocity_for(task, q, dt=0.1)).max() < 1e-9
    goal += [0.001, 0.0, 0.0]
    assert np.abs(robot.velocity_for(task, q, dt=0.1)).max() > 1e-3


def test_a_posture_for_both_hands_and_the_centre_of_mass():
    robot = rd.load("dual_arm")
    rng = np.random.default_rng(0)
    wished = robot.integrate(robot.neutral(), 0.2 * rng.normal(size=robot.nv))
    hands = [rd.Task(robot.frame_pose(wished, x), frame=x) for x in ("left_grasp", "right_grasp")]
    between = robot.frame_pose(wished, "left_grasp", relative_to="right_grasp")
    seen = rd.Task(between, frame=("left_grasp", "right_grasp"))
    center = rd.Task(robot.center_of_mass(wished), quantity="center_of_mass")
    found = robot.inverse_kinematics(tasks=[[*hands[:1], seen], [center]])
    assert found.converged
    for x in ("left_grasp", "right_grasp"):
        X = robot.frame_pose(found.q, x)
        np.testing.assert_allclose(X, robot.frame_pose(wished, x), atol=1e-8)


def test_a_posture_of_a_linkage():
    robot = rd.load("delta")
    for seed in range(4):
        goal = robot.frame_pose(robot.random(seed), "platform")[:3, 3]
        found = robot.inverse_kinematics(tasks=rd.Task(goal, frame="platform"))
        assert found.converged and np.abs(robot.loop_residual(found.q)).max() < 1e-9
        np.testing.assert_allclose(robot.frame_pose(found.q, "platform")[:3, 3], goal, atol=1e-9)


def test_a_posture_keeps_limits_unless_told():
    robot = rd.load("puma560")
    q, k = robot.random(1), 2
    task = rd.Task({robot.joint_names[k]: robot.upper_limits[k] + 0.2}, quantity="posture")
    with pytest.warns(ConvergenceWarning, match=r"posture 0\.2"):
        kept = robot.inverse_kinematics(tasks=task, q0=q)
    assert kept.q[k] == pytest.approx(robot.upper_limits[k], abs=1e-9)
    free = robot.inverse_kinematics(tasks=task, q0=q, limits=False)
    assert free.converged and free.q[k] == pytest.approx(robot.upper_limits[k] + 0.2, abs=1e-9)


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_other_starts_are_tried(seed):
    """From the first, steps end at a limit far away; single components are no frames alone."""
    robot = rd.load("puma560")
    X = robot.frame_pose(robot.random(seed), "flange")
    task = rd.Task(X, frame="flange", components=range(6))
    found = robot.inverse_kinematics(tasks=task, q0=robot.random(100 + seed))
    assert found.converged
    np.testing.assert_allclose(robot.frame_pose(found.q, "flange"), X, atol=1e-8)


def test_weights_of_tasks_that_fight_count():
    robot = rd.load("puma560")
    goals = [
        rd.Task([x, 0.2, 0.5], frame=_tip(robot), weight=w) for x, w in ((0.3, 9.0), (0.5, 1.0))
    ]
    with pytest.warns(ConvergenceWarning):
        found = robot.inverse_kinematics(tasks=goals)
    p = robot.frame_pose(found.q, "flange")[:3, 3]
    np.testing.assert_allclose(p, [0.32, 0.2, 0.5], atol=1e-6)


def test_tasks_that_fight_are_told_with_their_errors():
    robot = rd.load("puma560")
    goals = [rd.Task([x, 0.2, 0.5], frame=_tip(robot)) for x in (0.3, 0.5)]
    with pytest.warns(ConvergenceWarning, match=r"'flange' 0\.1, 'flange' 0\.1"):
        found = robot.inverse_kinematics(tasks=goals)
    np.testing.assert_allclose(
        robot.frame_pose(found.q, "flange")[:3, 3], [0.4, 0.2, 0.5], atol=1e-6
    )
    assert not found.converged


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"target": [0, 0, 1]}, rd.SettingsError, "one of them"),
        ({"target": [0, 0], "frame": "flange"}, rd.ShapeError, "expected a pose"),
        ({"target": 2 * np.eye(4), "frame": "flange"}, rd.ShapeError, "no pose"),
        ({"target": -np.eye(3), "frame": "flange"}, rd.ShapeError, "no rotation"),
        ({"target": [0, 0, 1], "frame": "flange", "components": [3]}, rd.ShapeError, "0 to 2"),
        ({"target": [0, 0, 1], "frame": "flange", "components": []}, rd.ShapeError, "empty"),
        ({"target": [0, 0, 1], "frame": ("flange", "flange")}, rd.SettingsError, "in itself"),
        ({"target": [0, 0, 1], "frame": "flange", "weight": 0}, rd.SettingsError, "above 0"),
        ({"target": [0, 0, 1], "frame": "flange", "weight": [1, 2]}, rd.ShapeError, "or 3"),
        ({"target": [0, 0, 1], "frame": "flange", "gain": 2}, rd.SettingsError, "at most 1"),
        ({"target": [0, np.nan, 1], "frame": "flange"}, rd.ShapeError, "nan"),
        ({"target": [0, 0, 1], "frame": "hand"}, rd.UnknownNameError, "flange"),
        ({"target": [0, 0, 1], "frame": ("flange", "hand")}, rd.UnknownNameError, "hand"),
        ({"target": [0, 0], "quantity": "posture"}, rd.ShapeError, r"\(6,\)"),
        ({"target": {"hand": 0.0}, "quantity": "posture"}, rd.UnknownNameError, "hand"),
    ],
)
def test_what_is_no_task_is_refused(given, error, said):
    robot = rd.load("puma560")
    with pytest.raises(error, match=said):
        robot.velocity_for([rd.Task(**given)], robot.neutral(), dt=DT)


def test_functions_take_tasks_as_users_describe_them():
    robot = rd.load("puma560")
    q, wish = robot.random(1), robot.random(2)
    tip = rd.Task([0.1, 0.2, 0.3], frame="flange", components=(0, 2))
    rest = rd.Task({robot.joint_names[3]: 0.5}, quantity="posture")
    f = robot.function("task_rows", tasks=[tip, rest])
    assert [port.name for port in f.inputs] == ["q", "targets"]
    error, J = f(q, np.r_[tip.target, wish])
    np.testing.assert_allclose(error[2], (wish - q)[3], atol=1e-12)
    np.testing.assert_array_equal(J[2], np.eye(6)[3])
    p = robot.frame_pose(q, "flange")[:3, 3]
    np.testing.assert_allclose(error[:2], (tip.target - p)[[0, 2]], atol=1e-12)
    assert robot.function("task_rows", tasks=[tip, rest]) is f


@pytest.mark.parametrize("name", ["task_rows", "task_bias"])
def test_functions_of_tasks_say_what_they_need(name):
    robot = rd.load("puma560")
    with pytest.raises(rd.SettingsError, match=rf"'{name}' needs tasks=, a Task or several"):
        robot.function(name)
    with pytest.raises(rd.ShapeError, match=r"task is str, expected a robodyn\.Task"):
        robot.function(name, tasks="flange")
    with pytest.raises(rd.UnknownNameError, match="flange"):
        robot.function(name, tasks=rd.Task([0, 0, 1], frame="hand"))


def test_arguments_are_checked():
    robot = rd.load("puma560")
    q = robot.neutral()
    task = rd.Task([0, 0, 1], frame="flange")
    for tasks in ([], [[]]):
        with pytest.raises(rd.ShapeError, match="one task at least"):
            robot.velocity_for(tasks, q, dt=DT)
    with pytest.raises(rd.SettingsError, match="dt is 0"):
        robot.velocity_for(task, q, dt=0.0)
    with pytest.raises(rd.SettingsError, match="goes with q0="):
        robot.inverse_kinematics({"flange": np.eye(4)}, tasks=task)
    with pytest.raises(rd.SettingsError, match="momentum"):
        robot.inverse_kinematics(tasks=rd.Task(np.zeros(6), quantity="momentum"))


def _turntable(q, t):
    c, s = rd.cos(3.0 * t), rd.sin(3.0 * t)
    return [[c, -s, 0, q[0] * c], [s, c, 0, q[0] * s], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_what_moves_with_time_is_made_up_for():
    """A slide on a table that turns by itself, and an arm on it."""
    robot = rd.load("double_pendulum", joint_maps={"shoulder": rd.JointMap(1, _turntable)})
    q, t, h = np.array([0.4, 0.9]), 0.3, 1e-4
    now = robot.at(t)
    for task in (
        rd.Task(now.frame_pose(q, "tip")[:3, 3] + [0.01, 0, 0.02], frame="tip", components=(0, 2)),
        rd.Task(now.center_of_mass(q) + 0.01, quantity="center_of_mass", components=(2, 0)),
        rd.Task(now.frame_pose(q, "tip")[:3, :3], frame="tip", components=(1,)),
    ):
        v = now.velocity_for(task, q, dt=0.1, limits=False, damping=1e-12)
        f, target = robot.function("task_rows", tasks=task), np.ravel(task.target)
        ahead, behind = (f(robot.integrate(q, s * v), target, t + s)[0] for s in (h, -h))
        np.testing.assert_allclose((ahead - behind) / (2 * h), -f(q, target, t)[0] / 0.1, atol=1e-5)
    tip = rd.Task(now.frame_pose(q + 0.1, "tip")[:3, 3], frame="tip")
    found = now.inverse_kinematics(tasks=tip, q0=q, limits=False)
    assert found.converged and found.residual < 1e-9


@pytest.mark.parametrize("quantity", ["frame", "center_of_mass", "momentum"])
def test_accelerations_know_what_moves_with_time(quantity):
    robot = rd.load("double_pendulum", joint_maps={"shoulder": rd.JointMap(1, _turntable)})
    q, v, t, h = np.array([0.4, 0.9]), np.array([0.3, -0.2]), 0.3, 1e-4
    if quantity == "frame":
        task = rd.Task(np.zeros(3), frame="tip")
    else:
        task = rd.Task(np.zeros(3 if quantity[0] == "c" else 6), quantity=quantity)
    f = robot.function("task_bias", tasks=task)
    ahead, behind = (f(robot.integrate(q, s * v), v, t + s)[1] for s in (h, -h))
    np.testing.assert_allclose(f(q, v, t)[0], (ahead - behind) / (2 * h), atol=1e-5)
    if quantity == "momentum":
        expected = robot.at(t).momentum(q, v)
    else:
        moved = [(robot.at(t + s), robot.integrate(q, s * v)) for s in (h, -h)]
        if quantity == "frame":
            ahead, behind = (x.frame_pose(p, "tip")[:3, 3] for x, p in moved)
        else:
            ahead, behind = (x.center_of_mass(p) for x, p in moved)
        expected = (ahead - behind) / (2 * h)
    np.testing.assert_allclose(f(q, v, t)[1], expected, atol=1e-6)


def test_a_linkage_that_moves_with_time_stays_closed():
    name = rd.load("delta").actuated_joints[0]
    clock = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * rd.sin(2.0 * t), name)
    robot = rd.load("delta", constraints=[clock]).at(0.1)
    q = robot.assemble()
    task = rd.Task(robot.frame_pose(q, "platform")[:3, 3], frame="platform")
    v = robot.velocity_for(task, q, dt=0.1)
    opened = robot.loop_jacobian(q) @ v + robot.loop_velocity_offset(q)
    np.testing.assert_allclose(opened, 0.0, atol=1e-12)
    assert robot.velocity_for(task, q, dt=0.1)[robot.joints[name].v][0] == pytest.approx(
        0.6 * np.cos(0.2)
    )
