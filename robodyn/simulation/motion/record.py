"""Samples of a motion while it grows, in memory or in files."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from robodyn.array_types import Array, FloatArray, IntArray
from robodyn.arrays import mismatch
from robodyn.errors import FileError, RobodynError, ShapeError, SimulationError
from robodyn.files import as_path
from robodyn.robot import Robot
from robodyn.simulation.checks.singular_passage import passage_ahead
from robodyn.simulation.control.running_controller import RecordedStates
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads
from robodyn.simulation.trajectory.files import archive
from robodyn.simulation.trajectory.files.moved_robot import facts
from robodyn.simulation.trajectory.files.recording import Folder, read
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.simulation.trajectory.states.within_steps import WithinSteps, separated
from robodyn.simulation.trajectory.trajectory import Trajectory

#: Number of elements in memory of a record that is written to files.
NUMBERS_IN_MEMORY = 1 << 20

#: Largest number of elements of states within steps that are kept beside the samples.
NUMBERS_WITHIN_STEPS = 1 << 24

#: Number of postures from which the rank of the constraints is determined.
RANK_SAMPLES = 32

#: Largest number of steps that machine code can count.
LARGEST_COUNT = 1 << 62


class Record:
    """The record of the samples of a simulation.

    surroundings: Motion of the base and external wrenches.
    size: Expected number of samples; there may be more.
    batch: Leading axes of a state.
    driven: Speeds that follow paths.
    friction: Joints stick and slide as modes.
    every: Every so many steps are kept, and the last one.
    to, optional: A folder to which samples are written during the motion.
    dtype: Type of all samples but their times.
    shape: Leading axes of a state.
    between (n,) [s]: Instants, in order, at which steps end because of a controller, which are none
        of those asked for and no samples of the trajectory; see `end_steps_at`.
    events: Events in the order of time; the caller appends to it.
    controller_states: Recorded states of controllers; the caller adds controllers to it.
    Raises ShapeError: For example if the samples do not fit into memory.
    """

    def __init__(
        self,
        robot: Robot,
        surroundings: PrescribedLoads,
        size: int,
        batch: tuple[int, ...] = (),
        *,
        driven: tuple[int, ...] = (),
        friction: DryFriction | None = None,
        every: int = 1,
        to: str | os.PathLike[str] | None = None,
        dtype: DTypeLike = float,
    ) -> None:
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise mismatch("every", every, "how many steps there are for one sample: 1, 2, ...")
        self.robot, self.surroundings, self.driven = robot, surroundings, driven
        self.friction = friction
        self.shape, self.between = batch, np.zeros(0)
        self.events: list[EventRecord] = []
        self.controller_states = RecordedStates()
        self._every, self._steps = min(int(every), LARGEST_COUNT), 0
        self._folder = None if to is None else Folder(as_path("to", to))
        #: All instants are kept, and those within steps are known to the trajectory as such.
        self._whole, self._within = self._every == 1 and to is None, list[IntArray]()
        rows = (size - 1) // self._every + 2  # the last step may be none of those that are kept
        shapes = ((), (*batch, robot.nq), *[(*batch, robot.nv)] * 3)
        self._numbers = sum(math.prod(shape) for shape in shapes)
        if self._folder is not None:
            rows = min(rows, max(2, NUMBERS_IN_MEMORY // self._numbers))
        #: Samples after which room is made, where one may stand behind them.
        self._most = rows
        rows += self._folder is not None
        try:
            times, *states = shapes
            self._columns = [np.empty((rows, *times)), *_in_one_block(rows, states, dtype)]
        except MemoryError:
            raise ShapeError(
                f"{rows - 1} samples do not fit into memory: keep fewer, every=100, or write them "
                "to a folder, to=",
                name="every",
                given=every,
            ) from None
        #: Samples that are kept; the one behind them may be replaced.
        self._kept = 0
        self._behind = False

    def end_steps_at(self, between: FloatArray) -> None:
        """Set the instants ``between`` [s]; of very many, states there are not kept."""
        self.between = between
        if not self.started:
            self._whole &= len(between) * self._numbers <= NUMBERS_WITHIN_STEPS

    def add(
        self,
        t: float,
        q: FloatArray,
        v: FloatArray,
        a: FloatArray,
        tau: FloatArray,
        *,
        keep: bool = False,
    ) -> None:
        """Add the sample of a step; ``keep``: regardless of ``every``, as where speeds jump.

        Raises SimulationError: If it cannot be written; ``.trajectory`` has the samples that were.
        """
        k = self._kept
        if k == self._most:
            self._make_room()
            k = self._kept
        times, *states = self._columns
        times[k] = t
        for column, x in zip(states, (q, v, a, tau), strict=True):
            column[k] = x
        counted = not keep and bool(self._are_steps(np.array([t]))[0])
        if self._whole:
            self._kept += 1
            self._within += [] if keep or counted else [np.array([k])]
        else:
            self._behind = not keep and not (counted and self._steps % self._every == 0)
            self._kept += not self._behind
        self._steps += counted

    def extend(
        self, t: FloatArray, q: FloatArray, v: FloatArray, a: FloatArray, tau: FloatArray
    ) -> None:
        """Add the samples of some steps."""
        if self._whole:
            while self._kept + len(t) > self._most:
                self._make_room()
            for column, x in zip(self._columns, (t, q, v, a, tau), strict=True):
                column[self._kept : self._kept + len(t)] = x
            self.filled(np.asarray(t))
            return
        n, chosen = len(t), self._chosen(t)
        behind = n > 0 and not chosen[-1]
        chosen[n - 1 :] = True
        rows = np.flatnonzero(chosen)
        first = 0
        while first < len(rows):
            if self._kept == len(self._columns[0]):
                self._make_room()
            own = rows[first : first + len(self._columns[0]) - self._kept]
            for column, x in zip(self._columns, (t, q, v, a, tau), strict=True):
                column[self._kept : self._kept + len(own)] = x[own]
            first += len(own)
            self._behind = behind and first == len(rows)
            self._kept += len(own) - self._behind
        self._steps += int(self._are_steps(t).sum())

    def _are_steps(self, t: FloatArray) -> Array:
        """Which instants [s] are steps that were asked for."""
        if not len(self.between):
            return np.ones(len(t), bool)
        nearest = np.minimum(np.searchsorted(self.between, t), len(self.between) - 1)
        return np.asarray(self.between[nearest] != t)

    def _chosen(self, t: FloatArray) -> Array:
        """Which of the next instants [s] are those of samples, but for the last one."""
        counted = self._are_steps(t)
        number = self._steps + np.cumsum(counted) - 1
        return np.asarray(counted & (number % self._every == 0))

    # -- samples that machine code writes -------------------------------------------------------

    @property
    def every(self) -> int:
        """The most steps from one sample to the next."""
        return self._every + bool(len(self.between))

    def samples_before(self, times: FloatArray) -> IntArray:
        """Number of samples before each instant [s] of a whole motion, and of all, (n + 1,)."""
        if self._whole or (self._every == 1 and not len(self.between)):
            return np.arange(len(times) + 1)
        chosen = self._chosen(times)
        chosen[-1] = True
        return np.concatenate([[0], np.cumsum(chosen)])

    def room(self) -> list[FloatArray]:
        """Arrays q, v, a and tau for the samples from the next one on, at least two."""
        if len(self._columns[0]) - self._kept < 2:
            self._make_room()
        return [x[self._kept :] for x in self._columns[1:]]

    def filled(self, t: FloatArray) -> None:
        """Count the samples at ``t`` [s] that were written into `room`."""
        self._columns[0][self._kept : self._kept + len(t)] = t
        if self._whole and len(self.between):
            self._within.append(self._kept + np.flatnonzero(~self._are_steps(t)))
        self._kept += len(t)

    def _make_room(self) -> None:
        if self._folder is None:
            self._columns = [np.concatenate([x, np.empty_like(x)]) for x in self._columns]
            self._most = len(self._columns[0])
        else:
            self._write()

    @property
    def count(self) -> int:
        """Number of samples in memory, with the last one."""
        return self._kept + self._behind

    @property
    def started(self) -> bool:
        """Whether there are samples, in memory or in files."""
        return bool(self.count or (self._folder is not None and self._folder.rows))

    def _write(self) -> None:
        """Move the samples in memory to the folder."""
        assert self._folder is not None
        arrays = dict(zip(archive.STATES, (x[: self.count] for x in self._columns), strict=True))
        t, q, v = (arrays[name] for name in ("t", "q", "v"))
        arrays.update(archive.outside_arrays(self.surroundings, t, q, v))
        recorded = self.controller_states.at(t, self.shape)
        arrays.update({archive.CONTROLLER_STATE + key: x for key, x in recorded.items()})
        try:
            self._folder.append(arrays, self._about())
        except FileError as error:
            raise self._refused(error) from error
        finally:  # after an interrupt, samples that are not in all files do not count
            self._kept, self._behind = 0, False
        self.controller_states.forget(float(t[-1]))

    def _refused(self, error: FileError) -> SimulationError:
        """The error if samples cannot be written, with the trajectory of those that were."""
        assert self._folder is not None
        kept = self._in_files(complete=False) if self._folder.rows else None
        until = 0.0 if kept is None else float(kept.t[-1])
        return SimulationError(
            f"{error}; the motion until t = {until:.6g} s stays in {str(self._folder.path)!r}",
            trajectory=kept,
            time=until,
        )

    def _about(self) -> dict[str, Any]:
        return {
            "robot": self.robot.name,
            "facts": facts(self.robot),
            "joints": speed_names(self.robot),
            "driven": self.driven,
            "friction": archive.friction_text(self.friction),
            "events": archive.events_text(tuple(self.events)),
        }

    def broken(self, t: float, error: RobodynError) -> SimulationError:
        """The error for a breakdown before ``t`` [s]."""
        motion, rows = error.motion, getattr(error, "rows", ())
        if self.shape and rows and not motion:  # of a method that was called with all of them
            motion = self.place(rows[0])
        problem = f"at t = {t:.6g} s {error}"
        if singular := self._singular(t):
            problem = singular
        elif isinstance(error, ShapeError):
            problem = (
                f"the motion of {self.robot.name!r} is no longer finite at t = {t:.6g} s: the step "
                f"is too long, or torques are not finite ({error})"
            )
        if motion:
            problem = f"motion {', '.join(map(str, motion))}: {problem}"
        return SimulationError(problem, time=t, motion=motion)

    def place(self, row: int) -> tuple[int, ...]:
        """Index of a motion among all of them; empty where there is one."""
        return tuple(int(k) for k in np.unravel_index(row, self.shape)) if self.shape else ()

    def so_far(self) -> Trajectory | None:
        """The trajectory of a motion that has ended early; ``None`` if there are no samples."""
        return self.trajectory(complete=False) if self.started else None

    def _singular(self, until: float) -> str:
        """The singular posture at which a single motion broke down on its way to an instant [s]."""
        if self.shape or not self.count:
            return ""
        t, q, v, a, _ = (x[self.count - 1] for x in self._columns)
        some = self._columns[1][: self.count : max(1, self.count // RANK_SAMPLES)]
        return passage_ahead(self.robot, some, float(t), q, v, a, until)

    def trajectory(self, *, complete: bool = True) -> Trajectory:
        """The trajectory; in files, their folder keeps its name ``.partial`` if not complete."""
        if self._folder is not None:
            if self.count:
                self._write()
            try:
                return self._in_files(complete=complete)
            except FileError as error:
                raise self._refused(error) from error
        own = [x[: self.count] for x in self._columns]
        within, rows = None, np.concatenate([np.zeros(0, int), *self._within])
        rows = rows[rows < self.count - 1]  # the last one is a sample
        if len(rows):
            within = separated(own, rows)
            own = [*within.outer]
        elif not complete or len(self._columns[0]) - self.count >= 3:
            own = [x.copy() for x in own]
        return self._made(self.controller_states.at(own[0], self.shape), *own, within=within)

    def _made(
        self,
        recorded: Mapping[str, FloatArray],
        *states: FloatArray,
        within: WithinSteps | None = None,
    ) -> Trajectory:
        t, q, v, a, tau = states
        return Trajectory(
            t, q, v, a, tau, joint_names=speed_names(self.robot), robot=self.robot,
            driven=self.driven, surroundings=self.surroundings, events=tuple(self.events),
            controller_state=recorded, friction=self.friction, _within=within,
        )  # fmt: skip

    def _in_files(self, *, complete: bool) -> Trajectory:
        assert self._folder is not None
        place = self._folder.close(self._about(), complete=complete)
        fields = read(place)
        return self._made(fields["controller_state"], *(fields[name] for name in archive.STATES))


def _in_one_block(
    rows: int, shapes: Sequence[tuple[int, ...]], dtype: DTypeLike
) -> list[FloatArray]:
    """Arrays of so many rows, one behind the other in memory.

    From 4 MB on, numpy asks for large pages; the first touch of small ones takes as long as a step.
    """
    sizes = [rows * math.prod(shape) for shape in shapes]
    block, parts, end = np.empty(sum(sizes), dtype), list[FloatArray](), 0
    for size, shape in zip(sizes, shapes, strict=True):
        end += size
        parts.append(block[end - size : end].reshape(rows, *shape))
    return parts
