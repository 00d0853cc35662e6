"""Whole-body inverse dynamics, against inverse dynamics, differences of Jacobians and balances."""

import numpy as np
import pytest
from test_tasks import _tasks, _tip

import robodyn as rd


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("kind", ["pose", "rotation", "relative", "center of mass", "momentum"])
def test_biases_are_rates_of_jacobians(kind, base):
    robot = rd.load("puma560", base=base)
    q = robot.random(3)
    v = np.random.default_rng(4).normal(size=robot.nv)
    if kind == "momentum":
        task = rd.Task(np.zeros(6), quantity="momentum")
    else:
        task = _tasks(robot, q, kind)
    f, target, h = robot.function("task_rows", tasks=task), np.ravel(task.target), 1e-5
    ahead, behind = (f(robot.integrate(q, s * h * v), target)[1] for s in (1, -1))
    expected = (ahead - behind) @ v / (2 * h)
    bias, rate = robot.function("task_bias", tasks=task)(q, v)
    np.testing.assert_allclose(rate, f(q, target)[1] @ v, atol=1e-9)
    np.testing.assert_allclose(bias, expected, atol=1e-6 * max(1, np.abs(expected).max()))


def test_an_arm_gets_the_torques_of_inverse_dynamics():
    robot = rd.load("arm7")
    q = robot.random(2)
    v = 0.3 * np.random.default_rng(2).normal(size=7)
    task = _tasks(robot, q, "pose")
    rest = rd.Task(q, quantity="posture", weight=1e-4)
    found = robot.acceleration_for([task, rest], q, v, limits=False, stiffness=25.0)
    np.testing.assert_allclose(found.tau, robot.inverse_dynamics(q, v, found.a), atol=1e-7)
    np.testing.assert_allclose(found.tau, found.motor_forces)
    A = robot.frame_acceleration(q, v, found.a, _tip(robot), axes="world", classical=True)
    V = robot.frame_twist(q, v, _tip(robot), axes="world")
    error, _ = robot.function("task_rows", tasks=task)(q, np.ravel(task.target))
    np.testing.assert_allclose(A, 25.0 * error - 10.0 * V, atol=0.05 * np.abs(error).max() * 25)
    np.testing.assert_allclose(A - (25.0 * error - 10.0 * V), found.residuals[0], atol=1e-8)
    half = rd.Task(task.target, frame=task.frame, gain=0.5)
    slower = robot.acceleration_for([half, rest], q, v, limits=False, stiffness=25.0)
    A = robot.frame_acceleration(q, v, slower.a, _tip(robot), axes="world", classical=True)
    asked = 0.5 * (25.0 * error - 10.0 * V)
    np.testing.assert_allclose(A - asked, slower.residuals[0], atol=1e-8)


def test_errors_fall_as_asked():
    """Of a critically damped task: ``(1 + w t) exp(-w t)``, in a simulation."""
    robot = rd.load("double_pendulum")
    q0 = np.array([0.4, 0.8])
    goal = robot.frame_pose(q0, "tip")[:3, 3] + [0.05, 0.0, 0.03]
    task = rd.Task(goal, frame="tip", components=(0, 2))

    def law(t, q, v):
        return robot.acceleration_for(task, q, v, limits=False, stiffness=36.0).tau

    run = rd.simulate(robot, law, q0=q0, duration=0.5, step=1e-3)
    error = goal - robot.frame_poses(run.q, ["tip"])[:, 0, :3, 3]
    expected = np.multiply.outer((1 + 6 * run.t) * np.exp(-6 * run.t), error[0])
    np.testing.assert_allclose(error[:, [0, 2]], expected[:, [0, 2]], atol=2e-3 * 0.06)


def test_motors_keep_their_limits():
    robot = rd.load("arm7")
    q, rest = robot.random(2), np.zeros(7)
    far = rd.Task(robot.frame_pose(robot.random(3), _tip(robot)), frame=_tip(robot))
    found = robot.acceleration_for(far, q, rest, stiffness=1e4)
    ratio = np.abs(found.motor_forces) / robot.effort_limits
    assert ratio.max() == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(robot.forward_dynamics(q, rest, found.tau), found.a, rtol=1e-6)


