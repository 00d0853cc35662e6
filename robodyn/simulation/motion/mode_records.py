"""The records of the modes of a motion, which make up its trajectory."""

from __future__ import annotations

import functools

from robodyn.errors import ImpactError, RobodynError, SettingsError, SimulationError
from robodyn.simulation.checks.energy_check import warn_of_imbalance
from robodyn.simulation.checks.friction_check import warn_of_friction
from robodyn.simulation.integrators.method import is_breakdown
from robodyn.simulation.motion.broken_motions import OnError
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.motion.record import Record
from robodyn.simulation.trajectory.phases import joined
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.simulation.trajectory.trajectory import Trajectory


class ModeRecords:
    """Samples and events of a motion.

    current: Record of the present mode.
    """

    current: Record

    def __init__(self, options: MotionOptions) -> None:
        self._options = options
        self._records: list[tuple[Mode, Record]] = []
        self._events: list[EventRecord] = []

    @property
    def empty(self) -> bool:
        """Whether there are no samples yet."""
        return not any(record.count for _, record in self._records)

    def begin(self, mode: Mode, t: float) -> None:
        """Begin the record of a mode at ``t`` [s].

        Raises SettingsError: If another robot would have to be written into the files of the first.
        """
        if self._records and self._options.to is not None:
            first = self._records[0][0]
            if mode.robot is first.robot and mode.base is first.base:
                return
            raise SettingsError(
                f"an event at t = {t:.6g} s changes what moves; such a motion cannot be written "
                "while it goes on: leave out to=, and save it afterwards"
            )
        times = self._options.times
        size = len(times) - int(times.searchsorted(t)) + bool(self._records)
        self.current = self._options.record(mode.robot, mode.base, size, mode.driven)
        self._records.append((mode, self.current))

    def note(self, event: EventRecord) -> None:
        """Add an event."""
        self._events.append(event)
        self.current.events.append(event)

    def trajectory(self, *, complete: bool = True) -> Trajectory:
        """The trajectory; ``complete``: the motion has not ended early."""
        if len(self._records) == 1:
            return self.current.trajectory(complete=complete)
        return joined(
            [record.trajectory(complete=complete) for _, record in self._used()],
            tuple(self._events),
        )

    def so_far(self) -> Trajectory | None:
        """The trajectory of a motion that has ended early; ``None`` if there are no samples."""
        some = any(record.started for _, record in self._records)
        return self.trajectory(complete=False) if some else None

    def check_steps(self, run: Trajectory, order: int, *, implicit: bool = False) -> None:
        """Warn once of a mode whose steps are too long, by a method of some order."""
        used = self._used()
        for (_, record), piece in zip(used, run.phases or (run,), strict=True):
            every = record.every
            friction = warn_of_friction(piece, every, implicit=implicit)
            if friction or warn_of_imbalance(piece, every, order):
                return

    def _used(self) -> list[tuple[Mode, Record]]:
        return [x for x in self._records if x[1].count or self._options.to is not None]

    def breaking(self, t: float, until: float | None = None) -> OnError:
        """Context that raises `SimulationError` for a breakdown.

        t [s]: The present instant.
        until [s], optional: The instant to which the motion was going.
        """
        return OnError(functools.partial(self._broken, t, t if until is None else until))

    def _broken(self, t: float, until: float, error: BaseException) -> None:
        found, cause = error, error.__cause__
        if isinstance(error, RobodynError) and is_breakdown(error):
            found, cause = self.current.broken(until, error), error
        if not isinstance(found, SimulationError | ImpactError):
            return
        when = t if cause is None else until
        shown = f"at t = {when:.6g} s {found}" if isinstance(found, ImpactError) else str(found)
        raise SimulationError(shown, time=when, motion=found.motion) from cause or found
