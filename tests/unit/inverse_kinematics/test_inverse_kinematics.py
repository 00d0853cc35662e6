"""Inverse kinematics: the laws that results obey, and closed forms of planar arms."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import ConvergenceWarning

PLANAR = """
<robot name="planar">
  <link name="ground"/>
  {links}
</robot>
"""


def planar_arm(lengths, limit=3.0):
    """An arm in the x-y plane whose last link is a point at its end."""
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    body += "</inertial>"
    text, parent, at = "", "ground", 0.0
    for k, length in enumerate(lengths):
        text += f"""
  <link name="link{k}">{body}</link>
  <joint name="joint{k}" type="revolute"><parent link="{parent}"/><child link="link{k}"/>
    <origin xyz="{at} 0 0"/><axis xyz="0 0 1"/>
    <limit lower="{-limit}" upper="{limit}" velocity="1" effort="1"/></joint>"""
        parent, at = f"link{k}", length
    text += f"""
  <link name="end"/>
  <joint name="tip" type="fixed"><parent link="{parent}"/><child link="end"/>
    <origin xyz="{at} 0 0"/></joint>"""
    return rd.load(PLANAR.format(links=text))


def postures(robot, count, seed=1000):
    return np.array([robot.random(seed + k) for k in range(count)])


def outside(robot, q):
    return max((q - robot.upper_limits).max(), (robot.lower_limits - q).max())


def last_frame(robot):
    return robot.frame_names[-1]


@pytest.mark.parametrize("name", ["puma560", "arm7", "dual_arm", "cart_arms"])
def test_the_frame_is_where_it_is_wanted_and_joints_within_limits(name):
    robot = rd.load(name)
    frame = last_frame(robot)
    X = robot.frame_pose(postures(robot, 60), frame)
    found = robot.inverse_kinematics({frame: X})
    assert found.converged.all()
    assert np.abs(robot.frame_pose(found.q, frame) - X).max() < 1e-8
    assert outside(robot, found.q) <= 0.0
    assert found.residual.max() <= 1e-9


@pytest.mark.parametrize("name", ["palletizer", "stewart", "delta", "four_bar", "five_bar"])
def test_loops_are_closed(name):
    robot = rd.load(name)
    frame = last_frame(robot)
    X = robot.frame_pose(postures(robot, 3), frame)
    found = robot.inverse_kinematics({frame: X})
    assert found.converged.all()
    assert np.abs(robot.frame_pose(found.q, frame) - X).max() < 1e-8
    assert np.abs(robot.loop_residual(found.q)).max() < 1e-9
    assert outside(robot, found.q) <= 1e-12


@pytest.mark.slow
def test_rods_of_a_delta_robot_are_found_where_they_can_be(delta):
    """Their way from the neutral posture leads through many folds."""
    X = delta.frame_pose(np.array([delta.random(seed) for seed in range(60)]), "left_rod1")
    assert delta.inverse_kinematics({"left_rod1": X}).converged.mean() > 0.93


@pytest.mark.parametrize("name", ["palletizer", "stewart", "excavator"])
def test_loops_stay_closed_when_the_target_is_out_of_reach(name):
    robot = rd.load(name)
    frame = last_frame(robot)
    found = robot.inverse_kinematics({frame: np.array([9.0, 0.0, 0.0])})
    assert not found.converged
    assert np.abs(robot.loop_residual(found.q)).max() < 1e-9
    p = robot.frame_pose(found.q, frame)[:3, 3]
    assert found.residual == pytest.approx(np.linalg.norm(p - [9.0, 0.0, 0.0]))


def test_minimal_coordinates_reach_what_tree_coordinates_reach():
    robot = rd.load("four_bar", coordinates="minimal")
    frame = last_frame(robot)
    X = robot.frame_pose(postures(robot, 10), frame)
    found = robot.inverse_kinematics({frame: X})
    assert np.abs(robot.frame_pose(found.q, frame) - X)[found.converged].max() < 1e-8
    assert found.converged.mean() > 0.8


def test_a_batch_is_its_rows(puma):
    X = puma.frame_pose(postures(puma, 80), "flange").reshape(8, 10, 4, 4)
    q0 = postures(puma, 10, 500)
    batch = puma.inverse_kinematics({"flange": X}, q0)
    assert batch.q.shape == (8, 10, 6) and batch.converged.shape == (8, 10)
    for i, j in ((0, 0), (3, 7), (7, 9)):
        row = puma.inverse_kinematics({"flange": X[i, j]}, q0[j])
        np.testing.assert_array_equal(row.q, batch.q[i, j])
        assert row.converged == batch.converged[i, j]


def test_two_joints_have_the_two_closed_form_solutions():
    a, b = 0.7, 0.5
    robot = planar_arm((a, b))
    rng = np.random.default_rng(3)
    for _ in range(30):
        radius, angle = rng.uniform(abs(a - b) + 0.02, a + b - 0.02), rng.uniform(-0.8, 0.8)
        p = radius * np.array([np.cos(angle), np.sin(angle), 0.0])
        elbow = np.arccos((radius**2 - a**2 - b**2) / (2 * a * b))
        for sign in (1.0, -1.0):
            bend = sign * elbow
            shoulder = angle - np.arctan2(b * np.sin(bend), a + b * np.cos(bend))
            found = robot.inverse_kinematics({"end": p}, [shoulder + 0.05, bend + 0.05 * sign])
            np.testing.assert_allclose(found.q, [shoulder, bend], atol=1e-8)


@pytest.mark.parametrize("name", ["puma560", "arm7", "scara"])
def test_out_of_reach_nothing_better_is_near_and_no_start_was_better(name):
    """The cost of the page: distance squared plus (4 sin(angle / 4))^2, by differences."""
    robot = rd.load(name)
    frame = last_frame(robot)
    q0 = postures(robot, 8)
    X = robot.frame_pose(postures(robot, 8, 50), frame)
    X[:, :3, 3] *= 1.2 + 3.0 / np.linalg.norm(X[:, :3, 3], axis=-1)[:, None]

    def cost(q):
        F = robot.frame_pose(q, frame)
        turn = np.trace(np.swapaxes(F[..., :3, :3], -1, -2) @ X[:, :3, :3], axis1=-2, axis2=-1)
        angle = np.arccos(np.clip((turn - 1.0) / 2.0, -1.0, 1.0))
        apart = F[..., :3, 3] - X[:, :3, 3]
        return (apart**2).sum(axis=-1) + (4.0 * np.sin(angle / 4.0)) ** 2

    with pytest.warns(ConvergenceWarning):
        found = robot.inverse_kinematics({frame: X}, q0).q
    again = rd.load(name)
    with pytest.warns(ConvergenceWarning):
        nearer = again.inverse_kinematics({frame: X}, found).q
    assert (cost(nearer) <= cost(found) * (1.0 + 1e-6)).all()
    assert (cost(found) <= cost(q0)).all()
    h = 1e-5
    for k, step in enumerate(h * np.eye(robot.nq)):
        slope = (cost(found + step) - cost(found - step)) / (2.0 * h)
        low, high = found[:, k] <= robot.lower_limits[k], found[:, k] >= robot.upper_limits[k]
        slope[low], slope[high] = np.minimum(slope[low], 0.0), np.maximum(slope[high], 0.0)
        assert np.abs(slope).max() < 0.02


def test_a_limit_in_the_way_is_held_and_named():
    robot = planar_arm((1.0,), limit=0.5)
    with pytest.warns(ConvergenceWarning, match="with joints at their limits: joint0"):
        found = robot.inverse_kinematics({"end": [np.cos(1.0), np.sin(1.0), 0.0]})
    assert not found.converged
    np.testing.assert_allclose(found.q, [0.5], atol=1e-9)
    assert found.residual == pytest.approx(2 * np.sin(0.25))
    assert list(found.at_limits) == ["joint0"] and "joint0" in repr(found)
    free = robot.inverse_kinematics({"end": [np.cos(1.0), np.sin(1.0), 0.0]}, limits=False)
    assert free.converged
    np.testing.assert_allclose(free.q, [1.0], atol=1e-8)


def test_the_posture_is_the_nearest_along_the_null_space(arm):
    frame = last_frame(arm)
    q = postures(arm, 20)
    X, wish = arm.frame_pose(q, frame), arm.neutral()
    found = arm.inverse_kinematics({frame: X}, q, limits=False, posture=wish)
    assert found.converged.all()
    assert np.abs(arm.frame_pose(found.q, frame) - X).max() < 1e-8
    for row in found.q:
        _, values, axes = np.linalg.svd(arm.frame_jacobian(row, frame))
        # close to a singular posture the null space turns within a step
        assert np.abs(axes[6:] @ (wish - row)).max() < (1e-5 if values[-1] > 0.02 else 1e-2)
    before, after = (np.linalg.norm(x - wish, axis=1) for x in (q, found.q))
    assert (after <= before + 1e-9).all()


def test_several_frames_and_a_floating_base():
    robot = rd.load("two_feet", base="floating")
    frames = ("trunk", "front_forearm", "rear_forearm")
    q = postures(robot, 10)
    targets = {name: robot.frame_pose(q, name) for name in frames}
    targets["rear_forearm"] = targets["rear_forearm"][:, :3, 3]
    found = robot.inverse_kinematics(targets)
    assert found.converged.all()
    for name in frames[:2]:
        assert np.abs(robot.frame_pose(found.q, name) - targets[name]).max() < 1e-8
    place = robot.frame_pose(found.q, "rear_forearm")[:, :3, 3]
    assert np.abs(place - targets["rear_forearm"]).max() < 1e-8


def test_a_moving_base_carries_the_robot():
    robot = rd.load("puma560", base="moving")
    base = rd.BaseMotion.from_world([0.4, -0.2, 0.1], [0.1, 0.2, 0.3, 0.9])
    q = robot.random(1000)
    X = robot.frame_pose(q, "flange", base=base)
    found = robot.inverse_kinematics({"flange": X}, base=base)
    assert found.converged
    assert np.abs(robot.frame_pose(found.q, "flange", base=base) - X).max() < 1e-8


def test_steps_from_a_singular_posture_are_bounded():
    robot = planar_arm((0.7, 0.5))
    found = robot.inverse_kinematics({"end": [0.9, 0.0, 0.0]}, [0.0, 0.0])
    assert found.converged and np.isfinite(found.q).all()


def test_a_robot_without_joints_is_where_it_is():
    robot = rd.load(PLANAR.format(links=""))
    for q0 in (None, []):
        found = robot.inverse_kinematics({"ground": np.eye(4)}, q0, posture=q0)
        assert found.converged and found.q.shape == (0,)
    with pytest.warns(ConvergenceWarning):
        found = robot.inverse_kinematics({"ground": [[0.0, 0.0, 0.0], [0.0, 3.0, 4.0]]})
    assert found.q.shape == (2, 0) and found.converged.tolist() == [True, False]
    np.testing.assert_allclose(found.residual, [0.0, 5.0])


def test_an_empty_batch(puma):
    found = puma.inverse_kinematics({"flange": np.empty((0, 4, 4))})
    assert found.q.shape == (0, 6) and found.converged.shape == (0,)


def bad(X, **changes):
    X = X.copy()
    for (i, j), value in changes.get("at", {}).items():
        X[..., i, j] = value
    return X


@pytest.mark.parametrize(
    ("targets", "error", "words"),
    [
        ({"flanges": np.eye(4)}, rd.UnknownNameError, "flange"),
        ({}, rd.ShapeError, "empty"),
        ({"flange": np.eye(3)[:2]}, None, ""),
        ({"flange": np.ones(4)}, rd.ShapeError, r"shape \(4,\)"),
        ({"flange": bad(np.eye(4), at={(0, 0): 1.1})}, rd.ShapeError, "no rigid body"),
        ({"flange": np.diag([1.0, 1.0, -1.0, 1.0])}, rd.ShapeError, "no rigid body"),
        ({"flange": bad(np.eye(4), at={(3, 0): 0.1})}, rd.ShapeError, "no rigid body"),
        ({"flange": bad(np.eye(4), at={(0, 3): np.nan})}, rd.ShapeError, "not finite"),
        ({"flange": [0.1, np.inf, 0.2]}, rd.ShapeError, "not finite"),
    ],
)
def test_bad_targets_are_refused(puma, targets, error, words):
    if error is None:  # two points
        assert puma.inverse_kinematics(targets).q.shape == (2, 6)
        return
    with pytest.raises(error, match=words):
        puma.inverse_kinematics(targets)


@pytest.mark.parametrize("limits", [None, "no", [], 0, np.ones(2)])
def test_limits_hold_or_they_do_not(limits):
    with pytest.raises(rd.ShapeError, match=r"limits is .*, expected True or False"):
        rd.load("puma560").inverse_kinematics({"flange": [0.4, 0.1, 0.3]}, limits=limits)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_a_matrix_next_to_a_pose_that_is_reached_is_refused(puma, k):
    """Stretched so that nothing of it asks for a turn, or with another last row."""
    X = puma.frame_pose(puma.random(1), "flange")
    stretched = X @ np.diag([1.1, 0.9, 1.0, 1.0])
    wrong = [stretched, bad(X, at={(3, 1): 0.1}), bad(X, at={(3, 3): 1.5})][k]
    with pytest.raises(rd.ShapeError, match="no rigid body"):
        puma.inverse_kinematics({"flange": wrong})
    with pytest.raises(rd.ShapeError, match="no rigid body"):
        puma.inverse_kinematics({"flange": np.stack([X, wrong, X])})


def test_bad_starts_and_postures_are_refused(puma):
    X = puma.frame_pose(puma.random(1), "flange")
    with pytest.raises(rd.ShapeError, match="q0"):
        puma.inverse_kinematics({"flange": X}, np.zeros(5))
    with pytest.raises(rd.ShapeError, match="q0"):
        puma.inverse_kinematics({"flange": X}, np.full(6, np.nan))
    with pytest.raises(rd.ShapeError, match="posture"):
        puma.inverse_kinematics({"flange": X}, posture=np.zeros(5))
    with pytest.raises(rd.ShapeError, match="broadcast"):
        puma.inverse_kinematics({"flange": np.stack([X] * 3)}, np.zeros((2, 6)))


# -- frames of tools --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frames", "error", "words"),
    [
        ({"tool": ("flang", np.eye(4))}, rd.UnknownNameError, "flange"),
        ({"flange": ("link1", np.eye(4))}, rd.SettingsError, "choose another"),
        ({"tool": np.eye(4)}, rd.ShapeError, "expected a link"),
        ({"tool": ("flange", 2 * np.eye(4))}, rd.ShapeError, "no rigid body"),
        ({"tool": ("flange", np.eye(3))}, rd.ShapeError, "shape"),
    ],
)
def test_bad_frames_are_refused(frames, error, words):
    with pytest.raises(error, match=words):
        rd.load("puma560").with_(frames=frames)


# -- operational space ------------------------------------------------------------------------


def test_the_operational_inertia_turns_forces_into_accelerations():
    """Newton's law at the frame, for the robot at rest without gravity."""
    robot = rd.load("arm7", gravity=(0, 0, 0), passive=False)
    frame, q, zero = last_frame(robot), robot.random(1), np.zeros(7)
    inertia = robot.operational_inertia(q, frame)
    for k in range(6):
        wrench = np.eye(6)[k]
        a = robot.forward_dynamics(q, zero, zero, wrenches={frame: wrench})
        A = robot.frame_acceleration(q, zero, a, frame)
        np.testing.assert_allclose(inertia @ A, wrench, atol=1e-8)


