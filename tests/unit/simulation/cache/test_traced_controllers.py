"""A controller is traced once, and anew as soon as anything that it reads has changed."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers as rc
from robodyn.simulation.cache.robot_cache import contents
from robodyn.simulation.control import compile_controller

Q0 = np.array([0.3, -0.2])


@pytest.fixture
def arm():
    return rd.load("double_pendulum")


@pytest.fixture
def traces(monkeypatch):
    """One entry for each time that a controller was called with symbols."""
    made, trace = [], compile_controller.Trace
    monkeypatch.setattr(compile_controller, "Trace", lambda *x: made.append(x) or trace(*x))
    return made


def run(arm, controller, step=1e-3):
    return rd.simulate(arm, controller, q0=Q0, duration=0.02, step=step, limits="ignore")


def wave():
    return rc.SineReference(Q0, 0.1 * np.ones(2), np.ones(2))


def test_gains_that_were_changed_are_seen(arm):
    """By an array of the reference, by an attribute, and by an object that takes its place."""
    reference = wave()
    controller = rc.JointPD(arm, reference, 10.0, 1.0)
    before = run(arm, controller)
    reference.amplitude[:] = 0.4
    expected = run(arm, rc.JointPD(arm, dataclasses.replace(reference), 10.0, 1.0))
    assert abs(expected.tau - before.tau).max() > 1e-3
    np.testing.assert_allclose(run(arm, controller).tau, expected.tau, rtol=0, atol=1e-12)
    object.__setattr__(controller, "reference", wave())
    np.testing.assert_allclose(run(arm, controller).tau, before.tau, rtol=0, atol=1e-12)


def test_an_equal_object_in_place_of_another_is_told_apart(arm):
    """The other one may change, and samples of it with it."""

    class Table:
        def __init__(self):
            self.at = np.array(Q0)

        def __call__(self, t):
            return self.at, np.zeros(2), np.zeros(2)

    first, second = Table(), Table()
    controller = rc.JointPD(arm, first, 10.0, 1.0)
    before = run(arm, controller)
    object.__setattr__(controller, "reference", second)
    first.at += 1.0
    np.testing.assert_allclose(run(arm, controller).tau, before.tau, rtol=0, atol=1e-12)
    second.at += 1.0
    assert abs(run(arm, controller).tau - before.tau).max() > 1.0


def test_a_reference_with_other_shapes_is_seen(arm):
    found = {"at": Q0}
    controller = rc.JointPD(arm, lambda t: (found["at"], 0.0, 0.0), 10.0, 1.0)
    run(arm, controller)
    found["at"] = np.zeros(3)
    with pytest.raises(rd.ShapeError, match="positions of shape"):
        run(arm, controller)
    found["at"] = Q0 + 0.5
    other = rc.JointPD(arm, lambda t: (Q0 + 0.5, 0.0, 0.0), 10.0, 1.0)
    np.testing.assert_allclose(run(arm, controller).tau, run(arm, other).tau, rtol=0, atol=1e-12)


GAIN = 5.0


class State(float):
    """A number with more behind it."""


class Global:
    symbolic = True

    def __call__(self, t, q, v):
        return -GAIN * v


class Attribute(rc.JointPD):
    factor = 1.0

    def __call__(self, t, q, v):
        return self.factor * super().__call__(t, q, v)


def test_what_others_wrote_is_traced_each_time(arm, traces, monkeypatch):
    """It may read what nobody knows: a global variable, an attribute of its class."""
    own = Attribute(arm, wave(), 10.0, 1.0)
    for controller in (Global(), own, rc.Filtered(Global(), 100.0), rc.Saturated(own, 1e3)):
        assert contents(controller, same=True) is None
        before = run(arm, controller)
        with monkeypatch.context() as patch:
            patch.setitem(globals(), "GAIN", 50.0)
            patch.setattr(Attribute, "factor", 2.0)
            assert abs(run(arm, controller).tau - before.tau).max() > 1e-3
        np.testing.assert_allclose(run(arm, controller).tau, before.tau, rtol=0, atol=1e-12)
    assert len(traces) == 12


def test_the_times_of_samples_count_where_they_are_asked_for(arm):
    controller = rc.Sampled(rc.ComputedTorque(arm, wave()), 0.004, delay=0.003)
    for step in (1e-3, 2e-3, 1e-3):
        expected = run(arm, rc.Sampled(rc.ComputedTorque(arm, wave()), 0.004, delay=0.003), step)
        np.testing.assert_allclose(run(arm, controller, step).tau, expected.tau, rtol=0, atol=1e-12)


def test_controllers_go_with_their_robot():
    robot = rd.load("double_pendulum")
    run(robot, controller := rc.ComputedTorque(robot, wave()))
    gone = weakref.ref(robot), weakref.ref(controller)
    del robot, controller
    gc.collect()
    assert [x() for x in gone] == [None, None]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (True, 1),
        ([1, 2], (1, 2)),
        ([[1], 2], [[1, 2]]),
        ({"a": 1, "b": 2}, {"b": 1, "a": 2}),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), -np.zeros(2)),
        (np.zeros(2), np.zeros(2, np.float32)),
        ("a", b"a"),
    ],
)
def test_different_contents_do_not_look_alike(one, other):
    assert contents(one) != contents(other)


@pytest.mark.parametrize(
    "x",
    [object(), {1, 2}, np.random.default_rng(0), np.zeros(10**6), iter(""), State(1.0)],
)
def test_contents_that_are_not_known(x):
    assert contents([x]) is None


def test_whole_numbers_as_gains():
    """The second controller gets its gain as an input of the code of the first."""
    robot = rd.load("double_pendulum")

    def run(gain, symbolic):
        class Spring:
            def __call__(self, t, q, v):
                return gain * (1.0 - q)

        Spring.symbolic = symbolic
        return rd.simulate(robot, Spring(), duration=0.1, limits="ignore")

    for gain in (2, 3, np.int64(5), True):
        assert np.array_equal(run(gain, True).tau[0], run(gain, False).tau[0])
