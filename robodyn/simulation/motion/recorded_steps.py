"""Steps by machine code, which writes samples into the record.

It is used in modes without events, of one robot or of many. A step for which straight-line code
returns NaN is done with numbers instead.
"""

from __future__ import annotations

import math

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.arrays import all_finite, sum_of_squares
from robodyn.errors import RobodynError, SimulationError
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.control.controller import refuse_not_finite
from robodyn.simulation.control.running_controller import RunningController, applied_forces
from robodyn.simulation.limits.joint_limits import Limits
from robodyn.simulation.motion.broken_motions import BrokenMotions
from robodyn.simulation.motion.motion_state import ModeRecords
from robodyn.simulation.motion.sample_checks import first_flat_sample, first_wrong_sample
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.step.stepper import Stepper

#: Number of steps of all robots, and of each, between checks for an interrupt.
STEPS_OF_ALL, STEPS_OF_ONE = 2_000_000, 50_000

#: Number of steps between reports of progress, if Python calls the controller.
STEPS_BY_PYTHON = 50


class RecordedSteps:
    """The steps of a motion, whose samples are recorded.

    motion: Of one robot or of many.
    stepper: Does the steps that machine code cannot do.
    limits: Limits of its forces.
    broken: Here their states are not a number, for which machine code hands every step back.
    """

    def __init__(
        self,
        motion: CompiledMotion,
        stepper: Stepper,
        controller: RunningController | None,
        limits: Limits,
        times: FloatArray,
        records: ModeRecords,
        broken: BrokenMotions,
    ) -> None:
        self._motion, self._stepper, self._times = motion, stepper, times
        self._record, self._breaking, self._broken = records.current, records.breaking, broken
        self._controller, self._limits = controller, limits
        self._by_python = controller is not None and motion.controller is None
        steps = min(STEPS_OF_ONE, STEPS_OF_ALL // len(motion.q))
        self._block = max(1, steps)
        #: Number of samples before each instant, and of all.
        self._before = self._record.samples_before(times)
        #: The present state and forces in the shape of the record, and all instants [s].
        self._q, self._v, self._tau = states = motion.q, motion.v, motion.tau
        self._instants = list[float]()
        if self._by_python:
            shape = self._record.shape
            self._q, self._v, self._tau = (x.reshape(*shape, x.shape[-1]) for x in states)
            self._instants = times.tolist()
        self._last = len(times) - 1
        self._first, self._done, self._room = 0, 0, list[FloatArray]()
        self._find_room(0)

    def advance(self, k: int) -> int:
        """Record and do steps from an instant on, and return how many; also the last sample."""
        self._done = k
        if self._by_python:
            return self._advance_by_python(k)
        self._make_room(k)
        stop = min(k + self._block, self._end)
        final = stop == self._last
        rows = self._room[2][self._row_after(k) : self._row_after(stop)]
        rows[..., :1] = np.nan  # until machine code has written them
        try:
            self._motion.advance(k, stop, final, self._fallback)
        except KeyboardInterrupt:  # in the midst of it, or when it had done all
            written = np.isfinite(rows.reshape(len(rows), len(self._motion.q), -1))
            missing = np.flatnonzero(~written[:, self._broken.others()].all(axis=(1, 2)))
            self._done = self._step_of(self._before[k] + missing[0]) if len(missing) else stop
            raise
        self._done = stop
        if final:
            self._count_last()
        return stop - k

    def _advance_by_python(self, first: int) -> int:
        """Do steps one by one, where Python calls the controller before each."""
        last, advance = self._last, self._motion.advance
        for k in range(first, min(first + STEPS_BY_PYTHON, last)):
            self._done = k
            self._sample_controller(k)
            if self._end <= k:
                self._make_room(k)
            advance(k, k + 1, False, self._fallback)
        self._done = min(first + STEPS_BY_PYTHON, last)
        if first == last:
            self._sample_controller(last)
            self._make_room(last)
            advance(last, last, True, self._fallback)
            self._count_last()
        return self._done - first

    def count(self) -> None:
        """Count all samples that were written into the record."""
        self._count(self._done)

    def finish(self) -> None:
        """Record the sample of the last instant, unless it was recorded."""
        if self._first <= self._last:
            self.advance(self._last)

    def _find_room(self, first: int) -> None:
        """Set where machine code writes the samples from a step on."""
        self._first, self._room = first, self._record.room()
        self._motion.samples(self._room, first, self._before)
        compiled = self._motion.controller
        if compiled is not None:
            rows = len(self._room[0]), len(self._motion.q), compiled.layout.recorded_size
            self._states = np.empty(rows)
            self._motion.samples_of_controller(self._states)
        #: The step that there is no room for.
        self._end = self._step_of(self._before[first] + len(self._room[0]) - 1)

    def _count(self, stop: int) -> None:
        """Count the samples before a step, after a check for singular postures."""
        if stop <= self._first:
            return
        before, kept = self._before, np.arange(self._first, stop)
        times = self._times[self._first : stop]
        if before[stop] - before[self._first] < len(kept):
            kept = kept[before[kept] < before[kept + 1]]
            times = self._times[kept]
        wrong, end = self._wrong(kept), None
        while wrong is not None and (end := self._end_of_wrong(kept, *wrong)) is None:
            wrong = self._wrong(kept)
        if wrong is not None:  # the motion ends there
            kept, times = kept[: wrong[0] + 1], times[: wrong[0] + 1]
            stop = self._done = int(kept[-1]) + 1
        self._first = stop
        if self._motion.controller is not None and self._controller is not None:
            layout, rows = self._motion.controller.layout, self._states[: len(kept)]
            self._controller.log.extend_rows(times, rows, layout.recorded, self._record.shape)
        self._record.filled(times)
        if end is not None:
            self._refuse(end, float(times[-1]))

    def _wrong(self, kept: IntArray) -> tuple[int, RobodynError] | None:
        """The first wrong sample, and why it is wrong."""
        robot = self._stepper.robot
        flat = not robot.nc and robot.model.flat_postures.loops
        if not (robot.nc or flat) or self._stepper.stabilised or not len(kept):
            return None
        rows = self._broken.others()
        if not rows:
            return None
        q, v, _, tau = (
            x[: len(kept)].reshape(len(kept), len(self._motion.q), -1) for x in self._room
        )
        if self._broken.rows:
            q, v, tau = (x[:, rows] for x in (q, v, tau))
            robot = robot.of_rows(rows)
        found = (
            first_flat_sample(robot, q, tau)
            if flat
            else first_wrong_sample(robot, self._times[kept], q, v)
        )
        if found is not None and found[1].motion:
            found[1].motion = self._record.place(rows[found[1].motion[0]])
        return found

    def _end_of_wrong(self, kept: IntArray, k: int, error: RobodynError) -> RobodynError | None:
        """End the motion of an error, wrong from a sample on; as `_ended_motion`."""
        r = int(np.ravel_multi_index(error.motion, self._record.shape)) if error.motion else 0
        end = self._ended_motion(int(kept[k]), r, error)
        if end is None:
            for x in self._room:
                rows = x[k + 1 : len(kept)]
                rows.reshape(len(rows), len(self._motion.q), -1)[:, r] = np.nan
        return end

    def _sample_controller(self, k: int) -> None:
        """Sample a controller that Python calls, and set its forces."""
        t = self._instants[k]
        q, v, broken = self._q, self._v, self._broken.rows
        if broken:
            q, v = self._broken.at_start(q, v)
        tau = applied_forces(self._controller, self._limits.cut, t, q, v)
        if broken or not (math.isfinite(sum_of_squares(tau)) or all_finite(tau)):
            tau = self._broken.finite(self._stepper.robot, tau, t, k, self._breaking(t))
            for x in (self._q, self._v):
                x[...] = self._broken.unknown(x)
        self._tau[...] = tau

    def _make_room(self, first: int) -> None:
        """Make room for the samples from a step on, if there is none."""
        if self._end <= first < self._last:
            self._count(first)
            self._find_room(first)

    def _fallback(self, k: int, r: int) -> None:
        """Do a step of a robot with numbers, unless it has broken down."""
        m, t, end, at = self._motion, float(self._times[k]), float(self._times[k + 1]), k
        if r in self._broken:
            self._sample(k, r, (np.nan,) * 4)
            return
        try:
            q, v, tau, a = self._resample(k, r)
            at = k + 1
            m.q[r], m.v[r] = self._stepper.for_motion(r).step(t, q, v, tau, end - t, a)
        except RobodynError as error:
            self._break_down(at, r, error)
            if at == k:
                self._sample(k, r, (np.nan,) * 4)

    def _resample(self, k: int, r: int) -> tuple[FloatArray, ...]:
        """Recompute the sample of a robot at an instant: its state, forces and accelerations."""
        m, t = self._motion, float(self._times[k])
        q, v, tau = m.q[r].copy(), m.v[r].copy(), m.tau[r].copy()
        compiled = self._motion.controller
        if compiled is not None and not all_finite(tau):  # straight-line code gives up there
            tau = self._update_by_python(compiled, k, r, q, v)
        if not all_finite(tau):  # among those of all motions, so that this one is named
            of_all = np.zeros(m.tau.shape)
            of_all[r] = tau
            of_all = of_all.reshape(*self._record.shape, len(tau))
            refuse_not_finite(self._stepper.robot, of_all, t, k)
        a, forces = self._stepper.for_motion(r).accelerations(t, q, v, tau)
        self._sample(k, r, (q, v, a, forces))
        return q, v, tau, a

    def _update_by_python(
        self, compiled: CompiledController, k: int, r: int, q: FloatArray, v: FloatArray
    ) -> FloatArray:
        """Forces of the controller of a robot at an instant, by a call of the controller."""
        m, t = self._motion, float(self._times[k])
        h = t - float(self._times[k - 1]) if k else 0.0
        before = m.controller_state_before[r].copy() if k else None
        tau, after = compiled.update_by_python(t, q, v, h, m.applied[r].copy(), before)
        m.tau[r] = tau = self._limits.cut(tau, t, q, v)
        m.controller_state[r] = after
        row = self._row(k)
        if row is not None:
            self._states[row, r] = after[: self._states.shape[-1]]
        return tau

    def _break_down(self, k: int, r: int, error: RobodynError) -> None:
        """End a motion, by its index, that breaks down on its way to an instant."""
        end = self._ended_motion(k, r, error)
        if end is not None:
            self._count(k)
            self._refuse(end, float(self._times[k]))

    def _refuse(self, error: RobodynError, t: float) -> None:
        """Raise an error from `_ended_motion`, when all samples have been counted."""
        if isinstance(error, SimulationError) and error.motions:
            raise error
        with self._breaking(t):
            raise error

    def _ended_motion(self, k: int, r: int, error: RobodynError) -> RobodynError | None:
        """Set the state of a motion that breaks down to NaN; the error if no others go on."""
        t = float(self._times[k])
        error.motion = self._record.place(r)
        try:
            with self._breaking(t):
                raise error
        except SimulationError as broken:
            try:
                self._broken.add(broken, t)
            except SimulationError as end:
                return error if end is broken else end
        self._motion.q[r] = self._motion.v[r] = np.nan
        return None

    def _count_last(self) -> None:
        """Count all samples, after a check of the last one, from which no step starts."""
        row = self._row_after(self._last)
        a, tau = (x[row].reshape(len(self._motion.q), -1) for x in self._room[2:])
        if not (all_finite(a) and all_finite(tau)):
            for r in np.flatnonzero(~(np.isfinite(a) & np.isfinite(tau)).all(axis=-1)).tolist():
                if r in self._broken:
                    continue
                try:
                    self._resample(self._last, r)
                except RobodynError as error:
                    self._break_down(self._last, r, error)
        for x in self._room if self._broken.rows else ():
            x[row] = self._broken.unknown(x[row])
        self._count(self._last + 1)
        self._motion.end()

    def _sample(self, k: int, r: int, state: tuple[FloatArray | float, ...]) -> None:
        row = self._row(k)
        if row is not None:
            for room, x in zip(self._room, state, strict=True):
                room[row].reshape(len(self._motion.q), -1)[r] = x

    def _row(self, k: int) -> int | None:
        """Index in the record of the sample at an instant; ``None`` if ``every`` leaves it out."""
        left_out = self._before[k] == self._before[k + 1]
        return None if left_out else self._row_after(k)

    def _step_of(self, sample: int) -> int:
        """The instant of one of all samples, or the last one."""
        return min(int(self._before.searchsorted(sample, side="right")) - 1, self._last)

    def _row_after(self, k: int) -> int:
        """Index in the record of the first sample from an instant on."""
        return int(self._before[k] - self._before[self._first])
