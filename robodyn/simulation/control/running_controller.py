"""A controller during one motion: its state from sample to sample, and its recorded states."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.robot import Robot
from robodyn.simulation.control import callbacks
from robodyn.simulation.control.compile_controller import compile_controller
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.control.controller import (
    Controller,
    ControllerSample,
    State,
    Stateless,
    recorded_entries,
    stateful,
    with_instants,
)
from robodyn.simulation.control.recorded_states import StateLog
from robodyn.simulation.control.state_layout import has_numbers


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
        callbacks.check_controller(controller)
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
            self.state = callbacks.checked_initial_state(self.controller, start)
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
            return callbacks.checked_forces(given, t, v.shape, symbolic=symbolic)
        assert self.state is not None
        h = t - self._t
        sample = ControllerSample(t, q, v, h, self.applied * h)
        tau, self.state = callbacks.checked_update(self.controller, sample, self.state)
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
