"""Controllers with a memory as programs: two functions, of the first look and of all others.

What is remembered is a row of numbers, that goes from look to look as the state does. Tracing a
controller with an empty memory tells what it remembers; tracing it with symbols for that tells what
becomes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.robot import Robot
from robodyn.simulation.control.compiled_law import (
    NO_LAW,
    begin_trace,
    one_a_speed,
    signal_tables,
)
from robodyn.simulation.control.controller_cache import Code, known_code
from robodyn.simulation.control.sample_tracer import IMPULSE, LOOKED, Layout, SampleTracer
from robodyn.simulation.control.state_log import Log
from robodyn.simulation.control.stateful import StatefulController, chain
from robodyn.simulation.control.tracing import TraceGraph, Untraceable, symbols
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, edge_of

__all__ = ["MemoryLaw", "fixed_step_law", "memory_law_of"]

#: Nodes of a law beyond which machine code takes longer to make than it saves.
MOST = 20_000


@dataclass(frozen=True, eq=False)
class MemoryLaw:
    """A controller with a memory at the start of a motion, as machine code.

    Attributes
    ----------
    first, following : Program
        q, v, the time, the forces that acted, signals, what is remembered -> tau, and what is
        remembered from then on; at the first look, and at all others.
    code : Code
        The machine code of all others; one look is not worth any.
    signals : tuple of Signal and Steps
    layout : Layout
        Where memories stand in the row of what is remembered.
    holders : tuple of StatefulController
        Whose they are.
    logs : tuple of Log
        What is recorded of each.
    """

    first: Program
    following: Program
    code: Code
    signals: tuple[Any, ...]
    layout: Layout
    holders: tuple[StatefulController, ...]
    logs: tuple[Log, ...]

    @property
    def memory(self) -> int:
        """Numbers that it remembers."""
        return self.layout.size

    @property
    def recorded(self) -> int:
        """Those of them that are recorded, the first ones."""
        return self.layout.recorded

    @property
    def extras(self) -> int:
        """Inputs besides the state, forces and memory: the time, signals, constants if any."""
        return 1 + len(self.signals) + len(self.code.constants)

    def address(self, batch: bool) -> int:
        """Address of ``rows(begin, end, pointers, strides)`` of all looks but the first."""
        return self.code.function.rows_address(batch)

    def begin(
        self, q: FloatArray, v: FloatArray, given: list[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Forces and memory after the first look, shapes (n, nv), (n, memory).

        Parameters
        ----------
        q, v : ndarray, shape (n, nq), (n, nv)
        given : list of ndarray
            The time and the signals then.
        """
        parts = zip(given, self.first.inputs[2:3] + self.first.inputs[4:-1], strict=True)
        time, *signals = (x.reshape(port.shape) for x, port in parts)
        nothing = np.zeros(v.shape), *signals, np.zeros(self.memory)
        with np.errstate(all="ignore"):
            tau, memory = evaluate(self.first, q, v, time, *nothing)
        return tau, memory

    def tables(self, times: FloatArray, first: int, stop: int) -> list[tuple[FloatArray, int]]:
        """These at some instants, and how many numbers there are from one instant to the next."""
        tables = signal_tables(self.signals, times, first, stop)
        return tables + [(x, 0) for x in self.code.constants]

    def record(self, t: FloatArray, rows: FloatArray, batch: tuple[int, ...]) -> None:
        """Write down what was remembered after looks.

        Parameters
        ----------
        t : ndarray, shape (k,) [s]
        rows : ndarray, shape (k, n, recorded)
            Of n motions.
        batch : tuple of int
            Leading axes of a state.
        """
        found: list[dict[str, FloatArray]] = [{} for _ in self.logs]
        at = 0
        for slot, key, shape in self.layout.places:
            if at < self.recorded:
                count = int(np.prod(shape))
                found[slot][key] = rows[..., at : at + count].reshape(len(t), *batch, count)
                at += count
        for log, values in zip(self.logs, found, strict=True):
            if values:
                log.extend(t, values)

    # -- one look from Python ---------------------------------------------------------------------

    def recall(self, t: float, acted: FloatArray, row: FloatArray) -> None:
        """Let the controllers remember what they did after they looked at time ``t`` [s].

        Parameters
        ----------
        t : float [s]
        acted : ndarray, shape (nv,) [N m, N]
            Forces that act since then.
        row : ndarray, shape (memory,)
        """
        self.forget()
        for holder, own in zip(self.holders, self.layout.memories(row), strict=True):
            impulse, looked = own.pop(IMPULSE, 0.0), float(own.pop(LOOKED, t))
            holder.go_on(own, looked, impulse, t, acted)

    def forget(self) -> None:
        """Let the controllers be at the start of a motion."""
        for holder in self.holders:
            holder.begin()
            holder.log = Log(holder.log.names)  # what is recorded comes from machine code

    def remembered(self) -> FloatArray:
        """What the controllers remember after a look, shape (memory,)."""
        row = np.zeros(self.memory)
        for slot, key, x in self.layout.parted(row):
            own, looked, impulse = self.holders[slot].known
            given = {**own, LOOKED: looked, IMPULSE: impulse}
            value = np.asarray(given[key], float)
            x[tuple(slice(n) for n in value.shape)] = value
        return row


