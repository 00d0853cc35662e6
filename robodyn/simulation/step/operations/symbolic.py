"""The operations of a step with symbols: a step becomes straight-line code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from robodyn.array_types import Array
from robodyn.codegen import Function
from robodyn.simulation.integrators.method import FLAT, Coordinates
from robodyn.simulation.loads.driven_joints import DrivenPlaces
from robodyn.simulation.loads.loads import StepFunctions
from robodyn.simulation.step.operations.step import Correct, Instant, close_loops
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.symbol_arrays import symbol_array

#: Number of corrections that close loops, before the last one. It is the same for all states, as
#: straight-line code has no branches. Each correction squares the gap, so that after two of them
#: the gap that a reasonable step opens is closed to rounding.
CORRECTIONS = 2

#: Corrections of position and velocity, and the gap.
Corrections = tuple[Array, Array, Array]


class SymbolicInputs:
    """Inputs of a step as arrays of symbols.

    numbers: All elements of each input.
    instants: Fractions of the step, for inputs that have a row for each of them.
    """

    def __init__(
        self,
        numbers: Mapping[str, Sequence[Number]],
        instants: Mapping[str, Sequence[float]],
        h: float,
    ) -> None:
        self._numbers, self._instants, self._h = numbers, instants, h

    def array(self, name: str) -> Array:
        """All elements of an input."""
        return symbol_array(self._numbers[name])

    def at(self, name: str, t: Instant) -> Array:
        """The row of an input at an instant of the step."""
        if name == "t":
            return np.array(self.array("t") + t.part * self._h, object)
        if name not in self._instants:
            return self.array(name)
        instants = self._instants[name]
        return np.asarray(self.array(name).reshape(len(instants), -1)[instants.index(t.part)])


class SymbolicOperations:
    """Operations with arrays of symbols."""

    def __init__(
        self, functions: StepFunctions, driven: DrivenPlaces, inputs: SymbolicInputs
    ) -> None:
        self._functions, self._driven, self._inputs = functions, driven, inputs

    @cached_property
    def coordinates(self) -> Coordinates:
        """How positions move by twists."""
        integrate, rate = self._functions.integrate, self._functions.rate
        if integrate is None or rate is None:
            return FLAT
        return Coordinates(
            lambda q, u: _called(integrate, q, u)[0], lambda u, v: _called(rate, u, v)[0]
        )

    def drive(self, t: Instant, q: Array, v: Array) -> Array | None:
        """Set driven joints to their paths; return their accelerations, ``None`` without any."""
        driven = self._driven
        v[driven.still] = 0.0
        if driven.speeds:
            q[driven.coordinates] = self._inputs.at("driven_position", t)
            v[driven.speeds] = self._inputs.at("driven_velocity", t)
        return self.driving(t, len(v))

    def driving(self, t: Instant, nv: int) -> Array | None:
        """Accelerations of driven joints."""
        if not self._driven.all_speeds:
            return None
        wanted = np.zeros(nv, object)
        if self._driven.speeds:
            wanted[self._driven.speeds] = self._inputs.at("driven_acceleration", t)
        return np.asarray(wanted[list(self._driven.all_speeds)])

    def accelerations(
        self, t: Instant, q: Array, v: Array, tau: Array, driving: Array | None
    ) -> Array:
        """Accelerations of all speeds."""
        given = [tau]
        if driving is not None:
            given = [driving, np.delete(tau, self._driven.all_speeds)]
        around = self._around(self._functions.dynamics, self._functions.before_loads, t)
        return _called(self._functions.dynamics, q, v, *given, *around)[0]

    # -- loops --------------------------------------------------------------------------------

    def close(self, t: Instant, q: Array, v: Array) -> tuple[Array, Array]:
        """The state with its loops closed."""
        return (q, v) if self._functions.corrections is None else close_loops(self, t, q, v)

    def corrections(self, t: Instant, q: Array, v: Array) -> Corrections:
        """One step of Newton's method."""
        corrections = self._functions.corrections
        assert corrections is not None
        dq, dv, gap = _called(corrections, q, v, *self._around(corrections, 2, t))
        return dq, dv, gap

    def where_open(self, gap: Array, moved: Array, q: Array) -> Array:
        """``moved`` for all states, as symbols cannot be compared."""
        return moved

    def while_open(
        self, correct: Correct, q: Array, found: Corrections
    ) -> tuple[Array, Corrections]:
        """Repeat a fixed number of times."""
        for _ in range(CORRECTIONS):
            q, found = correct(q, found)
        return q, found

    def _around(self, f: Function, after: int, t: Instant) -> list[Array]:
        """Inputs of a function after its first ones, at an instant."""
        return [self._inputs.at(port.name, t) for port in f.inputs[after:]]


def _called(f: Function, *arrays: Array) -> list[Array]:
    """Results of a function of the robot."""
    results = np.empty(len(f.program.results), object)
    results[:] = inline(f.program, [x for array in arrays for x in array])
    return np.split(results, np.cumsum([port.size for port in f.program.outputs])[:-1])
