"""Loops close the right way up, near the guess, within limits; failures say what is open."""

import dataclasses
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.description import Limits, Link, Loop, Pose
from robodyn.joints import KINDS

CUT = sorted(kind.name for kind in KINDS.values() if kind.cut is not None and kind.nv < 6)


def random_pose(rng):
    return Pose(tuple(rng.uniform(-0.5, 0.5, 3)), tuple(rng.uniform(-3, 3, 3)))


def unit(rng):
    x = rng.normal(size=3)
    return tuple(x / np.linalg.norm(x))


def start(rng):
    """Two bodies anywhere."""
    quats = Rotation.random(2, random_state=int(rng.integers(1 << 30))).as_quat()
    return np.concatenate([rng.uniform(-1, 1, 3), quats[0], rng.uniform(-1, 1, 3), quats[1]])


def two_bodies(kind, rng):
    """Two free bodies that a loop of a kind joins: every pose can be reached."""
    body = rd.Inertia.from_matrix(1.0, (0.1, 0.2, 0.3), np.diag([0.2, 0.3, 0.25]))
    joints = [
        rd.Joint(name, "floating", "base", link) for name, link in (("one", "a"), ("two", "b"))
    ]
    axis = unit(rng)
    across = np.cross(axis, unit(rng))
    numbers = {"pitch": 0.3} if kind == "helical" else {}
    numbers |= {"distance": 0.7} if kind == "distance" else {}
    loop = Loop(
        "loop", kind, "a", "b", random_pose(rng), random_pose(rng), axis,
        tuple(across / np.linalg.norm(across)), **numbers,
    )  # fmt: skip
    links = (Link("base"), Link("a", body), Link("b", body))
    return rd.load(rd.Mechanism("pair", links, tuple(joints), (loop,))), loop


def relative(robot, loop, q):
    """Position and turn of the successor's frame in the predecessor's."""
    X_WF = robot.frame_pose(q, "a") @ loop.X_predecessor.matrix
    X_WG = robot.frame_pose(q, "b") @ loop.X_successor.matrix
    X = np.linalg.inv(X_WF) @ X_WG
    return X[:3, 3], X[:3, :3]


def broken(loop, p, R):
    """How far a joint of a kind is from possible, seen from its own definition."""
    e = np.array(loop.axis)
    across = p - e * (e @ p)
    tilt = np.linalg.norm(R @ e - e)  # zero only where the axes point the same way
    turn = e @ Rotation.from_matrix(R).as_rotvec()
    ball, whole = np.linalg.norm(p), np.linalg.norm(R - np.eye(3))
    return {
        "fixed": ball + whole,
        "revolute": ball + tilt,
        "continuous": ball + tilt,
        "prismatic": np.linalg.norm(across) + whole,
        "cylindrical": np.linalg.norm(across) + tilt,
        "helical": np.linalg.norm(across) + tilt + abs(np.sin(0.5 * ((e @ p) / 0.3 - turn))),
        "planar": abs(e @ p) + tilt,
        "spherical": ball,
        "universal": ball + abs(e @ R @ np.array(loop.axis2) - e @ np.array(loop.axis2)),
        "distance": abs(np.linalg.norm(p) - loop.distance),
    }[loop.kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", CUT)
def test_both_frames_agree_as_poses(kind):
    rng = np.random.default_rng(5)
    for _ in range(4):
        robot, loop = two_bodies(kind, rng)
        for _ in range(6):
            q = robot.assemble(start(rng))
            assert broken(loop, *relative(robot, loop, q)) < 1e-9


def hinged_plates():
    """Two links that turn about the same axis of the base."""
    body = rd.Inertia.from_matrix(1.0, (0.3, 0.0, 0.0), np.eye(3))
    joints = [
        rd.Joint(f"hinge_{link}", "continuous", "base", link, axis=(0.0, 0.0, 1.0)) for link in "ab"
    ]
    links = (Link("base"), Link("a", body), Link("b", body))
    return rd.Mechanism("plates", links, tuple(joints), (Loop("weld", "fixed", "a", "b"),))


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "stephenson", "watt", "crank_slider"])
def test_the_posture_is_near_the_guess(name):
    """No angle is a whole turn from where it was guessed, unless a limit asks for it."""
    robot, rng = rd.load(name), np.random.default_rng(2)
    low, high = robot.lower_limits, robot.upper_limits
    angles = [j.q.start for j in robot.joints.values() if j.type in ("revolute", "continuous")]
    free = [k for k in angles if np.isinf(low[k]) and np.isinf(high[k])]
    for how_far in np.repeat([0.5, 6.0], 10):  # from far away the search winds joints up
        guess = robot.integrate(robot.random(rng), rng.uniform(-how_far, how_far, robot.nv))
        guess[free] += 2.0 * np.pi * rng.integers(-3, 4, len(free))
        q = robot.assemble(guess)
        assert np.abs(q - guess)[free].max(initial=0.0) < np.pi + 1e-9
        assert (low <= q).all() and (q <= high).all()


