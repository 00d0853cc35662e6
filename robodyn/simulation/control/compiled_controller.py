"""Controllers as machine code: traced by calling them with symbols, or compiled by numba."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.codegen import Function
from robodyn.errors import ShapeError
from robodyn.robot import Robot
from robodyn.simulation.control.callbacks import checked_update
from robodyn.simulation.control.controller import (
    ControllerSample,
    StatefulController,
    recorded_entries,
    stateful,
)
from robodyn.simulation.control.controller_cache import Code, known_code
from robodyn.simulation.control.numba_code import numba_code
from robodyn.simulation.control.state_layout import StateLayout, layout_of
from robodyn.simulation.control.tracing import (
    NO_CODE,
    SampleSignal,
    Signal,
    Trace,
    Untraceable,
    steps_between,
)
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, Scalar

__all__ = ["CompiledController", "compile_controller", "trace_at_equal_steps"]

#: Nodes of the equations of a controller with a state beyond which compiling them takes longer than
#: it saves.
MOST = 20_000


@dataclass(frozen=True, eq=False)
class CompiledController:
    """A controller as machine code ``(q, v, t, applied, signals, state) -> (tau, state)``.

    What is given and returned for a state is a row of numbers; a controller without a state has
    none. A motion begins with `initial_rows`; `tables` are the inputs that depend on time alone.

    Attributes
    ----------
    controller : StatefulController
        What was compiled: it is called where machine code gives no numbers.
    code : Code
        The machine code, and constants that are inputs of it.
    layout : StateLayout
    signals : tuple of Signal and SampleSignal
    initial, program : Program or None
        Initial state, and update, as functions of q, v, t, applied, signals and state. No initial
        state without numbers in it, and no update of what numba has compiled.
    trace : Trace or None
        Where it was written down, if its forces depend on no earlier sample.
    """

    controller: StatefulController
    code: Code
    layout: StateLayout
    signals: tuple[Signal | SampleSignal, ...] = ()
    initial: Program | None = None
    program: Program | None = None
    trace: Trace | None = None

    # -- what machine code needs ------------------------------------------------------------------

    @property
    def state_size(self) -> int:
        """Numbers of a state."""
        return self.layout.size

    @property
    def extras(self) -> int:
        """Inputs that depend on time alone: the time, signals, and constants if there are any."""
        return 1 + len(self.signals) + len(self.code.constants)

    def address(self, batch: bool) -> int:
        """Address of ``rows(begin, end, pointers, strides)``.

        Pointers are those of q, v, the time, applied, signals, constants and state, then of tau and
        the new state.
        """
        return int(self.code.function.rows_address(batch))

    def tables(self, times: FloatArray, first: int, stop: int) -> list[tuple[FloatArray, int]]:
        """The inputs that depend on time alone at some of all sample times.

        With each goes how many numbers there are from one sample to the next.
        """
        signals = [(np.ascontiguousarray(x.rows(times, first, stop)), x.size) for x in self.signals]
        time = np.ascontiguousarray(times[first:stop]), 1
        return [time, *signals, *((x, 0) for x in self.code.constants)]

    def initial_rows(self, times: FloatArray, q: FloatArray, v: FloatArray) -> FloatArray:
        """States before the first of all sample times, shape (n, state_size).

        Parameters
        ----------
        times : ndarray, shape (k,) [s]
        q, v : ndarray, shape (n, nq), (n, nv)
        """
        if self.initial is None:
            return np.zeros((len(q), self.state_size))
        signals = [x.rows(times, 0, 1)[0] for x in self.signals]
        unused = np.zeros(v.shape), np.zeros(self.state_size)
        with np.errstate(all="ignore"):
            (rows,) = evaluate(self.initial, q, v, times[0], unused[0], *signals, unused[1])
        return np.broadcast_to(rows, (len(q), self.state_size)).copy()

    def update(
        self,
        times: FloatArray,
        k: int,
        q: FloatArray,
        v: FloatArray,
        applied: FloatArray,
        row: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Forces, shape (nv,), and the new state of one robot at one of all sample times.

        Parameters
        ----------
        times : ndarray, shape (n,) [s]
        k : int
            Which of them.
        q, v : ndarray, shape (nq,), (nv,)
        applied : ndarray, shape (nv,) [N m, N]
            Forces that acted since the sample before.
        row : ndarray, shape (state_size,)
            The state after the sample before.
        """
        signals = (x.rows(times, k, k + 1)[0] for x in self.signals)
        given = applied, *signals, *self.code.constants, row
        tau, after = self.code.function(q, v, float(times[k]), *given)
        return np.asarray(tau), np.asarray(after)

    # -- one sample -------------------------------------------------------------------------------

    def update_by_python(
        self,
        t: float,
        q: FloatArray,
        v: FloatArray,
        h: float,
        applied: FloatArray,
        row: FloatArray | None,
    ) -> tuple[FloatArray, FloatArray]:
        """Forces and the new state of one robot, where machine code gives no numbers.

        Parameters
        ----------
        t : float [s]
        q, v : ndarray, shape (nq,), (nv,)
        h : float [s]
            Time since the sample before.
        applied : ndarray, shape (nv,) [N m, N]
            Forces that acted since then.
        row : ndarray, shape (state_size,), or None
            The state after the sample before; ``None`` at the first sample.

        Returns
        -------
        tau : ndarray, shape (nv,)
        row : ndarray, shape (state_size,)
        """
        sample = ControllerSample(t, q, v, h, applied * h)
        before = self.controller.initial_state(sample) if row is None else self.layout.state(row)
        tau, after = checked_update(self.controller, sample, before)
        return tau, self.layout.row(after)

    # -- what is a function of time and state -----------------------------------------------------

    @cached_property
    def function_program(self) -> Program | None:
        """The program (q, v, t, signals) -> tau; none if forces depend on earlier samples."""
        if self.trace is None or self.program is None:
            return None
        p = self.program
        tau = [Scalar(self.trace.graph, edge) for edge in p.results]
        return self.trace.function_program(p.name, p.outputs[:1], tau)

    @cached_property
    def function(self) -> Function:
        """The same as a function of its own."""
        assert self.function_program is not None
        return Function(self.function_program)

    @property
    def is_function(self) -> bool:
        """Whether the forces are a function of time, position and velocity alone."""
        return self.program is None or self.trace is not None

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], of what is a function of time and state."""
        if self.program is None:
            return self._by_numba(t, q, v)
        signals = (x.rows(np.array([t]), 0, 1)[0] for x in self.signals)
        given = np.zeros(v.shape[-1]), *signals, *self.code.constants, np.zeros(0)
        tau = np.asarray(self.code.function(q, v, t, *given)[0])
        return tau if all_finite(tau) else self._by_python(t, q, v)

    def _by_numba(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        if q.ndim == 1:
            return self._by_python(t, q, v)
        return np.array([self._by_python(t, *state) for state in zip(q, v, strict=True)])

    def _by_python(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        sample = ControllerSample(t, q, v, 0.0, np.zeros(v.shape))
        before = self.controller.initial_state(sample)
        return checked_update(self.controller, sample, before)[0]


def compile_controller(
    robot: Robot, controller: Any, times: FloatArray | None = None
) -> CompiledController | None:
    """A controller as machine code.

    It is traced anew each time, as a controller may hold numbers that have changed. Where it is the
    same program as before, so is its machine code.

    Parameters
    ----------
    robot : Robot
    controller : callable or StatefulController
    times : ndarray, shape (n,), optional [s]
        All times at which it is sampled, if they are known.

    Returns
    -------
    compiled : CompiledController or None
        None if it is not symbolic, nor compiled by numba, or has no straight-line code.

    Raises
    ------
    ShapeError
        If the controller returns anything but symbols and numbers, one a speed.
    """
    own, by_numba = stateful(controller), numba_code(robot, controller)
    if by_numba is not None:
        return CompiledController(own, Code(by_numba, ()), layout_of({}, ()))
    if not getattr(controller, "symbolic", False):
        return None
    trace = Trace(robot, times)
    trace.graph.most = MOST
    try:
        first = ControllerSample(trace.t, trace.q, trace.v, 0.0, np.zeros(robot.nv, object))  # type: ignore[arg-type]
        state = own.initial_state(first)
        layout = layout_of(state, recorded_entries(controller))
        if not layout.size:
            trace.graph.most = None
        rows = layout.symbols(state)
        tau, after = _updated(own, trace, layout, trace.interval(steps_between))
        if layout.size and len(trace.graph.op) > MOST:
            return None
    except NO_CODE:
        return None
    is_function = trace.forget_unneeded([*rows, *tau, *after])
    state_port, initial = Port("state", (layout.size,)), None
    if layout.size:
        initial = trace.program("control_initial", (state_port,), rows, layout.size)
    outputs = Port("tau", (robot.nv,), "N m, N"), state_port
    program = trace.program("control", outputs, [*tau, *after], layout.size)
    signals: tuple[Signal | SampleSignal, ...] = (*trace.signals, *trace.sample_signals)
    code = known_code(program)
    own_trace = trace if is_function else None
    return CompiledController(own, code, layout, signals, initial, program, own_trace)


def trace_at_equal_steps(
    robot: Robot, controller: Any, step: float
) -> tuple[Program, Program, StateLayout] | None:
    """The updates of a controller at a first sample, and at all others, as programs.

    Parameters
    ----------
    robot : Robot
    controller : callable or StatefulController
    step : float [s]
        From sample to sample, whenever they are.

    Raises
    ------
    SettingsError
        If part of it is sampled at other times.
    """
    own = stateful(controller)
    if not getattr(controller, "symbolic", False):
        return None
    trace = Trace(robot, step=step)
    try:
        first = ControllerSample(trace.t, trace.q, trace.v, 0.0, np.zeros(robot.nv, object))  # type: ignore[arg-type]
        state = own.initial_state(first)
        layout = layout_of(state, recorded_entries(controller))
        begun = _forces_and_state(own.update(first, state), layout, robot.nv)
        going = _updated(own, trace, layout, step)
    except NO_CODE:
        return None
    outputs = Port("tau", (robot.nv,), "N m, N"), Port("state", (layout.size,))
    at_first, update = (
        trace.program(name, outputs, [*tau, *after], layout.size)
        for name, (tau, after) in (("control_first", begun), ("control", going))
    )
    return at_first, update, layout


def _updated(
    controller: StatefulController, trace: Trace, layout: StateLayout, h: Any
) -> tuple[list[Number], list[Number]]:
    """Forces and row of the state after a sample in symbols."""
    sample = ControllerSample(trace.t, trace.q, trace.v, h, trace.applied * h)  # type: ignore[arg-type]
    given = controller.update(sample, layout.state(trace.state(layout.size)))
    return _forces_and_state(given, layout, len(trace.v))


def _forces_and_state(
    given: Any, layout: StateLayout, nv: int
) -> tuple[list[Number], list[Number]]:
    try:
        tau, after = given
    except (TypeError, ValueError):  # called with numbers it says what is wrong
        raise Untraceable from None
    return one_a_speed(tau, nv), layout.symbols(after)


def one_a_speed(tau: Any, nv: int) -> list[Number]:
    """Symbols and numbers that a controller returned.

    Raises
    ------
    ShapeError
        If it returned anything else.
    """
    try:
        given = [*np.array(tau, object).flat] if np.shape(tau) == (nv,) else None
    except ValueError:  # lists of different lengths
        given = None
    kinds = (Scalar, int, float, np.integer, np.floating, np.bool_)
    if given is None or np.ma.is_masked(tau) or not all(isinstance(x, kinds) for x in given):
        shape = "" if given is not None or not isinstance(tau, np.ndarray) else f" {tau.shape}"
        raise ShapeError(
            f"the controller, which says that it is symbolic, returned {type(tau).__name__}{shape} "
            f"for symbols, expected symbols and numbers of shape ({nv},)",
            name="controller",
            given=tau,
            expected=(nv,),
        )
    return given
