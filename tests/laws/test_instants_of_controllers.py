"""Digital controllers sample and act at their instants, whatever the steps of a simulation are."""

import itertools
import pickle
import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn.controllers import Filtered, JointPD, PointToPoint, RateLimited, Sampled, Saturated
from robodyn.simulation.motion import record

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.LimitWarning")

PERIOD, DELAY, STEP, DURATION = 2e-3, 0.7e-3, 1.5e-3, 0.1
Q0, V0 = np.array([0.5, -0.2]), np.array([0.3, 0.1])


@pytest.fixture(scope="module")
def arm():
    return rd.load("double_pendulum")


@pytest.fixture(scope="module")
def law(arm):
    there = PointToPoint(Q0, Q0 + 0.4, 0.1)
    return JointPD(arm, there, stiffness=60.0, damping=6.0, gravity=False)


def rk4(arm, q, v, tau, h):
    def slope(q, v):
        return v, arm.forward_dynamics(q, v, tau)

    a = slope(q, v)
    b = slope(q + h / 2 * a[0], v + h / 2 * a[1])
    c = slope(q + h / 2 * b[0], v + h / 2 * b[1])
    d = slope(q + h * c[0], v + h * c[1])
    return [
        x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        for x, k1, k2, k3, k4 in zip((q, v), a, b, c, d, strict=True)
    ]