def memory_law_of(robot: Robot, controller: Any, times: FloatArray) -> MemoryLaw | None:
    """The law of a controller at the start of a motion; none if it has no memory, or no law.

    Parameters
    ----------
    robot : Robot
    controller : callable
        With a `StatefulController` in it, or being one.
    times : ndarray, shape (n,) [s]
        All instants of the motion.
    """
    return _law(robot, controller, times, None)


def fixed_step_law(robot: Robot, controller: Any, step: float) -> MemoryLaw | None:
    """The same for looks at equal steps [s], whenever they are.

    Raises
    ------
    SettingsError
        If part of it looks at other times.
    """
    return _law(robot, controller, np.zeros(0), step)


def _law(robot: Robot, controller: Any, times: FloatArray, step: float | None) -> MemoryLaw | None:
    if not (any(True for _ in chain(controller)) and getattr(controller, "symbolic", False)):
        return None
    try:
        graph = TraceGraph(MOST if step is None else None)
        begun, tau = _traced(robot, controller, times, step, graph, None)
        layout = _layout(begun)
        given = layout, tuple(begun.ports), begun.forms
        going, forces = _traced(robot, controller, times, step, graph, given)
    except NO_LAW:
        return None
    if step is None and len(graph.op) > MOST:
        return None
    holders = [holder for holder, _ in begun.after]
    if [holder for holder, _ in going.after] != holders or begun.ports != going.ports:
        return None
    graph.forget()
    first = _program(robot, "control_first", begun, layout, tau)
    following = _program(robot, "control", going, layout, forces)
    own = tuple(going.signals), layout, tuple(holders), tuple(holder.log for holder in holders)
    return MemoryLaw(first, following, known_code(following), *own)


def _traced(
    robot: Robot,
    controller: Any,
    times: FloatArray,
    step: float | None,
    graph: TraceGraph,
    known: tuple[Layout, tuple[Port, ...], list[dict[str, Any]]] | None,
) -> tuple[SampleTracer, list[Number]]:
    """A look in symbols, and the forces: at first, or with a memory in a layout behind inputs."""
    t, q, v = begin_trace(robot, SampleTracer, graph)
    t.times, t.step, t.after, t.forms, t.gate, t.before = times, step, [], [], None, None
    t.acted = symbols(t.graph, robot.nq + robot.nv + 1, robot.nv)
    t.ports.append(Port("acted", (robot.nv,), "N m, N"))
    if known is not None:
        layout, ports, t.forms = known
        behind = sum(port.size for port in ports)
        t.before = [{} for _ in t.forms]
        for slot, key, x in layout.parted(symbols(t.graph, behind, layout.size)):
            t.before[slot][key] = x
    return t, one_a_speed(controller(t, q, v), robot.nv)


def _layout(t: SampleTracer) -> Layout:
    """Where memories stand, with those that are recorded first.

    Raises
    ------
    Untraceable
        If controllers do not remember what they say that they do: called by Python, they are told.
    """
    recorded, others = [], []
    for slot, (holder, memory) in enumerate(t.after):
        for name in holder.log.names:
            if name not in memory or memory[name].ndim > 1:
                raise Untraceable
            recorded.append((slot, name, memory[name].shape))
        others += [(slot, key, x.shape) for key, x in memory.items() if key not in holder.log.names]
    count = sum(int(np.prod(shape)) for _, _, shape in recorded)
    places = *recorded, *others
    forms = (t.forms[slot].get(key) for slot, key, _ in places)
    return Layout(places, tuple(forms), len(t.forms), count)


def _program(
    robot: Robot, name: str, t: SampleTracer, layout: Layout, tau: list[Number]
) -> Program:
    """The program of a look."""
    memory = Port("memory", (layout.size,))
    kept = [np.ravel(t.after[slot][1][key]) for slot, key, _ in layout.places]
    results = [*tau, *(x for part in kept for x in part)]
    outputs = Port("tau", (robot.nv,), "N m, N"), memory
    edges = tuple(edge_of(t.graph, x) for x in results)
    rates = robot.function("integrate").program.rates
    return Program(name, (*t.ports, memory), outputs, t.graph, edges, rates)
