"""A controller during one motion: its state from sample to sample, and its recorded states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.errors import ShapeError
from robodyn.robot import Robot
from robodyn.simulation.control.compile_controller import compile_controller
from robodyn.simulation.control.compiled_controller import CompiledController, has_numbers
from robodyn.simulation.control.controller import (
    Controller,
    ControllerSample,
    State,
    Stateless,
    check_controller,
    checked_forces,
    checked_initial_state,
    checked_update,
    recorded_entries,
    stateful,
    with_instants,
)


class StateLog:
    """Recorded entries of a state after each sample.

    entries: Names under which parts of the state are recorded, and the path to each within it.
    """

    def __init__(self, entries: Sequence[tuple[str, tuple[str, ...]]]) -> None:
        self._entries = tuple(entries)
        self._times: list[FloatArray] = []
        self._values: dict[str, list[FloatArray]] = {name: [] for name, _ in entries}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the recorded entries."""
        return tuple(name for name, _ in self._entries)

    def note(
        self,
        t: float,
        state: Mapping[str, Any],
        batch: tuple[int, ...],
        widths: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Add a sample at ``t`` [s].

        batch: Leading axes.
        widths: Size of an entry in the state of one robot by name, where that is known.
        Raises ShapeError: If an entry is not an array of numbers, or has another shape than before.
        """
        seen = {}
        for name, path in self._entries:
            x = _entry(state, path, batch, widths.get(name, 0))
            before = self.shape(name) if self._times else (*batch, *x.shape[-1:])
            if x.shape != before:
                raise ShapeError(
                    f"a controller has {path[-1]!r} in its attribute recorded, and its state at "
                    f"t = {t:.6g} s is {dict(state)!r}, expected numbers of shape {before} under "
                    "that name",
                    name="state",
                    given=state,
                    expected=before,
                )
            seen[name] = x[None]
        if seen:
            self.extend(np.array([t]), seen)

    def extend(self, t: FloatArray, values: Mapping[str, FloatArray]) -> None:
        """Add some samples at ``t`` [s], shape (k,): arrays by name, shape (k, ..., m)."""
        if len(t):
            self._times.append(t)
            for name, x in values.items():
                self._values[name].append(x.copy())

    def extend_rows(
        self, t: FloatArray, rows: FloatArray, places: Mapping[str, slice], batch: tuple[int, ...]
    ) -> None:
        """Add some samples at ``t`` [s], shape (k,): rows of numbers, shape (k, n, size).

        rows (k, n, size): Of n motions.
        places: Places of the recorded entries in a row.
        batch: Leading axes of a state.
        """
        if places:
            parts = ((name, rows[..., place]) for name, place in places.items())
            self.extend(t, {name: x.reshape(len(t), *batch, x.shape[-1]) for name, x in parts})

    @property
    def empty(self) -> bool:
        """Whether there was no sample."""
        return not self._times

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of the values recorded under a name, without the axis of samples."""
        return self._values[name][0].shape[1:]

    def write(self, name: str, t: FloatArray, into: FloatArray) -> None:
        """Write what was recorded at the latest sample until each instant; leave earlier ones."""
        times, values = np.concatenate(self._times), np.concatenate(self._values[name])
        if np.array_equal(times, t):
            into[...] = values
            return
        at = np.searchsorted(times, t, side="right") - 1
        into[at >= 0] = values[at[at >= 0]]

    def forget(self, t: float) -> None:
        """Remove what is not needed for instants from ``t`` [s] on."""
        if self._times:
            times = np.concatenate(self._times)
            first = max(int(np.searchsorted(times, t, side="right")) - 1, 0)
            self._times = [times[first:]]
            for name, parts in self._values.items():
                self._values[name] = [np.concatenate(parts)[first:]]


def _entry(
    state: Mapping[str, Any], path: tuple[str, ...], batch: tuple[int, ...], width: int
) -> FloatArray:
    """An entry of a state, broadcast to shape (..., m); of another shape where it does not fit.

    The state may have one number for all motions or one for each, without the last axis; and m
    numbers for all motions, if m is known.

    width: m; 0: not known.
    """
    found: Any = state
    try:
        for key in path:
            found = found[key]
        x = np.asarray(found, float)
    except (KeyError, TypeError, ValueError):
        return np.empty((0,) * (len(batch) + 2))  # of no shape that could be
    if width > 1 and x.shape == (width,):
        x = np.broadcast_to(x, (*batch, width))
    elif x.shape in ((), batch):
        x = np.broadcast_to(x[..., None], (*batch, 1))
    return x


class RecordedStates:
    """The recorded states of all controllers of a motion, by name."""

    def __init__(self) -> None:
        self._logs: dict[str, list[StateLog]] = {}
        self._all: list[StateLog] = []

    def watch(self, log: StateLog) -> None:
        """Add the log of a controller, unless it was added before."""
        if log not in self._all:
            self._all.append(log)
            for name in log.names:
                self._logs.setdefault(name, []).append(log)

    def add(self, name: str, t: FloatArray, values: FloatArray) -> None:
        """Add what was recorded under a name at some instants."""
        log = StateLog([(name, (name,))])
        log.extend(t, {name: values})
        self.watch(log)

    def at(self, t: FloatArray, batch: tuple[int, ...]) -> dict[str, FloatArray]:
        """Recorded states at some instants, shape (n, ..., m); NaN where nothing was recorded.

        batch: Leading axes of a state.
        """
        found: dict[str, FloatArray] = {}
        for key, logs in self._logs.items():
            for log in logs:
                if log.empty:
                    continue
                shape, own, k = (len(t), *log.shape(key)), key, 1
                while own in found and found[own].shape != shape:  # of another controller, later
                    k += 1
                    own = f"{key} {k}"
                if own not in found:
                    found[own] = np.full(shape, np.nan)
                log.write(key, t, found[own])
        return {key: x.reshape(len(t), *batch, x.shape[-1]) for key, x in found.items()}

    def forget(self, t: float) -> None:
        """Remove what is not needed for instants from ``t`` [s] on."""
        for log in self._all:
            log.forget(t)


def joined_states(
    parts: Sequence[Mapping[str, FloatArray]], lengths: Sequence[int]
) -> dict[str, FloatArray]:
    """Recorded states of the phases of a motion, one after the other; NaN where there are none."""
    shapes = {name: x.shape[1:] for part in reversed(parts) for name, x in part.items()}
    found = {}
    for name, shape in shapes.items():
        own = [part.get(name) for part in parts]
        rows = [
            x if x is not None and x.shape[1:] == shape else np.full((n, *shape), np.nan)
            for x, n in zip(own, lengths, strict=True)
        ]
        found[name] = np.concatenate(rows)
    return found


class RunningController:
    """A controller with its state in one motion, of one robot or of many at once.

    times (n,) [s], optional: Ends of all steps, where they are known; as an attribute, all times at
        which it is sampled, those of `with_instants`.
    batch: The controller is called with one more leading axis of length one, as it is written for
        many motions.
    given: The controller as the user gave it.
    controller: The same controller as an object with a state.
    state: After the latest sample; ``None`` before the first one.
    log: Recorded states.
    applied (..., nv) [N m, N]: Forces that act since the latest sample.
    Raises ShapeError: If ``controller`` is not a controller.
    """

    def __init__(
        self,
        robot: Robot,
        controller: Controller,
        times: FloatArray | None = None,
        batch: bool = False,
    ) -> None:
        check_controller(controller)
        self.given, self.controller = controller, stateful(controller)
        self._robot, self._batch = robot, batch
        self.times = None if times is None else with_instants(controller, times)
        self.log = StateLog(recorded_entries(controller))
        self.state: State | None = None
        self._function = self.controller.function if type(self.controller) is Stateless else None
        self._t, self.applied = 0.0, np.zeros(0)
        #: Whether machine code updates the state, where that is possible.
        self.runs_code = False

    @cached_property
    def compiled(self) -> CompiledController | None:
        """The controller as machine code; ``None`` if there is none."""
        return compile_controller(self._robot, self.given, self.times)

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Sample the controller: forces, shape (..., nv) [N m, N]. Its state is updated.

        t [s]: Not before the latest sample.
        """
        if self.runs_code and (tau := self._updated_by_code(t, q, v)) is not None:
            return tau
        if self._batch:
            q, v = q[None], v[None]
        if self.state is None:
            start = ControllerSample(t, q, v, 0.0, np.zeros(v.shape))
            self.state = checked_initial_state(self.controller, start)
            self._t, self.applied = t, np.zeros(v.shape)
        function = self.compiled_function
        tau = self._called(t, q, v) if function is None else function(t, q, v)
        return tau[0] if self._batch else tau

    def _updated_by_code(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray | None:
        """Forces by machine code; ``None`` where it returns NaN."""
        compiled, times = self.compiled, self.times
        if compiled is None or times is None or compiled.is_function:
            return None
        k = int(np.searchsorted(times, t))
        if k == len(times) or times[k] != t or not self.continues_at(times, k):
            return None
        if self.state is None:
            row = compiled.initial_rows(times, q[None], v[None])[0]
            applied: FloatArray = np.zeros(len(v))
        else:
            row, applied = compiled.layout.row(self.state), self.applied
        tau, row = compiled.update(times, k, q, v, applied, row)
        if not (all_finite(tau) and all_finite(row)):
            return None
        self.state, self._t, self.applied = compiled.layout.state(row), t, tau
        self.log.note(t, self.state, ())
        return tau.copy()

    def _called(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces by a call of the controller itself."""
        if self._function is not None:  # as the next lines do, without a sample
            symbolic = bool(getattr(self._function, "symbolic", False))
            given = self._function(t, q.copy(), v.copy())
            return checked_forces(given, t, v.shape, symbolic=symbolic)
        assert self.state is not None
        h = t - self._t
        sample = ControllerSample(t, q, v, h, self.applied * h)
        tau, self.state = checked_update(self.controller, sample, self.state)
        self.log.note(t, self.state, v.shape[:-1], self._widths if v.ndim > 1 else {})
        self._t, self.applied = t, tau
        return tau.copy()

    @cached_property
    def _widths(self) -> dict[str, int]:
        """Size of each recorded array of one motion by name, as known from machine code."""
        if not self.log.names or self.compiled is None:
            return {}
        places = self.compiled.layout.recorded.items()
        return {name: place.stop - place.start for name, place in places}

    @cached_property
    def compiled_function(self) -> CompiledController | None:
        """The machine code, if forces are a function of time and the robot's state alone."""
        if self.state is not None and has_numbers(self.state):  # nothing need be traced to know
            return None
        return self.compiled if self.compiled is not None and self.compiled.is_function else None

    def continues_at(self, times: FloatArray, k: int) -> bool:
        """Whether machine code can continue with the state from a sample time on.

        times (n,) [s]: Sample times of the machine code.
        k: The next one; the latest sample has to be at the one before.
        """
        if times is not self.times or self._batch:
            return False
        if k == 0 or self.state is None:
            return k == 0 and self.state is None
        return self._t == float(times[k - 1])

    def notify_applied(self, tau: FloatArray) -> None:
        """Set the forces that act since the latest sample, if limits have changed them."""
        if self._function is None:
            self.applied = tau[None].copy() if self._batch else tau.copy()

    def restore(self, t: float, state: State, applied: FloatArray) -> None:
        """Return to the state after an earlier sample of the motion.

        t [s]: Of that sample.
        state: After it.
        applied (..., nv) [N m, N]: Forces that act since then.
        """
        self._t, self.state, self.applied = t, state, applied


def applied_forces(
    controller: RunningController | None,
    cut: Callable[[FloatArray, float, FloatArray, FloatArray], FloatArray],
    t: float,
    q: FloatArray,
    v: FloatArray,
) -> FloatArray:
    """Sample a controller, and tell it which forces within limits act, shape (..., nv).

    cut: (tau, t, q, v) -> forces within their limits.
    """
    if controller is None:
        return cut(np.zeros_like(v), t, q, v)
    tau = cut(controller(t, q, v), t, q, v)
    controller.notify_applied(tau)
    return tau
