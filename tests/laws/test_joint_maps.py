"""Joints that their user gives as a map from coordinates to poses."""

import pickle

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism
from test_joint_kinds import Checked, check_dynamics, check_forces, close

import robodyn as rd
from robodyn.description import Joint
from robodyn.joints.joint_map import JointMap
from robodyn.urdf import write


def turn(q, p=(0.0, 0.0, 0.0)):
    c, s = rd.cos(q), rd.sin(q)
    return [[c, -s, 0, p[0]], [s, c, 0, p[1]], [0, 0, 1, p[2]], [0, 0, 0, 1]]


def cam(q):
    """Along an ellipse, turning by the sine of what it has gone."""
    return turn(0.7 * np.sin(q[0]), (0.4 * rd.cos(q[0]), 0.2 * rd.sin(q[0]), 0.1 * q[0] ** 2))


def two(q):
    """A slide along a line that turns about x, curved."""
    c, s = np.cos(q[1]), np.sin(q[1])
    return np.array([[1, 0, 0, q[0]], [0, c, -s, c * q[0]], [0, s, c, s + q[0] * q[1]]])


def swap(mechanism, name, map_):
    return rd.load(mechanism, joint_maps={name: map_}).mechanism


@pytest.mark.parametrize(("n", "function"), [(1, cam), (2, two)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_laws_hold_for_any_map(n, function, place):
    mechanism = random_mechanism(np.random.default_rng(place), ["revolute"] * 3)
    c = Checked(swap(mechanism, f"joint{place}", JointMap(n, function)), 5)
    assert c.robot.nv == 2 + n
    check_dynamics(c)
    check_forces(c)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical"])
def test_a_map_of_a_known_kind_is_that_kind(kind):
    maps = {
        "revolute": JointMap(1, lambda q: turn(q[0])),
        "prismatic": JointMap(1, lambda q: turn(0.0, (0.0, 0.0, q[0]))),
        "cylindrical": JointMap(2, lambda q: turn(q[1], (0.0, 0.0, q[0]))),
    }
    rng = np.random.default_rng(3)
    given = random_mechanism(rng, ["revolute", kind, "spherical"])
    joints = tuple(
        Joint(j.name, j.kind, j.parent, j.child, j.origin, (0.0, 0.0, 1.0)) for j in given.joints
    )
    given = type(given)(given.name, given.links, joints)
    a, b = rd.load(given), rd.load(given, joint_maps={"joint1": maps[kind]})
    q = a.random(rng)
    v, acceleration = rng.normal(size=(2, a.nv))
    for name, arrays in (
        ("inverse_dynamics", (q, v, acceleration)),
        ("forward_dynamics", (q, v, acceleration)),
        ("coriolis_matrix", (q, v)),
        ("momentum", (q, v)),
    ):
        close(getattr(b, name)(*arrays), getattr(a, name)(*arrays), 1e-11)


def test_a_map_belongs_to_a_joint_of_that_kind():
    turning = rd.JointMap(1, lambda q: [[1, 0, 0, q[0]], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    with pytest.raises(rd.SettingsError, match="joint 'slide' is of kind 'fixed' and has the map"):
        rd.Joint("slide", "fixed", "base", "tool", map=turning)


def test_it_can_be_pickled_but_not_written():
    robot = rd.load("double_pendulum", joint_maps={"shoulder": JointMap(1, cam)})
    q = robot.random(1)
    again = pickle.loads(pickle.dumps(robot))
    np.testing.assert_array_equal(again.mass_matrix(q), robot.mass_matrix(q))
    with pytest.raises(rd.UrdfError, match="map"):
        write(robot.mechanism)


@pytest.mark.parametrize(
    "function",
    [
        lambda q: 3.0,
        lambda q: [[1, 0], [0, 1]],
        lambda q: turn(q[0], (float("nan"), 0, 0)),
        lambda q: [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        lambda q: [[-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        lambda q: [["x"] * 4] * 4,
        lambda q: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, q[0]], [0, 0, 1, 1]],
        lambda q: turn(q[3], (0, 0, 0)),
        lambda q: q.nothing,
        None,
    ],
)
def test_maps_that_are_no_poses_are_refused(function):
    with pytest.raises(rd.ShapeError):
        JointMap(1, function)


def test_wrong_use_is_refused():
    with pytest.raises(rd.ShapeError):
        JointMap(0, cam)
    with pytest.raises(rd.UnknownNameError):
        rd.load("double_pendulum", joint_maps={"nothing": JointMap(1, cam)})
