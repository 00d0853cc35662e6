"""Controllers with a state that do what machine code could take for something else."""

import numpy as np
import pytest
from support import motions

import robodyn as rd
from robodyn import controllers as rc
from robodyn.simulation.control import running_controller

pytestmark = pytest.mark.filterwarnings(
    "ignore::robodyn.errors.EnergyWarning", "ignore::robodyn.errors.LimitWarning"
)

Q0 = np.array([0.4, -0.3])


class Own:
    """A controller with a state: its update and its initial state are given."""

    symbolic = True

    def __init__(self, update, *recorded, initial=lambda sample: {}):
        self.update, self.initial_state, self.recorded = update, initial, recorded


@pytest.fixture(scope="module")
def arm():
    return rd.load("double_pendulum", passive=False)


def both(monkeypatch, run):
    """What machine code and Python make of a motion, and the controllers that were compiled."""
    found, compile_controller = [], running_controller.compile_controller

    def compiled(*given):
        found.append(compile_controller(*given))
        return found[-1]

    with monkeypatch.context() as patch:
        patch.setattr(running_controller, "compile_controller", compiled)
        fast = run()
        patch.setattr(running_controller, "compile_controller", lambda *x: None)
        return fast, run(), found


def same(run, other):
    motions.same(run, other, ("t", "q", "v", "tau"), 1e-11)


def in_place(sample, state):
    """Change the state where it stands."""
    state["sum"] += sample.h * sample.q
    state["sum"][0] += 0.01
    return -3.0 * state["sum"], state


@pytest.mark.parametrize("period", [None, 0.003])
def test_memories_may_be_changed_where_they_stand(arm, period, monkeypatch):
    controller = Own(in_place, "sum", initial=lambda sample: {"sum": sample.q + 0.0})
    if period:
        controller = rc.Sampled(controller, period)
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.02))
    assert laws[0] is not None
    same(fast, slow)


def last_three(sample, state):
    """The mean of the last three positions, in a list that grows at first."""
    seen = [*state["seen"], sample.q][-3:]
    return -20.0 * sum(seen) / len(seen), {"seen": seen}


def appended(sample, state):
    """The same, where a list is longer by what is added to it."""
    seen = (state["seen"] + [sample.q])[-3:]
    return -20.0 * sum(seen) / len(seen), {"seen": seen}


def turning(sample, state):
    """A list of three, of which the first goes and another one comes."""
    seen = state["seen"][1:]
    seen += [sample.q]
    times = (*state["times"][1:], state["times"][1] + sample.h)
    return -20.0 * sum(seen) / len(seen) - times[0], {"seen": seen, "times": times}


def nothing_seen(sample):
    return {"seen": []}


def seen_thrice(sample):
    return {"seen": [sample.q] * 3, "times": (0.0, 0.0)}


@pytest.mark.parametrize(
    ("update", "initial"),
    [(last_three, nothing_seen), (appended, nothing_seen), (turning, seen_thrice)],
)
@pytest.mark.parametrize("period", [None, 0.003])
def test_lists_stay_lists(arm, update, initial, period, monkeypatch):
    controller = Own(update, initial=initial)
    if period:
        controller = rc.Sampled(controller, period, delay=0.001)
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.02))
    assert (laws[0] is not None) == (update is turning)
    same(fast, slow)


def decaying(sample, state):
    """Uses a function of the time since the last sample at the first sample too."""
    part = sample.function_of_dt(lambda h: np.exp(-20.0 * h))
    kept = part * state["kept"] + (2.0 - part) * sample.q
    return -5.0 * kept, {"kept": kept}


def test_no_time_has_passed_at_the_first_sample(arm, monkeypatch):
    controller = Own(decaying, "kept", initial=lambda sample: {"kept": 0.0 * sample.q})
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.01))
    assert laws[0] is not None
    same(fast, slow)
    law = rd.control_law(arm, controller, step=1e-3)
    tau, memory = law.first(0.0, fast.q[0], fast.v[0])
    for k in range(len(fast.t)):
        np.testing.assert_allclose(tau, slow.tau[k], rtol=0, atol=1e-11)
        if k + 1 < len(fast.t):
            state = fast.t[k + 1], fast.q[k + 1], fast.v[k + 1]
            tau, memory = law.update(*state, tau, memory)