def test_held_joints_stay_within_their_limits(five_bar):
    with pytest.raises(rd.AssemblyError, match=r"'left_drive' is to be held at 3.1.*-2.8 to 2.8"):
        five_bar.assemble([3.1, 0.0, 0.0, 0.0], hold=five_bar.actuated_joints)


def far_apart():
    """A loop that cannot close: its hinge is on a wall that the links do not reach."""
    mechanism = hinged_plates()
    wall = Loop("wall", "spherical", "base", "b", Pose((2.0, 3.0, 0.0)), Pose((0.5, 0.0, 0.0)))
    return dataclasses.replace(mechanism, loops=(wall,))


def test_a_failure_says_which_loop_is_open_and_where_its_frames_stand():
    robot = rd.load(far_apart())
    with pytest.raises(rd.AssemblyError) as caught:
        robot.assemble([0.0, 0.0])
    text = str(caught.value)
    assert "'plates'" in text and "'wall' is off by" in text
    assert "on 'base' at (2, 3, 0)" in text and "on 'b' at (0.5, 0, 0)" in text
    assert f"{np.hypot(1.5, 3.0):.3g} m apart" in text


def test_a_start_is_all_that_is_needed_where_the_search_fails(monkeypatch):
    """Methods do not search again, and say what to do; with a closed posture given, they work."""
    usual = rd.load("four_bar")
    q, searches = usual.random(3), []
    v, tau = usual.consistent_velocity(q, [1.0, 0.0, 0.0]), [0.3, 0.0, 0.0]
    expected = usual.forward_dynamics(q, v, tau)

    def fail(residual, jacobian, integrate, start, **options):
        searches.append(start)
        raise rd.AssemblyError("found none", residual=residual(start), q=start)

    monkeypatch.setattr("robodyn.closed_loops.assembly.closing.assemble", fail)
    robot = rd.load("four_bar", near={"crank_drive": 1.2})
    for _ in range(3):
        with pytest.raises(rd.TopologyError, match="near="):
            robot.forward_dynamics(q, v, tau)
    once = len(searches)
    with pytest.raises(rd.TopologyError, match="near="):
        robot.inverse_dynamics(q, v, expected)
    assert len(searches) == once < 6
    given = rd.load("four_bar", near=q)
    np.testing.assert_array_equal(given.neutral(), q)
    np.testing.assert_allclose(given.forward_dynamics(q, v, tau), expected, rtol=1e-10)


SCISSORS = """<robot name="scissors"><link name="ground"/><link name="one"/><link name="shoe"/>
<link name="two"/>
<joint name="pivot" type="revolute"><parent link="ground"/><child link="one"/><axis xyz="0 -1 0"/>
<limit lower="0.1" upper="1.2"/></joint>
<joint name="slide" type="prismatic"><parent link="ground"/><child link="shoe"/><axis xyz="1 0 0"/>
<limit lower="0.5" upper="2"/></joint>
<joint name="foot" type="continuous"><parent link="shoe"/><child link="two"/><axis xyz="0 -1 0"/>
</joint>
<loop name="middle" type="revolute"><axis xyz="0 -1 0"/>
<predecessor link="one"><origin xyz="1 0 0"/></predecessor>
<successor link="two"><origin xyz="1 0 0"/></successor></loop></robot>"""


def test_a_start_beyond_limits_is_taken_within_them():
    """Bars that lie on each other close the loop as well, with the shoe beyond its limit."""
    q = rd.load(SCISSORS, near={"pivot": 0.3}).neutral()
    np.testing.assert_allclose(q, [0.3, 2.0 * np.cos(0.3), np.pi - 0.3], atol=1e-9)


def test_a_start_chooses_the_neutral_posture(four_bar):
    crank = four_bar.joint_names[0]
    other = rd.load("four_bar", near={crank: 1.2})
    assert abs(other.neutral()[0] - 1.2) < 0.5 < abs(four_bar.neutral()[0] - 1.2)
    np.testing.assert_allclose(rd.load("four_bar", near=other.neutral()).neutral(), other.neutral())
    again = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(again.neutral(), other.neutral())
    with pytest.raises(rd.UnknownNameError):
        rd.load("four_bar", near={"crnak": 1.0})
    with pytest.raises(rd.ShapeError):
        rd.load("four_bar", near=[1.0]).neutral()


@pytest.mark.parametrize("name, position", [("five_bar", -1.7), ("crank_slider", 0.4)])
def test_a_start_names_a_joint_that_is_cut(name, position):
    robot = rd.load(name)
    cut = robot.loops[0].name
    start = rd.load(name, near={cut: position})
    q = start.neutral()
    assert np.abs(robot.loop_residual(q)).max() < 1e-10
    turns = (robot.joint_positions(q)[cut] - position) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)
    again = pickle.loads(pickle.dumps(start)).neutral()  # by arc tangents of numpy
    np.testing.assert_allclose(again, q, rtol=0.0, atol=1e-14)


