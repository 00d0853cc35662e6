"""Controllers with a state in machine code and C, against the same controllers in Python."""

import warnings

import numpy as np
import pytest
from support import motions
from support.compiled_c import c_library, pointers

import robodyn as rd
from robodyn import controllers as rc
from robodyn.errors import SingularWarning
from robodyn.simulation.control import running_controller

pytestmark = pytest.mark.filterwarnings(
    "ignore::robodyn.errors.EnergyWarning", "ignore::robodyn.errors.LimitWarning"
)

START = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4])
WAVE = rc.SineReference(START, 0.1 * np.ones(6), 2.0 * np.ones(6))


def push(t, q, v):
    return np.array([1.0 + 3.0 * t, 2.0, -1.0, 0.0, 0.1, 0.0]) + 0.1 * v[0]


push.symbolic = True


class Integral:
    """A controller of a user, with a state."""

    recorded = ("sum",)
    symbolic = True

    def initial_state(self, sample):
        return {"sum": np.zeros(sample.v.shape)}

    def update(self, sample, state):
        total = state["sum"] + sample.h * (START - sample.q)
        return 300.0 * (START - sample.q) - 30.0 * sample.v + 400.0 * total, {"sum": total}


MAKE = {
    "rate": lambda r, c: rc.RateLimited(c, 60.0),
    "rate of each, from rest": lambda r, c: rc.RateLimited(c, 40.0 + np.arange(6.0), start=0.0),
    "filter": lambda r, c: rc.Filtered(c, 100.0),
    "filter of each": lambda r, c: rc.Filtered(c, 80.0 + 10.0 * np.arange(6), order=4),
    "filter of speeds": lambda r, c: rc.Filtered(c, 200.0, order=3, signal="speed"),
    "observer": lambda r, c: rc.DisturbanceObserver(c, 10.0 * np.arange(6)),
    "adaptive": lambda r, c: rc.Adaptive(
        rc.PassivityBased(r, WAVE, 20.0), ["link3.m", "link4"], adaptation=0.1
    ),
    "admittance": lambda r, c: rc.Admittance(
        rc.OperationalSpace(r, "flange", WAVE), push, 5.0, 100.0, 500.0
    ),
    "sampled": lambda r, c: rc.Sampled(c, 0.0053),
    "sampled and late": lambda r, c: rc.Sampled(c, 0.005, delay=0.0131),
    "late": lambda r, c: rc.Sampled(c, 0.0, delay=0.003),
    "what looks now and then": lambda r, c: rc.Sampled(
        rc.RateLimited(rc.DisturbanceObserver(c, 40.0), 100.0), 0.004, delay=0.001
    ),
    "filters in each other": lambda r, c: rc.Saturated(
        rc.RateLimited(rc.Filtered(rc.Filtered(c, 100.0), 200.0, order=2), 500.0), 30.0
    ),
    "with friction": lambda r, c: rc.FrictionCompensation(
        rc.Filtered(c, 100.0, order=2), share=0.5
    ),
    "between rates": lambda r, c: rc.RateLimited(
        rc.Sampled(rc.RateLimited(rc.Filtered(c, 50.0, order=2), 300.0), 0.003, delay=0.004), 200.0
    ),
    "of a user": lambda r, c: Integral(),
}


def in_python(monkeypatch):
    monkeypatch.setattr(running_controller, "compile_controller", lambda *given: None)


def traced(monkeypatch):
    """Take note of which motions were machine code."""
    found = []

    def compiled(*given):
        found.append(compile_controller(*given))
        return found[-1]

    compile_controller = running_controller.compile_controller
    monkeypatch.setattr(running_controller, "compile_controller", compiled)
    return found


def same(run, other, tolerance=1e-9):
    motions.same(run, other, ("t", "q", "v", "tau"), tolerance)


