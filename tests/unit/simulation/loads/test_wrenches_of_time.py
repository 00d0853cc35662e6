"""Wrenches that are functions of time alone are asked beforehand: motions are the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import robodyn as rd
from robodyn.simulation.loads.wrenches_of_time import wrenches_of_time

TIMES = np.linspace(0.0, 1.0, 5)


def wave(t, q, v):
    return {"coupler": np.array([np.cos(9.0 * t), t, 0.0, 0.0, 0.0, 0.3])}


def pulses(t, q, v):
    if t < 0.01:
        return {}
    return {"coupler": [0.0, 2.0, 0, 0, 0, 0]} if t < 0.03 else {"crank": (0, 0, 0, 0, 0, 0.2)}


def of_state(function):
    """The same function, which reads the state as well."""

    def read(t, q, v):
        assert np.isfinite(q).all()
        return function(t, q, v)

    return read


@pytest.mark.parametrize("function", [wave, pulses])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"integrator": "semi_implicit"},
        {"locked": ["rocker_pivot"]},
        {"stabilization": (10.0, 10.0)},
        {"base": "moving"},
    ],
)
def test_motions_are_the_same(function, choices):
    choices = dict(choices)
    robot = rd.load("four_bar", base=choices.pop("base", "fixed"))
    given = {"duration": 0.05, "step": 1e-3, **choices}
    found, known = (rd.simulate(robot, wrenches=x, **given) for x in (function, of_state(function)))
    assert np.abs(known.v).max() > 0.0 or "locked" in choices
    for name in ("q", "v", "a", "tau"):
        size = max(
            1.0, np.abs(getattr(known, name)).max()
        )  # zeros in place of none round otherwise
        given = getattr(found, name), getattr(known, name)
        assert_allclose(*given, rtol=0.0, atol=0.0 if function is wave else 1e-13 * size)


def test_many_motions_and_events():
    robot = rd.load("double_pendulum")
    q0 = np.random.default_rng(0).normal(size=(3, 2))

    def push(t, q, v):
        return {"lower": [0.0, np.sin(t), 0, 0, 0, 0]}

    given = {"duration": 0.05, "step": 1e-3}
    found, known = (
        rd.rollout(robot, None, q0, 0.0 * q0, wrenches=x, **given) for x in (push, of_state(push))
    )
    assert_array_equal(found.q, known.q)
    event = rd.Event(lambda t, q, v: t - 0.0213, then=rd.events.latch(["elbow"]))
    found, known = (
        rd.simulate(robot, q0=q0[0], wrenches=x, events=[event], **given)
        for x in (push, of_state(push))
    )
    assert len(found.events) == 1
    assert_array_equal(found.q, known.q)


def test_arrays_that_change_afterwards_are_copied():
    robot, own = rd.load("double_pendulum"), np.zeros(6)

    def push(t, q, v):
        own[1] = 10.0 * t
        return {"lower": own}

    def anew(t, q, v):
        return {"lower": np.array([0.0, 10.0 * t, 0, 0, 0, 0])}

    runs = [rd.simulate(robot, wrenches=x, duration=0.02, step=1e-3) for x in (push, anew)]
    assert_array_equal(runs[0].q, runs[1].q)


class Wind:
    def blow(self, t, q, v):
        return {"lower": [t, 0, 0, 0, 0, 0]}

    def drag(self, t, q, v):
        return {"lower": [-v[0], 0, 0, 0, 0, 0]}


def in_closure(t, q, v):
    return {"lower": [(lambda: v[0])(), 0, 0, 0, 0, 0]}


def by_name(t, q, v):
    return {"lower": [locals()["q"][0], 0, 0, 0, 0, 0]}


def no_wrench(t, q, v):
    return {"lower": [t] * 5}


def late(t, q, v):
    raise ValueError(t)


@pytest.mark.parametrize(
    ("function", "of_time"),
    [(wave, True), (Wind().blow, True), (lambda t, *state: wave(t, *state), False),
     (Wind().drag, False), (in_closure, False), (by_name, False), (no_wrench, False),
     (late, False), (lambda q, t, v: wave(t, q, v), False)],
)  # fmt: skip
def test_which_functions_read_the_time_alone(function, of_time):
    assert (wrenches_of_time(function, TIMES) is not None) is of_time


def test_a_link_between_steps_alone_is_refused():
    found = wrenches_of_time(lambda t, q, v: {"lower": np.ones(6)} if t == 0.1 else {}, TIMES)
    with pytest.raises(rd.ShapeError, match=r"acts on 'lower' at t = 0.1 s, and on other links"):
        found.at(np.array([0.1]))