def by_hand(arm, law, *, kept=lambda n: True, period=PERIOD, delay=DELAY):
    """The motion in exact time: in units of 0.1 ms, in which all instants are whole numbers."""
    unit = 1e-4
    P, D, S, end = (round(x / unit) for x in (period, delay, STEP, DURATION))
    samples = [n * P for n in range(end // P + 1) if kept(n)]
    ticks = range(0, end + 1, P)
    ends = sorted({*range(0, end + 1, S), end, *ticks, *(n + D for n in ticks)})
    q, v, tau, results, found = Q0, V0, np.zeros(2), {}, {}
    for k, after in itertools.pairwise([*ends[: ends.index(end) + 1], end]):
        if k in samples:
            results[k + D] = law(k * unit, q, v)
        tau = results.get(k, tau)
        if k % S == 0 or k == end:
            found[k] = q, v, tau
        q, v = rk4(arm, q, v, tau, (after - k) * unit)
    return [np.array(x) for x in zip(*found.values(), strict=True)]


def moved(arm, controller, **options):
    given = {"q0": Q0, "v0": V0, "duration": DURATION, "step": STEP, **options}
    return rd.simulate(arm, controller, **given)


def check(run, expected, atol=1e-12):
    for x, y in zip((run.q, run.v, run.tau), expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=atol * max(1.0, np.abs(y).max()))


def never(t, q, v):
    return 1.0


@pytest.mark.parametrize("events", [(), (never,)])
@pytest.mark.parametrize("symbolic", [True, False])
@pytest.mark.parametrize(("period", "delay"), [(2e-3, 0.7e-3), (2e-3, 0.0), (5e-4, 13e-4)])
def test_a_motion_is_the_one_in_exact_time(arm, law, symbolic, events, period, delay):
    own = law if symbolic else lambda t, q, v: law(t, q, v)
    run = moved(arm, Sampled(own, period, delay=delay), events=events)
    check(run, by_hand(arm, law, period=period, delay=delay))
    steps = np.arange(0.0, DURATION, STEP)
    np.testing.assert_array_equal(run.t, [*(STEP * np.arange(len(steps))), DURATION])


def test_wrappers_and_many_motions(arm, law, tmp_path):
    expected = by_hand(arm, law)
    digital = Saturated(Sampled(law, PERIOD, delay=DELAY), limits=1e6, robot=arm)
    check(moved(arm, digital), expected)
    for every in (3, 50, 1000):
        rows = [*range(0, len(expected[0]) - 1, every), len(expected[0]) - 1]
        for options in ({}, {"events": [never]}, {"to": tmp_path / f"run{every}"}):
            run = moved(arm, digital, every=every, **options)
            check(run, [x[rows] for x in expected])
    many = rd.rollout(arm, digital, [Q0, 0 * Q0], [V0, V0], duration=DURATION, step=STEP)
    check(many.motion(0), expected)
    options = {"duration": DURATION, "step": STEP, "events": [never]}
    check(rd.rollout(arm, digital, [Q0, 0 * Q0], [V0, V0], **options).motion(0), expected)


@pytest.mark.parametrize("integrator", ["adaptive", "implicit", "variational", "scipy:DOP853"])
def test_integrators_that_choose_their_steps(arm, law, integrator):
    run = moved(arm, Sampled(law, PERIOD, delay=DELAY), integrator=integrator)
    tolerance = 1e-3 if integrator == "variational" else 1e-6
    check(run, by_hand(arm, law), atol=tolerance)


def test_memories_within_see_the_period(arm, law):
    """A filter in a digital controller is the same whatever the steps are."""
    for around in (lambda x: Filtered(x, 300.0, order=2), lambda x: RateLimited(x, 500.0)):
        digital = Sampled(around(law), PERIOD, delay=DELAY)
        fine = moved(arm, digital, step=1e-4)
        run = moved(arm, digital)
        np.testing.assert_allclose(run.q[-1], fine.q[-1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(run.tau[-1], fine.tau[-1], rtol=0, atol=1e-7)


def test_rates_in_each_other(arm, law):
    """A slow law within fast damping: each at its own instants."""
    seen = {"slow": [], "fast": []}

    class Both:
        def __init__(self):
            def slow(t, q, v):
                seen["slow"].append(t)
                return law(t, q, v)

            self.controller = Sampled(slow, 6e-3)

        def initial_state(self, sample):
            return {"controller": self.controller.initial_state(sample)}

        def update(self, sample, state):
            seen["fast"].append(sample.t)
            tau, inner = self.controller.update(sample, state["controller"])
            return tau - 0.5 * sample.v, {"controller": inner}

    moved(arm, Sampled(Both(), 2e-3), step=7e-4)
    np.testing.assert_allclose(seen["fast"], np.arange(0.0, DURATION + 1e-9, 2e-3), atol=1e-15)
    np.testing.assert_allclose(seen["slow"], np.arange(0.0, DURATION + 1e-9, 6e-3), atol=1e-15)


def test_controllers_that_ask_for_instants_of_their_own(arm):
    class Twice:
        """A sum of two rates, neither of which divides the step."""

        def instants(self, start, stop):
            return np.concatenate([np.arange(start, stop, rate) for rate in (3.1e-3, 1.7e-3)])

        def __call__(self, t, q, v):
            seen.append(t)
            return 0.0 * v

    seen = []
    run = moved(arm, Twice(), step=1e-3)
    asked = np.unique(np.round([*np.arange(0.0, 0.1, 3.1e-3), *np.arange(0.0, 0.1, 1.7e-3)], 12))
    np.testing.assert_allclose(
        np.setdiff1d(np.round(seen, 12), np.round(run.t, 12)),
        [t for t in asked if not np.isclose(t, run.t, atol=1e-11).any()],
    )
    Twice.instants = lambda self, start, stop: [0.1, np.nan]
    with pytest.raises(rd.ShapeError, match="instants"):
        moved(arm, Twice())


def test_controllers_that_events_exchange(arm, law):
    """From the event on steps end at instants of the new one, and no longer at those of the old."""
    seen = {"old": [], "new": []}

    def noted(name):
        def controller(t, q, v):
            seen[name].append(t)
            return law(t, q, v)

        return controller

    new = Sampled(noted("new"), 3.3e-3, delay=1e-3)
    change = rd.Event(0.05025, [lambda state: rd.events.Change(controller=new)])
    old = Sampled(noted("old"), PERIOD)
    run = moved(arm, old, step=4e-3, events=[change])
    np.testing.assert_allclose(seen["old"], np.arange(0.0, 0.0502, PERIOD), atol=1e-15)
    later = 3.3e-3 * np.arange(16, 31)
    np.testing.assert_allclose(seen["new"], [0.05025, *later[later <= DURATION]], atol=1e-15)
    instants = np.union1d(4e-3 * np.arange(26), [0.05025])
    np.testing.assert_allclose(np.unique(run.t), instants, atol=1e-15)
    back = moved(
        arm,
        new,
        step=4e-3,
        events=[
            rd.Event(0.05025, [lambda state: rd.events.Change(controller=lambda t, q, v: 0.0 * v)])
        ],
    )
    np.testing.assert_allclose(np.unique(back.t), instants, atol=1e-15)


def test_samples_that_are_lost(arm, law):
    """The forces stay; the same ones are lost each time, by machine code and by numbers."""
    seen = []

    def looking(t, q, v):
        seen.append(round(t / PERIOD))
        return law(t, q, v)

    digital = Sampled(looking, PERIOD, delay=DELAY, dropped=0.4, seed=3)
    run = moved(arm, digital)
    kept, count = {*seen}, round(DURATION / PERIOD) + 1
    assert 0 in kept and 0.4 * count < len(kept) < 0.8 * count
    check(run, by_hand(arm, law, kept=lambda n: n in kept))
    compiled = Sampled(law, PERIOD, delay=DELAY, dropped=0.4, seed=3)
    check(moved(arm, compiled), (run.q, run.v, run.tau))
    other = moved(arm, Sampled(law, PERIOD, delay=DELAY, dropped=0.4, seed=4))
    assert np.abs(other.tau - run.tau).max() > 0.1
    memory = Sampled(Filtered(law, 300.0, robot=arm), PERIOD, dropped=0.4, seed=3)
    np.testing.assert_allclose(
        moved(arm, memory).q, moved(arm, memory, events=[never]).q, rtol=0, atol=1e-12
    )
    with pytest.raises(rd.SettingsError, match="dropped"):
        rd.control_law(arm, compiled, step=PERIOD)


def test_energy_is_not_missed_where_forces_change_between_samples(arm, law):
    """Steps are short: no warning, though forces of samples do not tell the work between them."""
    with warnings.catch_warnings(action="error"):
        moved(arm, Sampled(law, 1e-3, delay=2.5e-4), step=4e-3, limits="ignore", duration=1.0)


@pytest.mark.parametrize("symbolic", [True, False])
@pytest.mark.parametrize(("period", "delay"), [(2e-3, 0.7e-3), (3.1e-3, 0.0), (5e-4, 13e-4)])
def test_the_audit_knows_the_forces_within_steps(arm, law, symbolic, period, delay):
    """What it misses, 0.03 % and more where it takes them as held in a step, goes with h^4."""
    own = law if symbolic else lambda t, q, v: law(t, q, v)
    digital = Sampled(own, period, delay=delay)
    run = moved(arm, digital)
    missing = np.abs(run.audit.unexplained).max() / run.audit.exchanged
    assert missing < 1e-8
    assert len(run) == 68  # steps and the end
    copied = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(copied.audit.unexplained, run.audit.unexplained)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rd.errors.EnergyWarning)
        coarse = run[:].audit  # samples alone
    assert np.abs(coarse.unexplained).max() / coarse.exchanged > 1e3 * missing
    both = rd.rollout(arm, digital, [Q0] * 2, [V0] * 2, duration=DURATION, step=STEP)
    np.testing.assert_allclose(both.audit.forces, run.audit.forces[:, None] + [0, 0], atol=1e-10)


@pytest.mark.filterwarnings("ignore::robodyn.errors.EnergyWarning")
def test_of_very_many_instants_within_steps_samples_alone_are_kept(arm, law, monkeypatch):
    digital = Sampled(law, 2e-3, delay=0.7e-3)
    run = moved(arm, digital)
    monkeypatch.setattr(record, "NUMBERS_WITHIN_STEPS", 100)
    fewer = moved(arm, digital)
    for name in ("t", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(fewer, name), getattr(run, name))
    assert np.abs(fewer.audit.unexplained).max() > 1e3 * np.abs(run.audit.unexplained).max()
