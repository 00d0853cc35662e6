"""Motions from moving states: closed forms, limits, joints with what is left and what is met."""

import math
import pickle
import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers as rc

LIMITS = {"velocity": [0.5, 0.8], "acceleration": [1.0, 0.6], "jerk": [6.0, 4.0]}
FIRST = rc.SCurve([[0.0, 0.2], [2.0, -1.5]], **LIMITS)


@pytest.fixture(autouse=True)
def _ruckig():
    pytest.importorskip("ruckig")


def _rows(reference, times):
    return (np.array(x) for x in zip(*map(reference, times.tolist()), strict=True))


@pytest.mark.parametrize("way", [0.01, 0.3, -2.0])
def test_from_rest_to_rest_it_is_the_trapezoid_and_the_s_curve(way):
    for kind, limits in ((rc.SCurve, (0.5, 1.0, 4.0)), (rc.Trapezoidal, (0.5, 1.0))):
        known = kind([[0.0], [way]], *limits)
        found = rc.Retarget([0.0], [way], *limits)
        assert found.duration == pytest.approx(known.duration, rel=1e-9)
        for t in np.linspace(-0.1, known.duration + 0.1, 23):
            for x, y in zip(found(t)[:2], known(t)[:2], strict=True):
                np.testing.assert_allclose(x, y, atol=1e-9)


@pytest.mark.parametrize(("d", "v"), [(1.0, 0.7), (1.0, -0.7), (0.05, 0.7), (-1.0, 0.3)])
def test_the_least_time_of_a_moving_mass(d, v):
    """Full acceleration to a switch and full braking: ``2 sqrt(v^2 / 2 + a d) / a -+ v / a``."""
    a = 2.0
    sign = 1.0 if d - v * abs(v) / (2.0 * a) >= 0.0 else -1.0
    top = math.sqrt(v * v / 2.0 + sign * a * d)
    found = rc.Retarget(([0.0], [v]), [d], velocity=100.0, acceleration=a)
    assert found.duration == pytest.approx((2.0 * top - sign * v) / a, rel=1e-9)


def test_it_goes_on_from_the_reference_that_it_leaves():
    law = rc.Retarget(FIRST, [0.1, 0.1], **LIMITS, time=0.9)
    t = np.linspace(0.0, 0.9 + law.duration + 0.5, 8001)
    q, v, a = _rows(law, t)
    h = t[1] - t[0]
    np.testing.assert_array_equal(q[t < 0.9], [FIRST(x)[0] for x in t[t < 0.9].tolist()])
    np.testing.assert_allclose(np.diff(q, axis=0), h * 0.5 * (v[1:] + v[:-1]), atol=1e-8)
    np.testing.assert_allclose(np.diff(v, axis=0), h * 0.5 * (a[1:] + a[:-1]), atol=1e-6)
    for x, most in ((v, "velocity"), (a, "acceleration"), (np.diff(a, axis=0) / h, "jerk")):
        assert (np.abs(x).max(axis=0) <= np.array(LIMITS[most]) * (1 + 1e-6)).all()
    np.testing.assert_allclose(q[-1], [0.1, 0.1], atol=1e-9)
    np.testing.assert_allclose(np.abs(np.append(v[-1], a[-1])), 0.0, atol=1e-9)


def test_a_moving_target_is_met_as_a_mass_at_rest_is_from_a_moving_frame():
    u, a, d = 0.4, 2.0, -0.6
    belt = lambda t: (np.array([d + u * t]), np.array([u]), np.zeros(1))  # noqa: E731
    met = rc.Retarget([0.0], belt, velocity=100.0, acceleration=a, time=0.5)
    still = rc.Retarget(([0.0], [-u]), [d + 0.5 * u], velocity=100.0, acceleration=a)
    assert met.duration == pytest.approx(still.duration, rel=1e-8)
    for t in (0.6, 0.5 + met.duration, 3.0):
        frame = np.array([u * (t - 0.5)])
        np.testing.assert_allclose(met(t)[0], still(t - 0.5)[0] + frame, atol=1e-7)
        np.testing.assert_allclose(met(t)[1], still(t - 0.5)[1] + u, atol=1e-7)


def test_several_joints_meet_a_curved_target():
    sines = rc.SineReference([0.0, 0.0], [0.3, 0.2], [0.2, 0.3])
    law = rc.Retarget(([0.4, -0.3], [0.2, 0.0], [0.1, 0.0]), sines, **LIMITS)
    before, after = (law(law.duration + s) for s in (-1e-7, 1e-7))
    for x, y in zip(before, after, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)
    np.testing.assert_array_equal(law(law.duration + 0.3)[0], sines(law.duration + 0.3)[0])


def test_with_speeds_at_the_goal_it_goes_on():
    law = pickle.loads(pickle.dumps(rc.Retarget([0.0], ([1.0], [0.2]), 0.5, 1.0, 5.0)))
    q, v, a = law(law.duration + 2.0)
    np.testing.assert_allclose([*q, *v, *a], [1.4, 0.2, 0.0], atol=1e-9)


def test_before_its_time_the_moving_state_has_the_rates_that_it_says():
    back = rc.Retarget(([0.1], [0.4], [-0.2]), [1.0], 1.0, 2.0, 10.0, time=0.5)
    (_, v, a), h = back(0.3), 1e-4
    before, after = back(0.3 - h), back(0.3 + h)
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), v, atol=1e-9)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), a, atol=1e-9)
    for here, there in zip(back(0.5 - 1e-12), back(0.5), strict=True):
        np.testing.assert_allclose(here, there, atol=1e-9)


def test_controllers_follow_it():
    robot = rd.load("double_pendulum", passive=False)
    law = rc.Retarget(FIRST, [0.1, 0.1], **LIMITS, time=0.3)
    control = rc.ComputedTorque(robot, law)
    run = rd.simulate(robot, control, q0=FIRST(0.0)[0], duration=2.0, step=1e-3, limits="ignore")
    np.testing.assert_allclose(run.q[-1], law(2.0)[0], atol=1e-3)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"goal": [0.0]}, rd.ShapeError, "goal has 1 positions, and start 2"),
        ({"goal": ([0.0, 0.0], [0.0])}, rd.ShapeError, "goal has shapes"),
        ({"start": [np.nan, 0.0]}, rd.ShapeError, "start"),
        ({"jerk": 0.0}, rd.ShapeError, "jerk"),
        ({"goal": ([0.0, 0.0], [2.0, 0.0])}, rd.PathError, "the goal is beyond"),
        ({"goal": lambda t: (np.full(2, 1 + t), np.ones(2), np.zeros(2))}, rd.PathError, "beyond"),
    ],
)
def test_what_is_refused(given, error, said):
    with pytest.raises(error, match=said):
        rc.Retarget(**({"start": FIRST, "goal": [0.1, 0.1], "time": 0.3} | LIMITS | given))


def test_without_ruckig(monkeypatch):
    monkeypatch.setitem(sys.modules, "ruckig", None)
    with pytest.raises(rd.MissingExtraError, match=r"pip install .*\[ruckig\]'"):
        rc.Retarget([0.0], [1.0], 1.0, 1.0)
