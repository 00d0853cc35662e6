"""Time-optimal motion along a path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import PathError, Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, number
from robodyn.motion.derivative_check import instants
from robodyn.motion.functions import Reference
from robodyn.motion.samples import spline, within

from ..support.gains import checked_call
from .path_torques import (
    check_closed,
    of_linkage,
    path_torques,
    torque_limits,
    torque_too_small,
)
from .profile import check_reference, limit
from .reachability import Way, quickest
from .stretched import time_scale_within

#: Number of instants for the arc length of the path, for each point at which limits hold.
FINER = 10
#: Number of instants at which velocities of the path are checked, and the largest fraction of them
#: that may be perpendicular to the path.
CHECKED, ASIDE = 50, 1e-3
#: Largest deviation of the smooth path from the given one, as a fraction of the distance of points;
#: a larger one shows a corner.
CORNER = 1e-2
#: Points nearer than this fraction of their mean distance coincide, which shows a jump of the path.
SHORTEST = 1e-3
#: Largest number of times that the number of points is doubled, and the time scaling that suffices.
REFINED, ENOUGH = 3, 1.01
#: Instants between two points at which limits are checked, as fractions of the time between them.
LOOKS = np.linspace(1e-6, 1.0 - 1e-6, 33)


@dataclass(frozen=True, eq=False)
class TimeOptimal:
    """The fastest motion along a path, from rest to rest, within limits.

    Only the geometry of ``path`` is used, not its timing. Between points that are evenly spaced
    along the path, the acceleration along it is constant [H. Pham, Q.-C. Pham, A new approach to
    time-optimal path parameterization based on reachability analysis, 2018]. Where limits are
    exceeded between points, more points are taken, and a uniform time scaling removes what remains.

    Attributes
    ----------
    path : callable
        Time [s] -> position, velocity, acceleration, for joints whose coordinates add. Of
        velocities only the direction is used.
    length : float [s]
        Time at which the path ends.
    velocity, acceleration : float or array_like, shape (n,), optional
        Largest of each joint.
    robot : Robot, optional
        The robot that follows the path, with a fixed base; torques include its friction. For a
        closed linkage the path is of all joints or of motors alone, the motion is of all, and
        torques are those of its motors.
    torque : float or array_like, shape (nv,), optional [N m, N]
        Largest of each joint of the robot. Default: what its joints and motors allow, if ``robot``
        is given.
    points : int
        Initial number of points; up to eight times as many where the path bends sharply.
    duration : float [s]
        When it arrives.

    Raises
    ------
    MissingExtraError
        Without toppra (extra ``toppra``).
    SettingsError
        Without limits, for a path that stands still, and for a robot whose torques do not follow
        from the path, as `Stretched.within`.
    ActuationError
        For a closed linkage whose motors do not set all of its motions, each by one.
    PathError
        Where the path has a corner, which cannot be passed without stopping, where torques do not
        suffice at any speed, where it leaves loops open, and where velocities are not tangent to
        it, as of planar joints.

    Examples
    --------
    >>> from robodyn.controllers import PointToPoint, TimeOptimal
    >>> path = PointToPoint([0.0], [1.0], 1.0)
    >>> fast = TimeOptimal(path, 1.0, velocity=10.0, acceleration=4.0)
    >>> round(fast.duration, 2)     # from rest to rest over 1 rad, by 4 rad/s^2: 2 sqrt(1 / 4)
    1.0
    """

    path: Reference
    length: float
    velocity: ArrayLike | None = None
    acceleration: ArrayLike | None = None
    robot: Robot | None = None
    torque: ArrayLike | None = None
    points: int = 201
    duration: float = field(init=False)
    _way: Way = field(init=False, repr=False)
    _steps: tuple[FloatArray, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        length = number("length", self.length)
        if not 0.0 < length < np.inf or type(self.points) is not int or self.points < 10:
            raise SettingsError(
                f"length is {self.length!r} and points {self.points!r}, expected a positive number "
                "and at least 10 points"
            )
        if self.acceleration is None and self.robot is None:
            raise SettingsError(
                "nothing bounds accelerations: give acceleration=, or robot= with its torques"
            )
        check_reference("path", self.path)
        _check_coordinates(self.path, length)
        if self.robot is not None or self.torque is not None:
            torque_limits(self.robot, self.torque)
        path = of_linkage(self.robot, self.path)
        for finer in range(REFINED + 1):
            points = (self.points - 1 << finer) + 1
            try:
                slower = self._found(path, length, points)
            except PathError:
                if finer == REFINED:
                    raise
                continue
            if slower <= ENOUGH:
                break

    def _found(self, path: Reference, length: float, points: int) -> float:
        """Find the motion with ``points`` points, and return the time scaling that it needed."""
        at, s, way = _smooth_way(path, length, points)
        object.__setattr__(self, "_way", way)
        limits = self._limits(way[0](0.0).size)
        if self.robot is not None:
            q = way[0](s)
            check_closed(self.robot, at, q)
            weight = np.abs(path_torques(self.robot)(q, 0.0 * q, 0.0 * q))
            if (weight > limits["torque"]).any():
                raise torque_too_small(self.robot, at, q, limits["torque"])
        speeds, rates = quickest(s, way, limits, self.robot)
        self._set(s, speeds, rates)
        needed = time_scale_within(
            self._between_points(), self.velocity, self.acceleration, self.robot, self.torque
        )
        slower = max(1.0, needed)
        self._set(s, speeds / slower, rates / slower**2)
        return slower

    def _set(self, s: FloatArray, speeds: FloatArray, rates: FloatArray) -> None:
        """Set the motion that passes points of the path at these speeds."""
        times = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(s) / (speeds[1:] + speeds[:-1]))])
        object.__setattr__(self, "_steps", (times, s, speeds, rates))
        object.__setattr__(self, "duration", float(times[-1]))

    def _between_points(self) -> tuple[FloatArray, ...]:
        """Times, positions, velocities and accelerations at instants between all points."""
        times, s, speeds, rates = self._steps
        since = LOOKS * np.diff(times)[:, None]
        ds = speeds[:-1, None] + rates[:, None] * since
        place = s[:-1, None] + since * 0.5 * (speeds[:-1, None] + ds)
        motion = self._at(place.ravel(), ds.ravel(), np.repeat(rates, len(LOOKS)))
        return (times[:-1, None] + since).ravel(), *motion

    def _at(self, s: FloatArray, ds: FloatArray, dds: FloatArray) -> tuple[FloatArray, ...]:
        """Position, velocity and acceleration at arc lengths, from speed and acceleration there."""
        q, dq, ddq = (f(s) for f in self._way)
        return q, dq * ds[..., None], ddq * ds[..., None] ** 2 + dq * dds[..., None]

    def _limits(self, n: int) -> dict[str, FloatArray]:
        """Limits that are given, shape (n,) each."""
        given = {"velocity": self.velocity, "acceleration": self.acceleration}
        found = {name: limit(name, x, n) for name, x in given.items() if x is not None}
        if self.robot is not None:
            found["torque"] = torque_limits(self.robot, self.torque)
        return found

    @checked_call
    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (n,), at time ``t`` [s]."""
        times, s, speeds, rates = self._steps
        if t <= 0.0 or t >= self.duration:
            q = self._way[0](s[0] if t <= 0.0 else s[-1])
            return q, np.zeros_like(q), np.zeros_like(q)
        t = within(times, t)
        k = min(int(np.searchsorted(times, t, side="right")) - 1, len(rates) - 1)
        since = t - times[k]
        ds = speeds[k] + rates[k] * since
        q, v, a = self._at(s[k] + since * 0.5 * (speeds[k] + ds), ds, rates[k])
        return q, v, a


