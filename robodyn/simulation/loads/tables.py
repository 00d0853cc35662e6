"""Loads at many instants: inputs of functions as arrays, and as tables for machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from robodyn.array_types import FloatArray
from robodyn.codegen import Function


@dataclass(frozen=True, eq=False)
class LoadsAt:
    """Motion of driven joints, and loads, at some instants.

    driven (n, k) each: Positions, velocities and accelerations of the driven joints, as of
        `Driven.state`.
    varying (n, ...): Inputs of functions that change with time, by name: the time and the motion of
        the base.
    constant (...) or (robots, ...): Constant inputs: wrenches, and gains of the stabilisation.
    """

    driven: tuple[FloatArray, ...]
    varying: Mapping[str, FloatArray]
    constant: Mapping[str, FloatArray]

    def __getitem__(self, index: Any) -> LoadsAt:
        """The loads at some of the instants, by an index of any shape."""
        varying = {name: x[index] for name, x in self.varying.items()}
        return LoadsAt(tuple(x[index] for x in self.driven), varying, self.constant)

    def inputs(self, f: Function, after: int) -> list[FloatArray]:
        """Inputs of a function after its first ones, at all instants."""
        given = {**self.constant, **self.varying}
        return [given[port.name] for port in f.inputs[after:]]

    def tables(self, f: Function, after: int, dtype: DTypeLike = float) -> list[Table]:
        """These inputs as tables for machine code, and the rows of numbers that it may take.

        ``dtype``: the precision of the numbers.
        """
        found, numbers = [], f.rows_of_numbers
        given = [*self.inputs(f, after), *([] if numbers is None else [numbers])]
        for port, x in zip(f.code_inputs[after:], given, strict=True):
            if port.name in self.varying:
                found.append(Table(np.ascontiguousarray(x, dtype), port.size))
            else:
                found.append(Table(np.ascontiguousarray(x, dtype), 0, port.size * (x.ndim > 1)))
        return found


@dataclass(frozen=True, eq=False)
class Table:
    """Values of an input of a function.

    values: Contiguous.
    step: Stride from one instant to the next; 0 for constants.
    row: Stride from one robot to the next; 0 for values that are the same for all.
    """

    values: FloatArray
    step: int
    row: int = 0


def instants(times: FloatArray, parts: Sequence[float]) -> FloatArray:
    """All instants at which loads are needed, shape (steps + 1, len(parts)) [s].

    No step follows the last instant, which is repeated.
    """
    h = np.append(np.diff(times), 0.0)
    return np.asarray(times[:, None] + np.array(parts) * h[:, None])
