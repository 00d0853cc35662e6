"""A motion of unknown length without a record, as the simulated robot of a ROS node has it.

Commands come at any time, and each command begins another motion. Modes, events and a record would
take too long to prepare.
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.control.running_controller import RunningController, applied_forces
from robodyn.simulation.limits.bounds import limits_depend_on_motors, within_motors
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.step.stepper import Stepper

__all__ = ["ContinuedMotion"]

#: Number of steps that are prepared together, and of instants whose paths are evaluated together.
STEPS_AHEAD, STEPS_IN_TABLES = 1024, 32


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

    def advance(self, steps: int, tau: FloatArray | None = None) -> None:
        """Do some steps.

        Parameters
        ----------
        steps : int
        tau : ndarray, shape (nv,), optional [N m, N]
            Forces in all of these steps, if there is no controller.
        """
        self.at_limit = False
        while steps > 0:
            if self._k + 1 >= len(self._times):
                self._prepare()
            steps -= self._by_machine_code(steps, tau) or self._by_numbers(tau)

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
        self.q, self.v = self._stepper.step(self.t, self.q, self.v, tau, end - self.t)
        self._k, self.t = self._k + 1, end
        return 1

    def _cut(self, tau: FloatArray, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces within their limits."""
        within = np.minimum(np.maximum(tau, -self._efforts), self._efforts)
        if self._coupled:
            within = within_motors(self._stepper.robot, within, q)
        self.at_limit |= bool((within != tau)[self._efforts > 0.0].any())
        return within