def test_a_momentum_is_asked_for_at_a_rate():
    """``gain sqrt(stiffness) (target - momentum)``, by differences of the momentum."""
    robot, h = rd.load("puma560"), 1e-5
    q, v = robot.random(3), 0.2 * np.random.default_rng(1).normal(size=6)
    target = robot.momentum(q, v) + np.array([0.3, -0.2, 0.1, 0.02, 0.03, -0.01])
    task = rd.Task(target, quantity="momentum", gain=0.5)
    found = robot.acceleration_for(task, q, v, limits=False, stiffness=16.0)
    ahead, behind = (
        robot.momentum(robot.integrate(q, s * v), v + s * found.a) for s in (h, -h)
    )  # fmt: skip
    asked = 0.5 * 4.0 * (target - robot.momentum(q, v))
    np.testing.assert_allclose((ahead - behind) / (2 * h), asked + found.residuals[0], atol=1e-5)
    assert np.abs(found.residuals[0]).max() < 1e-3


def test_motors_keep_their_limits_through_gears():
    motors = {
        "shoulder": rd.Actuator(gear_ratio=-20.0, torque_limit=0.5),
        "elbow": rd.Actuator(gear_ratio=4.0, torque_limit=0.5),
    }
    robot = rd.load("double_pendulum", actuators=motors)
    q, rest = np.array([0.3, 0.9]), np.zeros(2)
    for far in ([10.0, -10.0], [-10.0, 10.0]):
        task = rd.Task(q + far, quantity="posture")
        found = robot.acceleration_for(task, q, rest, stiffness=1e4)
        np.testing.assert_allclose(np.abs(found.motor_forces), [10.0, 2.0], rtol=1e-6)


@pytest.mark.parametrize("name", ["five_bar", "palletizer"])
def test_loops_stay_closed_at_speed(name):
    robot = rd.load(name)
    q = robot.random(4)
    v = robot.consistent_velocity(q, np.random.default_rng(5).normal(size=robot.nv))
    link = "flange" if name == "palletizer" else _tip(robot)
    task = rd.Task(robot.frame_pose(q, link)[:3, 3] + 0.01, frame=link)
    found = robot.acceleration_for(task, q, v, limits=False)
    bias = robot.loop_bias(q, v)
    assert np.abs(bias).max() > 0.1
    opened = robot.loop_jacobian(q) @ found.a + bias
    np.testing.assert_allclose(opened, 0.0, atol=1e-9 * np.abs(bias).max())
    A = robot.frame_acceleration(q, v, found.a, link, axes="world", classical=True)[:3]
    V = robot.frame_twist(q, v, link, axes="world")[:3]
    asked = 100.0 * 0.01 - 20.0 * V
    np.testing.assert_allclose(A - asked, found.residuals[0], atol=1e-8 * np.abs(A).max())
    if name == "palletizer":  # whose motions are more than the task needs
        np.testing.assert_allclose(A, asked, atol=1e-5 * np.abs(A).max())


def test_more_motors_than_are_needed_share_the_load_within_limits():
    """Two of the same shaft, of which one is weak."""
    robot = rd.load("double_pendulum")
    part = robot._parts.task_accelerations
    spare = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    part._actuation_matrix = lambda q: spare
    part._efforts = np.eye(3), np.array([0.3, 100.0, 100.0])
    q, rest = np.array([0.5, 0.9]), np.zeros(2)
    found = part.solve(rd.Task(q, quantity="posture"), q, rest, True, 100.0, None)
    needed = robot.inverse_dynamics(q, rest, found.a)
    assert abs(found.motor_forces[0]) <= 0.3 + 1e-6 < abs(needed[0]) / 2
    np.testing.assert_allclose(spare @ found.motor_forces, needed, atol=1e-7)


def _standing():
    robot = rd.load("satellite", base="floating", gravity=(0, 0, -9.81))
    foot = rd.Contact("surface", at=(0, 0, -0.5), half_sizes=(0.4, 0.3), mu=0.5)
    return robot.with_(contacts={"bus": foot})


def test_a_body_that_stands_keeps_its_balance():
    robot = _standing()
    q = robot.neutral()
    v = robot.consistent_velocity(q, np.r_[np.zeros(6), 0.1, 0.2, 0.1, -0.1])
    task = rd.Task(robot.center_of_mass(q) + np.array([0.05, 0, 0]), quantity="center_of_mass")
    found = robot.acceleration_for(task, q, v)
    assert (found.tau[:6] == 0.0).all()
    np.testing.assert_allclose(robot.forward_dynamics(q, v, found.tau), found.a, atol=1e-8)
    again = robot.contact_forces(q, v, found.a, found.tau)["bus"]
    np.testing.assert_allclose(found.contact_forces["bus"], again, atol=1e-6)
    assert found.contact_forces.broken["bus"] == 0.0
    np.testing.assert_allclose(robot.frame_jacobian(q, "bus contact") @ found.a, 0.0, atol=1e-12)