def test_operational_inertia_of_chosen_components_and_batches():
    robot = planar_arm((0.7, 0.5))
    q = np.array([[0.1, 0.9], [0.3, -1.2]])
    inertia = robot.operational_inertia(q, "end", components=(0, 1))
    assert inertia.shape == (2, 2, 2)
    J = robot.frame_jacobian(q[1], "end")[:2]
    M = robot.mass_matrix(q[1])
    expected = np.linalg.inv(J).T @ M @ np.linalg.inv(J)
    np.testing.assert_allclose(inertia[1], expected, rtol=1e-10)
    with pytest.raises(rd.SingularError, match="components"):
        robot.operational_inertia([0.1, 0.0], "end", components=(0, 1))
    with pytest.raises(rd.SingularError, match="components"):
        robot.operational_inertia([[0.1, 0.9], [0.1, 0.0]], "end", components=(0, 1))
    with pytest.raises(rd.SingularError, match="components"):
        robot.operational_inertia(q, "end")
    with pytest.raises(rd.ShapeError, match="components"):
        robot.operational_inertia(q, "end", components=(0, 7))
    with pytest.raises(rd.ShapeError, match="components is 0"):
        robot.manipulability(q, "end", components=0)


@pytest.mark.parametrize("bend", [0.5, 1e-5])
def test_the_inertia_of_a_frame_near_a_stretched_posture(bend):
    robot, q, xy = planar_arm((0.7, 0.5)), [0.3, bend], (0, 1)
    J, M = robot.frame_jacobian(q, "end")[:2], robot.mass_matrix(q)
    inertia = robot.operational_inertia(q, "end", components=xy)
    again = robot.operational_inertia(q, "end", components=xy)
    inverse = np.linalg.inv(J)
    np.testing.assert_allclose(inertia, inverse.T @ M @ inverse, rtol=1e-9 / bend)
    np.testing.assert_allclose(again, inertia, rtol=1e-13)
    size = robot.manipulability(q, "end", components=xy)
    np.testing.assert_allclose(size, abs(np.linalg.det(J)), rtol=1e-14 / bend)
    f = robot.function("operational_inertia", frame="end", axes="body", components=xy)
    assert np.isnan(f(q)).any() == (bend < 1e-3)  # little of a row is left: it is not trusted


