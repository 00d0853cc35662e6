"""Rollouts with events, whose motions are simulated one by one, as their events differ."""

from __future__ import annotations

import dataclasses

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError, SimulationError, SimulationInterrupted
from robodyn.simulation.control.controller import for_motion
from robodyn.simulation.control.running_controller import RunningController
from robodyn.simulation.motion.broken_motions import (
    BrokenMotions,
    attaching_trajectory,
    detach_trajectory,
)
from robodyn.simulation.motion.loop import Motion
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.trajectory.trajectory import Trajectory

#: Arrays of a sample.
STATE = ("q", "v", "a", "tau")


def simulate_each(mode: Mode, q: FloatArray, v: FloatArray, options: MotionOptions) -> Trajectory:
    """Samples of all motions at common instants, after the events of these instants."""
    motions, broken = _Motions(mode, options, len(q)), BrokenMotions(q, v)
    with attaching_trajectory(motions.so_far):
        for k, state in enumerate(zip(q, v, strict=True)):
            options.report(k / len(q))
            own = mode.for_motion(k)
            if mode.controller is not None:
                given = own.robot, for_motion(mode.controller, k), options.times
                own = dataclasses.replace(own, controller=RunningController(*given, batch=True))
            try:
                single = Motion(own, options.for_motion(k)).run(*state)
                run = single.trajectory()
                single.check_steps(run)
            except (Exception, SimulationInterrupted) as error:
                part = detach_trajectory(error)
                if part is not None:  # the exception gets the trajectory of all motions
                    motions.add(k, part)
                if not isinstance(error, SimulationError):
                    raise
                found = SimulationError(f"motion {k}: {error}", time=error.time, motion=(k,))
                found.__cause__ = error
                broken.add(found, float(error.time or 0.0))
                continue
            if any(piece.robot is not own.robot for piece in run.phases):
                raise SettingsError(
                    "an event gives one of many motions another robot or load: all of a rollout "
                    "are of one robot; use simulate for each, or sweep"
                )
            motions.add(k, run)
        broken.refuse()
    return motions.trajectory()


class _Motions:
    """Samples of all motions at common instants, and their events.

    count: Number of motions.
    """

    def __init__(self, mode: Mode, options: MotionOptions, count: int) -> None:
        times, robot = options.times, mode.robot
        self._times = times
        self._record = options.record(robot, mode.base, len(times), mode.driven)
        sizes = (robot.nq, *[robot.nv] * 3)
        self._arrays = [np.full((len(times), count, size), np.nan) for size in sizes]
        self._recorded: dict[str, FloatArray] = {}
        self._begun = False

    def add(self, k: int, run: Trajectory) -> None:
        """Add a motion, which may have ended early."""
        self._begun, times = True, self._times
        at = np.searchsorted(run.t, times, side="right") - 1
        there = run.t[at] == times  # False after an event has ended the motion
        for array, name in zip(self._arrays, STATE, strict=True):
            array[there, k] = getattr(run, name)[at[there]]
        for name, x in run.controller_state.items():
            empty = np.full((*self._arrays[0].shape[:2], x.shape[-1]), np.nan)
            self._recorded.setdefault(name, empty)[there, k] = x[at[there]]
        self._record.events += [dataclasses.replace(event, motion=(k,)) for event in run.events]

    def trajectory(self) -> Trajectory:
        """The trajectory of all motions."""
        record = self._record
        record.events.sort(key=lambda event: event.time)
        for name, x in self._recorded.items():
            record.controller_states.add(name, self._times.copy(), x)
        record.extend(self._times, *self._arrays)
        return record.trajectory()

    def so_far(self) -> Trajectory | None:
        """The trajectory of the motions that were added; ``None`` if there are none."""
        return self.trajectory() if self._begun else None
