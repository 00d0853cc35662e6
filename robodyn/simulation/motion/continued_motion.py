"""A motion of unknown length without a record, as the simulated robot of a ROS node has it.

Commands come at any time, and each command begins another motion. Modes, events and a record would
take too long to prepare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.control.running_controller import RunningController, applied_forces
from robodyn.simulation.limits.bounds import limits_depend_on_motors, within_motors
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.step.stepper import Stepper

#: Number of steps that are prepared and recorded together, and of instants whose paths are
#: evaluated together.
STEPS_AHEAD, STEPS_IN_TABLES = 1024, 32


@dataclass(frozen=True, eq=False)
class DoneSteps:
    """Some steps of a motion, one after the other.

    t (n + 1,) [s]: Starts of the steps, and the end of the last one.
    q, v (n + 1, nq), (n + 1, nv): States at these instants.
    a, tau (n, nv): Accelerations at the starts, and the forces that act then, also those of driven
        joints.
    """

    t: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray
    tau: FloatArray

    def __len__(self) -> int:
        return len(self.a)


def joined(parts: Sequence[DoneSteps]) -> DoneSteps:
    """Steps that follow one another, all together."""
    if len(parts) == 1:
        return parts[0]
    last = parts[-1]
    t, q, v = (
        np.concatenate([*(getattr(x, name)[:-1] for x in parts), getattr(last, name)[-1:]])
        for name in ("t", "q", "v")
    )
    a, tau = (np.concatenate([getattr(x, name) for x in parts]) for name in ("a", "tau"))
    return DoneSteps(t, q, v, a, tau)


class ContinuedMotion:
    """Steps of one robot, by machine code where that is possible.

    controller: Its forces have to be a function of time and state. ``None``: `advance` gets forces.
    efforts (nv,) [N m, N]: The largest forces of the controller.
    t, step [s]
    q, v (nq,), (nv,): Start of the motion.
    q, v (nq,), (nv,): The present state, also after a step that raised an exception.
    at_limit: Forces of the controller were at a limit in steps that were taken; the caller sets it
        back.
    """

    def __init__(
        self,
        stepper: Stepper,
        controller: RunningController | None,
        efforts: FloatArray,
        t: float,
        step: float,
        q: FloatArray,
        v: FloatArray,
    ) -> None:
        self._stepper, self._controller, self._efforts = stepper, controller, efforts
        self._coupled = limits_depend_on_motors(stepper.robot)
        self.t, self.q, self.v, self._step = t, q, v, step
        self.at_limit = False
        #: Step of the times that is next, and the first one that was not taken.
        self._k = self._untaken = 0
        self._kept: list[DoneSteps] = []
        self._times: FloatArray = np.zeros(1)
        self._motion: CompiledMotion | None = None
        sizes = (len(q), *[len(v)] * 3)
        self._samples = [np.empty((STEPS_AHEAD + 1, size)) for size in sizes]

    def advance(self, steps: int, tau: FloatArray | None = None) -> int:
        """Do some steps, at least one and at most so many, and return how many were done.

        tau (nv,), optional [N m, N]: Forces in all of these steps, if there is no controller.
        """
        if self._k + 1 >= len(self._times):
            self._prepare()
        return self._by_machine_code(steps, tau) or self._by_numbers(tau)

    def take_steps(self) -> list[DoneSteps]:
        """The steps that were done since this was asked for last, in some parts."""
        k, first = self._k, self._untaken
        parts, self._kept, self._untaken = self._kept, [], k
        if k > first:
            for x, end in zip(self._samples, (self.q, self.v), strict=False):
                x[k] = end
            q, v = (x[first : k + 1].copy() for x in self._samples[:2])
            a, forces = (x[first:k].copy() for x in self._samples[2:])
            parts.append(DoneSteps(self._times[first : k + 1], q, v, a, forces))
            top = self._efforts
            if self._controller is not None:
                self.at_limit |= bool((np.abs(forces) >= top)[:, top > 0.0].any())
        return parts

    def latest_positions(self, count: int) -> FloatArray:
        """Positions at the starts of the latest steps, and now, shape (count + 1, nq)."""
        k, q = self._k, self._samples[0]
        q[k] = self.q
        return q[k - count : k + 1]

    def _prepare(self) -> None:
        """Prepare machine code for the next steps."""
        self._kept = self.take_steps()
        self._k = self._untaken = 0
        self._times = np.asarray(self.t + self._step * np.arange(STEPS_AHEAD + 1))
        compiled = None
        if self._controller is not None and not self._coupled:
            compiled = self._controller.compiled_function
        self._motion = None
        if self._controller is None or compiled is not None:
            state, efforts = (self._times, self.q, self.v), self._efforts
            self._motion = self._stepper.compiled(*state, compiled, efforts, STEPS_IN_TABLES)
        if self._motion is not None:
            self._motion.samples(self._samples)

    def _by_machine_code(self, steps: int, tau: FloatArray | None) -> int:
        """Do up to ``steps`` steps, and return how many were done."""
        m, k = self._motion, self._k
        if m is None:
            return 0
        state = (self.q, self.v) if tau is None else (self.q, self.v, tau)
        count = m.advance_from(k, steps, state)
        if count:
            self.q, self.v = m.q[0].copy(), m.v[0].copy()
            self._k, self.t = k + count, float(self._times[k + count])
        return count

    def _by_numbers(self, tau: FloatArray | None) -> int:
        """Do one step with numbers, which raises an error if it cannot be done."""
        if tau is None:
            tau = applied_forces(self._controller, self._cut, self.t, self.q, self.v)
        end = float(self._times[self._k + 1])
        at = self.t, self.q, self.v, tau
        with np.errstate(over="ignore", invalid="ignore"):
            a, forces = self._stepper.accelerations(*at)
        for x, now in zip(self._samples, (self.q, self.v, a, forces), strict=True):
            x[self._k] = now
        self.q, self.v = self._stepper.step(*at, end - self.t, a)
        self._k, self.t = self._k + 1, end
        return 1

    def _cut(self, tau: FloatArray, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces within their limits."""
        within = np.minimum(np.maximum(tau, -self._efforts), self._efforts)
        if self._coupled:
            within = within_motors(self._stepper.robot, within, q)
        self.at_limit |= bool((within != tau)[self._efforts > 0.0].any())
        return within