def test_manipulability_of_a_planar_arm():
    """Lengths of both links and the sine between them [Yoshikawa 1985]."""
    robot = planar_arm((0.7, 0.5))
    q = np.array([[0.1, 0.9], [0.3, -1.2], [0.4, 0.0]])
    found = robot.manipulability(q, "end", components=(0, 1))
    np.testing.assert_allclose(found, 0.7 * 0.5 * np.abs(np.sin(q[:, 1])), atol=1e-15)
    assert robot.manipulability(q[0], "end") == 0.0
    with pytest.raises(rd.SettingsError, match="minimal"):
        rd.load("four_bar").manipulability(rd.load("four_bar").neutral(), "rocker_end")


@pytest.mark.slow
@pytest.mark.parametrize(("frame", "point"), [("right_rod3", False), ("platform", True)])
def test_a_delta_reaches_its_own_poses_however_it_is_assembled(delta, frame, point):
    """Many of them are reached in one way of several to assemble it only."""
    X = delta.frame_pose(np.array([delta.random(seed) for seed in range(120)]), frame)
    found = delta.inverse_kinematics({frame: X[:, :3, 3] if point else X})
    assert found.converged.all()
    there = delta.frame_pose(found.q, frame)
    np.testing.assert_allclose(there[:, :3, 3], X[:, :3, 3], atol=1e-8)
    assert point or np.abs(there - X).max() < 1e-8
    assert np.abs(delta.loop_residual(found.q)).max() < 1e-8
    inside = (delta.lower_limits <= found.q) & (found.q <= delta.upper_limits)
    assert inside.all()


