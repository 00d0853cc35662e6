"""A trajectory that a client of FollowJointTrajectory asks for; without ROS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.errors import some_of
from robodyn.ros.commands.trajectories import TrajectoryContent
from robodyn.ros.engine.engine import Engine

#: Error codes of the action.
SUCCESSFUL, INVALID_GOAL, INVALID_JOINTS, OLD_HEADER_TIMESTAMP = 0, -1, -2, -3
PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED = -4, -5

#: How a goal ends: an error code and a text.
Outcome: TypeAlias = tuple[int, str]


class RefusedGoal(rd.RobodynError):
    """A goal that cannot be followed.

    code: Of the action.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Progress:
    """How far a goal is: desired and actual positions and speeds, shape (2, n).

    index: Of the point whose time has come last.
    """

    t: float
    desired: FloatArray
    actual: FloatArray
    index: int


class TrajectoryGoal:
    """A goal that an engine follows from now on.

    goal: With the fields of ``control_msgs/action/FollowJointTrajectory`` goals.
    now [ns]: What the clock says.
    Raises RefusedGoal: If it cannot be followed; the motion before it goes on.
    """

    def __init__(self, engine: Engine, goal: Any, now: int) -> None:
        self.names = tuple(goal.trajectory.joint_names)
        content = TrajectoryContent.of_message(goal.trajectory)
        self._times = [point.time for point in content.points]
        self._check(engine, goal, now)
        self._path = _tolerances("path_tolerance", goal.path_tolerance, self.names)
        self._final = _tolerances("goal_tolerance", goal.goal_tolerance, self.names)
        allowed = goal.goal_time_tolerance
        self._allowed = allowed.sec + 1e-9 * allowed.nanosec
        try:
            engine.follow(content)
        except (rd.RobodynError, TypeError, ValueError) as error:
            unknown = isinstance(error, rd.UnknownNameError)
            code = INVALID_JOINTS if unknown else INVALID_GOAL
            raise RefusedGoal(code, str(error)) from error
        motion = engine.motion
        assert motion is not None
        self._engine, self._motion = engine, motion
        self._at = (
            [engine.names.coordinate(name) for name in self.names],
            [engine.names.speed(name) for name in self.names],
        )

    def _check(self, engine: Engine, goal: Any, now: int) -> None:
        multi = goal.multi_dof_trajectory
        component = [*goal.component_path_tolerance, *goal.component_goal_tolerance]
        if multi.joint_names or multi.points or component:
            raise RefusedGoal(INVALID_GOAL, "joints of several coordinates have no trajectories")
        if not self._times:
            raise RefusedGoal(INVALID_GOAL, "the trajectory has no points")
        stamp = goal.trajectory.header.stamp
        end = stamp.sec * 10**9 + stamp.nanosec + round(1e9 * min(self._times[-1], 1e9))
        if (stamp.sec or stamp.nanosec) and end < now:
            late = 1e-9 * (now - end)
            raise RefusedGoal(OLD_HEADER_TIMESTAMP, f"the trajectory has ended {late:.3g} s ago")

    def progress(self) -> Progress:
        """Where the joints are, and where they are to be."""
        engine, motion = self._engine, self._motion
        t = engine.motion_time if engine.motion is motion else motion.duration
        actual = np.stack([engine.q[self._at[0]], engine.v[self._at[1]]])
        index = max(int(np.searchsorted(self._times, t, side="right")) - 1, 0)
        return Progress(t, motion.at(t)[:2], actual, index)

    def outcome(self, progress: Progress) -> Outcome | None:
        """How the goal has ended, if it has; outside of its tolerances the joints are stopped."""
        engine, t = self._engine, progress.t
        if engine.motion is not self._motion:
            return INVALID_GOAL, "another command, a limit or a reset has ended the trajectory"
        late = t - self._motion.duration
        error = np.abs(progress.actual - progress.desired)
        tolerance = self._path if late < 0.0 else self._final
        beyond = np.flatnonzero((error > tolerance).any(axis=0))
        if not beyond.size:
            return None if late < 0.0 else (SUCCESSFUL, "")
        if 0.0 <= late and not 0.0 < self._allowed < late:
            return None  # it may still come
        told = [
            f"{self.names[k]} is {error[0, k]:.3g} (rad or m) and {error[1, k]:.3g} (rad/s or m/s) "
            f"away, tolerated are {tolerance[0, k]:.3g} and {tolerance[1, k]:.3g}"
            for k in beyond
        ]
        engine.halt()
        code = PATH_TOLERANCE_VIOLATED if late < 0.0 else GOAL_TOLERANCE_VIOLATED
        return code, some_of(told, separator="; ")

    def cancel(self) -> None:
        """Stop the joints, if they still follow it."""
        if self._engine.motion is self._motion:
            self._engine.halt()


def _tolerances(field: str, given: Iterable[Any], names: Sequence[str]) -> FloatArray:
    """Tolerances of position and speed, shape (2, n); infinite where there is none.

    0 means the usual one, which is none, and -1 none.
    """
    tolerances = np.full((2, len(names)), np.inf)
    for said in given:
        if said.name not in names:
            raise RefusedGoal(INVALID_GOAL, f"{field}: {said.name!r} is not in the trajectory")
        pair = np.array([said.position, said.velocity])
        if not ((pair >= 0.0) | (pair == -1.0)).all():
            raise RefusedGoal(INVALID_GOAL, f"{field} of {said.name}: {pair.tolist()}")
        if said.acceleration not in (0.0, -1.0):
            text = f"{field} of {said.name}: accelerations are not looked at, leave them 0"
            raise RefusedGoal(INVALID_GOAL, text)
        tolerances[:, names.index(said.name)] = np.where(pair > 0.0, pair, np.inf)
    return tolerances