def test_huge_forces_change_by_their_rate_and_no_less(arm, monkeypatch):
    there = rc.PointToPoint(Q0 + 0.1, Q0 + 0.1, 1.0)
    stiff = rc.JointPD(arm, there, stiffness=1e16, damping=1.0, gravity=False)
    controller = rc.RateLimited(stiff, 50.0, start=0.0)
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.01))
    assert laws[0] is not None
    same(fast, slow)


@pytest.mark.parametrize("period", [None, 0.003])
def test_a_state_may_be_empty(arm, period, monkeypatch):
    controller = Own(lambda sample, state: (-sample.v - 0.1 * sample.h - sample.impulse, {}))
    if period:
        controller = rc.Sampled(controller, period)
    options = {"q0": Q0, "v0": [0.3, -0.2], "duration": 0.01}
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, **options))
    assert laws[0] is not None
    same(fast, slow)


def counting(sample, state):
    """Keeps a number that is the same for all motions, and one for each."""
    n, way = state["n"], state["way"] + sample.h * sample.v[..., 0]
    return -sample.v + 0.01 * n, {"n": n + 1, "way": way, "h": sample.h}


COUNTING = Own(
    counting,
    "n",
    "way",
    "h",
    initial=lambda sample: {"n": 0, "way": 0.0 * sample.q[..., 0], "h": 0.0},
)


@pytest.mark.parametrize("count", [1, 2, 70])
def test_one_number_of_each_motion_is_remembered(arm, count, monkeypatch):
    q0 = Q0 + 0.01 * np.arange(count)[:, None]
    fast, slow, laws = both(
        monkeypatch,
        lambda: rd.rollout(arm, COUNTING, q0, np.ones((count, 2)), duration=0.01),
    )
    assert laws[0] is not None
    same(fast, slow)
    assert {x.shape for x in fast.controller_state.values()} == {(11, count, 1)}
    alone = rd.simulate(arm, COUNTING, q0=q0[-1], v0=np.ones(2), duration=0.01)
    for name, x in alone.controller_state.items():
        np.testing.assert_allclose(fast.controller_state[name][:, -1], x, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "decide",
    [
        lambda v: v if v[0] > 0.0 else -v,
        lambda v: v if v[0] >= v[1] else -v,
        lambda v: max(v) * np.ones(2),
        lambda v: v if 0.0 <= v[0] else -v,
    ],
)
def test_controllers_that_decide_are_told_that_they_are_not_symbolic(arm, decide):
    controller = Own(lambda sample, state: (-decide(sample.v), {}))
    with pytest.raises(TypeError, match=r"Take rd\.where\(x < y, a, b\) instead of if"):
        rd.simulate(arm, controller, q0=Q0, duration=0.01)


@pytest.mark.parametrize("wrap", [lambda c: c, lambda c: rc.RateLimited(c, 1e3)])
@pytest.mark.parametrize("when", [-1.0, 0.0055])
def test_the_motion_whose_forces_are_no_numbers_is_named(arm, wrap, when):
    """The first of them, as where Python is asked."""

    def lost(t):
        return Q0 + (np.nan if t > when else 0.0), np.zeros(2), np.zeros(2)

    controller = wrap(rc.JointPD(arm, lost, stiffness=10.0, damping=1.0))
    q0 = Q0 + 0.01 * np.arange(3)[:, None]
    with pytest.raises(rd.RobodynError, match="nan for joint 'shoulder' of motion 0 at t = "):
        rd.rollout(arm, controller, q0, 0.0 * q0, duration=0.01)
    with pytest.raises(rd.RobodynError, match="nan for joint 'shoulder' at t = "):
        rd.simulate(arm, controller, q0=Q0, duration=0.01)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("which", [1, 2])
def test_the_motion_that_is_named_is_the_one(arm, which):
    root = Own(lambda sample, state: (-np.sqrt(sample.q), {}))
    q0 = np.full((3, 2), 0.4)
    q0[which] = -0.4
    with pytest.raises(rd.RobodynError, match=f"nan for joint 'shoulder' of motion {which} at"):
        rd.rollout(arm, root, q0, 0.0 * q0, duration=0.01)


def becoming_a_list(sample, state):
    """An array at first, and a list from then on: twice a list is longer."""
    return -len(state["seen"] * 2) * sample.q, {"seen": [*state["seen"][1:], sample.q]}


def test_a_state_that_changes_its_form_is_python_s(arm, monkeypatch):
    controller = Own(becoming_a_list, initial=lambda sample: {"seen": np.stack([sample.q] * 2)})
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.01))
    assert laws[0] is None
    same(fast, slow)
