"""Contents of ROS messages and trajectories, without ROS."""

import contextlib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mimic_gripper import GRIPPER
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.ros import StateNames, TrajectoryContent, TrajectoryPoint, trajectory_paths
from robodyn.ros.states.estimate import Estimator
from robodyn.ros.states.frames import description, multi_joint, transforms
from robodyn.ros.states.messages import wrench_content


@pytest.mark.parametrize("name", rd.robots())
def test_a_state_goes_there_and_back(name):
    robot = rd.load(name)
    names = StateNames(robot)
    q, v = robot.random(0), np.arange(robot.nv, dtype=float)
    content = names.content(q, v, v, 1_500_000_001)
    assert content.stamp == (1, 500_000_001)
    order = np.random.default_rng(0).permutation(len(content.name))
    read = names.read(
        [content.name[k] for k in order], content.position[order], content.velocity[order]
    )
    known = ~np.isnan(read.q)
    np.testing.assert_array_equal(read.q[known], q[known])
    np.testing.assert_array_equal(read.v[~np.isnan(read.v)], v[~np.isnan(read.v)])
    assert read.missing == names.multi
    assert read.unknown == ()


def test_mimic_joints_have_positions_and_no_effort():
    robot = rd.load(GRIPPER)
    names = StateNames(robot)
    content = names.content([0.3], [2.0], [5.0])
    assert content.name == ("a", "b")
    np.testing.assert_allclose(content.position, [0.3, -0.1])
    np.testing.assert_allclose(content.velocity, [2.0, -4.0])
    np.testing.assert_allclose(content.effort, [5.0, 0.0])
    read = names.read(["b"], [-0.1], [-4.0])
    np.testing.assert_allclose(read.q, [0.3])
    np.testing.assert_allclose(read.v, [2.0])
    assert read.missing == ()


def test_continuous_joints_are_angles():
    names = StateNames(rd.load("satellite"))
    content = names.content(np.full(4, 7.0), np.zeros(4), np.zeros(4))
    np.testing.assert_array_equal(content.position, 7.0)


@pytest.mark.parametrize(
    ("name", "position", "velocity"),
    [
        (["joint1"], [1.0, 2.0], []),
        (["joint1"], [1.0], [1.0, 2.0]),
        (["joint1", "joint1"], [1.0, 1.0], []),
        (["joint1"], [np.nan], []),
        (["joint1"], [1.0], [np.inf]),
        (["joint1"], ["far"], []),
    ],
)
def test_joint_states_that_make_no_sense(name, position, velocity):
    with pytest.raises(rd.ShapeError):
        StateNames(rd.load("puma560")).read(name, position, velocity)


@pytest.mark.parametrize("kind", ["planar", "spherical", "floating"])
def test_poses_across_joints_begin_at_their_origins(kind):
    """Which may stand anywhere in the link before, turned in any way."""
    rng = np.random.default_rng(2)
    robot = rd.load(random_mechanism(rng, ["revolute", kind, "revolute"]))
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    (joint,) = (j for j in robot.mechanism.joints if j.kind == kind)
    pose, twist = multi_joint(robot, joint.name, q, v)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_quat(pose.rotation).as_matrix(), pose.translation
    parent = robot.frame_pose(q, joint.parent)
    np.testing.assert_allclose(
        parent @ joint.origin.matrix @ X, robot.frame_pose(q, joint.child), atol=1e-12
    )
    at_rest = robot.neutral()
    X0, _ = multi_joint(robot, joint.name, at_rest, v)
    np.testing.assert_allclose(X0.translation, 0.0, atol=1e-12)
    assert abs(X0.rotation[3]) == pytest.approx(1.0)
    np.testing.assert_allclose(
        twist, robot.frame_twist(q, v, joint.child, relative_to=joint.parent), atol=1e-12
    )


def test_missing_and_unknown_names_are_told():
    read = StateNames(rd.load("puma560")).read(["joint1", "knee"], [0.1, 0.2])
    assert read.missing == tuple(f"joint{k}" for k in range(2, 7))
    assert read.unknown == ("knee",)


def test_wrenches_stand_in_the_frame_of_the_child(puma):
    content = wrench_content(puma, "joint2", np.arange(6.0), (0, 10))
    assert content.frame_id == puma.joints["joint2"].child
    assert content.torque.tolist() == [3.0, 4.0, 5.0]
    with pytest.raises(rd.ShapeError):
        wrench_content(puma, "joint2", np.arange(3.0), (0, 0))


def test_transforms_compose_to_the_pose_of_the_tip(palletizer):
    q = palletizer.random(1)
    found = {t.child: t for t in transforms(palletizer, q)}
    from scipy.spatial.transform import Rotation

    for link in found:
        X, at = np.eye(4), link
        while at in found:
            step = np.eye(4)
            step[:3, :3] = Rotation.from_quat(found[at].rotation).as_matrix()
            step[:3, 3] = found[at].translation
            X, at = step @ X, found[at].parent
        np.testing.assert_allclose(X, palletizer.frame_pose(q, link), atol=1e-12)


