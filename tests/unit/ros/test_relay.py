"""Relay of joint states, without ROS: what is measured of some joints, completed to all."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mimic_gripper import GRIPPER

import robodyn as rd
from robodyn.description import Joint, Link, Loop, Pose
from robodyn.ros import JointStateContent, Relay
from robodyn.ros.states.estimate import Estimator
from robodyn.urdf import write


def state(positions, velocity=(), effort=(), stamp=(1, 0)):
    return JointStateContent(stamp, tuple(positions), [*positions.values()], velocity, effort)


def by_name(found):
    return dict(zip(found.state.name, found.state.position.tolist(), strict=True))


def motors_at(relay, t, amplitude=0.03):
    """Motors on their way, and their speeds."""
    names, q = relay.names, relay.robot.neutral()
    phases = np.arange(1, len(names.motors) + 1)
    start = np.array([q[names.coordinate(n)] for n in names.motors])
    x = start + amplitude * (np.sin(phases * t + phases) - np.sin(phases))
    return dict(zip(names.motors, x.tolist(), strict=True)), amplitude * phases * np.cos(
        phases * t + phases
    )


def robot_of(name):
    name, _, form = name.partition(" ")
    return rd.load(name, coordinates=form or "tree")


# -- what is answered -----------------------------------------------------------------------------


#: `make test` leaves the larger ones out.
ROBOTS = ["four_bar", "five_bar", "puma560", "palletizer", "palletizer minimal"]
ROBOTS += ["delta", "stewart", "excavator", "stephenson"]


@pytest.mark.parametrize("name", ROBOTS)
def test_answers_of_a_motion(name):
    """All joints as `assemble` has them, poses, velocities as differences, loads."""
    relay = Relay(robot_of(name))
    robot, names, near = relay.robot, relay.names, relay.robot.neutral()
    times = np.linspace(0.0, 1.0, 21)
    step = 1e-4
    for t in times:
        before, found, after = (
            relay.complete(state(*motors_at(relay, x), np.ones(len(names.motors))))
            for x in (t - step, t, t + step)
        )
        assert not found.remarks
        goal = found.q.copy()
        for joint, x in motors_at(relay, t)[0].items():
            goal[names.coordinate(joint)] = x
            assert by_name(found)[joint] == x
        near = robot.assemble(goal, hold=names.motors, near=near)
        np.testing.assert_allclose(robot.difference(near, found.q), 0.0, atol=1e-9)
        places = robot.joint_positions(near)
        for joint, x in by_name(found).items():
            if joint in places:
                assert x == pytest.approx(float(places[joint]), abs=1e-9)
        for (parent, child), pose in zip(relay.links, found.poses, strict=True):
            X = robot.frame_pose(found.q, child, relative_to=parent)
            turn = Rotation.from_quat(pose[3:]).as_matrix()
            np.testing.assert_allclose(pose[:3], X[:3, 3], atol=1e-12)
            np.testing.assert_allclose(turn, X[:3, :3], atol=1e-12)
        slope = (after.state.position - before.state.position) / (2.0 * step)
        np.testing.assert_allclose(found.state.velocity, slope, atol=1e-6)
    tau = np.zeros(robot.nv)
    tau[[names.speed(n) for n in names.motors]] = 1.0
    a = robot.forward_dynamics(found.q, found.v, tau)
    expected = robot.joint_wrenches(found.q, found.v, a)
    for joint, wrench in found.wrenches().items():
        np.testing.assert_allclose(wrench, expected[joint], rtol=1e-8, atol=1e-7)


def test_each_link_has_a_pose_in_the_one_before():
    relay = Relay(rd.load("four_bar"))
    assert {child for _, child in relay.links} < {*relay.robot.link_names}
    assert len({child for _, child in relay.links}) == 3  # the pin that is cut has none


def test_names_come_in_any_order_which_may_change():
    relay, rng = Relay(rd.load("five_bar")), np.random.default_rng(0)
    for t in np.linspace(0.0, 1.0, 10):
        positions, speeds = motors_at(relay, t)
        whole = relay.complete(state(positions, speeds))
        order = rng.permutation(len(positions))
        some = {[*positions][k]: [*positions.values()][k] for k in order}
        again = relay.complete(state(some, speeds[order]))
        np.testing.assert_allclose(again.state.position, whole.state.position, atol=1e-12)
        np.testing.assert_allclose(again.state.velocity, whole.state.velocity, atol=1e-12)


def test_any_joints_that_determine_the_others_may_be_measured():
    robot = rd.load("four_bar", coordinates="minimal")
    relay, driven = Relay(robot), Relay(robot)
    for x in np.linspace(0.0, 0.6, 10):
        wanted = driven.complete(state({"crank_drive": x}))
        found = relay.complete(state({"crank_pin": by_name(wanted)["crank_pin"]}))
        np.testing.assert_allclose(found.state.position, wanted.state.position, atol=1e-9)
    every = relay.complete(state(by_name(wanted)))
    np.testing.assert_allclose(every.state.position, wanted.state.position, atol=1e-9)


@pytest.mark.parametrize("cut", ["crank_pin", "rocker_pin"])
def test_turns_are_counted_at_all_joints(cut):
    """The pin of a crank turns with it, whether it has a coordinate or a loop is cut there."""
    text = write(rd.load("four_bar").mechanism)
    first = text.index('<joint name="crank_pin"')
    end = text.index("</joint>", first) + len("</joint>")
    if cut == "crank_pin":  # the joint that gives a link a second parent is the one to cut
        text = text[:first] + text[end:].replace("</robot>", text[first:end] + "</robot>")
    relay = Relay(rd.load(text))
    assert [x.name for x in relay.robot.loops] == [cut]
    angles = np.linspace(0.0, 10.0 * np.pi, 400)
    found = [relay.complete(state({"crank_drive": x})) for x in angles]
    pins = np.array([by_name(x)["crank_pin"] for x in found])
    assert pins[-1] - pins[0] == pytest.approx(-10.0 * np.pi, abs=1e-9)
    assert np.abs(np.diff(pins)).max() < 0.5


def test_mimic_joints_are_told_and_tell():
    relay = Relay(rd.load(GRIPPER))
    found = relay.complete(state({"a": 0.3}, [2.0], [5.0]))
    assert by_name(found) == pytest.approx({"a": 0.3, "b": -0.1})
    np.testing.assert_allclose(found.state.velocity, [2.0, -4.0])
    found = relay.complete(state({"b": -0.1}, [-4.0]))
    assert by_name(found) == pytest.approx({"a": 0.3, "b": -0.1})
    with pytest.raises(rd.AssemblyError, match=r"b was measured 0\.4 "):
        relay.complete(state({"a": 0.3, "b": 0.3}))


def test_efforts_of_mimic_joints_act_on_those_that_they_follow():
    relay = Relay(rd.load(GRIPPER))
    found = relay.complete(state({"a": 0.3, "b": -0.1}, [0.0, 0.0], [5.0, 1.0]))
    np.testing.assert_array_equal(found.state.effort, [5.0, 1.0])
    np.testing.assert_allclose(relay.forces(found.q, found.state.effort), [5.0 - 2.0])


def test_locked_joints_stand_still():
    robot = rd.load("puma560").with_(locked={"joint3": 0.4})
    relay = Relay(robot)
    positions = dict.fromkeys(robot.joint_names, 0.1)
    found = relay.complete(state({**positions, "joint3": 0.7}))
    assert "joint3" in found.remarks["fixed"] and "joint3" not in found.state.name
    assert ("link2", "link3") not in relay.links
    with_it = relay.robot.frame_pose(found.q, "flange")
    q = np.insert(found.q, 2, 0.4)
    np.testing.assert_allclose(with_it, rd.load("puma560").frame_pose(q, "flange"), atol=1e-12)


def test_a_linkage_without_a_program_of_corrections_is_followed_by_searches(monkeypatch):
    messages = [state({"crank_drive": x}, [1.0]) for x in np.linspace(0.0, 3.0, 10)]
    relay = Relay(rd.load("four_bar"))
    expected = [relay.complete(message) for message in messages]
    monkeypatch.setattr(Estimator, "_corrections", lambda self, speeds: None)
    relay = Relay(rd.load("four_bar"))
    for message, wanted in zip(messages, expected, strict=True):
        found = relay.complete(message)
        assert not found.remarks
        np.testing.assert_allclose(found.state.position, wanted.state.position, atol=1e-9)
        np.testing.assert_allclose(found.state.velocity, wanted.state.velocity, atol=1e-9)


def test_a_robot_without_joints():
    relay = Relay(rd.load('<robot name="stone"><link name="stone"/></robot>'))
    relay.prepare(None)
    found = relay.complete(state({}, [], []))
    assert found.state.name == () and found.poses.shape == (0, 7)
    assert relay.robot.joint_wrenches([], [], tau=[])["base"].shape == (6,)


# -- loads ----------------------------------------------------------------------------------------


def test_loads_need_efforts_of_all_motors_and_velocities():
    relay = Relay(rd.load("five_bar"))
    positions, speeds = motors_at(relay, 0.5)
    left, _ = positions
    for effort, told in (([], "any joint"), ([1.0, np.nan], "right_drive")):
        found = relay.complete(state(positions, speeds, effort))
        with pytest.raises(rd.RobodynError, match=f"efforts of {told}"):
            found.wrenches()
    found = relay.complete(state(positions, (), [1.0, 1.0]))
    with pytest.raises(rd.RobodynError, match="velocities"):
        found.wrenches()
    whole = relay.complete(state(positions, speeds)).state
    some = [whole.name.index(x) for x in ("left_drive", "left_elbow")]
    passive = {whole.name[k]: whole.position[k] for k in some}
    found = relay.complete(state(passive, whole.velocity[some], [1.0, 0.0]))
    with pytest.raises(rd.RobodynError, match="efforts of right_drive"):
        found.wrenches()
    assert left == "left_drive"


# -- what no message tells ------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["floating", "moving"])
def test_of_a_base_that_moves_poses_begin_there(base):
    robot = rd.load("puma560", base=base)
    relay = Relay(robot)
    (said,) = relay.untold
    assert "'base'" in said
    n = len(rd.load("puma560").joint_names)
    positions = {f"joint{k + 1}": 0.1 * k for k in range(n)}
    found = relay.complete(state(positions, np.zeros(n), np.zeros(n)))
    assert by_name(found) == positions
    fixed = Relay(rd.load("puma560"))
    assert relay.links == fixed.links
    np.testing.assert_allclose(found.poses, fixed.complete(state(positions)).poses, atol=1e-12)
    with pytest.raises(rd.RobodynError, match="which no JointState tells"):
        found.wrenches()


def test_a_ball_joint_of_a_tree_has_no_pose():
    relay = Relay(rd.load("prosthesis"))
    assert "'shoulder'" in relay.untold[0]
    assert "upper_arm" not in {child for _, child in relay.links}
    found = relay.complete(state({"elbow": 0.1, "wrist[0]": 0.2, "wrist[1]": 0.3}))
    assert by_name(found) == {"elbow": 0.1, "wrist[0]": 0.2, "wrist[1]": 0.3}


def test_a_robot_that_depends_on_time_is_refused():
    clock = rd.Constraint("clock", lambda q, t: q[0] - 0.3 * t, "crank_drive")
    with pytest.raises(rd.SettingsError, match="depends on time"):
        Relay(rd.load("four_bar", constraints=[clock]))


# -- messages that are wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "told", "message"),
    [
        (rd.UnknownNameError, "right_drive", state({"left_drive": 0.0})),
        (rd.UnknownNameError, "1 of these determine", state({"left_drive": 0.0})),
        (rd.UnknownNameError, "left_drive", state({})),
        (rd.UnknownNameError, "left_drive", state({"left_drive": np.nan, "right_drive": 0.0})),
        (rd.ShapeError, "not finite", state({"left_drive": np.inf, "right_drive": 0.0})),
        (rd.ShapeError, "2 names", JointStateContent((1, 0), ("left_drive", "x"), [0.0], [], [])),
        (rd.ShapeError, "2 names", state({"left_drive": 0.0, "right_drive": 0.0}, [0.0])),
        (rd.ShapeError, "2 names", state({"left_drive": 0.0, "right_drive": 0.0}, [], [0.0])),
        (rd.ShapeError, "named twice: left_drive",
         JointStateContent((1, 0), ("left_drive",) * 2, [0.0, 0.1], [], [])),
        (rd.AssemblyError, "tool_pin was measured 1 ",
         state({"left_drive": 0.0, "right_drive": 0.0, "tool_pin": 1.0})),
        (rd.AssemblyError, "left_elbow was measured 0.7 ",
         state({"left_drive": 0.0, "right_drive": 0.0, "left_elbow": 0.7})),
        (rd.AssemblyError, "beyond 1e+06", state({"left_drive": 0.0, "right_drive": 1e300})),
    ],
)  # fmt: skip
def test_messages_that_are_refused(error, told, message):
    """The next good one is answered as if nothing had been."""
    relay = Relay(rd.load("five_bar"))
    good, speeds = motors_at(relay, 0.5)
    before = relay.complete(state(good, speeds)).state
    with pytest.raises(error) as caught:
        relay.complete(message)
    assert told in str(caught.value)
    after = relay.complete(state(good, speeds)).state
    np.testing.assert_allclose(after.position, before.position, atol=1e-12)
    np.testing.assert_allclose(after.velocity, before.velocity, atol=1e-12)


@pytest.mark.slow
def test_a_message_that_opens_the_loops_names_joint_and_gap_and_is_not_answered():
    relay = Relay(rd.load("excavator"))
    good, _ = motors_at(relay, 0.0)
    first = relay.complete(state(good)).state
    told = r"do not close: 'boom_piston_pin' is off by .* m"
    for far in (3.0, 3.0, 3.01):  # the same one is not looked for again at length
        with pytest.raises(rd.AssemblyError, match=told):
            relay.complete(state({**good, "boom_cylinder": far}))
    again = relay.complete(state(good))
    assert not again.remarks
    np.testing.assert_allclose(again.state.position, first.position, atol=1e-9)


def test_another_branch_is_told_of_and_found_by_a_passive_joint(four_bar):
    relay = Relay(four_bar)
    first = relay.complete(state({"crank_drive": 0.5}))
    other = four_bar.assemble([0.5, 1.5, -2.5], hold=["crank_drive"])
    assert abs(other[2] - by_name(first)["rocker_pivot"]) > 1.0
    found = relay.complete(state({"crank_drive": 0.5, "rocker_pivot": other[2] + 0.01}))
    assert "another way" in found.remarks["branch"]
    np.testing.assert_allclose(four_bar.difference(other, found.q), 0.0, atol=1e-9)
    again = relay.complete(state({"crank_drive": 0.6}))
    assert not again.remarks
    assert by_name(again)["rocker_pivot"] == pytest.approx(other[2], abs=0.2)


def test_the_branch_of_the_first_message_may_be_told(four_bar):
    other = four_bar.assemble([0.5, 1.5, -2.5], hold=["crank_drive"])
    found = Relay(four_bar).complete(state({"crank_drive": 0.5, "rocker_pivot": other[2]}))
    assert not found.remarks
    np.testing.assert_allclose(four_bar.difference(other, found.q), 0.0, atol=1e-9)


def test_what_is_wrong_with_a_message_that_is_answered():
    relay = Relay(rd.load("five_bar"))
    good, speeds = motors_at(relay, 0.5)
    found = relay.complete(state({**good, "knee": 0.0, "tool": np.nan}, stamp=(5, 0)))
    assert found.remarks["unknown"] == "not of this robot: knee, tool"
    assert "tool" in found.remarks["nan"]
    late = relay.complete(state(good, stamp=(4, 500_000_000)))
    assert late.state.stamp == (4, 500_000_000)
    assert "0.5 s before" in late.remarks["late"]
    assert not relay.complete(state(good, stamp=(4, 500_000_000))).remarks
    assert "stamp" in Relay(rd.load("five_bar")).complete(state(good, stamp=(0, 0))).remarks
    lost = relay.complete(state(good, [speeds[0], np.nan], stamp=(6, 0)))
    assert "velocities" in lost.remarks["velocity"] and not lost.state.velocity.size
    passive = {**good, "left_elbow": by_name(found)["left_elbow"]}
    told = relay.complete(state(passive, [*speeds, np.nan], stamp=(7, 0)))
    assert not told.remarks and len(told.state.velocity) == len(told.state.name)


def test_without_velocities_none_are_told():
    relay = Relay(rd.load("five_bar"))
    found = relay.complete(state(motors_at(relay, 0.5)[0]))
    assert found.v is None and not found.state.velocity.size and not found.state.effort.size


def test_where_two_branches_meet_no_velocities_of_others_are_told():
    """A parallelogram in one line: the speed of its crank leaves those of the others open."""
    body = rd.Inertia(1.0, Pose((0.1, 0.0, 0.0)), ixx=0.01, iyy=0.01, izz=0.01)
    links = (Link("ground"), *(Link(name, body) for name in ("crank", "coupler", "rocker")))
    places = (("drive", "ground", "crank", 0.0), ("pin", "crank", "coupler", 0.2),
              ("pivot", "ground", "rocker", 0.4))  # fmt: skip
    joints = tuple(
        Joint(name, "continuous", parent, child, Pose((x, 0.0, 0.0)), (0.0, 1.0, 0.0))
        for name, parent, child, x in places
    )
    ends = Pose((0.4, 0.0, 0.0)), Pose((0.2, 0.0, 0.0))
    loop = Loop("end", "revolute", "coupler", "rocker", *ends, axis=(0.0, 1.0, 0.0))
    with pytest.warns(rd.errors.SingularWarning):
        relay = Relay(rd.load(rd.Mechanism("parallelogram", links, joints, loops=(loop,))))
    found = relay.complete(state({"drive": 0.3}, [1.0]))
    assert len(found.state.velocity) == 4
    flat = relay.complete(state({"drive": 0.0}, [1.0]))
    assert flat.state.velocity.size == 0 and "not determined" in flat.remarks["velocity"]


def test_a_whole_turn_in_one_message_is_a_turn_of_all():
    """Drivers that wrap angles at half a turn: the linkage is where it was."""
    relay = Relay(rd.load("four_bar"))
    there = relay.complete(state({"crank_drive": 3.1}))
    back = relay.complete(state({"crank_drive": 3.1 - 2.0 * np.pi}))
    assert not back.remarks
    np.testing.assert_allclose(back.poses, there.poses, atol=1e-9)


def test_an_angle_between_limits_may_be_wrapped_at_half_a_turn(four_bar):
    """A rocker that swings to and fro, described half a turn away from where it stands."""
    (rocker,) = (x for x in four_bar.mechanism.joints if x.name == "rocker_pivot")
    angle = four_bar.neutral()[four_bar.joints["rocker_pivot"].q][0]
    back = np.eye(4)
    back[:3, :3] = Rotation.from_rotvec((angle - np.pi) * np.array(rocker.axis)).as_matrix()
    turned = replace(rocker, origin=rd.Pose.from_matrix(rocker.origin.matrix @ back))
    joints = tuple(turned if x is rocker else x for x in four_bar.mechanism.joints)
    near = {"rocker_pivot": np.pi}
    other = rd.load(replace(four_bar.mechanism, joints=joints), near=near)
    plain, wrapped = Relay(four_bar), Relay(other)
    for x in 0.05 * np.sin(np.linspace(0.0, 2.0 * np.pi, 12)):
        told = np.remainder(x, 2.0 * np.pi) - np.pi
        found = wrapped.complete(state({"rocker_pivot": told}))
        expected = plain.complete(state({"rocker_pivot": angle + x}))
        assert not found.remarks
        crank = by_name(found)["crank_drive"]
        np.testing.assert_allclose(crank, by_name(expected)["crank_drive"], atol=1e-9)


def test_many_turns_at_the_start_are_not_walked():
    relay = Relay(rd.load("four_bar"))
    found = relay.complete(state({"crank_drive": 2000.0 * np.pi + 0.5}))
    near = Relay(rd.load("four_bar")).complete(state({"crank_drive": 0.5}))
    assert by_name(found)["crank_drive"] == 2000.0 * np.pi + 0.5
    np.testing.assert_allclose(found.poses, near.poses, atol=1e-9)