def _check_coordinates(path: Reference, length: float) -> None:
    """Check that the coordinates of the path's joints add.

    Raises
    ------
    SettingsError
        For a path made for a robot with such joints.
    ShapeError
        For other numbers of coordinates than of speeds.
    PathError
        For velocities that are not tangent to the path, as those of planar joints.
    """
    made: Any = path
    while made is not None:
        robot = getattr(made, "robot", None)
        if isinstance(robot, Robot) and not robot.joints.coordinates_add:
            raise SettingsError(
                f"the path is of {robot.name!r}, and {robot.name!r} has joints whose coordinates "
                "do not add: a time-optimal motion is found for joints whose coordinates add"
            )
        made = getattr(made, "reference", None)
    q, v, _ = (np.shape(x) for x in path(0.0))
    if v and q != v:  # a number stands for a velocity that is not used
        raise ShapeError(
            f"the path gives positions {q} and velocities {v}, expected one shape (n,), of joints "
            "whose coordinates add",
            name="path",
            given=q,
        )
    if v:
        _check_directions(path, length)


def _check_directions(path: Reference, length: float) -> None:
    """Check that velocities are tangent to the path; their magnitude does not matter.

    Raises
    ------
    PathError
        With the time.
    """
    at, interval = instants(np.linspace(0.0, length, CHECKED), CHECKED)
    for t in at.tolist():
        ends = [[np.asarray(x, float) for x in path(t + s)[:2]] for s in (0.0, interval)]
        (q, v), (there, after) = ends
        size = float(np.linalg.norm(there - q))
        way = (there - q) / (size or 1.0)
        off = np.linalg.norm(v - (v @ way) * way)
        if size and off > ASIDE * np.linalg.norm(v) + np.linalg.norm(after - v):
            raise PathError(
                f"the velocity of the path at t = {t:.6g} s is {v}, and its positions change "
                f"along {way}; velocities of planar joints are in axes that turn, where limits of "
                "coordinates do not apply: a time-optimal motion is found for joints whose "
                "coordinates add",
                time=t,
            )


