"""An exception of a user's function ends a motion and leaves what was simulated until then."""

import pickle

import numpy as np
import pytest
from support.bundled import bundled

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
def test_it_has_the_motion_until_then(double, way, integrator):
    error = LightsOut("at the wrong time")
    with pytest.raises(LightsOut) as caught:
        rd.simulate(double, duration=0.1, integrator=integrator, **WAYS[way](raising(error)))
    assert caught.value is error
    run = error.trajectory
    assert 0.05 <= run.t[-1] <= LATE + 1e-3
    full = rd.simulate(double, duration=0.1, integrator=integrator)
    k = int(np.flatnonzero(run.t < 0.0501)[-1])
    np.testing.assert_allclose(run.q[k], full.q[50], atol=1e-12)
    assert ["trajectory" in note for note in error.__notes__] == [True]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_number_has_it_too(way):
    with pytest.raises(rd.errors.RobodynError) as caught:
        rd.simulate(bundled("double_pendulum"), duration=0.1, **WAYS[way](not_a_number))
    assert 0.05 <= caught.value.trajectory.t[-1] <= LATE + 1e-3


def test_an_exception_without_attributes_stays_what_it_is():
    with pytest.raises(Bare):
        rd.simulate(bundled("double_pendulum"), raising(Bare()), duration=0.1)


@pytest.mark.parametrize(
    "options",
    [{}, {"integrator": "implicit"}, {"events": [rd.Event(5.0)]}, {"integrator": "adaptive"},
     {"parameters": {"lower.m": np.linspace(1.0, 2.0, 5)}}],
)  # fmt: skip
@pytest.mark.parametrize("size", [1e300, np.inf])
def test_the_motion_that_breaks_down_is_named(double, options, size):
    q0 = np.full((5, 2), 0.1)

    def controller(t, q, v):
        tau = np.zeros_like(q)
        strong = q[:, 0] > 0.5 if size == np.inf else t > 0.01
        tau[:, 0] = np.where(np.logical_and(strong, q[:, 1] > 0.3), size, 0.0)
        return tau

    q0[3] = 0.55, 0.4
    with pytest.raises(rd.SimulationError, match=r"motion 3\b") as caught:
        rd.rollout(double, controller, q0, 0 * q0, duration=0.05, limits="ignore", **options)
    assert caught.value.motion == (3,)
    assert pickle.loads(pickle.dumps(caught.value)).motion == (3,)


def breaking_law(t, q, v):
    """Torques of no motor where the elbow is bent far, in both directions at other times."""
    tau = np.zeros_like(q)
    tau[(q[:, 1] > 0.55) & (t > 0.01), 0] = 1e300
    tau[(q[:, 1] < -0.55) & (t > 0.02), 0] = np.inf
    assert np.isfinite(q).all() and np.isfinite(v).all()
    return tau


class SteepLaw:
    """Machine code: the torque of a steep spring that pushes, nearly zero at small angles."""

    symbolic = True

    def __call__(self, t, q, v):
        return [1e2 * q[0] ** 9 - 20.0 * v[0], -5.0 * v[1]]


@pytest.mark.parametrize(
    "options",
    [{}, {"integrator": "implicit"}, {"events": [rd.Event(5.0)]}, {"integrator": "adaptive"},
     {"wrenches": lambda t, q, v: {"lower": np.full(6, 0.1)}}, {"every": 7}, {"to": "files"},
     {"parameters": {"lower.m": np.linspace(1.0, 2.0, 7)}}, {"controller": SteepLaw()}],
    ids=lambda options: next(iter(options), "machine code"),
)  # fmt: skip
def test_other_motions_go_on_to_their_end(options, tmp_path):
    robot, q0 = bundled("double_pendulum"), np.random.default_rng(0).uniform(-0.5, 0.5, (7, 2))
    q0[3], q0[5] = (2.5, 0.7), (3.0, -0.7)
    law, good = options.get("controller", breaking_law), [0, 1, 2, 4, 6]

    def run(rows):
        own = {"duration": 0.1, "limits": "ignore", **options}
        own.pop("controller", None)
        if "to" in own:
            own["to"] = tmp_path / str(len(rows))
        if "parameters" in own:
            own["parameters"] = {"lower.m": own["parameters"]["lower.m"][rows]}
        return rd.rollout(robot, law, q0[rows], 0 * q0[rows], **own)

    with pytest.raises(rd.SimulationError, match=r"^motion [35]: .*: [35]; the others") as caught:
        run(list(range(7)))
    assert set(caught.value.motions) == {(3,), (5,)}
    assert caught.value.motion == caught.value.motions[0]
    found, alone = caught.value.trajectory, run(good)
    for name in ("t", "q", "v", "a", "tau"):
        x = getattr(found, name)
        same = x if name == "t" else x[:, good]
        np.testing.assert_array_equal(same, getattr(alone, name), err_msg=name)
        for k in (3, 5):
            wrong = np.isnan(found.q[:, k]).any(axis=1)
            first = int(wrong.argmax())
            assert first > 0 and (name == "t" or np.isfinite(x[: first - 1, k]).all())
            assert name == "t" or np.isnan(x[first:, k]).all()


@pytest.mark.filterwarnings("ignore::robodyn.errors.SingularWarning")
def test_other_linkages_go_on_to_their_end(four_bar):
    q, tau = np.tile(four_bar.neutral(), (6, 1)), np.zeros((6, four_bar.nv))
    tau[4, 0], tau[1, 0], good = 1e5, 3e4, [0, 2, 3, 5]

    def run(rows, integrator):
        force = lambda t, q, v: tau[rows]  # noqa: E731
        return rd.rollout(
            four_bar, force, q[rows], 0 * q[rows], duration=0.2, step=5e-3, limits="ignore",
            integrator=integrator,
        )  # fmt: skip

    for integrator in ("semi_implicit", "rk4"):
        with pytest.raises(rd.SimulationError, match="the others went on") as caught:
            run(list(range(6)), integrator)
        assert set(caught.value.motions) == {(1,), (4,)}
        found, alone = caught.value.trajectory, run(good, integrator)
        np.testing.assert_array_equal(found.q[:, good], alone.q)
        assert np.isnan(found.q[-1, [1, 4]]).all()


@pytest.mark.filterwarnings("ignore::robodyn.errors.SingularWarning")
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_the_linkage_that_comes_apart_is_named(four_bar, integrator):
    q = np.tile(four_bar.neutral(), (6, 1))
    tau = np.zeros((6, four_bar.nv))
    tau[4, 0] = 1e5
    with pytest.raises(rd.SimulationError, match=r"^motion 4: ") as caught:
        rd.rollout(
            four_bar, lambda t, q, v: tau, q, 0 * q, duration=1.0, step=5e-3, limits="ignore",
            integrator=integrator,
        )  # fmt: skip
    assert caught.value.motion == (4,)
