"""The time while controllers with a memory are traced: what they remember are symbols too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.simulation.control.compiled_law import one_a_speed
from robodyn.simulation.control.stateful import ControllerSample, StatefulController
from robodyn.simulation.control.tracing import SymbolicTime, Untraceable
from robodyn.symbolic.scalar import Number, Scalar

__all__ = ["IMPULSE", "LOOKED", "Gate", "Layout", "SampleTracer", "Steps"]

#: What is remembered of a controller that looks now and then, beside what it says itself: the
#: integral of forces since it looked, and when it did.
IMPULSE, LOOKED = " impulse", " looked"

#: What one number may be.
NUMBERS = (Scalar, int, float, np.number, np.bool_)


@dataclass(frozen=True, eq=False)
class Steps:
    """An input of a controller that depends on the instants of its motion.

    Attributes
    ----------
    name : str
    size : int
        Numbers at an instant.
    between : callable
        Numbers from an instant to before another, by their places: shape (n, ...).
    """

    name: str
    size: int
    between: Callable[[int, int], FloatArray]

    def rows(self, times: FloatArray, first: int, stop: int) -> FloatArray:
        """The numbers at some of all instants, shape (stop - first, size)."""
        return np.asarray(self.between(first, stop), float).reshape(stop - first, self.size)


@dataclass(frozen=True, eq=False)
class Gate:
    """When controllers look that do not do so at every step.

    Attributes
    ----------
    looks, rests : Number
        1 and 0 where they look, 0 and 1 where they do not.
    intervals : ndarray, shape (n,) [s]
        Since the last look, where they look; zero at the first.
    looked : Number [s]
        When they looked last, this instant counted.
    """

    looks: Number
    rests: Number
    intervals: FloatArray
    looked: Number

    def chosen(self, new: Array, old: Array) -> Array:
        """What is new where they look, and what was where they do not, to the last bit."""
        return np.asarray(self.looks * new + self.rests * old, object)


@dataclass(frozen=True)
class Layout:
    """Where memories stand in a row of numbers; what is recorded comes first.

    Attributes
    ----------
    places : tuple of (int, str, tuple of int)
        Which controller, the name of what it remembers, its shape: one behind the other.
    forms : tuple
        Lists and tuples that stand there, as `form_of` has them.
    controllers : int
    recorded : int
        How many numbers are recorded.
    """

    places: tuple[tuple[int, str, tuple[int, ...]], ...]
    forms: tuple[Any, ...]
    controllers: int
    recorded: int

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return sum(int(np.prod(shape)) for _, _, shape in self.places)

    def parted(self, row: Any) -> list[tuple[int, str, Any]]:
        """The arrays of a row, shape (..., size), with controller and name of each."""
        found, at = list[tuple[int, str, Any]](), 0
        for slot, key, shape in self.places:
            count = int(np.prod(shape))
            part = row[..., at : at + count].reshape((*row.shape[:-1], *shape))
            found.append((slot, key, part))
            at += count
        return found

    def memories(self, row: Any) -> list[dict[str, Any]]:
        """What each controller remembers, in the form that it gave to it."""
        found: list[dict[str, Any]] = [{} for _ in range(self.controllers)]
        for (slot, key, x), form in zip(self.parted(row), self.forms, strict=True):
            found[slot][key] = formed(form, x)
        return found


def form_of(x: Any) -> Any:
    """Lists and tuples in what is remembered: the same with ``None`` for numbers and arrays.

    Raises
    ------
    Untraceable
        If something else is there, which only Python knows how to go on with.
    """
    if type(x) in (list, tuple):
        return type(x)(map(form_of, x))
    if type(x) is np.ndarray or isinstance(x, NUMBERS):
        return None
    raise Untraceable


def formed(form: Any, x: Any) -> Any:
    """An array as the lists and tuples that stood there, of numbers and arrays of their own."""
    if form is None:
        return x.copy() if isinstance(x, np.ndarray) else x
    return type(form)(map(formed, form, x))


class SampleTracer(SymbolicTime):
    """Makes symbols of memories, and takes note of what becomes of them.

    Attributes
    ----------
    times : ndarray, shape (n,) [s]
        All instants of the motion; empty where looks come at equal steps, at times not known yet.
    step : float or None [s]
        From look to look, where looks come at equal steps.
    acted : ndarray of symbols, shape (nv,)
        Forces that have acted since the last instant.
    before : list of dict, or None
        What each controller remembers, in the order in which they look; none at the first look.
    after : list of (StatefulController, dict)
        The same after this look.
    forms : list of dict
        Lists and tuples in these memories, as `form_of` has them; they stay as they are.
    gate : Gate or None
        Whether controllers look now.
    """

    __slots__ = ("acted", "after", "before", "forms", "gate", "step", "times")

    times: FloatArray
    step: float | None
    acted: Array
    before: list[dict[str, Array]] | None
    after: list[tuple[StatefulController, dict[str, Array]]]
    forms: list[dict[str, Any]]
    gate: Gate | None

    def table(self, name: str, size: int, between: Callable[[int, int], FloatArray]) -> Array:
        """Symbols for a row of numbers at each instant, as `Steps` has them."""
        return self.input(Steps(f"{name}{len(self.signals)}", size, between))

    def over(self, function: Callable[[FloatArray], FloatArray]) -> Any:
        """Symbols for what a function makes of the time since the last look."""
        if self.step is not None:
            return function(np.array([0.0 if self.before is None else self.step]))[0]
        intervals = self.gate.intervals if self.gate else np.diff(self.times, prepend=self.times[0])
        shape = np.shape(function(intervals[-1:]))[1:]
        between = partial(_of_intervals, function, intervals)
        steps = Steps(f"interval{len(self.signals)}", int(np.prod(shape)), between)
        numbers = self.input(steps).reshape(shape)
        return numbers if shape else numbers[()]

    @contextmanager
    def only(self, gate: Gate) -> Iterator[None]:
        """Let controllers look where a gate lets them."""
        if self.gate is not None:  # looks of looks
            raise Untraceable
        self.gate = gate
        try:
            yield
        finally:
            self.gate = None

    def looked(self, remembering: StatefulController, q: FloatArray, v: FloatArray) -> Array:
        """Forces of a controller with a memory, shape (nv,); its memory goes on."""
        before = None
        if self.before is not None:
            if len(self.after) == len(self.before):
                raise Untraceable
            before = self.before[len(self.after)]
        self.after.append((remembering, {}))  # those that it holds come behind it
        own, known = len(self.after) - 1, None
        if before is None:
            self.forms.append({})
        else:
            known = {key: formed(form, before[key]) for key, form in self.forms[own].items()}
        h, impulse, beside = self._since(before)
        given = remembering.controller.answer(ControllerSample(self, q, v, h, impulse), known)  # type: ignore[arg-type]
        tau, memory = _forces_and_memory(given, len(self.acted))
        forms = {key: form_of(x) for key, x in memory.items()}
        if before is not None and forms != self.forms[own]:
            raise Untraceable
        self.forms[own] = forms
        kept = {key: self._kept(key, x, before) for key, x in memory.items()}
        self.after[own] = remembering, kept | beside
        return tau

    def _since(self, before: Mapping[str, Array] | None) -> tuple[Any, Array, dict[str, Array]]:
        """Time and impulse since the last look, and what is remembered of them."""
        gate, zeros = self.gate, np.zeros(len(self.acted), object)
        h, self.gate = self.over(lambda h: h), None
        step, self.gate = self.over(lambda h: h) if gate else h, gate
        if before is None:
            beside = {IMPULSE: zeros, LOOKED: np.array(self, object)} if gate else {}
            return 0.0, zeros, beside
        impulse = self.acted * step
        if gate is None:
            return h, impulse, {}
        impulse = before[IMPULSE] + impulse
        beside = {IMPULSE: gate.rests * impulse, LOOKED: np.array(gate.looked, object)}
        return h, impulse, beside

    def _kept(self, key: str, x: Any, before: Mapping[str, Array] | None) -> Array:
        """What is remembered from now on, as symbols and numbers."""
        try:
            new = np.array(x, object)
        except ValueError:  # arrays of different shapes
            raise Untraceable from None
        if not all(isinstance(part, NUMBERS) for part in new.flat):
            raise Untraceable
        if before is None:
            return new
        if key not in before or before[key].shape != new.shape:
            raise Untraceable
        return new if self.gate is None else self.gate.chosen(new, before[key])


def _of_intervals(
    function: Callable[[FloatArray], FloatArray], intervals: FloatArray, first: int, stop: int
) -> FloatArray:
    """What a function makes of some intervals, of which most are the same."""
    different, which = np.unique(intervals[first:stop], return_inverse=True)
    return np.asarray(function(different))[which]


def _forces_and_memory(given: Any, nv: int) -> tuple[Array, Mapping[str, Any]]:
    """What a controller answered; numbers tell what is wrong with an answer better."""
    try:
        tau, memory = given
    except (TypeError, ValueError):
        raise Untraceable from None
    if not isinstance(memory, Mapping):
        raise Untraceable
    forces = np.empty(nv, object)
    forces[:] = one_a_speed(tau, nv)
    return forces, memory