def test_what_cannot_be_held_is_told():
    robot = _standing().with_(gravity=(0, 0, 9.81))
    q, rest = robot.neutral(), np.zeros(robot.nv)
    with pytest.raises(rd.ActuationError, match="contacts within their cones"):
        robot.acceleration_for(rd.Task(q, quantity="posture"), q, rest)


def test_a_linkage_moves_by_its_motors():
    """In both kinds of coordinates, with motors where they are."""
    tree = rd.load("palletizer")
    minimal = rd.load("palletizer", coordinates="minimal")
    u = minimal.neutral() + 0.1
    q = minimal.expand(u)
    goal = tree.frame_pose(q, "flange")
    goal[:3, 3] += [0.01, -0.02, 0.01]
    task = rd.Task(goal, frame="flange", components=(0, 1, 2, 5))
    large = tree.acceleration_for(task, q, np.zeros(tree.nv), limits=False)
    small = minimal.acceleration_for(task, u, np.zeros(minimal.nv), limits=False)
    np.testing.assert_allclose(large.motor_forces, small.motor_forces, rtol=1e-5)
    again = tree.forward_dynamics(q, np.zeros(tree.nv), large.tau)
    np.testing.assert_allclose(again, large.a, atol=1e-6 * np.abs(again).max())


def test_motors_act_otherwise_in_another_posture():
    """A motor at the rocker, along the coordinate of the crank."""
    motor = {"rocker_pivot": rd.Actuator()}
    robot = rd.load("four_bar", coordinates="minimal", actuators=motor)
    first = robot.random(1)
    for q in (first, robot.random(2)):
        v, task = np.zeros(robot.nv), rd.Task(q + 0.01, quantity="posture")
        found = robot.acceleration_for(task, q, v, limits=False)
        B = robot.actuation_matrix(q)
        np.testing.assert_allclose(B @ found.motor_forces, found.tau, rtol=1e-9)
        again = robot.forward_dynamics(q, v, found.tau)
        np.testing.assert_allclose(again, found.a, atol=1e-6 * np.abs(again).max())
    assert np.abs(B - robot.actuation_matrix(first)).max() > 1e-3


def test_levels_and_wrong_numbers_are_refused():
    robot = rd.load("double_pendulum")
    q = v = np.zeros(2)
    task = rd.Task(q, quantity="posture")
    with pytest.raises(rd.SettingsError, match="weights alone"):
        robot.acceleration_for([[task], [task]], q, v)
    with pytest.raises(rd.SettingsError, match="stiffness is -1"):
        robot.acceleration_for(task, q, v, stiffness=-1.0)


def test_limits_of_zero_count_as_not_given():
    limits = rd.Limits(lower=-1.0, upper=1.0, velocity=0.0, effort=0.0)
    links = rd.Link("rail"), rd.Link("cart", rd.Inertia(2.0))
    joint = rd.Joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0), limits=limits)
    motors = {"slide": rd.Actuator(5.0, torque_limit=0.0)}
    robot = rd.load(rd.Mechanism("cart", links, (joint,)), actuators=motors)
    task = rd.Task([0.2], quantity="posture")
    assert robot.velocity_for(task, [0.1], dt=0.05) == pytest.approx([2.0], rel=1e-4)
    found = robot.acceleration_for(task, [0.1], [0.0], stiffness=30.0)
    assert found.a == pytest.approx([3.0], rel=1e-4) and found.tau == pytest.approx([6.0], rel=1e-4)


@pytest.mark.parametrize("matrix", [((1.0, 0.0), (1.0, 1.0)), ((1.0, 1.0), (1.0, -1.0))])
@pytest.mark.parametrize("limit", [{"torque_limit": 0.8}, {"motor": rd.Motor(0.1, 1, current=8)}])
def test_motors_of_transmissions_keep_their_own_limits(matrix, limit):
    """Of all accelerations that they allow, one motor at least is at its limit."""
    drive = rd.Actuator(10.0, 1e-3, **limit)
    robot = rd.load(
        "double_pendulum",
        actuators={"shoulder": drive, "elbow": drive},
        transmissions=[rd.Transmission("belt", ("shoulder", "elbow"), matrix)],
    )
    q = v = np.zeros(2)
    for target in ([1.0, -3.0], [-1.0, 3.0], [3.0, 0.5]):
        found = robot.acceleration_for(rd.Task(target, quantity="posture"), q, v)
        torques = robot.motor_torques(q, v, found.a)
        assert abs(torques).max() == pytest.approx(0.8, rel=1e-5)
        np.testing.assert_allclose(robot.forward_dynamics(q, v, found.tau), found.a, rtol=1e-8)