def _smooth_way(path: Reference, length: float, points: int) -> tuple[FloatArray, FloatArray, Way]:
    """Times at evenly spaced points of a path, their arc lengths, and a spline over arc length."""
    times = np.linspace(0.0, length, FINER * (points - 1) + 1)
    fine = checked("path", [path(t)[0] for t in times.tolist()], None, None)
    gone = _lengths(fine)
    if not gone[-1] > 0.0:
        raise SettingsError("the path stands still: it has no length")
    at = np.interp(np.linspace(0.0, gone[-1], points), gone, times)
    rows = np.array([path(t)[0] for t in at.tolist()], float)
    s, steps = _lengths(rows), np.diff(rows, axis=0)
    short = np.diff(s) < SHORTEST * gone[-1] / (points - 1)
    if short.any():
        k = int(short.argmax())
        raise PathError(
            f"the path jumps between t = {at[k]:.6g} s and {at[k + 1]:.6g} s", time=float(at[k])
        )
    way: Way = spline(s, rows)
    back = np.append((steps[1:] * steps[:-1]).sum(axis=1) < 0.0, False)
    # points between two points of the smooth path that are far from it
    middles = way[0](0.5 * (s[1:] + s[:-1]))
    first = np.clip(np.searchsorted(times, at[:-1]) - 1, 0, None)
    for k, middle in enumerate(middles):
        part = fine[first[k] : np.searchsorted(times, at[k + 1]) + 2]
        off = _distance(middle, part)
        if back[k] or np.linalg.norm(off) > CORNER * (s[k + 1] - s[k]):
            joint = int(np.abs(steps[k] if back[k] else off).argmax())
            raise PathError(
                f"the path has a corner between t = {at[k]:.6g} s and {at[k + 1]:.6g} s, where "
                f"coordinate {joint} turns: it cannot be passed without stopping; give each piece "
                "alone, or a smooth path",
                time=float(at[k]),
            )
    return at, s, way


def _lengths(rows: FloatArray) -> FloatArray:
    steps = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _distance(place: FloatArray, rows: FloatArray) -> FloatArray:
    """Distance of a point from the straight lines between rows."""
    steps, off = np.diff(rows, axis=0), place - rows[:-1]
    sizes = (steps * steps).sum(axis=1)
    part = (steps * off).sum(axis=1) / np.where(sizes > 0.0, sizes, 1.0)
    away = off - np.clip(part, 0.0, 1.0)[:, None] * steps
    return np.asarray(away[np.linalg.norm(away, axis=1).argmin()])
