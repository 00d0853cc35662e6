"""What is told of loops in which no joint can move, and the remedies that are named."""

import dataclasses
import itertools
import re
import warnings

import numpy as np
import pytest

import robodyn as rd

STIFF = "no joint can move in the loop"

Z = (0.0, 0.0, 1.0)


def bars(name, points, at, tilt=0.0):
    """Links, hinges and the hinge that closes them of a polygon with its first side on the ground.

    The second hinge is tilted by an angle about x.
    """
    inertia = rd.Inertia(1.0, ixx=0.01, iyy=0.01, izz=0.01, origin=rd.Pose((0.1, 0.02, 0.0)))
    links = [rd.Link(f"{name}{k}", inertia) for k in range(len(points) - 1)]
    parent, before, joints = "ground", np.zeros(2), []
    for k, (link, point) in enumerate(zip(links, points, strict=False)):
        way = (*(np.array(point) - before).tolist(), 0.0 if k else at)
        pose = rd.Pose(way, (tilt if k == 1 else 0.0, 0.0, 0.0))
        joints.append(rd.Joint(f"{name}_{k}", "revolute", parent, link.name, pose, axis=Z))
        parent, before = link.name, np.array(point)
    x, y = points[-1]
    ends = rd.Pose((*(np.array((x, y)) - before).tolist(), 0.0)), rd.Pose((x, y, at))
    loop = rd.Loop(f"{name}_end", "revolute", parent, "ground", *ends, axis=Z)
    return links, joints, loop


FOUR, THREE = (
    ((0.0, 0.0), (0.05, 0.25), (0.43, 0.3), (0.4, 0.0)),
    ((0.0, 0.0), (0.1, 0.3), (0.4, 0)),
)


def robot_of(*polygons):
    links, joints, loops = zip(*polygons, strict=True)
    links, joints = (tuple(itertools.chain.from_iterable(x)) for x in (links, joints))
    return rd.Mechanism("polygons", (rd.Link("ground"), *links), joints, loops)


def told(mechanism, **options):
    """A robot, and the warnings until its mobility is known."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        robot = rd.load(mechanism, **options)
        robot.neutral()
    return robot, [str(x.message) for x in caught]


def test_a_structure_is_told_once_and_rigid_says_that_it_is_meant():
    robot, said = told(robot_of(bars("tri", THREE, 0.0)))
    assert robot.dof == 0
    assert len(said) == 1
    assert f"{STIFF} that 'tri_end' closes: the constraint rows have rank 2" in said[0]
    assert "No linkage that moves was found" in said[0]
    assert "rigid=True" in said[0]
    robot, said = told(robot_of(bars("tri", THREE, 0.0)), rigid=True)
    assert robot.dof == 0
    assert not said


def test_a_structure_beside_a_linkage_that_moves_is_told():
    robot, said = told(robot_of(bars("four", FOUR, 0.0), bars("tri", THREE, 0.2)))
    assert robot.dof == 1
    assert len(said) == 1
    assert f"{STIFF} that 'tri_end' closes" in said[0]


def test_what_moves_is_not_told():
    assert told(robot_of(bars("four", FOUR, 0.0)))[1] == []


def test_a_joint_with_a_motor_that_closes_a_loop_goes_by_its_name():
    """A weld closes the loop in its place."""
    links, joints, loop = bars("tri", THREE, 0.0)
    robot, said = told(robot_of((links, joints, loop)), actuators={loop.name: rd.Actuator()})
    assert robot.dof == 0
    assert f"{STIFF} that 'tri_end' closes" in said[0]


def turned(q, t):
    c, s = rd.cos(0.3 * t), rd.sin(0.3 * t)
    return [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_a_locked_or_driven_linkage_is_not_told():
    robot = rd.load(robot_of(bars("four", FOUR, 0.0)))
    with warnings.catch_warnings(action="error"):
        locked = robot.with_(locked={"four_0": 0.1})
        assert locked.dof == 0
        links, joints, loop = bars("four", FOUR, 0.0)
        turning = rd.JointMap(0, turned)
        driven = rd.load(robot_of((links, joints, loop)), joint_maps={"four_0": turning})
        assert driven.at(0.0).dof == 0


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("tilt", [0.002, 0.04])
def test_the_remedy_for_a_tilted_hinge_lets_it_move(tilt, beside):
    """A ball closes it, so that it is stiff and not open."""
    links, joints, loop = bars("four", FOUR, 0.0, tilt)
    loop = rd.Loop(loop.name, "spherical", loop.predecessor, "ground", *loop_ends(loop))
    others = [bars("other", FOUR, 0.3)] if beside else []
    robot, said = told(robot_of((links, joints, loop), *others))
    assert robot.dof == len(others)
    assert len(said) == 1
    assert f"{STIFF} that 'four_end' closes" in said[0]
    tolerance = float(re.search(r"closure_tolerance=([0-9.e-]+)", said[0])[1])
    again, _ = told(robot_of((links, joints, loop), *others), closure_tolerance=tolerance)
    assert again.dof == 1 + len(others)


@pytest.mark.slow
@pytest.mark.parametrize("tilt", [0.01, 0.05])
def test_a_cube_of_bricard_with_a_tilted_hinge_has_a_remedy(tilt):
    """The first step leaves squares of displacements, which finer ones close."""
    mechanism = rd.load("bricard").mechanism
    joints = list(mechanism.joints)
    joints[2] = dataclasses.replace(joints[2], axis=(np.sin(tilt), 0.0, np.cos(tilt)))
    tilted = dataclasses.replace(mechanism, joints=tuple(joints))
    robot, said = told(tilted)
    assert robot.dof == 0
    tolerance = float(re.search(r"closure_tolerance=([0-9.e-]+)", *said)[1])
    assert told(tilted, closure_tolerance=tolerance)[0].dof == 1


def loop_ends(loop):
    return loop.X_predecessor, loop.X_successor
