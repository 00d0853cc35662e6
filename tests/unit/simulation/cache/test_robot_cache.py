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


def test_stops_that_were_changed_are_seen(robot):
    name = robot.joint_names[1]
    stops = rd.CompliantStops({name: 1e3})
    first = moved(robot, stops=stops).robot
    assert moved(robot, stops=stops).robot is first
    stops.stiffness[name] = 2e3
    assert moved(robot, stops=stops).robot is not first


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
