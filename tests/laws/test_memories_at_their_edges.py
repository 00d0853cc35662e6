"""Controllers with a memory that do what machine code could take for something else."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import robodyn as rd
from robodyn.controllers import (
    ComputedTorque,
    DisturbanceObserver,
    Filtered,
    JointPD,
    PointToPoint,
    RateLimited,
    Sampled,
    SineReference,
)
from robodyn.simulation import StatefulController
from robodyn.simulation.control import memory_law
from robodyn.simulation.control import tracing as symbolic_time
from robodyn.simulation.motion import loop
from robodyn.symbolic.scalar import edge_of

pytestmark = pytest.mark.filterwarnings(
    "ignore::robodyn.errors.EnergyWarning", "ignore::robodyn.errors.LimitWarning"
)

Q0 = np.array([0.4, -0.3])


class Own:
    """A controller with a memory: what it answers is given."""

    symbolic = True

    def __init__(self, answer, *remembers):
        self.answer, self.remembers = answer, remembers

    def __call__(self, t, q, v):
        return self.fresh()(t, q, v)

    def fresh(self):
        return StatefulController(self)


@pytest.fixture(scope="module")
def arm():
    return rd.load("double_pendulum", passive=False)


def both(monkeypatch, run):
    """What machine code and Python make of a motion, and the laws that were traced."""
    laws, memory_law_of = [], loop.memory_law_of
    with monkeypatch.context() as patch:
        patch.setattr(loop, "memory_law_of", lambda *x: laws.append(memory_law_of(*x)) or laws[-1])
        fast = run()
        patch.setattr(loop, "memory_law_of", lambda *x: None)
        return fast, run(), laws


def same(run, other):
    for name in ("t", "q", "v", "tau"):
        x, y = getattr(run, name), getattr(other, name)
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11, err_msg=name)
    assert list(run.memory) == list(other.memory)
    for name, x in run.memory.items():
        np.testing.assert_allclose(x, other.memory[name], rtol=1e-11, atol=1e-11, err_msg=name)


def in_place(look, memory):
    """Change what is remembered where it stands."""
    if memory is None:
        return 0.0 * look.v, {"sum": look.q + 0.0}
    memory["sum"] += look.h * look.q
    memory["sum"][0] += 0.01
    return -3.0 * memory["sum"], memory


@pytest.mark.parametrize("period", [None, 0.003])
def test_memories_may_be_changed_where_they_stand(arm, period, monkeypatch):
    controller = Own(in_place, "sum")
    if period:
        controller = Sampled(controller, period)
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.02))
    assert laws[0] is not None
    same(fast, slow)


def last_three(look, memory):
    """The mean of the last three positions, in a list that grows at first."""
    seen = [] if memory is None else memory["seen"]
    seen = [*seen, look.q][-3:]
    return -20.0 * sum(seen) / len(seen), {"seen": seen}


def appended(look, memory):
    """The same, where a list is longer by what is added to it."""
    seen = (([] if memory is None else memory["seen"]) + [look.q])[-3:]
    return -20.0 * sum(seen) / len(seen), {"seen": seen}


def turning(look, memory):
    """A list of three, of which the first goes and another one comes."""
    seen = [look.q] * 2 if memory is None else memory["seen"][1:]
    seen += [look.q]
    times = (0.0, 0.0) if memory is None else memory["times"]
    times = (*times[1:], times[1] + look.h)
    return -20.0 * sum(seen) / len(seen) - times[0], {"seen": seen, "times": times}


@pytest.mark.parametrize("answer", [last_three, appended, turning])
@pytest.mark.parametrize("period", [None, 0.003])
def test_lists_stay_lists(arm, answer, period, monkeypatch):
    controller = Own(answer)
    if period:
        controller = Sampled(controller, period, delay=0.001)
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.02))
    assert (laws[0] is not None) == (answer is turning)
    same(fast, slow)


def decaying(look, memory):
    """Uses a function of the time since the last look at the first look too."""
    part = look.over(lambda h: np.exp(-20.0 * h))
    kept = 0.0 * look.q if memory is None else memory["kept"]
    kept = part * kept + (2.0 - part) * look.q
    return -5.0 * kept, {"kept": kept}


def test_no_time_has_passed_at_the_first_look(arm, monkeypatch):
    controller = Own(decaying, "kept")
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.01))
    assert laws[0] is not None
    same(fast, slow)
    law = rd.control_law(arm, controller, step=1e-3)
    tau, memory = law.first(0.0, fast.q[0], fast.v[0])
    for k in range(len(fast.t)):
        np.testing.assert_allclose(tau, slow.tau[k], rtol=0, atol=1e-11)
        if k + 1 < len(fast.t):
            state = fast.t[k + 1], fast.q[k + 1], fast.v[k + 1]
            tau, memory = law.following(*state, tau, memory)


def test_huge_forces_change_by_their_rate_and_no_less(arm, monkeypatch):
    there = PointToPoint(Q0 + 0.1, Q0 + 0.1, 1.0)
    stiff = JointPD(arm, there, stiffness=1e16, damping=1.0, gravity=False)
    controller = RateLimited(stiff, 50.0, start=0.0)
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.01))
    assert laws[0] is not None
    same(fast, slow)


def test_results_on_their_way_take_no_memory_at_each_instant(arm):
    """Sixty results are on their way; tables of them at all instants would be 300 MB."""
    still = JointPD(arm, PointToPoint(Q0, Q0, 1.0), stiffness=10.0, damping=1.0)
    controller = Sampled(still, 0.0, delay=0.006)
    tracemalloc.start()
    rd.simulate(arm, controller, q0=Q0, duration=10.0, step=1e-4, every=1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 120e6


def test_huge_laws_are_left_to_python(arm, monkeypatch):
    """Machine code of them takes longer to make than it saves; C is written all the same."""
    wave = SineReference(Q0, 0.1 * np.ones(2), np.ones(2))
    controller = Filtered(ComputedTorque(arm, wave), 100.0)
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.01))
    nodes = len(laws[0].following.graph.op)
    for most, known in ((nodes, True), (nodes // 2, False), (10, False)):
        monkeypatch.setattr(memory_law, "MOST", most)
        again, _, laws = both(
            monkeypatch, lambda: rd.simulate(arm, controller, q0=Q0, duration=0.01)
        )
        assert (laws[0] is not None) == known
        same(again, fast if known else slow)
    assert rd.control_law(arm, controller, step=0.01).following.c_source()


def test_what_stays_the_same_is_written_down_once(arm, monkeypatch):
    """The same function of the same numbers, at the first look and at all others."""
    calls, inline = [], symbolic_time.inline
    monkeypatch.setattr(symbolic_time, "inline", lambda p, x: calls.append(p.name) or inline(p, x))
    wave = SineReference(Q0, 0.1 * np.ones(2), np.ones(2))
    controller = DisturbanceObserver(ComputedTorque(arm, wave), 20.0)
    rd.simulate(arm, controller, q0=Q0, duration=0.01)
    assert calls
    assert sorted(calls) == sorted(set(calls))


@pytest.mark.parametrize("period", [None, 0.003])
def test_nothing_may_be_remembered(arm, period, monkeypatch):
    controller = Own(lambda look, memory: (-look.v - 0.1 * look.h - look.impulse, {}))
    if period:
        controller = Sampled(controller, period)
    options = {"q0": Q0, "v0": [0.3, -0.2], "duration": 0.01}
    fast, slow, laws = both(monkeypatch, lambda: rd.simulate(arm, controller, **options))
    assert laws[0] is not None
    same(fast, slow)


def counting(look, memory):
    """Remembers a number that is the same for all motions, and one for each."""
    n, way = (0, 0.0 * look.q[..., 0]) if memory is None else (memory["n"], memory["way"])
    way = way + look.h * look.v[..., 0]
    return -look.v + 0.01 * n, {"n": n + 1, "way": way, "h": look.h}


@pytest.mark.parametrize("count", [1, 2, 70])
def test_one_number_of_each_motion_is_remembered(arm, count, monkeypatch):
    q0 = Q0 + 0.01 * np.arange(count)[:, None]
    fast, slow, laws = both(
        monkeypatch,
        lambda: rd.rollout(
            arm, Own(counting, "n", "way", "h"), q0, np.ones((count, 2)), duration=0.01
        ),
    )
    assert laws[0] is not None
    same(fast, slow)
    assert {x.shape for x in fast.memory.values()} == {(11, count, 1)}
    alone = rd.simulate(
        arm, Own(counting, "n", "way", "h"), q0=q0[-1], v0=np.ones(2), duration=0.01
    )
    for name, x in alone.memory.items():
        np.testing.assert_allclose(fast.memory[name][:, -1], x, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "decide",
    [
        lambda v: np.clip(v, -1.0, 1.0),
        lambda v: v if v[0] > 0.0 else -v,
        lambda v: v if v[0] >= v[1] else -v,
        lambda v: max(v) * np.ones(2),
        lambda v: v if 0.0 <= v[0] else -v,
    ],
)
def test_controllers_that_decide_are_told_that_they_are_not_symbolic(arm, decide):
    controller = Own(lambda look, memory: (-decide(look.v), {}))
    with pytest.raises(TypeError, match="a symbolic controller, reference or cost cannot"):
        rd.simulate(arm, controller, q0=Q0, duration=0.01)


def test_nothing_is_traced_where_python_takes_part_in_steps(arm, monkeypatch):
    def push(t, q, v):
        return {"lower": np.array([0.0, 0.0, -10.0 * v[0], 0.0, 0.0, 0.0])}

    still = JointPD(arm, PointToPoint(Q0, Q0, 1.0), stiffness=10.0, damping=1.0)
    fast, slow, laws = both(
        monkeypatch,
        lambda: rd.simulate(arm, RateLimited(still, 1.0), q0=Q0, duration=0.01, wrenches=push),
    )
    assert not laws
    same(fast, slow)


@pytest.mark.parametrize("wrap", [lambda c: c, lambda c: RateLimited(c, 1e3)])
@pytest.mark.parametrize("when", [-1.0, 0.0055])
def test_the_motion_whose_forces_are_no_numbers_is_named(arm, wrap, when):
    """The first of them, as where Python is asked."""

    def lost(t):
        return Q0 + (np.nan if t > when else 0.0), np.zeros(2), np.zeros(2)

    controller = wrap(JointPD(arm, lost, stiffness=10.0, damping=1.0))
    q0 = Q0 + 0.01 * np.arange(3)[:, None]
    with pytest.raises(rd.RobodynError, match="nan for joint 'shoulder' of motion 0 at t = "):
        rd.rollout(arm, controller, q0, 0.0 * q0, duration=0.01)
    with pytest.raises(rd.RobodynError, match="nan for joint 'shoulder' at t = "):
        rd.simulate(arm, controller, q0=Q0, duration=0.01)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("which", [1, 2])
def test_the_motion_that_is_named_is_the_one(arm, which):
    root = Own(lambda look, memory: (-np.sqrt(look.q), {}))
    q0 = np.full((3, 2), 0.4)
    q0[which] = -0.4
    with pytest.raises(rd.RobodynError, match=f"nan for joint 'shoulder' of motion {which} at"):
        rd.rollout(arm, root, q0, 0.0 * q0, duration=0.01)


def becoming_a_list(look, memory):
    """An array at first, and a list from then on: twice a list is longer."""
    seen = np.stack([look.q, look.q]) if memory is None else [*memory["seen"][1:], look.q]
    count = 0 if memory is None else len(memory["seen"] * 2)
    return -count * look.q, {"seen": seen}


def test_what_is_remembered_in_another_form_is_python_s(arm, monkeypatch):
    fast, slow, laws = both(
        monkeypatch, lambda: rd.simulate(arm, Own(becoming_a_list), q0=Q0, duration=0.01)
    )
    assert laws[0] is None
    same(fast, slow)


def test_python_is_not_asked_where_a_digital_controller_does_not_look(arm, monkeypatch):
    still = JointPD(arm, PointToPoint(Q0, Q0, 1.0), stiffness=10.0, damping=1.0)
    controller = Sampled(RateLimited(Filtered(still, 50.0), 100.0), 0.003, delay=0.002)
    monkeypatch.setattr(loop, "torque", None)
    assert np.isfinite(rd.simulate(arm, controller, q0=Q0, duration=0.02).tau).all()


def test_what_was_written_for_other_numbers_is_written_again(arm):
    """Numbers and symbols, and functions of one name, are told from each other."""
    graph = symbolic_time.TraceGraph()
    x = [*symbolic_time.symbols(graph, 0, 6)]
    heavy = arm.with_(payload={"lower": rd.Inertia.from_matrix(2.0, (0, 0, -0.5), np.eye(3))})
    one, two = (robot.function("inverse_dynamics").program for robot in (arm, heavy))
    given = [x, [*x[:5], -x[5]], [*x[:5], 1.0], [*x[:5], -1.0], [*x[:5], 0.0], [0.0, *x[1:]]]
    found = [graph.inlined(program, numbers) for program in (one, two) for numbers in given]
    edges = {tuple(edge_of(graph, x) for x in own) for own in found}
    assert len(edges) == len(found)
    assert graph.inlined(one, given[2]) is found[2]
