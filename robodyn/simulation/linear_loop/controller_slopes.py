"""How the forces and the state of a controller change with its sample and its state.

The continuous model of a controller with a memory is its limit for samples that come ever faster.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.codegen.calls.trace_graph import Untraceable
from robodyn.codegen.constants_as_inputs import function_of
from robodyn.errors import SettingsError
from robodyn.robot import Robot
from robodyn.simulation.control.closed_loop import numbered
from robodyn.simulation.control.compile_controller import compile_controller
from robodyn.simulation.control.compiled_controller import (
    Code,
    CompiledController,
    StateLayout,
    layout_of,
)
from robodyn.simulation.control.controller import (
    ControllerSample,
    recorded_entries,
    stateful,
)
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate, inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of
from robodyn.tolerances import COMPLEX_STEP, MEMORY_AT_REST, MEMORY_KEPT, MEMORY_RANK

#: Most steps of Newton's method to the rest of a memory.
STEPS_TO_REST = 8

#: Step of difference quotients of fourth order, for controllers that only Python knows.
STEP = 1e-4

#: Largest numbers of operations of a controller whose derivatives are written down, and of
#: derivatives that are compiled; otherwise it is evaluated with complex steps, which takes no code.
MOST, MOST_COMPILED = 2_500, 10_000

#: Functions of derivatives of traced controllers, by the layouts of their states; ``None`` where
#: these are too long.
_functions: weakref.WeakKeyDictionary[StateLayout, Function | None] = weakref.WeakKeyDictionary()


class ControllerSlopes:
    """A controller near a state of a robot and of its own.

    lasting: Derivatives are asked for often, so that they are worth their code.
    signals: Sizes of the functions of time that it asks for, by name, as references.
    """

    def __init__(self, robot: Robot, controller: Any, t: float, lasting: bool) -> None:
        self._robot, self._controller, self._t, self._lasting = robot, controller, t, lasting
        self._compiled = compile_controller(robot, controller)
        if self._compiled is not None and self._compiled.program is None:
            self._compiled = None  # numba has compiled it, which knows no derivatives

    def at_rest(self, q: FloatArray, v: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
        """Forces, and the row of the state, when it has seen the same state again and again.

        By Newton's method: a memory that decays slowly takes no longer than others.
        """
        tau, row = self._update(0.0, q, v, np.zeros(len(v)), None)
        for _ in range(STEPS_TO_REST if len(row) else 0):
            here = np.concatenate([tau, row])
            gap = np.concatenate(self._update(h, q, v, tau, row)) - here
            if np.abs(gap).max() <= MEMORY_AT_REST * max(1.0, np.abs(here).max()):
                break
            slopes = self.slopes(h, q, v, tau, row)
            left = np.eye(len(here)) - np.hstack([slopes["applied"], slopes["state"]])
            here = here + np.linalg.lstsq(left, gap, rcond=MEMORY_RANK)[0]
            tau, row = here[: len(tau)], here[len(tau) :]
        return tau, row

    @property
    def signals(self) -> Mapping[str, int]:
        """Sizes of functions of time by name."""
        found = self._law.signals_of_time
        return {x.name: x.size for x in found}

    def value(self, signal: str) -> FloatArray:
        """The numbers of one of them."""
        (found,) = (x for x in self._law.signals_of_time if x.name == signal)
        return found.at(self._t)

    @cached_property
    def _law(self) -> CompiledController:
        """The controller with the layout of its state."""
        return self._compiled or self._by_numbers()

    def _by_numbers(self) -> CompiledController:
        robot, own = self._robot, stateful(self._controller)
        rest = np.zeros(robot.nv)
        sample = ControllerSample(self._t, robot.at(self._t).neutral(), rest, 0.0, rest)
        try:
            layout = layout_of(own.initial_state(sample), recorded_entries(self._controller))
        except Untraceable:
            raise SettingsError(
                f"the state of {type(self._controller).__name__} holds other things than numbers "
                "and arrays of them: a linear model needs numbers"
            ) from None
        return CompiledController(own, Code(None, ()), layout)

    @property
    def names(self) -> list[str]:
        """Names of the numbers of the state, by their places in it."""
        return self._law.layout.names

    def _instants(self, h: float) -> FloatArray:
        return np.array([self._t - h, self._t])

    def _inputs(self, h: float) -> list[FloatArray]:
        """Values of the signals after an interval, and gains."""
        law, times, k = self._law, self._instants(h), int(h > 0.0)
        times = times[1 - k :]
        rows = [x.rows(times, k, k + 1)[0] for x in law.signals]
        gains = [law.code.constants[0]] if "gains" in self._ports else []
        return [*rows, *gains]

    @cached_property
    def _ports(self) -> dict[str, Port]:
        program = self._law.program
        return {} if program is None else {port.name: port for port in program.inputs}

    def _update(
        self, h: float, q: FloatArray, v: FloatArray, applied: FloatArray, row: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Forces and the new state; ``row`` is ``None`` at the first sample."""
        law = self._law
        if self._compiled is not None:
            times, k = self._instants(h)[int(h == 0.0) :], int(h > 0.0)
            if row is None:
                row = law.initial_rows(times, q[None], v[None])[0]
            return law.update(times, k, q, v, applied, row)
        return law.update_by_python(self._t, q, v, h, applied, row)

    def slopes(
        self, h: float, q: FloatArray, v: FloatArray, applied: FloatArray, row: FloatArray
    ) -> dict[str, FloatArray]:
        """Derivatives of forces and of the state after a sample, the ones above the other.

        By ``"q"`` [along the speeds], ``"v"``, ``"applied"``, ``"state"`` and signals.

        h [s]: Time since the sample before.
        Raises SettingsError: If they are no numbers.
        """
        found = (
            self._by_differences(h, q, v, applied, row)
            if self._compiled is None
            else self._by_code(h, q, v, applied, row)
        )
        none = np.zeros((self._robot.nv + len(row), 0))
        found = dict.fromkeys(("q", "v", "applied", "state"), none) | found
        if not all(np.isfinite(x).all() for x in found.values()):
            raise SettingsError(
                f"{type(self._controller).__name__} has no derivative at this state, if it is "
                f"sampled every {h:.6g} s: give dt= the period that it is made for"
            )
        return found

    def _by_code(
        self, h: float, q: FloatArray, v: FloatArray, applied: FloatArray, row: FloatArray
    ) -> dict[str, FloatArray]:
        program, traced = self._law.program, self._law.layout
        assert program is not None
        if traced not in _functions and self._lasting:
            _functions[traced] = _derivatives(program)
        f, given = _functions.get(traced), [q, v, np.array(self._t), applied, *self._inputs(h), row]
        if f is None:
            return _by_complex_steps(program, given)
        results = f(*given)
        return {x.name: np.asarray(y) for x, y in zip(f.outputs, results, strict=True)}

    def _by_differences(
        self, h: float, q: FloatArray, v: FloatArray, applied: FloatArray, row: FloatArray
    ) -> dict[str, FloatArray]:
        """By difference quotients of fourth order."""
        robot = self._robot.at(self._t)
        state = {"q": np.zeros(robot.nv), "v": v, "applied": applied, "state": row}

        def updated(**changed: FloatArray) -> FloatArray:
            x = {**state, **changed}
            there = robot.integrate(q, x["q"])
            return np.concatenate(self._update(h, there, x["v"], x["applied"], x["state"]))

        found = {}
        for name, x in state.items():
            columns = []
            for k in range(len(x)):
                step = np.zeros(len(x))
                step[k] = STEP * max(1.0, abs(x[k]))
                near, far = (
                    updated(**{name: x + s * step}) - updated(**{name: x - s * step})
                    for s in (1.0, 2.0)
                )
                columns.append((8.0 * near - far) / (12.0 * step[k]))
            rows = robot.nv + len(row)
            found[name] = np.array(columns).T.reshape(rows, len(x))
        return found


