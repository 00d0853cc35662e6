"""Positions and speeds of all joints: with coordinates, cut, or following others."""

import dataclasses
import math

import numpy as np
import pytest
from oracles.maximal import MaximalOracle
from scipy.spatial.transform import Rotation
from support.closed_cases import GRAVITY
from support.interpreted import interpreted
from support.loop_graphs import LOOP_KINDS, closing_loop, tree_and_posture

import robodyn as rd
from robodyn import urdf
from robodyn.joints.common.relative import quaternion_of

MOVING = [kind for kind in LOOP_KINDS if kind not in ("fixed", "distance")]


def same(kind, one, other):
    """Two positions of a joint of a kind, but for whole turns and the sign of quaternions."""
    if kind == "spherical":
        return abs(abs(one @ other) - 1.0) < 1e-12
    turns = {"prismatic": [False], "cylindrical": [False, True], "helical": [False]}
    turns |= {"planar": [False, False, True]}
    gap = np.atleast_1d(one - other)
    angle = np.array(turns.get(kind, [True] * len(gap)))
    gap = np.where(angle, np.remainder(gap + np.pi, 2.0 * np.pi) - np.pi, gap)
    return np.abs(gap).max() < 1e-9


@pytest.mark.parametrize("ends", [("link4", "link1"), ("link0", "link4")])
@pytest.mark.parametrize("kind", MOVING)
def test_a_cut_joint_is_where_the_oracle_has_it(kind, ends):
    """The oracle knows the loop as a joint with coordinates and speeds of its own."""
    rng = np.random.default_rng(MOVING.index(kind))
    tree, poses, q = tree_and_posture(rng, ("revolute", "floating", "spherical", "floating"))
    loop = closing_loop(rng, "loop", kind, ends, poses)
    robot = interpreted(dataclasses.replace(tree, loops=(loop,)), gravity=GRAVITY, rigid=True)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    oracle = MaximalOracle(robot.mechanism, GRAVITY)
    wanted_q, wanted_v = oracle.motions(q, v)[0][-1]
    assert np.abs(wanted_v).min() > 1e-3, "the joint must move"
    assert same(kind, robot.joint_positions(q)["loop"], np.squeeze(wanted_q))
    found = np.atleast_1d(robot.joint_velocities(q, v)["loop"])
    np.testing.assert_allclose(found, wanted_v, rtol=1e-9, atol=1e-10)


def test_info_of_a_joint_that_is_cut(four_bar):
    pin = four_bar.joints["rocker_pin"]
    assert pin.cut and pin.closure == "rocker_pin"
    assert (pin.parent, pin.child, pin.type) == ("coupler", "rocker_end", "continuous")
    assert not four_bar.joints["crank_pin"].cut and repr(pin).endswith("cut>")


def test_minimal_coordinates_know_all_joints():
    robot = rd.load("four_bar", coordinates="minimal")
    tree, q, v = robot.tree_form, robot.neutral() + 0.2, np.array([1.5])
    one, other = robot.joint_positions(q), tree.joint_positions(robot.expand(q))
    assert one.keys() == other.keys() == {j for j in robot.joints if robot.joints[j].kind.nv}
    assert all(np.allclose(one[name], other[name]) for name in one)
    speeds = robot.joint_velocities(q, v)
    wanted = tree.joint_velocities(robot.expand(q), robot.expand_velocity(q, v))
    assert all(np.allclose(speeds[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize(
    ("lower", "upper", "turn"),
    [(-1.0, 1.0, 0), (3.0, 6.0, 1), (-6.5, -3.0, -1), (5.0, math.inf, 1), (-math.inf, -4.0, -1)],
)
def test_a_cut_joint_is_read_in_the_turn_of_its_limits(lower, upper, turn):
    mechanism = urdf.load_mechanism("four_bar")
    limits = rd.Limits(lower, upper)
    joints = tuple(
        dataclasses.replace(j, kind="revolute", limits=limits) if j.name == "rocker_pin" else j
        for j in mechanism.joints
    )
    robot, free = rd.load(dataclasses.replace(mechanism, joints=joints)), rd.load("four_bar")
    assert [cut.name for cut in robot.loops] == ["rocker_pin"]
    q = free.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
    angle = float(free.joint_positions(q)["rocker_pin"])
    position = float(robot.joint_positions(q)["rocker_pin"])
    assert position == pytest.approx(angle + 2.0 * math.pi * turn)


def test_quaternions_of_half_turns():
    rng = np.random.default_rng(1)
    vectors = np.concatenate([rng.normal(size=(20, 3)), math.pi * np.eye(3), np.zeros((1, 3))])
    R = Rotation.from_rotvec(vectors)
    X = np.zeros((len(vectors), 4, 4))
    X[:, :3, :3] = R.as_matrix()
    found = quaternion_of(X)
    assert (found[:, 3] >= 0.0).all()
    np.testing.assert_allclose(Rotation.from_quat(found).as_matrix(), X[:, :3, :3], atol=1e-12)
    np.testing.assert_array_equal([quaternion_of(x) for x in X], found)
