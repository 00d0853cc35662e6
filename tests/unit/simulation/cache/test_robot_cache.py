"""A robot on a ground, or with stops, is made once for each ground and for the same stops."""

import gc
import weakref

import numpy as np
import pytest

import robodyn as rd


@pytest.fixture
def robot():
    return rd.load("scara")


def moved(robot, **options):
    return rd.simulate(robot, duration=2e-3, step=1e-4, limits="ignore", **options)


def ground(robot, **choices):
    return rd.Ground({"tip": (robot.link_names[-1], (0.0, 0.0, 0.1))}, **choices)


def test_the_same_ground_is_the_same_robot(robot):
    first, again = (moved(robot, ground=ground(robot)) for _ in range(2))
    assert first.robot is again.robot is not robot
    assert moved(robot, ground=ground(robot, height=-0.5)).robot is not first.robot
    assert moved(robot).robot is robot


def test_stops_that_were_changed_are_seen(robot):
    name = robot.joint_names[1]
    stops = rd.CompliantStops({name: 1e3})
    first = moved(robot, stops=stops).robot
    assert moved(robot, stops=stops).robot is first
    stops.stiffness[name] = 2e3
    assert moved(robot, stops=stops).robot is not first


def test_no_more_robots_are_kept_than_a_few(robot):
    first = weakref.ref(moved(robot, ground=ground(robot)).robot)
    for k in range(1, 12):
        moved(robot, ground=ground(robot, height=-0.1 * k))
    gc.collect()
    assert first() is None


def test_what_is_kept_goes_with_its_robot():
    robot = rd.load("scara")
    moved(robot, ground=ground(robot))
    gone = weakref.ref(robot)
    del robot
    gc.collect()
    assert gone() is None


def test_a_kept_robot_moves_as_a_new_one(robot):
    moved(robot, ground=ground(robot))
    kept, new = moved(robot, ground=ground(robot)), moved(robot.with_(ground=ground(robot)))
    np.testing.assert_allclose(kept.q, new.q, rtol=0, atol=1e-14)
