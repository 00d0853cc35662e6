"""Samples of a motion from joint state messages, each of which may hold some joints only."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.bags.columns import Columns
from robodyn.errors import UnknownNameError
from robodyn.robot import Robot

__all__ = ["Samples"]


class Samples:
    """The newest value of each joint, and the samples so far.

    Parameters
    ----------
    robot : Robot
    columns : Columns
    ignore_unknown : bool
        Pass over joints that the robot does not have.
    """

    def __init__(self, robot: Robot, columns: Columns, ignore_unknown: bool) -> None:
        self.robot, self.columns, self.ignore_unknown = robot, columns, ignore_unknown
        self.q = np.full(robot.nq, np.nan)
        self.v, self.tau, self.a = (np.full(robot.nv, np.nan) for _ in range(3))
        self.rows: list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]] = []
        self.stamps: list[tuple[int, int]] = []
        self.ignored = 0
        self._places: dict[tuple[str, ...], tuple[FloatArray, FloatArray, FloatArray]] = {}

    def take(self, kind: str, message: Any, recorded: int) -> None:
        """Take one message, recorded at a time [ns]."""
        if kind.endswith("/JointState"):
            self._joints(message, recorded)
        elif kind.endswith("/MultiDOFJointState"):
            self._poses(message)
        elif len(message.data) == self.robot.nv:
            self.a = np.array(message.data, float)

    def _joints(self, message: Any, recorded: int) -> None:
        names, position = tuple(message.name), np.asarray(message.position, float)
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        if len(position) != len(names) or not np.isfinite(position).all():
            self.ignored += 1
            return
        given, at_q, at_v = self._place(names)
        self.q[at_q] = position[given]
        for known, values in ((self.v, message.velocity), (self.tau, message.effort)):
            known[at_v] = np.asarray(values, float)[given] if len(values) == len(names) else np.nan
        self.rows.append((self.q.copy(), self.v.copy(), self.a.copy(), self.tau.copy()))
        self.stamps.append((stamp, recorded))

    def _place(self, names: tuple[str, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Entries of a message that are read, and their indices in q and v."""
        if names not in self._places:
            columns, cut = self.columns, {cut.name for cut in self.robot.loops}
            places = zip(columns.q, columns.v, strict=True)
            where = dict(zip(columns.names, places, strict=True))
            for name in names:
                known = name in where or name in self.robot.joints or name in cut
                if not (known or self.ignore_unknown):
                    raise UnknownNameError("joint", name, where, repr(self.robot.name))
            pairs = [(k, *where[name]) for k, name in enumerate(names) if name in where]
            table = np.array(pairs, int).reshape(-1, 3)
            self._places[names] = (table[:, 0], table[:, 1], table[:, 2])
        return self._places[names]

    def _poses(self, message: Any) -> None:
        for k, name in enumerate(message.joint_names):
            if name not in self.columns.poses:
                if not self.ignore_unknown:
                    raise UnknownNameError("joint", name, self.columns.poses, repr(self.robot.name))
                continue
            at_q, at_v = self.columns.poses[name]
            p, r = message.transforms[k].translation, message.transforms[k].rotation
            q = np.array([p.x, p.y, p.z, r.x, r.y, r.z, r.w])
            self.q[at_q] = q[7 - (at_q.stop - at_q.start) :]
            for known, parts, ends in (
                (self.v, message.twist, ("linear", "angular")),
                (self.tau, message.wrench, ("force", "torque")),
            ):
                both = [getattr(parts[k], end) for end in ends] if k < len(parts) else []
                x = np.array([c for part in both for c in (part.x, part.y, part.z)] or [np.nan] * 6)
                known[at_v] = x[6 - (at_v.stop - at_v.start) :]

    def rows_in_order(self) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        """Times from the first row on [s], and q, v, a, tau, with NaN for what no message holds."""
        stamps = np.array(self.stamps, np.int64).reshape(-1, 2)
        clock = stamps[:, 0] if stamps[:, 0].any() else stamps[:, 1]
        kept = np.flatnonzero(clock == np.maximum.accumulate(clock))
        self.ignored += len(clock) - len(kept)
        at = clock[kept]
        last = np.append(at[1:] != at[:-1], np.ones(min(1, len(at)), bool))  # of equal times
        rows = [self.rows[k] for k in kept[last]]
        parts = tuple(np.array([row[part] for row in rows]) for part in range(4))
        return (at[last] - at[:1]) / 1e9, parts
