"""Controllers as machine code; their states are rows of numbers."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.codegen import Function
from robodyn.codegen.constants_as_inputs import ConstantsAsInputs, function_of
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.control.callbacks import checked_initial_state, checked_update
from robodyn.simulation.control.controller import ControllerSample, StatefulController
from robodyn.simulation.control.state_layout import StateLayout
from robodyn.simulation.control.tracing import SampleSignal, Signal, Trace
from robodyn.simulation.loads.loads import Table
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Program
from robodyn.symbolic.scalar import Scalar


class Code(NamedTuple):
    """A function, and the constants of the controller's program that are an input of it.

    function: Its input ``constants``, if there is one, is the last one, or comes before ``state``.
    constants (m,): Empty if the function has no such input.
    """

    function: Any
    constants: tuple[FloatArray, ...]


#: Functions of the controllers of earlier motions.
CODE: ConstantsAsInputs[Function] = ConstantsAsInputs(
    Function, Function, "constants", before="state"
)


def cached_code(program: Program) -> Code:
    """The function of a controller's program; machine code of earlier motions is used again."""
    function, constants = CODE.of(program)
    return Code(function, (constants,) if len(constants) else ())


@dataclass(frozen=True, eq=False)
class CompiledController:
    """A controller as machine code ``(q, v, t, applied, signals, state) -> (tau, state)``.

    The state is a row of numbers, which is empty for a controller without a state. Motions start
    with `initial_rows`; `tables` are the inputs that depend on time alone.

    controller: The controller itself, which is called where its machine code returns NaN.
    code: The machine code, and the gains and constants that are inputs of it.
    initial, program: Programs of the initial state and of the update, with inputs q, v, t, applied,
        signals and state. ``initial`` is ``None`` if the state is empty, and may be an array, shape
        (n, state_size), of n motions. ``program`` is ``None`` if numba has compiled the controller.
    trace: The trace of a controller whose forces do not depend on earlier samples.
    """

    controller: StatefulController
    code: Code
    layout: StateLayout
    signals: tuple[Signal | SampleSignal, ...] = ()
    initial: Program | FloatArray | None = None
    program: Program | None = None
    trace: Trace | None = None

    # -- what machine code needs ------------------------------------------------------------------

    @property
    def signals_of_time(self) -> list[Signal]:
        """Signals that are functions of time, whenever samples are taken."""
        return [x for x in self.signals if isinstance(x, Signal)]

    @property
    def has_same_shapes(self) -> bool:
        """Whether functions of time still return arrays of the shapes that they had."""
        return all(x.has_same_shapes for x in self.signals_of_time)

    @property
    def state_size(self) -> int:
        """Numbers of a state."""
        return self.layout.size

    @property
    def extras(self) -> int:
        """Inputs that depend on time alone: the time, signals, gains and constants."""
        return 1 + len(self.signals) + len(self.code.constants)

    def address(self, batch: bool) -> int:
        """Address of ``rows(begin, end, pointers, strides)``.

        Pointers are those of q, v, the time, applied, signals, constants and state, then of tau and
        the new state.
        """
        return int(self.code.function.rows_address(batch))

    def tables(self, times: FloatArray, first: int, stop: int) -> list[Table]:
        """The inputs that depend on time alone at some of all sample times: time, then signals."""
        rows = [(x.rows(times, first, stop), x.size) for x in self.signals]
        given = [(times[first:stop], 1), *rows, *((x, 0) for x in self.code.constants)]
        return [Table(np.ascontiguousarray(x), size) for x, size in given]

    def initial_rows(self, times: FloatArray, q: FloatArray, v: FloatArray) -> FloatArray:
        """States before the first of all sample times, shape (n, state_size)."""
        if self.initial is None:
            return np.zeros((len(q), self.state_size))
        if isinstance(self.initial, np.ndarray):
            return self.initial
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

        k: Which of them.
        applied (nv,) [N m, N]: Forces that acted since the sample before.
        row (state_size,): The state after the sample before.
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
        """Forces and the new state of one robot, by a call of the controller itself.

        h [s]: Time since the sample before.
        applied (nv,) [N m, N]: Forces that acted since then.
        row (state_size,), or None: The state after the sample before; ``None`` at the first sample.
        Returns tau (nv,)
        Returns row (state_size,)
        """
        sample = ControllerSample(t, q, v, h, applied * h)
        own = self.controller
        before = checked_initial_state(own, sample) if row is None else self.layout.state(row)
        tau, after = checked_update(own, sample, before)
        return tau, self.layout.row(after)

    # -- what is a function of time and state -----------------------------------------------------

    @cached_property
    def function_program(self) -> Program | None:
        """The program (q, v, t, signals, gains) -> tau; ``None`` if earlier samples matter."""
        if self.trace is None or self.program is None:
            return None
        p = self.program
        tau = [Scalar(self.trace.graph, edge) for edge in p.results]
        return self.trace.program(p.name, p.outputs[:1], tau)

    @cached_property
    def function(self) -> Function:
        """The function of that program."""
        assert self.function_program is not None
        return function_of(self.function_program)

    @property
    def is_function(self) -> bool:
        """Whether the forces are a function of time, position and velocity alone."""
        return self.program is None or self.trace is not None

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N]; for controllers that are functions of the state."""
        if self.program is None and q.ndim > 1:  # numba has compiled it for one state
            return np.array([self(t, *state) for state in zip(q, v, strict=True)])
        if self.program is None:
            return self._by_python(t, q, v)
        signals = (x.rows(np.array([t]), 0, 1)[0] for x in self.signals)
        given = np.zeros(v.shape[-1]), *signals, *self.code.constants, np.zeros(0)
        tau = np.asarray(self.code.function(q, v, t, *given)[0])
        return tau if all_finite(tau) else self._by_python(t, q, v)

    def _by_python(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        sample = ControllerSample(t, q, v, 0.0, np.zeros(v.shape))
        before = checked_initial_state(self.controller, sample)
        return checked_update(self.controller, sample, before)[0]
