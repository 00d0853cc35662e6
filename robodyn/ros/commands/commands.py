"""What a simulated robot is commanded: efforts, positions and speeds, or a trajectory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.literals import CommandInterface
from robodyn.ros.commands.command_path import CommandPath
from robodyn.ros.commands.commanded_joints import CommandedJoints
from robodyn.ros.commands.settings import Settings
from robodyn.ros.commands.trajectories import Motion
from robodyn.simulation.loads.driven_joints import DrivenPath

Rows = NDArray[np.intp]


class Commands:
    """The commands that hold for a robot; at first, that joints stay or are free.

    Called with a time they are the reference of a controller.

    interfaces: What numbers mean, one for each joint.
    q (nq,): Where the robot is.
    is_effort, is_position (n,): What a number means; else it is a speed.
    is_fresh: A command came, and has not expired.
    given (n,): Joints of fresh commands.
    came_at (n,) [s]: When the last command of each came.
    effort (n,) [N m, N]: Zero for joints that get positions or speeds.
    motion: The trajectory that is followed, or was last.
    moved_rows: Where its joints stand in a command.
    """

    def __init__(
        self, joints: CommandedJoints, interfaces: Sequence[CommandInterface], q: FloatArray
    ) -> None:
        self._joints, self.interfaces = joints, tuple(interfaces)
        kinds = np.array(self.interfaces, object)
        self.is_effort, self.is_position = kinds == "effort", kinds == "position"
        self.is_fresh, self.effort = False, np.zeros(len(joints))
        self.motion: Motion | None = None
        self.moved_rows: Rows = np.zeros(0, int)
        self._motion_start, self.came_at = -math.inf, np.full(len(joints), -math.inf)
        self.given = np.zeros(len(joints), bool)
        self._position = np.where(self.is_position, q[joints.coordinates], np.nan)
        self._speed = np.zeros(len(joints))
        self._held = q.copy()

    def with_interfaces(self, interfaces: Sequence[CommandInterface], q: FloatArray) -> Commands:
        """Commands of other kinds, which still hold for the same joints."""
        others = Commands(self._joints, interfaces, q)
        others.given, others.came_at = self.given.copy(), self.came_at.copy()
        return others

    def take(self, t: float, given: FloatArray, rows: Sequence[int] | slice) -> list[str]:
        """Take a command, one number a joint; what is to be told of numbers beyond limits.

        rows: The joints that it is for; the others have the numbers that hold for them.
        """
        joints, is_speed = self._joints, ~(self.is_effort | self.is_position)
        inside = np.clip(given, joints.lower, joints.upper)
        self.effort = np.where(self.is_effort, given, 0.0)
        self._position = np.where(self.is_position, inside, np.nan)
        self._speed = np.where(self.is_position, 0.0, given)
        self.is_fresh, self.given[rows], self.came_at[rows] = True, True, t
        beyond = {
            "positions": self.is_position & (inside != given),
            "speeds": is_speed & (np.abs(given) > joints.top_speed),
            "efforts": self.is_effort & (np.abs(given) > joints.effort),
        }
        return [
            f"{what} beyond the limits of {joints.named(rows)} are cut to them"
            for what, rows in beyond.items()
            if rows.any()
        ]

    def follow(self, t: float, motion: Motion, rows: Rows, q: FloatArray) -> None:
        """Follow a trajectory of some joints from now on."""
        self._hold_moved_joints(q)
        self.motion, self.moved_rows, self._motion_start = motion, rows, t
        self._forget(q)

    def expire(self, q: FloatArray) -> None:
        """Commanded speeds end, and the controller holds the robot where it is."""
        self._forget(q)

    def drop(self, rows: NDArray[np.bool_], q: FloatArray) -> None:
        """The same for some joints, while commands of others go on."""
        self.given[rows], self.effort[rows], self._speed[rows] = False, 0.0, 0.0
        at = self._joints.coordinates[rows & (self._joints.coordinates >= 0)]
        self._held[at] = q[at]

    def _forget(self, q: FloatArray) -> None:
        self.is_fresh, self._held = False, q.copy()
        self._speed, self.given = np.zeros(len(self._joints)), np.zeros(len(self._joints), bool)

    def age(self, t: float) -> float:
        """How old the oldest fresh command is [s]."""
        return t - float(self.came_at[self.given].min(initial=t))

    def late(self, t: float, timeout: float) -> NDArray[np.bool_]:
        """Joints whose commands are older than a time [s], shape (n,)."""
        return np.asarray(self.given & (t - self.came_at > timeout))

    @property
    def idle(self) -> NDArray[np.bool_]:
        """Joints that get efforts and have no fresh command, shape (n,)."""
        return np.asarray(self.is_effort & ~self.given & (self._joints.coordinates >= 0))

    def is_under_way(self, t: float) -> bool:
        """Whether a trajectory has not come to its end."""
        return self.motion is not None and t < self._motion_start + self.motion.duration

    def since_motion(self, t: float) -> float:
        """Time since the trajectory began [s]."""
        return t - self._motion_start

    def present(self, q: FloatArray) -> FloatArray:
        """The command that holds now, of all joints; after a trajectory, that they stay."""
        self._hold_moved_joints(q)
        effort = self.effort if self.is_fresh else np.zeros(len(self._joints))
        others = np.where(self.is_position, self._position, self._speed)
        return np.where(self.is_effort, effort, others)

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What a controller follows at a time [s]: the trajectory, or what is held."""
        q, v, a = self.at_times(np.array([t]))
        return q[0], v[0], a[0]

    def at_times(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same at many times, shape (m,).

        Returns q, v, a (m, nq), (m, nv), (m, nv)
        """
        q, (v, a) = np.tile(self._held, (len(t), 1)), np.zeros((2, len(t), self._joints.nv))
        if self.motion:
            rows = self.moved_rows
            x, dx, ddx = self.motion.at_times(t - self._motion_start)
            q[:, self._joints.coordinates[rows]] = x
            v[:, self._joints.speeds[rows]], a[:, self._joints.speeds[rows]] = dx, ddx
        return q, v, a

    def paths(self, t: float, q: FloatArray, v: FloatArray, settings: Settings) -> list[DrivenPath]:
        """Paths of driven joints that set out from a state at time ``t`` [s]."""
        at, is_commanded = self._joints, ~self.is_effort
        is_commanded[self.moved_rows] = False
        rows, paths = np.flatnonzero(is_commanded), []
        if rows.size:
            command = CommandPath(
                t, q[at.coordinates[rows]], v[at.speeds[rows]], self._position[rows],
                self._speed[rows], at.top_speed[rows], settings.bandwidth,
            )  # fmt: skip
            paths.append(DrivenPath(command, at.coordinates[rows], at.speeds[rows]))
        motion, begin, moved = self.motion, self._motion_start, self.moved_rows
        if motion and settings.drives_along_trajectories:
            path = _MotionPath(motion, begin)
            paths.append(DrivenPath(path, at.coordinates[moved], at.speeds[moved]))
        return paths

    def _hold_moved_joints(self, q: FloatArray) -> None:
        """Hold joints with position commands where the last trajectory has brought them."""
        rows = self.moved_rows[self.is_position[self.moved_rows]]
        self._position[rows] = q[self._joints.coordinates[rows]]


@dataclass(frozen=True)
class _MotionPath:
    """A trajectory that begins at a time, as a path of all its joints."""

    motion: Motion
    start: float

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        x, dx, ddx = self.motion.at(t - self.start)
        return x, dx, ddx

    def at_times(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """At many times, shape (m,) [s]: arrays of shape (m, n)."""
        x, dx, ddx = self.motion.at_times(t - self.start)
        return x, dx, ddx