@pytest.mark.slow
def test_a_start_that_a_cut_joint_cannot_reach_comes_near_it(four_bar):
    """The rocker's pin of this linkage has no positions between -2.2 and -1.2, or 0.6 and 2.4."""
    cut = four_bar.loops[0].name
    for wanted, low, high in ((-1.8, -2.5, -0.9), (1.3, 0.3, 2.7)):
        q = rd.load("four_bar", near={cut: wanted}).neutral()
        assert np.abs(four_bar.loop_residual(q)).max() < 1e-10
        assert low < four_bar.joint_positions(q)[cut] < high


def test_a_start_names_cut_and_other_joints_together():
    drive, cut = "left_drive", rd.load("five_bar").loops[0].name
    robot = rd.load("five_bar", near={drive: 0.4, cut: -0.3})
    found = robot.joint_positions(robot.neutral())
    assert (float(found[drive]), float(found[cut])) == pytest.approx((0.4, -0.3), abs=1e-9)


def test_a_start_of_a_cut_joint_is_one_number_of_a_joint_that_has_one():
    cut = rd.load("four_bar").loops[0].name
    for wrong in ([0.1, 0.2], np.nan, []):
        with pytest.raises(rd.ShapeError, match=r"near\[.*expected (a finite )?number"):
            rd.load("four_bar", near={cut: wrong})
    with pytest.raises(rd.ShapeError, match="near"):
        rd.load("four_bar", near={cut: "there"})
    ball = rd.load("stewart").loops[0]
    assert ball.kind == "spherical"
    with pytest.raises(rd.UnknownNameError, match=r"or with one where it is cut.*near"):
        rd.load("stewart", near={ball.name: 0.3})


def test_a_start_gives_as_many_numbers_as_the_joint_has():
    robot, _ = two_bodies("spherical", np.random.default_rng(0))
    with pytest.raises(rd.ShapeError, match=r"near\['one'\] is .*, expected 7 numbers"):
        rd.load(robot.mechanism, near={"one": 0.1})


def test_a_hinge_within_limits():
    """The search stays within limits, and says which of them it met."""
    mechanism = hinged_plates()
    limited = tuple(
        dataclasses.replace(joint, kind="revolute", limits=Limits(low, low + 0.5))
        for joint, low in zip(mechanism.joints, (0.0, 1.0), strict=True)
    )
    with pytest.raises(rd.AssemblyError, match="at their limits there: hinge_a, hinge_b"):
        rd.load(dataclasses.replace(mechanism, joints=limited)).assemble([0.2, 1.2])


def ring(place, turn):
    """Eight hinges in a row; its last link is welded to the base half a turn from where it is."""
    body = rd.Inertia.from_matrix(1.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.2, 0.2]))
    names = ["base", *(f"link{k}" for k in range(8))]
    joints = [
        rd.Joint(
            f"joint{k}", "continuous", names[k], names[k + 1],
            origin=Pose((0.3 if k else 0.0, 0.0, 0.0)), axis=tuple(np.eye(3)["xyz".index(axis)]),
        )
        for k, axis in enumerate("zyxzyxzy")
    ]  # fmt: skip
    weld = Loop("weld", "fixed", "base", names[-1], Pose(place, turn), Pose((0.3, 0.0, 0.0)))
    links = (Link("base"), *(Link(name, body) for name in names[1:]))
    return rd.load(rd.Mechanism("ring", links, tuple(joints), (weld,))), weld


@pytest.mark.slow
@pytest.mark.parametrize("place", [(0.4, 0.3, 0.2), (-0.3, 0.2, 0.6), (0.2, -0.7, 0.1)])
@pytest.mark.parametrize("turn", [(np.pi, 0.0, 0.0), (0.0, np.pi, 0.0), (0.0, 0.0, np.pi)])
def test_frames_half_a_turn_apart_at_zero_close(turn, place):
    """Joints have to move by two or three radians; what is found is closed to rounding."""
    robot, weld = ring(place, turn)
    X_FW = np.linalg.inv(weld.X_predecessor.matrix)
    q = robot.neutral()
    X_FG = X_FW @ robot.frame_pose(q, "link7") @ weld.X_successor.matrix
    np.testing.assert_allclose(X_FG, np.eye(4), atol=1e-10)
    assert np.abs(q).max() > 2.0
    np.testing.assert_array_equal(ring(place, turn)[0].neutral(), q)


def test_what_closes_beyond_limits_only_is_told():
    """Plates half a radian apart, of which the one behind may only turn forward."""
    mechanism = hinged_plates()
    limits = Limits(0.0, 0.1), Limits(0.0, 2.0)
    weld = Loop("weld", "fixed", "a", "b", X_successor=Pose(rpy=(0.0, 0.0, 0.5)))
    joints = tuple(
        dataclasses.replace(joint, kind="revolute", limits=own)
        for joint, own in zip(mechanism.joints, limits, strict=True)
    )
    robot = rd.load(dataclasses.replace(mechanism, joints=joints, loops=(weld,)))
    told = r"without limits they close, with .*'hinge_[ab]' at .*, its limits are "
    with pytest.raises(rd.AssemblyError, match=told):
        robot.assemble([0.0, 0.2])
    with pytest.raises(rd.TopologyError, match=told):
        robot.neutral()