def test_an_empty_batch_of_targets_has_a_result_that_can_be_printed(recwarn):
    found = rd.load("double_pendulum").inverse_kinematics({"tip": np.zeros((0, 3))})
    assert repr(found) == "<IKResult: q (0, 2), 100% converged, residual up to 0>"
    assert not recwarn.list


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("name, link", [("excavator", "boom_piston"), ("puma560", "flange")])
def test_angles_are_not_whole_turns_from_where_the_search_began(name, link, limits):
    """Passive joints of linkages have no limits: the search may carry them round and round."""
    robot = rd.load(name)
    q0, goals = robot.neutral(), robot.frame_pose(postures(robot, 20), link)[:, :3, 3]
    found = robot.inverse_kinematics({link: goals}, q0=q0, limits=limits)
    assert found.converged.all()
    for joint in robot.joints.values():
        if joint.type in ("revolute", "continuous"):
            angle, away = found.q[:, joint.q], found.q[:, joint.q] - q0[joint.q]
            nearer = angle - 2.0 * np.pi * np.sign(away)
            lower, upper = robot.lower_limits[joint.q], robot.upper_limits[joint.q]
            allowed = (lower <= nearer) & (nearer <= upper) | (not limits)
            assert not ((np.abs(away) > np.pi + 1e-9) & allowed).any()


def test_angles_are_near_the_posture_that_is_preferred(four_bar):
    wish = four_bar.neutral() + 2.0 * np.pi * np.array([1.0, -1.0, 2.0])
    found = four_bar.inverse_kinematics(
        {"rocker_end": four_bar.frame_pose(four_bar.neutral(), "rocker_end")[:3, 3]},
        q0=four_bar.neutral(), posture=wish, limits=False,
    )  # fmt: skip
    np.testing.assert_allclose(found.q, wish, atol=1e-6)


def test_out_of_reach_where_other_joints_cannot_follow_in_minimal_coordinates():
    residuals = []
    for coordinates in ("tree", "minimal"):
        motors = {"left_drive": rd.Actuator(), "left_elbow": rd.Actuator()}
        robot = rd.load("five_bar", coordinates=coordinates, actuators=motors)
        point = robot.frame_pose(robot.neutral(), "right_rod")[:3, 3]
        with pytest.warns(ConvergenceWarning):
            found = robot.inverse_kinematics(
                {"right_rod": point + np.outer([0.01, 0.2], [1, 0, 0])}
            )
        residuals.append(found.residual)
    np.testing.assert_allclose(*residuals, rtol=1e-3)
