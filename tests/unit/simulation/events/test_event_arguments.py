"""Arguments of impacts, events and landings that make no sense are refused with a sentence."""

import math

import numpy as np
import pytest

import robodyn as rd
from robodyn import events

FAR = (1e300, 0.0, 0.0)


@pytest.fixture(scope="module")
def arm():
    return rd.load("double_pendulum")


def at_once(arm, action, **options):
    """A motion in which an event happens."""
    given = {"q0": [0.4, 0.6], "v0": [1.0, 2.0], "duration": 0.02} | options
    return rd.simulate(arm, events=[rd.Event(0.01, action)], **given)


def test_points_so_far_away_that_nothing_is_left_of_numbers(arm):
    """A hit there left all speeds as they were."""
    state = ([0.4, 0.6], [1.0, 2.0])
    with pytest.raises(rd.ShapeError, match="point"):
        arm.impact(*state, "lower", FAR, (0, 0, 1))
    with pytest.raises(rd.ShapeError, match="point"):
        arm.apparent_mass(state[0], "lower", FAR, (0, 0, 1))
    with pytest.raises(rd.ShapeError, match="point"):
        other = rd.RobotPoint(arm, *state, "lower", FAR)
        arm.impact(*state, "lower", (0, 0, -1), None, against=other)
    with pytest.raises(rd.ShapeError, match="velocity"):
        rd.PointMass(1.0, FAR)


def test_no_numbers_that_are_truth_values(arm):
    with pytest.raises(rd.SettingsError, match="restitution is True"):
        arm.impact([0.4, 0.6], [1.0, 2.0], "lower", (0, 0, -1), (1, 0, 0), restitution=True)
    with pytest.raises(rd.SettingsError, match="mass is True"):
        rd.PointMass(True, (1.0, 0.0, 0.0))


@pytest.mark.parametrize("given", [np.ones((4, 3)), np.ones((1, 3)), np.zeros((0, 3))])
def test_vectors_of_an_event_belong_to_one_state(arm, given):
    load = rd.Inertia(0.5)
    for action in (
        lambda: events.impact("lower", given, (1, 0, 0)),
        lambda: events.impact("lower", (0, 0, -1), given),
        lambda: events.impact("lower", (0, 0, -1), lambda state: given),
        lambda: events.grasp("lower", load, velocity=given),
        lambda: events.grasp("lower", load, angular_velocity=lambda t: given),
    ):
        with pytest.raises(rd.ShapeError, match=r"shape \(\d, 3\), expected \(3,\)"):
            at_once(arm, action())


@pytest.mark.parametrize("given", [None, "yes", math.nan, 1, [True], np.zeros(2)])
def test_what_is_neither_true_nor_false(arm, given):
    for name in ("stop", "must_separate"):
        with pytest.raises(rd.ShapeError, match=f"{name} is .*, expected True or False"):
            events.Change(**{name: given})
    with pytest.raises(rd.ShapeError, match="sticks"):
        events.landings(arm, rd.Ground({"a": ("lower", (0, 0, -1))}), sticks=given)
    with pytest.raises(rd.ShapeError, match="already"):
        rd.Event(0.1, already=given)
    events.Change(stop=np.True_)


def test_a_direction_that_is_none_at_all():
    with pytest.raises(rd.SettingsError, match="direction is"):
        rd.Event(0.1, direction=[[1], [2, 3]])


def test_no_controller_takes_over(arm):
    """It is as if there were none from then on, and not as if nothing had happened."""
    push = lambda t, q, v: [3.0, 1.0]  # noqa: E731
    off = rd.Event(0.01, events.switch(None))
    run = rd.simulate(arm, push, duration=0.02, events=[off])
    assert (run.tau[run.t > 0.01] == 0.0).all()
    assert (run.tau[run.t < 0.01] == push(0, 0, 0)).all()
