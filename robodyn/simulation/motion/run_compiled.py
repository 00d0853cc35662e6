"""Carry a motion from instant to instant by machine code, and record it."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.arrays import all_finite
from robodyn.errors import InconsistentStateError, RobodynError, SingularError
from robodyn.simulation.control.callbacks import refuse_not_finite
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.control.running_controller import RunningController, applied_forces
from robodyn.simulation.limits.joint_limits import Limits
from robodyn.simulation.motion.breakdown import breaking_down
from robodyn.simulation.motion.progress import Progress
from robodyn.simulation.motion.record import Record
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.step.stepper import Stepper
from robodyn.tolerances import SINGULAR_MOTION

__all__ = ["carry"]


#: Steps of robots, and of one of them, after which Python is asked whether it was interrupted.
AT_ONCE, OF_ONE = 2_000_000, 50_000


class _Carrier:
    """A motion, what records it, and what does the steps that machine code cannot do."""

    def __init__(
        self,
        motion: CompiledMotion,
        stepper: Stepper,
        controller: RunningController | None,
        limits: Limits,
        times: FloatArray,
        record: Record,
    ) -> None:
        self.motion, self.stepper, self.times, self.record = motion, stepper, times, record
        self._controller, self._limits = controller, limits
        self._last = len(times) - 1
        self._first, self._room = 0, list[FloatArray]()
        self._look_for_room(0)

    def _look_for_room(self, first: int) -> None:
        """Point machine code to where samples from a step on belong."""
        self._first, self._room = first, self.record.room()
        self.motion.samples(self._room, first, self.record.every)
        compiled = self.motion.controller
        if compiled is not None:
            rows = len(self._room[0]), len(self.motion.q), compiled.layout.recorded_size
            self._states = np.empty(rows)
            self.motion.samples_of_controller(self._states)
        before = -(-first // self.record.every)
        #: The step that there is no room for.
        self.end = min(self._last, (before + len(self._room[0]) - 1) * self.record.every)

    def count(self, stop: int) -> None:
        """Let the record know of the samples before a step, if they can be trusted."""
        if stop <= self._first:
            return
        steps = np.arange(self._first, stop)
        kept = steps[(steps % self.record.every == 0) | (steps == self._last)]
        error = self._nearly_singular(kept)
        if error is not None:
            kept = kept[: error.rows[0] // len(self.motion.q) + 1]
            stop = int(kept[-1]) + 1
        last = bool(len(kept)) and int(kept[-1]) == stop - 1
        steps_done, self._first = stop - self._first, stop
        if self.motion.controller is not None and self._controller is not None:
            layout, rows = self.motion.controller.layout, self._states[: len(kept)]
            self._controller.log.extend_rows(
                self.times[kept], rows, layout.recorded, self.record.shape
            )
        self.record.filled(self.times[kept], steps_done, last)
        if error is not None:
            with breaking_down(self.record, float(self.times[kept[-1]])):
                raise error

    def _nearly_singular(self, kept: IntArray) -> SingularError | None:
        """What is wrong with samples at a singular posture, where rounding decides forces.

        A motion that passes one at some distance may lose some digits for a sample.
        """
        robot = self.stepper.robot
        if not robot.nc or self.stepper.stabilised or not len(kept):
            return None
        q, v = (x[: len(kept)].reshape(len(kept), len(self.motion.q), -1) for x in self._room[:2])
        t = np.broadcast_to(self.times[kept][:, None], q.shape[:2])
        try:
            try:
                robot.at(t).check_state(q, v)
            except InconsistentStateError:  # speeds of steps that are too long open the loops
                if not robot.depends_on_time:
                    robot.check_state(q, np.zeros_like(v))
        except SingularError as error:
            for row in error.rows:
                k, r = divmod(row, len(self.motion.q))
                if robot.at(float(t[k, r])).loop_rank(q[k, r]).distance < SINGULAR_MOTION:
                    error.rows = (row,)
                    return error
        return None

    def advance(self, first: int, last: int, final: bool) -> None:
        """Do the steps from one instant to another."""
        self.motion.advance(first, last, final, self._rescue)

    def push(self, k: int, q: FloatArray, v: FloatArray) -> None:
        """Let forces of a controller that Python calls act from an instant on."""
        tau = applied_forces(self._controller, self._limits.cut, float(self.times[k]), q, v)
        if not (math.isfinite(np.vdot(tau, tau)) or all_finite(tau)):
            self.count(k)
            t = float(self.times[k])
            with breaking_down(self.record, t):
                refuse_not_finite(self.stepper.robot, tau, t, k)
        self.motion.tau[...] = tau

    def make_room(self, first: int) -> None:
        """Make room for the samples from a step on, if there is none."""
        if self.end <= first < self._last:
            self.count(first)
            self._look_for_room(first)

    def _rescue(self, k: int, r: int) -> None:
        """Do a step of a robot, with errors that say what is wrong."""
        q, v, tau, a = self._resample(k, r)
        m, t, end = self.motion, float(self.times[k]), float(self.times[k + 1])
        try:
            m.q[r], m.v[r] = self.stepper.of_row(r, len(m.q)).step(t, q, v, tau, end - t, a)
        except RobodynError as error:
            self._break_down(k + 1, error)

    def _resample(self, k: int, r: int) -> tuple[FloatArray, ...]:
        """Take the sample of a robot at an instant anew: its state, forces and accelerations."""
        m, t = self.motion, float(self.times[k])
        q, v, tau = m.q[r].copy(), m.v[r].copy(), m.tau[r].copy()
        compiled = self.motion.controller
        if compiled is not None and not all_finite(tau):  # straight-line code gives up there
            tau = self._by_python(compiled, k, r, q, v)
        try:
            if not all_finite(tau):  # among those of all motions, so that this one is named
                known = np.zeros(m.tau.shape)
                known[r] = tau
                known = known.reshape(*self.record.shape, len(tau))
                refuse_not_finite(self.stepper.robot, known, t, k)
            a, forces = self.stepper.of_row(r, len(m.q)).accelerations(t, q, v, tau)
        except RobodynError as error:
            self._break_down(k, error)
        self._sample(k, r, (q, v, a, forces))
        return q, v, tau, a

    def _by_python(
        self, compiled: CompiledController, k: int, r: int, q: FloatArray, v: FloatArray
    ) -> FloatArray:
        """Forces of the controller of a robot at an instant, by Python."""
        m, t = self.motion, float(self.times[k])
        h = t - float(self.times[k - 1]) if k else 0.0
        before = m.controller_state_before[r].copy() if k else None
        tau, after = compiled.update_by_python(t, q, v, h, m.applied[r].copy(), before)
        m.tau[r] = tau = self._limits.cut(tau, v)
        m.controller_state[r] = after
        row = self._row(k)
        if row is not None:
            self._states[row, r] = after[: self._states.shape[-1]]
        return tau

    def _break_down(self, k: int, error: RobodynError) -> NoReturn:
        """Raise what a motion breaks down by on its way to an instant."""
        self.count(k)
        with breaking_down(self.record, float(self.times[k])):
            raise error

    def finish(self) -> None:
        """Count all samples; the last one is that of no step, which would have found it wrong."""
        row = -(-self._last // self.record.every) - -(-self._first // self.record.every)
        rows = [x[row].reshape(len(self.motion.q), -1) for x in self._room[2:]]
        wrong = ~np.isfinite(np.concatenate(rows, axis=-1)).all(axis=-1)
        for r in np.flatnonzero(wrong):
            self._resample(self._last, int(r))
        self.count(self._last + 1)

    def _sample(self, k: int, r: int, state: tuple[FloatArray, ...]) -> None:
        row = self._row(k)
        if row is not None:
            for room, x in zip(self._room, state, strict=True):
                room[row].reshape(-1, len(x))[r] = x

    def _row(self, k: int) -> int | None:
        """Where the sample of an instant belongs, if it is one."""
        every = self.record.every
        if k % every and k != self._last:
            return None
        return -(-k // every) - -(-self._first // every)


def carry(
    motion: CompiledMotion,
    stepper: Stepper,
    controller: RunningController | None,
    limits: Limits,
    times: FloatArray,
    record: Record,
    report: Progress,
) -> None:
    """Step over all instants.

    Parameters
    ----------
    motion : CompiledMotion
    stepper : Stepper
        Does the steps that machine code cannot do.
    controller : RunningController or None
    limits : Limits
        To which its forces are cut.
    times : ndarray, shape (n,) [s]
    record : Record
    report : callable
        Told the finished part.
    """
    carrier = _Carrier(motion, stepper, controller, limits, times, record)
    last, called = len(times) - 1, controller is not None and motion.controller is None
    at_once = 1 if called else max(1, min(OF_ONE, AT_ONCE // len(motion.q)))
    k = 0
    q, v = (x.reshape(*record.shape, x.shape[-1]) for x in (motion.q, motion.v))
    try:
        while True:
            if called:
                if k % 50 == 0:
                    report(k / max(last, 1))
                carrier.push(k, q, v)
            else:
                report(k / max(last, 1))
            carrier.make_room(k)
            stop = min(k + at_once, carrier.end)
            carrier.advance(k, stop, final=stop == last and (k == last or not called))
            if k == last or (stop == last and not called):
                carrier.finish()
                return
            k = stop
    except (Exception, KeyboardInterrupt):
        carrier.count(k)
        raise