@pytest.mark.parametrize("name", rd.robots())
def test_the_description_is_a_tree_with_the_same_joints(name):
    robot = rd.load(name)
    tree = rd.load(description(robot))
    assert tree.nc == 0
    assert tree.joint_names == robot.joint_names
    assert rd.load(description(robot, "source")).nc == robot.nc


def test_a_joint_that_closes_a_loop_with_a_motor_is_not_in_the_tree():
    from robodyn.ros.states.frames import transforms

    joints = ("crank_drive", "crank_pin", "rocker_pivot", "rocker_pin")
    robot = rd.load("four_bar", actuators={name: rd.Actuator() for name in joints})
    tree = rd.load(description(robot))
    assert tree.nc == 0 and {*tree.joint_names} == {*joints} - {"rocker_pin"}
    children = [transform.child for transform in transforms(robot, robot.neutral())]
    assert len({*children}) == len(children)


def test_a_transmission_is_in_the_tree_if_all_of_its_joints_are():
    kept = rd.Transmission.differential("kept", ("crank_pin", "rocker_pivot"))
    cut = rd.Transmission.differential("cut", ("crank_drive", "rocker_pin"))
    told = description(rd.load("four_bar", transmissions=[kept, cut]))
    assert rd.load(told).transmissions == (kept,) and "'cut'" not in told and '"cut"' not in told


@pytest.mark.parametrize("options", [{}, {"coordinates": "minimal"}])
def test_a_state_tells_of_joints_without_coordinates(options):
    robot, drawn = rd.load("four_bar", **options), rd.load("four_bar")
    names = StateNames(robot)
    tree = robot.tree_form
    q = tree.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
    v = tree.consistent_velocity(q, [1.0, 0.0, 0.0], hold=["crank_drive"])
    own = [tree.joints[name] for name in robot.joint_names]
    q_own = np.concatenate([q[joint.q] for joint in own])
    v_own = np.concatenate([v[joint.v] for joint in own])
    found = names.content(q_own, v_own, np.ones(robot.nv))
    assert sorted(found.name) == ["crank_drive", "crank_pin", "rocker_pin", "rocker_pivot"]
    positions, speeds = drawn.joint_positions(q), drawn.joint_velocities(q, v)
    for name, x, w, force in zip(
        found.name, found.position, found.velocity, found.effort, strict=True
    ):
        assert x == pytest.approx(float(positions[name]))
        assert w == pytest.approx(float(speeds[name]))
        assert force == (1.0 if name in robot.joint_names else 0.0)
    again = names.read(found.name, found.position, found.velocity)
    assert not again.unknown and not again.missing
    np.testing.assert_allclose(again.q, q_own)


# -- trajectories ---------------------------------------------------------------------------------


def points(*rows):
    return tuple(TrajectoryPoint(*row) for row in rows)


def start():
    robot = rd.load("puma560")
    return robot, robot.neutral(), np.zeros(6)


def test_positions_make_a_smooth_path_that_ends_at_rest():
    content = TrajectoryContent(
        ("joint3", "joint1"), points((1.0, (0.2, 0.3)), (2.0, (0.4, 0.1)), (3.0, (0.1, 0.2)))
    )
    paths, duration = trajectory_paths(*[start()[0], content, *start()[1:]])
    assert duration == 3.0
    for name, column in (("joint3", 0), ("joint1", 1)):
        path = paths[name]
        path.check(np.linspace(0.0, 3.0, 40), name)
        for point in content.points[:-1]:
            assert path(point.time)[0] == pytest.approx(point.positions[column])
        end = content.points[-1].positions[column]
        np.testing.assert_allclose(path(9.0), [end, 0.0, 0.0], rtol=1e-12)


@pytest.mark.parametrize("count", [1, 2])
def test_velocities_and_accelerations_are_met(count):
    rates = ((0.3,), (0.4,))[:count]
    rests = ((0.0,), (0.0,))[:count]
    content = TrajectoryContent(("joint1",), points((1.0, (0.2,), *rates), (2.0, (0.3,), *rests)))
    paths, _ = trajectory_paths(*[start()[0], content, *start()[1:]])
    found = paths["joint1"](1.0)
    np.testing.assert_allclose(found[: 1 + count], [0.2, 0.3, 0.4][: 1 + count], atol=1e-12)


