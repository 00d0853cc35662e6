"""Reading the motion of a robot from a bag of ROS 2 (extra ``bag``), without ROS installed.

Messages may hold some joints only: they are collected, and the motion is completed.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.bags.files import open_bag
from robodyn.bags.messages import JOINT_STATE, MULTI_DOF, NUMBERS, TEXT, Columns
from robodyn.caller import warn
from robodyn.errors import AssemblyError, BagError, UnknownNameError
from robodyn.files import as_path
from robodyn.robot import Robot


def read_motion(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    topic: str = "/joint_states",
    ignore_unknown: bool = False,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Read the samples of a robot from a bag: t, q, v, a, tau, one row for each sample.

    Parameters, what is completed and what is raised are those of `robodyn.ros.bag.read_bag`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import robodyn as rd
    >>> from robodyn.bags import read_motion
    >>> robot = rd.load("double_pendulum")
    >>> run = rd.simulate(robot, q0=[0.5, 0.2], duration=0.05)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.mcap"
    >>> run.save(path)
    >>> t, q, v, a, tau = read_motion(path, robot)
    >>> t.shape, bool(abs(q - run.q).max() < 1e-12)
    ((51,), True)
    """
    wanted = {
        topic: JOINT_STATE,
        f"{topic}/multi_dof": MULTI_DOF,
        f"{topic}/accelerations": NUMBERS,
    }
    samples = BagSamples(robot, Columns.of_robot(robot), ignore_unknown)
    with open_bag(as_path("path", path)) as (reader, tools):
        connections = [c for c in reader.connections if c.topic in wanted]
        _check_topics(path, topic, reader.connections, wanted)
        for connection, stamp, raw in reader.messages(connections):
            message = tools.types.deserialize_cdr(raw, connection.msgtype)
            samples.take(connection.msgtype, message, stamp)
    return completed(samples, str(path))


def read_about(path: str | os.PathLike[str], *, topic: str = "/joint_states") -> str:
    """What `write_motion` was to say of a motion; empty if it was nothing, or is not its bag."""
    with open_bag(as_path("path", path)) as (reader, tools):
        about = [c for c in reader.connections if (c.topic, c.msgtype) == (f"{topic}/about", TEXT)]
        for connection, _, raw in reader.messages(about) if about else ():
            return str(tools.types.deserialize_cdr(raw, connection.msgtype).data)
    return ""


def _check_topics(path: Any, topic: str, connections: Any, wanted: dict[str, str]) -> None:
    there = {c.topic: c.msgtype for c in connections}
    if topic not in there:
        like = sorted(name for name, kind in there.items() if kind == JOINT_STATE)
        present = f"joint states are on {like}" if like else f"it has {sorted(there)}"
        raise BagError(f"the bag {str(path)!r} has no topic {topic!r}; {present}")
    for name, kind in wanted.items():
        if there.get(name, kind) != kind:
            raise BagError(f"topic {name!r} of {str(path)!r} holds {there[name]}, expected {kind}")


class BagSamples:
    """The newest value of each joint, and the samples so far.

    ignore_unknown: Pass over joints that the robot does not have.
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


def completed(
    samples: BagSamples, path: str
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """The complete motion from the samples of a bag: t, q, v, a, tau."""
    robot = samples.robot
    t, (q, v, a, tau) = samples.rows_in_order()
    if samples.ignored:
        warn(
            f"{samples.ignored} messages of {path!r} are left out: their positions are not finite, "
            "not as many as their names, or older than what came before"
        )
    if not len(t):
        raise BagError(f"the bag {path!r} holds no joint states of {robot.name!r}")
    heard = np.isfinite(q[-1])
    missing = _joints_at(robot, ~heard)
    if missing and not (robot.nc and heard.any()):
        raise BagError(f"the bag {path!r} never holds the position of joints {list(missing)}")
    begin = int(np.isfinite(q[:, heard]).all(axis=1).argmax())
    t, q, v, a, tau = t[begin:] - t[begin], q[begin:], v[begin:], a[begin:], tau[begin:]
    if missing:
        q = _assembled(robot, q, missing, t, path)
        _check_determined(robot, q[[0, len(q) // 2, -1]], missing, path)
    v = _gaps_replaced(v, _rates(robot, t, q))
    if missing:
        v = robot.consistent_velocity(q, v)
    a = _gaps_replaced(a, _rate(t, np.diff(v, axis=0)))
    return t, q, v, a, tau


def _joints_at(robot: Robot, where: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name in robot.joint_names if where[robot.joints[name].q].any())


def _assembled(
    robot: Robot, q: FloatArray, missing: tuple[str, ...], t: FloatArray, path: str
) -> FloatArray:
    """Postures with closed loops, each near the one before; unknown joints follow."""
    hold = [name for name in robot.joint_names if name not in missing]
    free = np.isnan(q[-1])
    closed, guess = q.copy(), robot.neutral()
    for k in range(len(q)):
        guess = np.where(free, guess, q[k])
        try:
            guess = closed[k] = robot.assemble(guess, hold=hold, beyond_limits=True)
        except AssemblyError as error:
            raise BagError(
                f"the joints of {path!r} at {t[k]:.6g} s leave the loops of {robot.name!r} open; "
                f"{list(missing)} would have to follow from the others: {error}"
            ) from error
    return closed


def _check_determined(robot: Robot, q: FloatArray, missing: tuple[str, ...], path: str) -> None:
    """Warn of unknown joints that the known ones do not determine."""
    at = np.concatenate([np.arange(robot.nv)[robot.joints[name].v] for name in missing])
    K = robot.loop_jacobian(q)  # of several postures: one may be singular
    sizes = np.linalg.norm(K, 2, axis=(-2, -1))
    free = len(at) - np.linalg.matrix_rank(K[..., at], tol=1e-9 * sizes).max()
    if free:
        warn(
            f"{path!r} never holds the position of joints {list(missing)}, and the loops of "
            f"{robot.name!r} leave them {free} motions of their own: they are taken to stay near "
            "the neutral posture"
        )


def _gaps_replaced(known: FloatArray, computed: FloatArray) -> FloatArray:
    """Known values; columns with gaps are replaced by computed ones."""
    return np.where(np.isfinite(known).all(axis=0), known, computed)


def _rates(robot: Robot, t: FloatArray, q: FloatArray) -> FloatArray:
    return _rate(t, robot.difference(q[:-1], q[1:]) if len(q) > 1 else np.zeros((0, robot.nv)))


def _rate(t: FloatArray, steps: FloatArray) -> FloatArray:
    """Rates by finite differences: of second order within, of first order at the ends."""
    way = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
    return np.gradient(way, t, axis=0) if len(steps) else way
