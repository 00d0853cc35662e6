"""Wrenches that are functions of time alone are called beforehand: motions are the same."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support.bundled import bundled

import robodyn as rd
from robodyn.motion.functions import TimeFunction, as_state_function
from robodyn.simulation.loads.prescribed_loads import wrenches_of_time

TIMES = np.linspace(0.0, 1.0, 5)


def wave(t):
    return {"coupler": np.array([np.cos(9.0 * t), t, 0.0, 0.0, 0.0, 0.3])}


def pulses(t):
    if t < 0.01:
        return {}
    return {"coupler": [0.0, 2.0, 0, 0, 0, 0]} if t < 0.03 else {"crank": (0, 0, 0, 0, 0, 0.2)}


def of_state(function):
    """The same function, called with the state as well."""
    return lambda t, q, v: function(t)


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


def test_many_motions_and_events(double):
    q0 = np.random.default_rng(0).normal(size=(3, 2))

    def push(t):
        return {"lower": [0.0, np.sin(t), 0, 0, 0, 0]}

    given = {"duration": 0.05, "step": 1e-3}
    found, known = (
        rd.rollout(double, None, q0, 0.0 * q0, wrenches=x, **given) for x in (push, of_state(push))
    )
    assert_array_equal(found.q, known.q)
    event = rd.Event(lambda t, q, v: t - 0.0213, then=rd.events.latch(["elbow"]))
    found, known = (
        rd.simulate(double, q0=q0[0], wrenches=x, events=[event], **given)
        for x in (push, of_state(push))
    )
    assert len(found.events) == 1
    assert_array_equal(found.q, known.q)


def test_arrays_that_change_afterwards_are_copied():
    robot, own = bundled("double_pendulum"), np.zeros(6)

    def push(t):
        own[1] = 10.0 * t
        return {"lower": own}

    def anew(t, q, v):
        return {"lower": np.array([0.0, 10.0 * t, 0, 0, 0, 0])}

    runs = [rd.simulate(robot, wrenches=x, duration=0.02, step=1e-3) for x in (push, anew)]
    assert_array_equal(runs[0].q, runs[1].q)


class Wind:
    last = 0.0

    def blow(self, t):
        return {"lower": [t, 0, 0, 0, 0, 0]}

    def drag(self, t, q, v):
        return {"lower": [-10.0 * self.last, 0, 0, 0, 0, 0]}

    def __call__(self, t, q, v):
        """As a controller, which tells the wind where the robot is."""
        self.last = float(q[0])
        return np.zeros(2)


class Gust:
    def __call__(self, t):
        return Wind().blow(t)


def by_two(t, factor=2.0):
    return Wind().blow(factor * t)


@pytest.mark.parametrize(
    ("function", "of_time"),
    [(wave, True), (Wind().blow, True), (Gust(), True), (by_two, True),
     (partial(by_two, factor=3.0), True), (lambda t, *state: wave(t), False),
     (Wind().drag, False), (lambda t, q, v: wave(t), False), (Wind(), False),
     (lambda t, q=None, v=0: wave(t), False), (dict, False)],
)  # fmt: skip
def test_functions_of_time_take_one_argument(function, of_time):
    assert isinstance(as_state_function(function), TimeFunction) is of_time


@pytest.mark.parametrize("wrong", [lambda t, q: {}, lambda: {}, lambda *, t: {}])
def test_functions_of_other_arguments_are_refused(double, wrong):
    told = r"the function <lambda>\(.*\), expected one of \(t, q, v\), or of t alone"
    with pytest.raises(rd.ShapeError, match=told):
        rd.simulate(double, duration=0.1, wrenches=wrong)
    with pytest.raises(rd.ShapeError, match=told):
        double.linearize([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], wrenches=wrong)


@pytest.mark.parametrize("wrong", [[0.0] * 5, "lots", None])
def test_what_is_no_wrench_is_told_by_the_motion(wrong):
    with pytest.raises(rd.ShapeError):
        rd.simulate(bundled("double_pendulum"), duration=0.1, wrenches=lambda t: {"lower": wrong})


def test_exceptions_of_a_function_of_time_carry_the_motion_so_far():
    def late(t):
        if t > 0.05:
            raise ZeroDivisionError("late")
        return {"lower": np.zeros(6)}

    with pytest.raises(ZeroDivisionError, match="late") as error:
        rd.simulate(bundled("double_pendulum"), duration=0.1, step=0.01, wrenches=late)
    assert error.value.trajectory.t[-1] >= 0.04


def test_a_link_between_steps_alone_is_refused():
    late = TimeFunction(lambda t: {"lower": np.ones(6)} if t == 0.1 else {})
    found = wrenches_of_time(late, TIMES)
    with pytest.raises(rd.ShapeError, match=r"acts on 'lower' at t = 0.1 s, and on other links"):
        found.at(np.array([0.1]))


def test_linear_models_and_derivatives_take_functions_of_time():
    robot, q, v, tau = bundled("double_pendulum"), np.array([0.3, -0.2]), np.ones(2), np.zeros(2)
    push = {"lower": np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.5])}
    found, known = (robot.linearize(q, v, tau, wrenches=x) for x in (lambda t: push, push))
    assert_allclose(found.A, known.A, rtol=1e-9, atol=1e-9)

    class Push:
        symbolic = True

        def __call__(self, t):
            return push

    given = robot, q, v, tau
    found, known = (rd.step_derivatives(*given, step=1e-2, wrenches=x) for x in (Push(), push))
    assert_allclose(found.A, known.A, rtol=1e-13, atol=1e-13)
