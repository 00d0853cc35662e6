"""Paths and locks of a simulation that do not fit the robot or contradict themselves."""

from __future__ import annotations

import numpy as np
import pytest
from random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.errors import ActuationError, PathError, ShapeError, UnknownNameError


def still(t):
    return 0.0, 0.0, 0.0


def pair(t):
    return np.zeros((3, 2))


@pytest.fixture(scope="module")
def robot():
    kinds = ["revolute", "universal", "spherical", "fixed", "prismatic"]
    return rd.load(random_mechanism(np.random.default_rng(1), kinds))


def run(robot, **options):
    return rd.simulate(robot, duration=0.02, step=0.01, **options)


def test_paths_by_any_name(robot):
    both = run(robot, controlled={"joint1": pair})
    axes = run(robot, controlled={"joint1[0]": still, "joint1[1]": rd.JointPath(still)})
    np.testing.assert_allclose(both.q, axes.q, atol=1e-14)


@pytest.mark.parametrize(
    ("options", "suggestion"),
    [
        ({"controlled": {"jiont0": still}}, "joint0"),
        ({"locked": ["jiont0"]}, "joint0"),
        ({"controlled": {"joint1[2]": still}}, "joint1[1]"),
    ],
)
def test_unknown_names(robot, options, suggestion):
    with pytest.raises(UnknownNameError) as error:
        run(robot, **options)
    assert suggestion in error.value.suggestions


@pytest.mark.parametrize(
    "options",
    [
        {"controlled": {"joint2": lambda t: np.zeros((3, 3))}},
        {"controlled": {"joint3": still}},
        {"locked": ["joint3"]},
    ],
)
def test_joints_that_cannot_follow_a_path(robot, options):
    with pytest.raises(UnknownNameError):
        run(robot, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"controlled": {"joint0": still}, "locked": ["joint0"]},
        {"controlled": {"joint1": pair, "joint1[0]": still}},
        {"locked": ["joint0", "joint0"]},
    ],
)
def test_driven_twice(robot, options):
    with pytest.raises(ActuationError, match="twice"):
        run(robot, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"controlled": {"joint0": pair}},
        {"controlled": {"joint1": still}},
        {"controlled": {"joint0": 0.3}},
    ],
)
def test_paths_of_the_wrong_shape(robot, options):
    with pytest.raises(ShapeError, match="joint"):
        run(robot, **options)


def test_a_path_that_contradicts_itself(robot):
    def wrong(t):
        return np.sin(t), np.cos(t), np.sin(t)

    with pytest.raises(PathError, match="acceleration of joint 'joint0'") as error:
        rd.simulate(robot, controlled={"joint0": wrong}, duration=0.5, step=0.1)
    assert error.value.time == pytest.approx(0.1)


def test_a_path_that_breaks_off(robot):
    def broken(t):
        return (0.0, 0.0, 0.0) if t < 0.15 else (0.0, np.nan, 0.0)

    with pytest.raises(PathError, match="not finite") as error:
        rd.simulate(robot, controlled={"joint0": broken}, duration=0.5, step=0.1)
    assert error.value.time == pytest.approx(0.2)


def test_a_path_may_end_with_the_simulation(robot):
    def until_half(t):
        if t > 0.5:
            raise ValueError(f"{t} lies after the end")
        return 0.0, 0.0, 0.0

    rd.simulate(robot, controlled={"joint0": until_half}, duration=0.5, step=0.1)


def test_a_path_of_the_base_that_contradicts_itself(robot):
    path = rd.BasePath(lambda t: rd.BaseMotion.from_world([t, 0.0, 0.0]))
    with pytest.raises(PathError, match="velocity of the base"):
        run(robot.with_(base="moving"), base=path)


def test_a_linkage_driven_beyond_its_reach():
    """The rocker of a crank and rocker turns to and fro only; it went on with open loops."""
    robot = rd.load("four_bar")
    path = rd.JointPath(lambda t: (2.0 * t * t, 4.0 * t, 4.0))
    with pytest.raises(rd.SimulationError, match="driven where they cannot go") as caught:
        rd.simulate(robot, controlled={"rocker_pivot": path}, duration=1.5, step=1e-2)
    before = caught.value.trajectory
    assert before.t[-1] < caught.value.time < 1.5
    assert np.abs(before.loop_residual).max() < 1e-9