@pytest.mark.parametrize("kind", MAKE)
def test_a_motion_is_that_of_the_controller_in_python(puma, kind, monkeypatch):
    controller = MAKE[kind](puma, rc.ComputedTorque(puma, WAVE))
    options = {"q0": START, "duration": 0.15, "limits": "enforce"}
    found = traced(monkeypatch)
    run = rd.simulate(puma, controller, **options)
    assert len(found) == 1 and found[0] is not None
    in_python(monkeypatch)
    same(run, rd.simulate(puma, controller, **options))


@pytest.mark.parametrize("kind", ["filters in each other", "what looks now and then", "adaptive"])
def test_many_motions_and_samples(puma, kind, monkeypatch, tmp_path):
    controller = MAKE[kind](puma, rc.ComputedTorque(puma, WAVE))
    q0 = START + 0.02 * np.arange(70)[:, None] * np.ones(6)  # more than a block
    options = {"duration": 0.031, "every": 7}
    many = rd.rollout(puma, controller, q0, 0.0 * q0, **options)
    written = rd.rollout(puma, controller, q0[:3], 0.0 * q0[:3], to=tmp_path / "runs", **options)
    in_python(monkeypatch)
    slow = rd.rollout(puma, controller, q0, 0.0 * q0, **options)
    same(many, slow)
    for name, x in written.controller_state.items():
        np.testing.assert_array_equal(x, many.controller_state[name][:, :3])


def test_instants_at_other_steps(puma, monkeypatch):
    """The last step is shorter, and so is what passes in it."""
    controller = MAKE["filter of each"](puma, rc.ComputedTorque(puma, WAVE))
    options = {"q0": START, "duration": 0.0503, "step": 1e-3}
    run = rd.simulate(puma, controller, **options)
    in_python(monkeypatch)
    same(run, rd.simulate(puma, controller, **options))


@pytest.mark.parametrize("wrap", [lambda c: c, lambda c: rc.RateLimited(c, 1e6)])
def test_other_gains_are_other_motions(puma, wrap):
    """Also where all that differs between two controllers is a constant."""
    ends = []
    for stiffness in (50.0, 60.0, 50.0):
        pd = rc.JointPD(puma, WAVE, stiffness=stiffness, damping=10.0)
        ends.append(rd.simulate(puma, wrap(pd), q0=START + 0.1, duration=0.02).q[-1])
    assert np.abs(ends[1] - ends[0]).max() > 1e-5
    np.testing.assert_array_equal(ends[0], ends[2])


@pytest.mark.parametrize("name", ["four_bar", "arm7"])
def test_linkages_and_moving_bases(name, monkeypatch):
    moving = name == "arm7"
    base = motions.heaving if moving else None
    robot = rd.load(name, base="moving" if moving else "fixed")
    q0 = robot.neutral()
    wave = rc.SineReference(q0, 0.05 * np.ones(robot.nv), np.ones(robot.nv))
    learnt = [x for x in robot.parameter_names if x.endswith(".m")][1:3]
    learns = rc.Adaptive(rc.PassivityBased(robot, wave, 5.0, base=base), learnt, 0.1)
    controller = rc.DisturbanceObserver(rc.Sampled(learns, 0.002, delay=0.001), 20.0, base=base)
    found = traced(monkeypatch)
    run = rd.simulate(robot, controller, duration=0.05, base=base)
    assert found[0] is not None
    in_python(monkeypatch)
    same(run, rd.simulate(robot, controller, duration=0.05, base=base))


# -- where machine code gives no numbers ----------------------------------------------------------