@pytest.mark.parametrize(
    ("error", "names", "rows"),
    [
        (rd.UnknownNameError, ("knee",), [(1.0, (0.1,))]),
        (rd.ShapeError, ("joint1", "joint1"), [(1.0, (0.1, 0.1))]),
        (rd.ShapeError, ("joint1",), []),
        (rd.ShapeError, ("joint1",), [(1.0, (0.1, 0.2))]),
        (rd.ShapeError, ("joint1",), [(1.0, (0.1,)), (1.0, (0.2,))]),
        (rd.ShapeError, ("joint1",), [(-1.0, (0.1,))]),
        (rd.ShapeError, ("joint1",), [(float("nan"), (0.1,))]),
        (rd.ShapeError, ("joint1",), [(1.0, (float("nan"),))]),
        (rd.ShapeError, ("joint1",), [(0.0, (0.0,))]),
        (rd.ShapeError, ("joint1",), [(1.0, (0.1,), (), (0.1,))]),
        (rd.ShapeError, ("joint1",), [(1.0, (0.1,), (0.1,)), (2.0, (0.1,))]),
        (rd.PathError, ("joint1",), [(0.0, (0.5,)), (1.0, (0.5,))]),
        (rd.PathError, ("joint1",), [(1.0, (9.0,))]),
        (rd.PathError, ("joint1",), [(0.01, (1.0,))]),
        (rd.PathError, ("joint1",), [(1.0, (0.1,), (0.5,))]),
    ],
)
def test_trajectories_that_make_no_sense(error, names, rows):
    robot, q, v = start()
    with pytest.raises(error):
        trajectory_paths(robot, TrajectoryContent(names, points(*rows)), q, v)


# -- loops from what was measured -----------------------------------------------------------------


def test_a_linkage_is_assembled_from_its_motors(palletizer):
    names = StateNames(palletizer)
    q = palletizer.assemble(palletizer.neutral() + 0.1, hold=palletizer.actuated_joints)
    v = palletizer.consistent_velocity(q, np.ones(palletizer.nv), hold=palletizer.actuated_joints)
    content = names.content(q, v, 0.0 * v)
    rows = [names.names.index(n) for n in palletizer.actuated_joints]
    state = Estimator(names).complete(
        names.read(palletizer.actuated_joints, content.position[rows], content.velocity[rows])
    )
    np.testing.assert_allclose(state.q, q, atol=1e-9)
    np.testing.assert_allclose(state.v, v, atol=1e-9)


def test_passive_joints_may_take_the_place_of_a_motor_and_noise_is_closed(palletizer):
    names = StateNames(palletizer)
    q = palletizer.neutral()
    content = names.content(q, np.zeros(palletizer.nv), np.zeros(palletizer.nv))
    keep = [k for k, name in enumerate(names.names) if name != "crank_drive"]
    noisy = content.position[keep] + 1e-4 * np.random.default_rng(0).normal(size=len(keep))
    read = names.read([names.names[k] for k in keep], noisy)
    state = Estimator(names).complete(read)
    assert np.abs(palletizer.loop_residual(state.q)).max() < 1e-9
    np.testing.assert_allclose(state.q, q, atol=2e-3)


def test_what_nothing_determines_is_asked_for():
    names = StateNames(rd.load("palletizer"))
    with pytest.raises(rd.UnknownNameError, match="shoulder"):
        Estimator(names).complete(names.read(["waist"], [0.0]))


@pytest.mark.parametrize("name", ["palletizer", "delta", "five_bar"])
@pytest.mark.parametrize("leap", [0.5, 1.0, -1.0, 3.0, 1e300])
def test_a_leap_of_the_motors_leaves_the_linkage_on_its_branch(name, leap):
    robot = rd.load(name)
    names, estimator, q = StateNames(robot), Estimator(StateNames(robot)), robot.neutral()
    motors = np.array([q[names.coordinate(n)] for n in names.motors])
    with contextlib.suppress(rd.AssemblyError):
        estimator.complete(names.read(names.motors, motors + leap))
    back = estimator.complete(names.read(names.motors, motors)).q
    np.testing.assert_allclose(robot.difference(q, back), 0.0, atol=1e-9)


def test_a_whole_turn_of_the_crank_winds_up_the_joint_that_was_measured_as_before(four_bar):
    names, estimator = StateNames(four_bar), Estimator(StateNames(four_bar))
    q = four_bar.neutral()
    told = np.array([q[names.coordinate(n)] for n in names.names])
    estimator.complete(names.read(names.names, told))
    told[names.names.index("crank_drive")] += 2.0 * np.pi
    found = estimator.complete(names.read(names.names, told)).q
    turns = (found - q) / (2.0 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)
    assert turns[names.coordinate("crank_drive")] == pytest.approx(1.0)
    assert turns[names.coordinate("crank_pin")] == pytest.approx(-1.0)


def test_measured_joints_that_contradict_the_loops_are_not_used():
    robot = rd.load("palletizer")
    names, estimator, q = StateNames(robot), Estimator(StateNames(robot)), robot.neutral()
    told = np.array([q[names.coordinate(n)] for n in names.names])
    elbow = names.names.index("elbow")
    told[elbow] += 2.0 * np.pi  # the same angle
    np.testing.assert_allclose(
        robot.loop_residual(estimator.complete(names.read(names.names, told)).q), 0.0, atol=1e-9
    )
    told[elbow] += 0.5
    with pytest.raises(rd.AssemblyError, match=r"elbow was measured 0\.5 "):
        estimator.complete(names.read(names.names, told))
