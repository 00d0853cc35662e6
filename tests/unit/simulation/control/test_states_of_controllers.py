"""The state of a controller: where it stands in a row, and motions that go on from one."""

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn import controllers as rc
from robodyn.simulation.control.compile_controller import compile_controller
from robodyn.simulation.control.running_controller import RunningController, applied_forces
from robodyn.simulation.loads.driven_joints import Driven
from robodyn.simulation.loads.loads import Loads
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads
from robodyn.simulation.step.stepper import Stepper

STEPS = 24
TIMES = np.cumsum(np.append(0.0, np.random.default_rng(0).uniform(5e-4, 2e-3, STEPS)))
Q0 = np.array([0.4, -0.3])


@pytest.fixture(scope="module")
def arm():
    return bundled("double_pendulum")


def wave(robot):
    return rc.SineReference(Q0, 0.2 * np.ones(2), np.array([2.0, 3.0]))


CONTROLLERS = {
    "none": lambda r, c: c,
    "filter": lambda r, c: rc.Filtered(c, 200.0, order=3),
    "observer": lambda r, c: rc.DisturbanceObserver(c, 30.0),
    "adaptive": lambda r, c: rc.Adaptive(rc.PassivityBased(r, wave(r), 20.0), ["lower.m"], 0.1),
    "sampled and late": lambda r, c: rc.Sampled(rc.RateLimited(c, 300.0), 0.003, delay=0.002),
    "nested": lambda r, c: rc.Saturated(
        rc.Filtered(rc.RateLimited(c, 900.0, start=0.0), 300.0), 40.0
    ),
}


@pytest.fixture(params=CONTROLLERS)
def controller(request, arm):
    return CONTROLLERS[request.param](arm, rc.ComputedTorque(arm, wave(arm)))


def by_machine_code(arm, controller):
    """A motion that has not begun, and where its samples go."""
    compiled = compile_controller(arm, controller, TIMES)
    q, v = np.tile(Q0, (3, 1)) + 0.1 * np.arange(3)[:, None], np.zeros((3, 2))
    loads = Loads(arm, Driven(arm.nv), PrescribedLoads())
    motion = Stepper(loads, "rk4").compiled(TIMES, q, v, compiled)
    samples = [np.full((STEPS + 1, 3, 2), np.nan) for _ in range(4)]
    states = np.full((STEPS + 1, 3, compiled.state_size), np.nan)
    motion.samples(samples)
    motion.samples_of_controller(states)
    return motion, samples, states


def no_fallback(k, r):
    raise AssertionError("a step was not done by machine code")


@pytest.mark.parametrize("k", [1, 2, 7, STEPS - 1])
def test_a_motion_that_is_split_at_a_sample_goes_on_with_the_same_bits(arm, controller, k):
    whole, samples, states = by_machine_code(arm, controller)
    whole.advance(0, STEPS, True, no_fallback)
    first, _, _ = by_machine_code(arm, controller)
    first.advance(0, k, False, no_fallback)
    second, found, rows = by_machine_code(arm, controller)
    for name in ("q", "v", "tau", "controller_state"):
        getattr(second, name)[...] = getattr(first, name)
    np.testing.assert_array_equal(first.controller_state, states[k - 1])
    second.advance(k, STEPS, True, no_fallback)
    for x, y in zip([*found, rows], [*samples, states], strict=True):
        np.testing.assert_array_equal(x[k:], y[k:])


@pytest.mark.parametrize("k", [0, 1, 5])
def test_a_controller_goes_on_from_a_state_in_python(arm, controller, k):
    """As a loop that samples it from Python does, with forces that limits cut."""
    samples = rd.simulate(arm, controller, q0=Q0, duration=0.01, limits="ignore")
    states = list(zip(samples.t.tolist(), samples.q, samples.v, strict=True))

    def cut(tau, t, q, v):
        return np.clip(tau, -3.0, 3.0)

    whole = RunningController(arm, controller, samples.t)
    forces, after = [], []
    for state in states:
        forces.append(applied_forces(whole, cut, *state))
        after.append(whole.state)
    other = RunningController(arm, controller, samples.t)
    other.restore(states[k][0], after[k], forces[k])
    for state, tau in list(zip(states, forces, strict=True))[k + 1 :]:
        np.testing.assert_array_equal(applied_forces(other, cut, *state), tau)


