"""An exception of a user's function ends a motion and leaves what was simulated until then."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import robodyn as rd

LATE = 0.0505


class LightsOut(Exception):
    """An exception of the user."""


class Bare(Exception):
    """One that allows no attributes."""

    def __setattr__(self, name, value):
        if not name.startswith("__"):
            raise AttributeError(name)
        super().__setattr__(name, value)


def raising(error):
    """Of any arguments that begin with the time: a number for each state, until then."""

    def function(t, q, v):
        if t > LATE:
            raise error
        return np.zeros(np.shape(v))

    return function


def not_a_number(t, q, v):
    return np.full(np.shape(v), np.nan if t > LATE else 0.0)


def event_of(function):
    return lambda t, q, v: 1.0 + np.sum(function(t, q, v))


def wrench_of(function):
    return lambda t, q, v: {"tip": np.full(6, np.sum(function(t, q, v)))}


def acting(function):
    """An event in the middle, that calls it."""

    def act(state):
        return rd.events.Change(v=state.v + function(state.t, state.q, state.v))

    return rd.Event(0.0506, act)


def again(function):
    """Nothing that matters happens before."""
    return rd.Event(0.02, lambda state: rd.events.Change(v=state.v))


WAYS = {
    "controller": lambda f: {"controller": f},
    "controller, with events": lambda f: {"controller": f, "events": [again(f)]},
    "event": lambda f: {"events": [event_of(f)]},
    "action": lambda f: {"events": [acting(f)]},
    "wrenches": lambda f: {"wrenches": wrench_of(f)},
}


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
@pytest.mark.parametrize("way", WAYS)
def test_it_has_the_motion_until_then(way, integrator):
    robot = rd.load("double_pendulum")
    error = LightsOut("at the wrong time")
    with pytest.raises(LightsOut) as caught:
        rd.simulate(robot, duration=0.1, integrator=integrator, **WAYS[way](raising(error)))
    assert caught.value is error
    run = error.trajectory
    assert 0.05 <= run.t[-1] <= LATE + 1e-3
    full = rd.simulate(robot, duration=0.1, integrator=integrator)
    k = int(np.flatnonzero(run.t < 0.0501)[-1])
    np.testing.assert_allclose(run.q[k], full.q[50], atol=1e-12)
    assert ["trajectory" in note for note in error.__notes__] == [True]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_number_has_it_too(way):
    with pytest.raises(rd.errors.RobodynError) as caught:
        rd.simulate(rd.load("double_pendulum"), duration=0.1, **WAYS[way](not_a_number))
    assert 0.05 <= caught.value.trajectory.t[-1] <= LATE + 1e-3


@pytest.mark.parametrize("options", [{}, {"events": [again(None)]}])
def test_of_many_motions(options):
    error, z = LightsOut(), np.zeros((3, 2))
    with pytest.raises(LightsOut):
        rd.rollout(rd.load("double_pendulum"), raising(error), z, z, duration=0.1, **options)
    run = error.trajectory
    assert run.q.shape[1:] == (3, 2)
    here = np.isfinite(run.q[:, 0]).all(axis=-1)
    assert run.t[here][-1] == pytest.approx(0.05)
    assert len(error.__notes__) == 1


def test_an_exception_without_attributes_stays_what_it_is():
    with pytest.raises(Bare):
        rd.simulate(rd.load("double_pendulum"), raising(Bare()), duration=0.1)


@pytest.mark.parametrize("options", [{}, {"events": [again(None)]}])
def test_an_exception_that_is_raised_again_has_the_later_motion(options):
    robot, error = rd.load("double_pendulum"), LightsOut()
    for duration, step in ((0.1, 0.001), (0.2, 0.025)):
        with pytest.raises(LightsOut):
            rd.simulate(robot, raising(error), duration=duration, step=step, **options)
    assert error.trajectory.t[-1] == 0.05
    assert error.trajectory.t[1] in (0.02, 0.025)


@pytest.mark.parametrize(
    "options",
    [{}, {"integrator": "implicit"}, {"events": [rd.Event(5.0)]}, {"integrator": "adaptive"},
     {"parameters": {"lower.m": np.linspace(1.0, 2.0, 5)}}],
)  # fmt: skip
@pytest.mark.parametrize("size", [1e300, np.inf])
def test_the_motion_that_breaks_down_is_named(options, size):
    robot = rd.load("double_pendulum")
    q0 = np.full((5, 2), 0.1)

    def controller(t, q, v):
        tau = np.zeros_like(q)
        strong = q[:, 0] > 0.5 if size == np.inf else t > 0.01
        tau[:, 0] = np.where(np.logical_and(strong, q[:, 1] > 0.3), size, 0.0)
        return tau

    q0[3] = 0.55, 0.4
    with pytest.raises(rd.SimulationError, match=r"motion 3\b") as caught:
        rd.rollout(robot, controller, q0, 0 * q0, duration=0.05, limits="ignore", **options)
    assert caught.value.motion == (3,)
    assert pickle.loads(pickle.dumps(caught.value)).motion == (3,)


@pytest.mark.filterwarnings("ignore::robodyn.errors.SingularWarning")
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_the_linkage_that_comes_apart_is_named(integrator):
    robot = rd.load("four_bar")
    q = np.tile(robot.neutral(), (6, 1))
    tau = np.zeros((6, robot.nv))
    tau[4, 0] = 1e5
    with pytest.raises(rd.SimulationError, match=r"^motion 4: ") as caught:
        rd.rollout(
            robot, lambda t, q, v: tau, q, 0 * q, duration=1.0, step=5e-3, limits="ignore",
            integrator=integrator,
        )  # fmt: skip
    assert caught.value.motion == (4,)
