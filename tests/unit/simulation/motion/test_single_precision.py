"""Numbers of single precision that a user gives: they are what they are in double precision."""

import numpy as np
import pytest

import robodyn as rd
from robodyn import events

STATES = ("t", "q", "v", "a", "tau")


def in_both(make):
    """Motions of which everything that is given has single precision, and double."""
    return make(np.float32), make(lambda x: np.asarray(x, np.float32).astype(float))


def same(one, other):
    for name in STATES:
        x, y = getattr(one, name), getattr(other, name)
        assert x.dtype == y.dtype == float
        np.testing.assert_array_equal(x, y, err_msg=name)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
@pytest.mark.parametrize("with_events", [False, True])
def test_a_motion_of_numbers_in_single_precision(name, with_events):
    robot = rd.load(name)
    q, v = robot.neutral(), np.zeros(robot.nv)
    if not robot.nc:
        q, v = np.array([0.7, 0.1]), np.array([0.1, 0.3])

    def motion(dtype):
        def controller(t, q, v):
            return dtype(-0.3 * v + 0.1)

        halved = events.jump(v=lambda state: dtype(0.5 * state.v))
        happens = [
            rd.Event(0.0123, halved),
            rd.Event(lambda t, q, v: dtype(t - 0.031), halved, name="crossed"),
        ]
        run = rd.simulate(
            robot, controller, q0=dtype(q), v0=dtype(v), duration=0.05, limits="ignore",
            wrenches={robot.link_names[-1]: dtype(np.arange(6.0))},
            events=happens if with_events else (),
        )  # fmt: skip
        assert len(run.events) == 2 * with_events
        return run

    same(*in_both(motion))


def test_many_motions_with_events_of_numbers_in_single_precision(double):
    q, v = np.random.default_rng(1).normal(size=(2, 3, 2))

    def motion(dtype):
        reset = rd.Event(0.0123, events.jump(v=lambda state: dtype(0.5 * state.v)))
        return rd.rollout(
            double, lambda t, q, v: dtype(-0.3 * v), dtype(q), dtype(v), duration=0.05,
            limits="ignore", events=[reset],
        )  # fmt: skip

    same(*in_both(motion))


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_a_step_that_computes_in_single_precision(name):
    robot = rd.load(name)
    f = rd.step_function(robot, step=2e-3)
    q = robot.neutral() if robot.nc else np.array([0.7, 0.1])
    state = {"q": q, "v": np.zeros(robot.nv)}
    x = [np.float32(state.get(port.name, np.zeros(port.shape))) for port in f.inputs]
    there = f(*(y.astype(float) for y in x))
    for y, exact in zip(f(*x), there, strict=True):
        assert y.dtype == np.float32
        np.testing.assert_allclose(y, exact, rtol=0.0, atol=1e-6)
    assert np.abs(there[1]).max() > 1e-2
