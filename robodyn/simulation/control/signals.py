"""Inputs of a controller that depend on time alone, and are tabulated for machine code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError

#: (all sample times, first, stop) -> times since the sample before, shape (stop - first,) [s].
Intervals = Callable[[FloatArray, int, int], FloatArray]


@dataclass(frozen=True, eq=False)
class Signal:
    """An input of a controller that is a function of time.

    size: Numbers at an instant.
    function: Time [s] -> arrays, which hold that many numbers together.
    shapes: Of these arrays.
    at_times, optional: The same for many times, shape (n,) [s]: arrays with n in front of their
        shapes.
    """

    name: str
    size: int
    function: Callable[[float], tuple[FloatArray, ...]]
    shapes: tuple[tuple[int, ...], ...]
    at_times: Callable[[FloatArray], tuple[FloatArray, ...]] | None = None

    @property
    def has_same_shapes(self) -> bool:
        """Whether arrays at time zero have the shapes that they had."""
        return tuple(map(np.shape, self.function(0.0))) == self.shapes

    def at(self, t: float) -> FloatArray:
        """The numbers at an instant."""
        return np.concatenate([np.ravel(np.asarray(x, float)) for x in self.function(t)])

    def rows(self, times: FloatArray, first: int, stop: int) -> FloatArray:
        """The numbers at some of all sample times, shape (stop - first, size)."""
        if self.at_times is None:
            return np.array([self.at(t) for t in times[first:stop].tolist()])
        found, n = self.at_times(times[first:stop]), stop - first
        expected = [(n, *shape) for shape in self.shapes]
        if [np.shape(x) for x in found] != expected:
            raise ShapeError(
                f"at_times of the {self.name.rstrip('0123456789')} of a controller returned shapes "
                f"{[np.shape(x) for x in found]} for {n} times, expected {expected}",
                name="at_times",
                expected=expected,
            )
        return np.concatenate([np.reshape(x, (n, -1)) for x in found], axis=1, dtype=float)


@dataclass(frozen=True, eq=False)
class SampleSignal:
    """An input of a controller that depends on when samples are taken.

    size: Numbers at a sample.
    function: (all sample times [s], first, stop) -> numbers of these samples, shape (stop - first,
        ...).
    """

    name: str
    size: int
    function: Callable[[FloatArray, int, int], FloatArray]

    def rows(self, times: FloatArray, first: int, stop: int) -> FloatArray:
        """The numbers at some of all sample times, shape (stop - first, size)."""
        found = self.function(times, first, stop)
        return np.asarray(found, float).reshape(stop - first, self.size)


def steps_between(times: FloatArray, first: int, stop: int) -> FloatArray:
    """Times since the sample before, of samples at all of these times; zero at the first one."""
    return np.diff(times[first:stop], prepend=times[max(first - 1, 0)])


def function_of_intervals(
    function: Callable[[FloatArray], FloatArray],
    intervals: Intervals,
    times: FloatArray,
    first: int,
    stop: int,
) -> FloatArray:
    """Values of a function for intervals, most of which are equal: it is called once for each."""
    different, which = np.unique(intervals(times, first, stop), return_inverse=True)
    return np.asarray(function(different))[which]