@pytest.mark.parametrize("kind", ["alone", "now and then", "many"])
def test_python_damps_at_singular_postures_and_hands_the_memory_back(kind, monkeypatch):
    """An arm that is led through its stretched posture, where straight-line code gives up."""
    robot = rd.load("double_pendulum", passive=False)
    q0 = np.array([0.4, 0.05])
    bend = rc.SineReference(np.array([0.4, 0.0]), np.array([0.1, 0.05]), np.array([3.0, 20.0]))
    frame = rc.OperationalSpace(robot, "tip", bend, 400.0, components=[0, 2])
    controller = rc.RateLimited(
        rc.DisturbanceObserver(rc.Filtered(frame, 300.0, order=2), 20.0), 1e5
    )
    if kind == "now and then":
        controller = rc.Sampled(controller, 0.002, delay=0.0031)
    found, v0 = traced(monkeypatch), np.zeros((2, 2))
    run_it = {
        "many": lambda: rd.rollout(robot, controller, [q0, q0 + 0.01], v0, duration=0.1),
    }.get(kind, lambda: rd.simulate(robot, controller, q0=q0, duration=0.1))
    with warnings.catch_warnings(action="ignore", category=SingularWarning):
        run = run_it()
        assert found[0] is not None
        in_python(monkeypatch)
        slow = run_it()
    damped = frame.damped(0.0, run.q, run.v)
    assert 0 < np.count_nonzero(damped) < damped.size, "the motion passes no singular posture"
    same(run, slow, 1e-7)


def test_forces_that_are_no_numbers_are_named(puma, monkeypatch):
    def gone(t):
        q, v, a = WAVE(t)
        return q, v, a * (np.nan if t > 0.0295 else 1.0)

    controller = rc.Filtered(rc.ComputedTorque(puma, gone), 100.0)
    texts = []
    for way in (traced, in_python):
        way(monkeypatch)
        with pytest.raises(rd.ShapeError, match=r"a\[0\] is nan \(joint 'joint1'\)") as caught:
            rd.simulate(puma, controller, q0=START, duration=0.1)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


# -- C --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["filters in each other", "observer", "late", "admittance"])
def test_a_loop_in_c_does_what_a_simulation_does(puma, kind, tmp_path):
    controller = MAKE[kind](puma, rc.ComputedTorque(puma, WAVE))
    step = 0.001
    run = rd.simulate(puma, controller, q0=START, duration=0.03, step=step)
    law = rd.control_law(puma, controller, step=step)
    text = law.first.c_source("look_first") + law.update.c_source("look")
    library = c_library(tmp_path, text, "-O1")
    memory, tau = np.zeros(law.update.inputs[4].size), np.zeros(6)
    for k, t in enumerate(run.t):
        new, state = np.zeros(memory.shape), (t, run.q[k].copy(), run.v[k].copy())
        if k == 0:
            library.look_first(*pointers(*state, tau, new))
        else:
            library.look(*pointers(*state, tau.copy(), memory, tau, new))
        memory = new
        np.testing.assert_allclose(tau, run.tau[k], rtol=0, atol=1e-9)
        for name, x in run.controller_state.items():
            np.testing.assert_allclose(memory[law.recorded[name]], x[k], rtol=0, atol=1e-9)
    assert set(law.recorded) == set(run.controller_state)


def test_functions_of_what_has_no_memory(puma):
    pd = rc.Saturated(rc.JointPD(puma, WAVE, stiffness=100.0, damping=10.0), 20.0)
    law = rd.control_law(puma, pd)
    v = 0.1 * np.arange(6.0)
    np.testing.assert_allclose(law.first(0.3, START, v), pd(0.3, START, v), rtol=0, atol=1e-12)
    assert law.update is law.first and not law.recorded


@pytest.mark.parametrize(
    ("make", "step", "message"),
    [
        (lambda c: rc.Filtered(c, 10.0), None, "Filtered has a state: give step="),
        (lambda c: rc.Filtered(c, 10.0), 0.0, "expected a positive number"),
        (lambda c: c, np.nan, "step is nan, expected a number"),
        (lambda c: rc.Sampled(c, 0.005), 0.001, "has a period of 0.005 s: give step=0.005"),
        (lambda c: rc.Filtered(lambda t, q, v: v, 10.0), 0.001, "does not say that it is symbolic"),
        (lambda c: lambda t, q, v: v, None, "does not say that it is symbolic"),
    ],
)
def test_functions_that_cannot_be_had(puma, make, step, message):
    with pytest.raises((rd.SettingsError, rd.ShapeError), match=message):
        rd.control_law(puma, make(rc.ComputedTorque(puma, WAVE)), step=step)
