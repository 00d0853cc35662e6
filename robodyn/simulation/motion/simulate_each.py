"""Rollouts with events, whose motions are simulated one by one, as their events differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError, SimulationError, SimulationInterrupted
from robodyn.simulation.control.callbacks import for_motion
from robodyn.simulation.control.running_controller import RunningController
from robodyn.simulation.events.event import Event
from robodyn.simulation.motion.breakdown import attaching_trajectory, detach_trajectory
from robodyn.simulation.motion.loop import simulate_motion
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.motion.progress import Progress
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["simulate_each"]

#: Arrays of a sample.
STATE = ("q", "v", "a", "tau")


def simulate_each(
    mode: Mode,
    events: Sequence[Event],
    q: FloatArray,
    v: FloatArray,
    options: MotionOptions,
    report: Progress,
) -> Trajectory:
    """Samples of all motions at common instants, after the events of these instants.

    Parameters
    ----------
    mode : Mode
    events : sequence of Event
    q, v : ndarray, shape (n, nq), (n, nv)
    options : MotionOptions
    report : callable
    """
    times = options.times
    record = options.record(mode.robot, mode.base, len(times), mode.driven)
    sizes = (q.shape[1], *[v.shape[1]] * 3)
    arrays = [np.full((len(times), len(q), size), np.nan) for size in sizes]
    recorded: dict[str, FloatArray] = {}
    begun: list[int] = []

    def keep(k: int, run: Trajectory) -> None:
        begun.append(k)
        at = np.searchsorted(run.t, times, side="right") - 1
        there = run.t[at] == times  # False after an event has ended the motion
        for array, name in zip(arrays, STATE, strict=True):
            array[there, k] = getattr(run, name)[at[there]]
        for name, x in run.controller_state.items():
            size = (len(times), len(q), x.shape[-1])
            recorded.setdefault(name, np.full(size, np.nan))[there, k] = x[at[there]]
        record.events += [dataclasses.replace(event, motion=(k,)) for event in run.events]

    def motion() -> Trajectory:
        record.events.sort(key=lambda event: event.time)
        for name, x in recorded.items():
            record.controller_states.add(name, times.copy(), x)
        for sample in zip(times.tolist(), *arrays, strict=True):
            record.add(*sample)
        return record.trajectory()

    with attaching_trajectory(lambda: motion() if begun else None):
        for k, state in enumerate(zip(q, v, strict=True)):
            report(k / len(q))
            own = mode.for_motion(k)
            if mode.controller is not None:
                given = own.robot, for_motion(mode.controller, k), times
                own = dataclasses.replace(own, controller=RunningController(*given, batch=True))
            try:
                alone = options.for_motion(k), lambda part: None
                single = simulate_motion(own, events, *state, *alone)
                run = single.trajectory()
                single.check_steps(run)
            except (Exception, SimulationInterrupted) as error:
                part = detach_trajectory(error)
                if part is not None:  # it is to have that of all motions
                    keep(k, part)
                if isinstance(error, SimulationError):
                    raise SimulationError(f"motion {k}: {error}", time=error.time) from error
                raise
            if any(piece.robot is not own.robot for piece in run.phases):
                raise SettingsError(
                    "an event gives one of many motions another robot or load: all of a rollout "
                    "are of one robot; use simulate for each, or sweep"
                )
            keep(k, run)
    return motion()