def test_a_state_stands_in_a_row_and_comes_back(arm, controller):
    """Python and machine code take over from each other at any sample."""
    run = rd.simulate(arm, controller, q0=Q0, duration=0.012, step=1e-3, limits="ignore")
    compiled = compile_controller(arm, controller, run.t)
    row, applied, last = None, np.zeros(2), run.t[0]
    for t, q, v, tau in zip(run.t.tolist(), run.q, run.v, run.tau, strict=True):
        asked, row = compiled.update_by_python(t, q, v, t - last, applied, row)
        assert row.shape == (compiled.state_size,)
        np.testing.assert_allclose(asked, tau, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(compiled.layout.row(compiled.layout.state(row)), row)
        applied, last = asked, t
    for name, place in compiled.layout.recorded.items():
        np.testing.assert_allclose(row[place], run.controller_state[name][-1], rtol=0, atol=1e-9)


def test_a_controller_without_a_state_has_none_in_machine_code(arm):
    pd = rc.JointPD(arm, wave(arm), 30.0, 3.0)
    for plain in (pd, rc.Saturated(pd, 5.0)):
        compiled = compile_controller(arm, plain, gains_as_inputs=False)
        assert compiled.state_size == 0 and compiled.is_function and not compiled.layout.recorded
        np.testing.assert_array_equal(compiled(0.3, Q0, Q0), compiled.function(Q0, Q0, 0.3))


class UsesTheImpulse:
    """No numbers in its state, and yet no function of that of the robot."""

    symbolic = True

    def initial_state(self, sample):
        return {}

    def update(self, sample, state):
        return -sample.v - 2.0 * sample.impulse, state


def test_what_depends_on_the_sample_before_is_no_function(arm):
    compiled = compile_controller(arm, UsesTheImpulse())
    assert compiled.state_size == 0 and not compiled.is_function
    with pytest.raises(rd.SettingsError, match="UsesTheImpulse has a state of its own"):
        rd.closed_loop(arm, UsesTheImpulse())


class Ramp:
    """Forces that are the same for all states: symbols have no leading axes."""

    symbolic = True

    def initial_state(self, sample):
        return {"count": 0.0}

    def update(self, sample, state):
        return np.array([0.2, 0.1]) * state["count"], {"count": state["count"] + 1.0}


@pytest.mark.parametrize("integrator", ["rk4", "adaptive"])
@pytest.mark.parametrize("with_event", [False, True])
def test_constant_forces_act_on_each_of_many_motions(integrator, with_event):
    """By machine code, and by Python where events, or the integrator, ask for it."""
    robot, q = bundled("double_pendulum"), np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    events = []
    if with_event:
        events = [rd.Event(lambda t, q, v: t - 0.0055, lambda x: rd.events.Change(v=0.9 * x.v))]
    options = {"duration": 0.01, "integrator": integrator, "events": events}
    run = rd.rollout(robot, Ramp(), q, np.zeros((3, 2)), **options)
    for k in range(3):
        alone = rd.simulate(robot, Ramp(), q0=q[k], **options)
        at = np.searchsorted(alone.t, run.t, side="right") - 1
        np.testing.assert_allclose(run.tau[:, k], alone.tau[at], rtol=0, atol=1e-14)
        np.testing.assert_allclose(run.q[:, k], alone.q[at], rtol=0, atol=1e-9)
    with pytest.raises(rd.ShapeError, match="expected"):
        rd.rollout(robot, lambda t, q, v: np.zeros(2), q, np.zeros((3, 2)), duration=0.01)


def test_a_controller_that_takes_over_begins_there(arm):
    """Nothing has passed, and nothing has acted, before its first sample."""
    seen = []

    class Noting:
        def initial_state(self, sample):
            return {"samples": 0.0}

        def update(self, sample, state):
            seen.append((sample.t, sample.h, sample.impulse.copy()))
            return 0.0 * sample.v + 2.0, {"samples": state["samples"] + 1.0}

    take_over = rd.Event(0.0105, rd.events.switch(Noting()))
    rd.simulate(
        arm, lambda t, q, v: 0.0 * v + 9.0, q0=Q0, duration=0.02, step=1e-3, limits="ignore",
        events=[take_over],
    )  # fmt: skip
    (t, h, impulse), (then, step, given) = seen[:2]
    assert (t, h) == (0.0105, 0.0)
    np.testing.assert_array_equal(impulse, 0.0)
    assert step == pytest.approx(then - t, rel=1e-12)
    np.testing.assert_allclose(given, 2.0 * step, rtol=1e-12)


class Constant:
    """Records two numbers that are the same for all motions, and what is not."""

    symbolic, recorded = True, ("same", "own")

    def initial_state(self, sample):
        return {"same": np.array([1.0, 2.0]), "own": 0.0 * sample.q}

    def update(self, sample, state):
        own = state["own"] + sample.h * sample.q
        return -sample.q, {"same": np.array([1.0, 2.0]), "own": own}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("given", [{}, {"integrator": "implicit"}, {"stops": rd.RigidStops()}])
def test_what_is_the_same_for_all_motions_is_recorded_for_each(count, given):
    q0 = 0.1 * np.arange(2.0 * count).reshape(count, 2)
    run = rd.rollout(
        bundled("double_pendulum"),
        Constant(),
        q0,
        0.0 * q0,
        duration=3e-3,
        limits="ignore",
        **given,
    )
    recorded = run.controller_state
    assert {name: x.shape for name, x in recorded.items()} == dict.fromkeys(recorded, (4, count, 2))
    np.testing.assert_allclose(recorded["same"], np.broadcast_to([1.0, 2.0], (4, count, 2)))
