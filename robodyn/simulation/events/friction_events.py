"""Dry friction as events: joints that slide come to rest, and those that stick break away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SimulationError
from robodyn.simulation.events.witness import StepSamples, WitnessFunction
from robodyn.simulation.friction.stick_slip import StickSlip
from robodyn.simulation.trajectory.states.event_record import EventRecord

#: Largest number of changes of mode within a step.
MOST_IN_A_STEP = 1000


class FrictionEvents:
    """The events of the dry friction of a robot, while the same joints are driven.

    friction: Its mode.
    step [s]: Length of a step.
    holding: (t, q, v) -> friction of what sticks, shape (n,), under all that acts at this instant.
    holding_of: `StepSamples` -> the same at the samples, and at the ends of the steps under the
        forces within these, shape (k + 1, n), (k, n).
    settled: (t, q, v, over) -> speeds, when it is decided what sticks from then on.
    constant: Nothing but the forces of the controller changes with time.
    witness: The witness function of all that resists: the least of `StickSlip.margins`.
    """

    def __init__(
        self,
        friction: StickSlip,
        step: float,
        holding: Callable[[float, FloatArray, FloatArray], FloatArray],
        holding_of: Callable[[StepSamples], tuple[FloatArray, FloatArray]],
        settled: Callable[[float, FloatArray, FloatArray, Any], FloatArray],
        constant: bool,
    ) -> None:
        self.friction, self._step = friction, step
        self._holding, self._holding_of, self._settled = holding, holding_of, settled
        self._constant, self._tau = constant, np.zeros(0)
        self._known: dict[tuple[float, int], tuple[FloatArray, ...]] = {}
        self._since, self._count, self._fresh = -np.inf, 0, True
        self.witness = WitnessFunction(
            "friction", self._least, -1, one_sided=True, sure_steps=self._sure_steps
        )

    def let_act(self, tau: FloatArray) -> None:
        """Set the forces of the controller from now on."""
        if not (self._constant and np.array_equal(tau, self._tau)):
            self._known.clear()
        self._tau = tau

    def is_over(self, t: float, q: FloatArray, v: FloatArray) -> bool:
        """Whether the mode has ended, under forces that have changed."""
        return self._fresh or self._least(t, q, v) < 0.0

    def settle(
        self, t: float, q: FloatArray, v: FloatArray, happened: bool = False
    ) -> tuple[FloatArray, tuple[EventRecord, ...]]:
        """Decide what sticks from now on; speeds, and records of what has changed.

        happened: The witness function has reached zero.
        Raises SimulationError: If modes change again and again.
        """
        if t - self._since > self._step:
            self._since, self._count = t, 0
        self._count += 1
        if self._count > MOST_IN_A_STEP:
            raise SimulationError(
                f"joints have stuck and slid {MOST_IN_A_STEP} times within a step until t = "
                f"{t:.9g} s, without end: take friction='smooth'",
                time=t,
            )
        before, friction = self.friction.sticks, self.friction
        margins = np.ones(len(before)) if self._fresh else self._margins(t, q, v)
        over = margins <= 0.0 if happened else margins < 0.0
        v, self._fresh = self._settled(t, q, v, over), False
        self._known.clear()
        changed = np.flatnonzero(before != friction.sticks)
        told = ((friction.names[k], "sticks" if friction.sticks[k] else "slides") for k in changed)
        return v, tuple(EventRecord(t, f"{name} {what}", 0.0) for name, what in told)

    def _least(self, t: float, q: FloatArray, v: FloatArray) -> float:
        return float(self._margins(t, q, v).min())

    def _margins(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """All margins of a state, computed once."""
        key = (0.0, 0) if self._constant and self.friction.stands else (t, id(v))
        if key not in self._known:
            holding = self._holding(t, q, v) if self.friction.any_sticks else 0.0
            self._known[key] = v, self.friction.margins(q, v, holding)  # keeps v, and so its id
        return self._known[key][1]

    def _sure_steps(self, samples: StepSamples) -> int:
        """Steps in which certainly nothing comes to rest or breaks away."""
        friction, count = self.friction, len(samples.t) - 1
        fine = friction.margins(samples.q[1:], samples.v[1:], 0.0) > 0.0
        if friction.any_sticks:
            at_samples, at_ends = self._holding_of(samples)
            held = np.abs(at_samples) < friction.static
            if not held[0].all():
                return 0
            fine &= held[1:]
            if at_ends.base is not at_samples:  # forces change at the ends
                fine &= np.abs(at_ends) < friction.static
        whole = fine.all(axis=1)
        return count if whole.all() else int(whole.argmin())
