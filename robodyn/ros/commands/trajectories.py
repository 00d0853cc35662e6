"""Plans smooth joint paths through the points of a JointTrajectory, and checks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.ros.commands.path_limits import check_path
from robodyn.ros.states.messages import StateNames
from robodyn.ros.states.sizes import check_count
from robodyn.tolerances import FARTHEST, SHORTEST_PIECE

#: Longest time of a trajectory [s]: that of messages of ROS.
LONGEST = 2.0**31
#: A time stamp within this time of the clock [s] means now.
NOW = 1.0


@dataclass(frozen=True)
class TrajectoryPoint:
    """A point of a trajectory: what ``trajectory_msgs/JointTrajectoryPoint`` holds.

    Attributes
    ----------
    time : float [s]
        From the start.
    positions, velocities, accelerations : sequence of float
        The last two may be empty.

    Examples
    --------
    >>> from robodyn.ros import TrajectoryPoint
    >>> point = TrajectoryPoint(1.5, positions=(0.5, 0.2))
    >>> point.time, point.velocities
    (1.5, ())
    """

    time: float
    positions: Sequence[float]
    velocities: Sequence[float] = ()
    accelerations: Sequence[float] = ()


@dataclass(frozen=True)
class TrajectoryContent:
    """What ``trajectory_msgs/JointTrajectory`` holds; no points: stop.

    Attributes
    ----------
    joint_names : tuple of str
    points : tuple of TrajectoryPoint

    Examples
    --------
    >>> from robodyn.ros import TrajectoryContent, TrajectoryPoint
    >>> content = TrajectoryContent(("elbow",), (TrajectoryPoint(1.0, (0.5,)),))
    >>> content.points[0].positions
    (0.5,)
    """

    joint_names: tuple[str, ...]
    points: tuple[TrajectoryPoint, ...]

    @classmethod
    def of_message(cls, message: Any) -> TrajectoryContent:
        """What a message of ROS or DDS holds."""
        points = (
            TrajectoryPoint(
                point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec,
                tuple(point.positions), tuple(point.velocities), tuple(point.accelerations),
            )
            for point in message.points
        )  # fmt: skip
        return cls(tuple(message.joint_names), tuple(points))


class Motion:
    """A smooth motion of several joints, which ends at rest.

    duration [s]
    """

    def __init__(self, names: tuple[str, ...], polynomial: Any, duration: float) -> None:
        self.names, self.duration = names, duration
        self._polynomials = polynomial, polynomial.derivative(1), polynomial.derivative(2)
        rest = np.asarray(polynomial(duration), float)
        self._rest = np.stack([rest, 0.0 * rest, 0.0 * rest])
        self._time, self._values = np.nan, self._rest

    def at(self, t: float) -> FloatArray:
        """Positions, velocities and accelerations, shape (3, n); at rest after the end."""
        if t >= self.duration:
            return self._rest
        if t != self._time:
            self._values, self._time = self.at_times(np.array([t]))[:, 0], t
        return self._values

    def at_times(self, t: FloatArray) -> FloatArray:
        """The same at many times, shape (m,): an array of shape (3, m, n)."""
        at = np.clip(t, 0.0, self.duration)
        values = np.array([polynomial(at) for polynomial in self._polynomials])
        return np.asarray(np.where((t >= self.duration)[:, None], self._rest[:, None], values))

    @classmethod
    def at_rest(cls, names: tuple[str, ...], x: FloatArray) -> Motion:
        """A motion of joints that stay where they are, at positions of shape (n,)."""
        from scipy.interpolate import PPoly

        return cls(names, PPoly(x[None, None], np.array([0.0, 1.0])), 0.0)

    def path(self, name: str) -> rd.JointPath:
        """Path of one of the joints."""
        k = self.names.index(name)
        return rd.JointPath(lambda t: tuple(self.at(t)[:, k]))


def prepare() -> None:
    """Import scipy before it is needed: this takes most of a second."""
    import scipy.interpolate  # noqa: F401


def plan(
    robot: rd.Robot,
    content: TrajectoryContent,
    q: ArrayLike,
    v: ArrayLike,
    *,
    names: StateNames | None = None,
) -> Motion:
    """Motion of the named joints from where they are through the points of a trajectory.

    Positions alone are joined by a spline whose acceleration is continuous and that ends at rest;
    with velocities by cubic, with accelerations too by quintic polynomials. The motion starts with
    the position and the velocity of ``q`` and ``v``, and with the acceleration of a point at time
    zero, or none. After the last point the joints stay.

    q, v (nq,), (nv,): State at time zero. A point at time zero must agree with it to 0.01 rad (m).
    names, optional: Of the robot, where it is at hand.
    Raises UnknownNameError: For joints that the robot does not have.
    Raises ShapeError: For wrong lengths, times that do not increase, numbers that are not finite.
    Raises PathError: For a jump at the start, no rest at the end, or positions or speeds beyond a
        limit, of a joint or one that follows it, anywhere on the way.
    """
    names = names or StateNames(robot)
    joints = content.joint_names
    if len({*joints}) < len(joints) or not joints:
        raise rd.ShapeError("joint_names must name each joint once", name="joint_names")
    at = [names.coordinate(name) for name in joints], [names.speed(name) for name in joints]
    start = np.asarray(q, float)[at[0]], np.asarray(v, float)[at[1]]
    times, x, dx, ddx = _table(content, start)
    with np.errstate(over="ignore", invalid="ignore"):
        polynomial = _polynomial(times, x, dx, ddx)
        check_path(names, joints, polynomial)
    return Motion(joints, polynomial, float(times[-1]))


def trajectory_paths(
    robot: rd.Robot, content: TrajectoryContent, q: ArrayLike, v: ArrayLike
) -> tuple[dict[str, rd.JointPath], float]:
    """Paths of joints, by name, and their duration [s]; arguments and errors as in `plan`.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.ros import TrajectoryContent, TrajectoryPoint, trajectory_paths
    >>> content = TrajectoryContent(("elbow",), (TrajectoryPoint(1.0, (0.5,)),))
    >>> paths, duration = trajectory_paths(rd.load("double_pendulum"), content, [0, 0], [0, 0])
    >>> float(paths["elbow"](1.0)[0]), duration
    (0.5, 1.0)
    """
    motion = plan(robot, content, q, v)
    return {name: motion.path(name) for name in motion.names}, motion.duration


def _table(
    content: TrajectoryContent, start: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]:
    """Times, positions, velocities and accelerations with the present state in front."""
    points, n = content.points, len(content.joint_names)
    check_count(len(points))
    times = np.array([point.time for point in points], float)
    if not len(times):
        raise rd.ShapeError("the trajectory has no points", name="points")
    if not (0.0 <= times[0] and times[-1] <= LONGEST and np.all(np.diff(times) > 0.0)):
        raise rd.ShapeError("time_from_start must increase from point to point", name="points")
    if np.any(np.diff(times, prepend=0.0)[times > 0.0] < SHORTEST_PIECE):
        raise rd.ShapeError("points are less than a nanosecond apart", name="points")
    x = _rows("positions", [point.positions for point in points], n)
    dx = _optional("velocities", [point.velocities for point in points], n)
    ddx = _optional("accelerations", [point.accelerations for point in points], n)
    if ddx is not None and dx is None:
        raise rd.ShapeError("accelerations are given, but no velocities", name="velocities")
    if dx is not None and np.abs(dx[-1]).max(initial=0.0) > 1e-9:
        raise rd.PathError("the last point must be at rest", time=float(times[-1]))
    first = np.zeros(n)
    if times[0] == 0.0:
        jump = np.abs(x[0] - start[0])
        if jump.max(initial=0.0) > 0.01:
            worst = content.joint_names[int(jump.argmax())]
            raise rd.PathError(
                f"{worst} is {jump.max():.3g} away from where the trajectory starts", time=0.0
            )
        first = first if ddx is None else ddx[0]
        times, x = times[1:], x[1:]
        dx, ddx = (None if rows is None else rows[1:] for rows in (dx, ddx))
        if not len(times):
            raise rd.ShapeError("the only point is at time zero", name="points")
    if dx is None:
        return np.append(0.0, times), *_smooth(times, x, start)
    before = None if ddx is None else np.vstack([first, ddx])
    return np.append(0.0, times), np.vstack([start[0], x]), np.vstack([start[1], dx]), before


def _smooth(
    times: FloatArray, x: FloatArray, start: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Velocities and accelerations of the spline through positions, which ends at rest."""
    from scipy.interpolate import CubicSpline

    at, rows = np.append(0.0, times), np.vstack([start[0], x])
    spline: Any = CubicSpline(at, rows, bc_type=((1, start[1]), (1, np.zeros(rows.shape[1]))))
    speeds, accelerations = spline(at, 1), spline(at, 2)
    accelerations[0] = accelerations[-1] = 0.0
    return rows, speeds, accelerations


