"""Whole steps of a motion in which nothing happens: machine code does them, Python looks.

It looks at the ends of steps alone, as `EventDetector` does. Where a look leaves any doubt the step
does not count: then `EventDetector` has the say, and finds what happens within it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.simulation.events.detector import EventDetector
from robodyn.simulation.limits.joint_limits import Limits
from robodyn.simulation.motion.joint_stops import End
from robodyn.simulation.motion.phase import Phase
from robodyn.simulation.motion.speculative_steps import MOST, SpeculativeSteps
from robodyn.simulation.step.stepper import Stepper
from robodyn.tolerances import AT_LIMIT, STOP_FORCE

__all__ = ["EventFreeSteps", "whole_steps"]


class EventFreeSteps:
    """Steps of a phase.

    Parameters
    ----------
    ahead : SpeculativeSteps
    lookout : EventDetector
    free, held : sequence of End
        Stops that joints may come to, and those that hold theirs.
    nq : int
    times : ndarray, shape (n,) [s]
        All instants of the motion.
    acting : callable
        Told the forces of the controller before functions of a state are asked.
    controlled : bool
        There is a controller, so that forces change from step to step.

    Attributes
    ----------
    interrupt : KeyboardInterrupt or None
        Ctrl-C while functions were asked: to be raised when the steps before it are recorded.
    """

    def __init__(
        self,
        ahead: SpeculativeSteps,
        lookout: EventDetector,
        free: Sequence[End],
        held: Sequence[End],
        nq: int,
        times: FloatArray,
        acting: Callable[[FloatArray], None],
        controlled: bool,
    ) -> None:
        self._ahead, self._lookout, self._acting = ahead, lookout, acting
        self._times, self._controlled = times, controlled
        self._lower, self._upper = np.full(nq, -np.inf), np.full(nq, np.inf)
        room = 2.0 * AT_LIMIT if held else 0.0  # who is at a stop while others are held by theirs
        for end in free:
            if end.side > 0:
                self._lower[end.coordinate] = max(self._lower[end.coordinate], end.limit + room)
            else:
                self._upper[end.coordinate] = min(self._upper[end.coordinate], end.limit - room)
        self._bounded = bool(free)
        self._at = [end.speed for end in held]
        self._places = [end.coordinate for end in held]
        self.interrupt: KeyboardInterrupt | None = None
        self._sides = np.array([end.side for end in held], float)
        self._limits = np.array([end.limit for end in held])

    @property
    def many(self) -> bool:
        """Several steps can be done at a time."""
        return self._ahead.known

    def do(
        self, k: int, stop: int, q: FloatArray, v: FloatArray, tau: FloatArray | None
    ) -> tuple[int, tuple[FloatArray, ...]]:
        """Do some steps.

        Parameters
        ----------
        k, stop : int
            Instants: where the motion is, and to which it may go.
        q, v : ndarray, shape (nq,), (nv,)
        tau : ndarray, shape (nv,), optional
            Forces of a controller that Python calls.

        Returns
        -------
        steps : int
            In which nothing happens.
        samples : tuple of ndarray, shape (steps + 1, ...)
            q, v, a and tau, as they are recorded, at their starts; q and v at the end of the last
            one too.
        """
        ahead = self._ahead
        gone = ahead.go(k, stop, q, v, tau, bool(self._at))
        count = self._between_stops(gone) if gone else 0
        if self._at and count:
            count = self._held_by_stops(count, np.zeros(len(v)) if tau is None else tau)
        if self._lookout.functions and count:
            count = self._nothing_happens(k, count, tau)
        ahead.went(count == gone > 0)
        if self._at and count:  # what a stop gives is no torque of the controller
            ahead.tau[:count, self._at] = 0.0 if tau is None else tau[self._at]
        return count, (ahead.q, ahead.v, ahead.a, ahead.tau)

    def _between_stops(self, steps: int) -> int:
        """Steps until a joint may be at a stop."""
        if not self._bounded:
            return steps
        if steps == 1:
            q = self._ahead.q[1]
            return int(((q > self._lower) & (q < self._upper)).all())
        q = self._ahead.q[1 : steps + 1]
        return _first_false((q > self._lower) & (q < self._upper), steps)

    def _held_by_stops(self, steps: int, asked: FloatArray) -> int:
        """Steps until it is in doubt which stops hold their joints."""
        q, v, tau = (x[: steps + 1] for x in (self._ahead.q, self._ahead.v, self._ahead.tau))
        push = self._sides * (tau[:, self._at] - asked[self._at])
        gaps = self._sides * (q[:, self._places] - self._limits)
        sure = (push > STOP_FORCE * np.abs(tau).max(axis=1, keepdims=True)) & (
            gaps < 0.5 * AT_LIMIT
        )
        sure &= v[:, self._at] == 0.0
        if not sure[0].all():
            return 0
        return _first_false(sure[1:], steps)

    def _nothing_happens(self, k: int, steps: int, tau: FloatArray | None) -> int:
        """Steps until a function of an event may reach zero."""
        ahead = self._ahead

        def acting(j: int) -> None:
            self._acting(ahead.tau[j] if tau is None else tau)

        count = self._lookout.steps_without_event(
            self._times[k : k + steps + 1], ahead.q[: steps + 1], ahead.v[: steps + 1],
            acting if self._controlled else None,
        )  # fmt: skip
        self.interrupt, self._lookout.interrupt = self._lookout.interrupt, None
        return count


def whole_steps(
    phase: Phase,
    stepper: Stepper,
    limits: Limits,
    lookout: EventDetector,
    stops: tuple[Sequence[End], Sequence[End]],
    state: tuple[FloatArray, FloatArray, FloatArray],
    acting: Callable[[FloatArray], None],
) -> EventFreeSteps | None:
    """What does whole steps of a phase; none where Python takes part in them.

    Parameters
    ----------
    phase : Phase
    stepper : Stepper
    limits : Limits
    lookout : EventDetector
    stops : (sequence of End, sequence of End)
        Those that joints may come to, and those that hold theirs.
    state : (times, q, v)
        All instants of the motion, and a state of the phase.
    acting : callable
        Told the forces of the controller before functions of a state are asked.
    """
    compiled = None
    if phase.controller is not None and not (limits.depend_on_speed or stops[1]):
        compiled = phase.controller.compiled_function  # what a stop holds is asked at each step
    known = phase.controller is None or compiled is not None
    motion = stepper.compiled(*state, compiled, limits.efforts, MOST)
    if motion is None:
        return None
    return EventFreeSteps(
        SpeculativeSteps(motion, known), lookout, *stops, phase.robot.nq, state[0], acting,
        phase.controller is not None,
    )  # fmt: skip


def _first_false(fine: NDArray[np.bool_], steps: int) -> int:
    """Rows before the first one that has something false in it."""
    whole = fine.all(axis=1)
    return steps if whole.all() else int(whole.argmin())
