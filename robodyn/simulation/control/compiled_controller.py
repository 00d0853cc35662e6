"""Controllers as machine code; their states are rows of numbers."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import all_finite
from robodyn.codegen import Function
from robodyn.codegen.calls.trace_graph import Untraceable
from robodyn.codegen.constants_as_inputs import ConstantsAsInputs, function_of
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.control.controller import (
    ControllerSample,
    StatefulController,
    checked_initial_state,
    checked_update,
)
from robodyn.simulation.control.tracing import SampleSignal, Signal, Trace
from robodyn.simulation.loads.loads import Table
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Program
from robodyn.symbolic.scalar import Number, Scalar

#: Types that count as one number.
NUMBERS = (Scalar, int, float, np.number, np.bool_)


#: Keys that lead to an array or a number of a state.
Path = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class StateLayout:
    """The places of all numbers of a state in a row, those of recorded entries first.

    size: How many numbers there are.
    recorded: Places of recorded entries, by their names in the trajectory.
    _places: Place and shape of each array and number of the state.
    """

    size: int
    recorded: Mapping[str, slice]
    _places: Mapping[Path, tuple[slice, tuple[int, ...]]]
    _example: Any

    @property
    def recorded_size(self) -> int:
        """How many numbers are recorded."""
        return max((place.stop for place in self.recorded.values()), default=0)

    @property
    def names(self) -> list[str]:
        """A name for each number of a row: the keys that lead to it, and its index."""
        found = [""] * self.size
        for path, (place, shape) in self._places.items():
            name = ".".join(map(str, path))
            for k, index in enumerate(np.ndindex(shape), place.start):
                found[k] = f"{name}[{','.join(map(str, index))}]" if shape else name
        return found

    def state(self, row: Array) -> Any:
        """The state by its row of numbers or symbols, shape (size,)."""

        def made(node: Any, path: Path) -> Any:
            if path in self._places:
                place, shape = self._places[path]
                found = row[place].reshape(shape).copy()
                return found if shape else found[()]
            if isinstance(node, Mapping):
                return {key: made(x, (*path, key)) for key, x in node.items()}
            return type(node)(made(x, (*path, k)) for k, x in enumerate(node))

        return made(self._example, ())

    def row(self, state: Any) -> FloatArray:
        """A state of numbers as a row, shape (size,); shorter arrays end with zeros."""
        row = np.zeros(self.size)
        for path, (place, shape) in self._places.items():
            value = np.asarray(functools.reduce(operator.getitem, path, state), float)
            value = value[tuple(slice(n) for n in shape)]
            into = row[place].reshape(shape)
            into[tuple(slice(n) for n in value.shape)] = value
        return row

    def symbols(self, state: Any) -> list[Number]:
        """The row of a state of symbols.

        Raises Untraceable: If the state has another structure than the layout.
        """
        row, found = np.zeros(self.size, object), dict(_arrays(state, ()))
        if {path: x.shape for path, x in found.items()} != {
            path: shape for path, (_, shape) in self._places.items()
        }:
            raise Untraceable
        for path, x in found.items():
            row[self._places[path][0]] = x.ravel()
        return list(row)


def has_numbers(state: Any) -> bool:
    """Whether a state contains anything but empty mappings, lists and tuples."""
    if isinstance(state, Mapping):
        return any(map(has_numbers, state.values()))
    return any(map(has_numbers, state)) if type(state) in (list, tuple) else True


def layout_of(state: Any, recorded: Sequence[tuple[str, tuple[str, ...]]]) -> StateLayout:
    """The layout of a state of symbols.

    recorded: Name and path within the state of each recorded entry.
    Raises Untraceable: If the state contains something else than numbers, or a recorded entry is
        not an array.
    """
    shapes = {path: x.shape for path, x in _arrays(state, ())}
    order = [path for _, path in recorded]
    if any(len(shapes.get(path, (1, 1))) > 1 for path in order):
        raise Untraceable
    first, places = 0, dict[Path, tuple[slice, tuple[int, ...]]]()
    for path in dict.fromkeys((*order, *shapes)):
        shape = shapes[path]
        places[path] = slice(first, first + math.prod(shape)), shape
        first += math.prod(shape)
    names = {name: places[path][0] for name, path in recorded}
    return StateLayout(first, names, places, state)


def _arrays(x: Any, path: Path) -> Iterator[tuple[Path, Array]]:
    """Each array of a state, by its path."""
    if isinstance(x, Mapping):
        for key in x:
            yield from _arrays(x[key], (*path, key))
    elif type(x) in (list, tuple):
        for k, part in enumerate(x):
            yield from _arrays(part, (*path, k))
    else:
        yield path, _array(x)


def _array(x: Any) -> Array:
    """An array of symbols and numbers, or one of them, as an array of objects.

    Raises Untraceable: If it is anything else.
    """
    if not isinstance(x, (np.ndarray, *NUMBERS)):
        raise Untraceable
    found = np.array(x, object)
    if not all(isinstance(part, NUMBERS) for part in found.flat):
        raise Untraceable
    return found


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