def _varied(program: Program) -> list[Port]:
    """Inputs of a controller by which it is differentiated."""
    held = ("gains", "interval", "sampled")
    return [x for x in program.inputs if x.size and x.name != "t" and not x.name.startswith(held)]


def _derivatives(program: Program) -> Function | None:
    """All derivatives of a program, in one function with the same inputs; ``None`` if too long."""
    if len(program.live()) > MOST:
        return None
    graph = Graph()
    numbers = numbered(graph, list(program.inputs))
    given = [x for port in program.inputs for x in numbers[port.name]]
    rows, results, outputs = sum(port.size for port in program.outputs), [], []
    for port in _varied(program):
        found = inline(jacobian(program, port.name), given)
        outputs.append(Port(port.name, (rows, len(found) // rows)))
        results += found
    edges, rates = tuple(edge_of(graph, x) for x in results), program.rates
    made = Program("control_slopes", program.inputs, tuple(outputs), graph, edges, rates)
    return function_of(made) if len(made.live()) <= MOST_COMPILED else None


def _by_complex_steps(program: Program, given: Sequence[Any]) -> dict[str, FloatArray]:
    """The same derivatives, exact but for rounding, without code [Squire & Trapp 1998]."""
    varied, ways = _varied(program), dict[str, FloatArray]()
    for port, x in zip(program.inputs, given, strict=True):
        if port in varied:
            rates = program.rates.get(port.name)
            ways[port.name] = np.eye(port.size) if rates is None else evaluate(rates, x)[0].T
    count, first, moved = sum(map(len, ways.values())), 0, list[Any]()
    places = dict[str, slice]()
    for port, x in zip(program.inputs, given, strict=True):
        if port.name in ways:
            places[port.name] = slice(first, first + len(ways[port.name]))
            first, x = places[port.name].stop, np.tile(x.astype(complex), (count, 1))
            x[places[port.name]] += 1j * COMPLEX_STEP * ways[port.name]
        moved.append(x)
    results = evaluate(program, *moved, dtype=complex)
    rows = [np.broadcast_to(x.imag / COMPLEX_STEP, (count, x.shape[-1])) for x in results]
    slopes = np.concatenate(rows, axis=-1).T
    return {name: slopes[:, own] for name, own in places.items()}


#: Nodes in the time between samples, in units of `NODE` [s], and the weights of their values in the
#: derivative at zero [/NODE], of sixth order.
NODE = 2e-5
WEIGHTS = np.array([-147.0, 360.0, -450.0, 400.0, -225.0, 72.0, -10.0]) / 60.0


@dataclass(frozen=True, eq=False)
class ContinuousController:
    """``dz/dt = rate["state"] z + ...`` and ``u = force["state"] z + ...`` of its inputs.

    names: Numbers of the state that ``z`` follows.
    """

    rate: Mapping[str, FloatArray]
    force: Mapping[str, FloatArray]
    names: list[str]


def continuous(
    own: ControllerSlopes,
    nv: int,
    state: tuple[FloatArray, FloatArray],
    at_rest: tuple[FloatArray, FloatArray],
) -> ContinuousController:
    """The limit of a controller for samples without time between them.

    After a sample the state is ``s+ = (F0 + h F1) s + (G0 + h G1) y``. What ``F0`` keeps, its
    eigenvalue 1, changes at the rate that terms in ``h`` give; what it forgets follows ``y`` at
    once.

    Raises SettingsError: If there is no such limit, as it counts samples.
    """
    tables = [own.slopes(k * NODE, *state, *at_rest) for k in range(len(WEIGHTS))]
    now = tables[0]
    by_h = {
        name: sum(w * x[name] for w, x in zip(WEIGHTS, tables, strict=True)) / NODE for name in now
    }
    F0, inputs = now["state"][nv:], [name for name in now if name != "state"]
    kept, left = _kept(F0)
    forgotten = np.eye(len(F0)) - F0 + kept @ left
    follows = {name: np.linalg.solve(forgotten, now[name][nv:]) for name in inputs}
    pushed = max((np.abs(left @ now[name][nv:]).max(initial=0.0) for name in inputs), default=0.0)
    grows = np.abs(F0 @ kept - kept).max(initial=0.0)
    if max(pushed, grows) > MEMORY_KEPT * max(
        1.0, *(np.abs(x).max(initial=0.0) for x in now.values())
    ):
        raise SettingsError(
            "the controller changes its memory by the sample, whatever the time between samples: "
            "it has no continuous model; give dt=, or put Sampled around it"
        )
    force = {"state": now["state"][:nv] @ kept}
    rate = {"state": left @ by_h["state"][nv:] @ kept}
    for name in inputs:
        force[name] = now[name][:nv] + now["state"][:nv] @ follows[name]
        rate[name] = left @ (by_h[name][nv:] + by_h["state"][nv:] @ follows[name])
    return ContinuousController(rate, force, _names(own.names, kept))


def _kept(F: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Right and left vectors of the eigenvalue 1, (n, k) and (k, n); they are inverse.

    The right ones have a unit matrix in some rows.

    Raises SettingsError: If the matrix grows.
    """
    n = len(F)
    if not n:
        return np.zeros((0, 0)), np.zeros((0, 0))
    sizes = np.abs(np.linalg.eigvals(F))
    if sizes.max() > 1.0 + MEMORY_KEPT:
        raise SettingsError(
            "the memory of the controller grows from sample to sample, whatever the time between "
            "them: it has no continuous model; give dt="
        )
    ways, changes, moved = np.linalg.svd(F - np.eye(n))
    still = changes <= MEMORY_KEPT * max(1.0, changes.max())
    right, left = moved[still].T, ways[:, still].T
    rows, rest = list[int](), right.copy()
    for _ in range(right.shape[1]):  # rows that differ most from those before
        k = int(np.abs(rest).sum(axis=1).argmax())
        rows.append(k)
        rest = rest - np.outer(rest @ rest[k], rest[k]) / (rest[k] @ rest[k])
    right = right @ np.linalg.inv(right[np.sort(rows)]) if rows else right
    return right, np.linalg.solve(left @ right, left)


def _names(names: list[str], kept: FloatArray) -> list[str]:
    """Those of the numbers that each column follows: where it alone is one."""
    ones = [np.flatnonzero(np.abs(kept[:, k] - 1.0) < MEMORY_KEPT)[0] for k in range(kept.shape[1])]
    return [names[k] for k in ones]
