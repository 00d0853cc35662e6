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

__all__ = ["ContinuedMotion", "DoneSteps", "joined"]

#: Number of steps that are prepared together, and of instants whose paths are evaluated together.
STEPS_AHEAD, STEPS_IN_TABLES = 1024, 32


@dataclass(frozen=True, eq=False)
class DoneSteps:
    """Some steps of a motion, one after the other.

    Attributes
    ----------
    t : ndarray, shape (n + 1,) [s]
        Starts of the steps, and the end of the last one.
    q, v : ndarray, shape (n + 1, nq), (n + 1, nv)
        States at these instants.
    a, tau : ndarray, shape (n, nv)
        Accelerations at the starts, and the forces that act then, also those of driven joints.
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

    Parameters
    ----------
    stepper : Stepper
    controller : RunningController or None
        Its forces have to be a function of time and state. ``None``: `advance` gets forces.
    efforts : ndarray, shape (nv,) [N m, N]
        The largest forces of the controller.
    t, step : float [s]
    q, v : ndarray, shape (nq,), (nv,)
        Start of the motion.

    Attributes
    ----------
    t : float [s]
    q, v : ndarray, shape (nq,), (nv,)
        The present state, also after a step that raised an exception.
    at_limit : bool
        Forces of the controller were at a limit in the latest steps.
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
        self._k = 0
        self._times: FloatArray = np.zeros(1)
        self._motion: CompiledMotion | None = None
        sizes = (len(q), *[len(v)] * 3)
        self._samples = [np.empty((STEPS_IN_TABLES + 1, size)) for size in sizes]

    def advance(self, steps: int, tau: FloatArray | None = None) -> DoneSteps:
        """Do some steps, at most so many, and return those that were done: at least one.

        Parameters
        ----------
        steps : int
        tau : ndarray, shape (nv,), optional [N m, N]
            Forces in all of these steps, if there is no controller.
        """
        self.at_limit = False
        if self._k + 1 >= len(self._times):
            self._prepare()
        k = self._k
        count = self._by_machine_code(steps, tau) or self._by_numbers(tau)
        for x, end in zip(self._samples, (self.q, self.v), strict=False):
            x[count] = end
        q, v = (x[: count + 1].copy() for x in self._samples[:2])
        a, forces = (x[:count].copy() for x in self._samples[2:])
        return DoneSteps(self._times[k : k + count + 1], q, v, a, forces)

    def _prepare(self) -> None:
        """Prepare machine code for the next steps."""
        self._k = 0
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
        m.q[0], m.v[0] = self.q, self.v
        if tau is not None:
            m.tau[0] = tau
        count = min(steps, m.load_tables(m.sample_inputs(k)) - k)
        m.begin_samples(k)
        count = m.advance(k, k + count, False) - k
        if count:
            self.q, self.v = m.q[0].copy(), m.v[0].copy()
            self._k, self.t = k + count, float(self._times[k + count])
            if self._controller is not None:
                reached = np.abs(self._samples[3][:count]) >= self._efforts
                self.at_limit |= bool(reached[:, self._efforts > 0.0].any())
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
            x[0] = now
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