def _optional(what: str, rows: Sequence[Sequence[float]], n: int) -> FloatArray | None:
    """Rows of a field that either all points have, or none."""
    given = [len(row) > 0 for row in rows]
    if not any(given):
        return None
    return _rows(what, rows, n)


def _rows(what: str, rows: Sequence[Sequence[float]], n: int) -> FloatArray:
    wrong = [k for k, row in enumerate(rows) if len(row) != n]
    if wrong:
        raise rd.ShapeError(
            f"point {wrong[0]} has {len(rows[wrong[0]])} {what}, expected {n}",
            name=what,
            expected=n,
        )
    table = np.array([[float(value) for value in row] for row in rows])
    if not np.isfinite(table).all():
        raise rd.ShapeError(f"{what} hold numbers that are not finite", name=what)
    if what == "positions" and np.abs(table).max(initial=0.0) > FARTHEST:
        raise rd.PathError(f"positions lie beyond {FARTHEST:g}")
    return table


def _polynomial(times: FloatArray, x: FloatArray, dx: FloatArray, ddx: FloatArray | None) -> Any:
    """Pieces of degree three, or five where accelerations are given, in powers of time."""
    from scipy.interpolate import CubicHermiteSpline, PPoly

    if ddx is None:
        return CubicHermiteSpline(times, x, dx)
    h = np.diff(times)[:, None]
    # in parts of each piece: its ends, and what it must gain beyond where its start leads
    v, w = h * dx[:-1], h * dx[1:]
    gain = x[1:] - x[:-1] - v
    a, b = 0.5 * h**2 * ddx[:-1], 0.5 * h**2 * ddx[1:]
    gain, speed, bend = gain - a, w - v - 2.0 * a, b - a
    powers = [
        6.0 * gain - 3.0 * speed + bend,
        -15.0 * gain + 7.0 * speed - 2.0 * bend,
        10.0 * gain - 4.0 * speed + bend,
        a,
        v,
        x[:-1],
    ]
    degree = len(powers) - 1
    return PPoly(np.stack([p / h ** (degree - k) for k, p in enumerate(powers)]), times)


def out_of_time(stamp: int, now: int, what: str = "trajectory") -> str:
    """Warning about the time stamp [ns] of a message; empty if it means now."""
    away = 1e-9 * (stamp - now)
    if not stamp or abs(away) < NOW:
        return ""
    return (
        f"a {what} is stamped {abs(away):.3g} s {'ahead' if away > 0 else 'ago'}; it starts "
        "when it comes"
    )
