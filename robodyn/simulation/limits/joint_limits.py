"""What a simulation does about limits: it says where a motion leaves them, or cuts efforts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.errors import LimitWarning, UnknownNameError
from robodyn.model.joint_info import JointInfo
from robodyn.model.position_limits import followed
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import (
    Range,
    bounds_of,
    effort_bounds,
    extremes,
    has_top_speed,
    speed_bounds,
)
from robodyn.simulation.limits.motor_limits import MotorLimits

__all__ = ["LIMITS", "LimitViolation", "Limits", "limit_violations"]

#: What a simulation can do about limits.
LIMITS = ("ignore", "report", "enforce")


@dataclass(frozen=True)
class LimitViolation:
    """A limit that a motion leaves.

    Attributes
    ----------
    joint : str
        The joint, or ``"joint[k]"`` where it has several speeds.
    limit : {"position", "velocity", "effort"}
    bound : float [rad, m], [rad/s, m/s], [N m, N]
        The value that is not to be passed: negative for the lower one.
    start : float [s]
        The first sample beyond it.
    worst : float
        The value that is farthest beyond it.
    time : float [s]
        When that is.
    motion : tuple of int
        Which of simultaneous motions has the worst value; empty for a single one.
    unit : str
        Of the bound and the worst value.
    """

    joint: str
    limit: str
    bound: float
    start: float
    worst: float
    time: float
    motion: tuple[int, ...] = ()
    unit: str = ""

    def __str__(self) -> str:
        of = f" in motion {', '.join(map(str, self.motion))}" if self.motion else ""
        first = f", first passed at {self.start:.4g} s" if self.start != self.time else ""
        return (
            f"the {self.limit} of {self.joint!r} is {self.worst:.4g} {self.unit} at "
            f"{self.time:.4g} s{of} and its limit {self.bound:.4g}{first}"
        )


class Limits:
    """What a simulation does about the limits of a robot.

    Parameters
    ----------
    robot : Robot
    choice : {"ignore", "report", "enforce"} or MotorLimits

    Raises
    ------
    UnknownNameError
        For another choice.
    """

    def __init__(self, robot: Robot, choice: str | MotorLimits) -> None:
        self._motors = choice if isinstance(choice, MotorLimits) else None
        if self._motors is not None:
            choice = "enforce"
        if not isinstance(choice, str) or choice not in LIMITS:
            raise UnknownNameError("way to treat limits", str(choice), LIMITS)
        self._robot, self._choice = robot, choice
        self._efforts = effort_bounds(robot) if choice == "enforce" else None

    @property
    def depend_on_speed(self) -> bool:
        """What motors can do falls with their speed."""
        return self._motors is not None

    @property
    def efforts(self) -> FloatArray | None:
        """The largest ones, where they are enforced whatever the speed."""
        return None if self._motors is not None else self._efforts

    def cut(self, tau: FloatArray, v: FloatArray) -> FloatArray:
        """Efforts as they act, shape (..., nv): within their limits where these are enforced.

        Parameters
        ----------
        tau : ndarray, shape (..., nv) [N m, N]
        v : ndarray, shape (..., nv) [rad/s, m/s]
        """
        if self._efforts is None:
            return tau
        upper, lower = self._efforts, -self._efforts
        if self._motors is not None:
            share = self._motors.share(v, speed_bounds(self._robot))
            with np.errstate(invalid="ignore"):  # where no effort is given, none is cut
                driving = np.where(share < 1.0, share * self._efforts, self._efforts)
            driving = np.where(np.isnan(driving), 0.0, driving)
            upper = np.where(v > 0.0, driving, upper)
            lower = np.where(v < 0.0, -driving, lower)
        return np.minimum(np.maximum(tau, lower), upper)

    def warn_of_violations(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> None:
        """Warn once, in one line, of the limits that samples leave: the first, and how many."""
        if self._choice == "ignore" or bounds_of(self._robot).surely_hold(q, v, tau):
            return
        found = limit_violations(self._robot, t, q, v, tau)
        if not found:
            return
        count = "a limit" if len(found) == 1 else f"{len(found)} limits"
        more = f"; and {len(found) - 1} more" if len(found) > 1 else ""
        enforce = "" if self._efforts is not None else "limits='enforce' cuts efforts to theirs, "
        message = LimitWarning(
            f"the motion of {self._robot.name!r} leaves {count} of its joints: {found[0]}{more}. "
            f"Trajectory.limit_violations lists them; {enforce}limits='ignore' says nothing"
        )
        warn(message)


def limit_violations(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
) -> tuple[LimitViolation, ...]:
    """The limits that samples of a motion leave, the first one first.

    Parameters
    ----------
    robot : Robot
    t : ndarray, shape (n,) [s]
    q, v, tau : ndarray, shape (n, ..., nq), (n, ..., nv), (n, ..., nv)
    """
    bounds, found = bounds_of(robot), list[LimitViolation]()
    for limit, x in zip(bounds.ranges, (q, v, tau), strict=True):
        found += _beyond(limit, t, x, bounds.ranges[limit], partial(_COLUMNS[limit], robot))
    if bounds.others:
        found += _beyond_elsewhere(robot, bounds.others, t, q, v)
    return tuple(sorted(found, key=lambda violation: violation.start))


def _beyond_elsewhere(
    robot: Robot, others: Iterable[JointInfo], t: FloatArray, q: FloatArray, v: FloatArray
) -> Iterator[LimitViolation]:
    """Violations of joints without coordinates: those that are cut, and those that follow others.

    Their positions and speeds are asked for where they have limits only.
    """
    robot = robot.at(t.reshape(len(t), *[1] * (q.ndim - 2)))
    moved = [joint for joint in others if joint.position_limits]
    fast = [joint for joint in others if has_top_speed(joint)]
    positions = robot.joint_positions(q) if moved else {}
    for joint in moved:
        if joint.name in positions:
            lower, upper = np.array(joint.position_limits)[:, None]
            x, named = followed(positions[joint.name], joint), [(joint.name, joint.kind.unit(0))]
            limits = Range.of(lower, upper)
            yield from _beyond("position", t, x[..., None], limits, partial(list, named))
    velocities = robot.joint_velocities(q, v) if fast else {}
    for joint in fast:
        if joint.name in velocities:
            assert joint.limits is not None
            x = velocities[joint.name].reshape(*v.shape[:-1], joint.kind.nv)
            top = np.full(joint.kind.nv, joint.limits.velocity)
            yield from _beyond("velocity", t, x, Range.of(-top, top), partial(_columns, joint))


def _beyond(
    limit: str,
    t: FloatArray,
    x: FloatArray,
    allowed: Range | None,
    columns: Callable[[], list[tuple[str, str]]],
) -> Iterator[LimitViolation]:
    """Violations of one sort, column by column; their names and units are asked for if needed."""
    if allowed is None or not x.size:  # of no joints, or no motions
        return
    samples = np.reshape(x, (len(t), math.prod(x.shape[1:-1]), x.shape[-1]))
    least, most = extremes(x, np.fmin, np.fmax)  # of numbers only
    sides = (
        (least, allowed.lower, least < allowed.least, np.less),
        (most, allowed.upper, most > allowed.most, np.greater),
    )
    for peaks, bounds, beyond, passes in sides:
        for k in np.flatnonzero(beyond):
            edge = allowed.least[k] if passes is np.less else allowed.most[k]
            values = samples[:, :, k].reshape(-1)
            passed = int(passes(values, edge).argmax()) // samples.shape[1]
            sample, motion = divmod(int((values == peaks[k]).argmax()), samples.shape[1])
            joint, unit = columns()[k]
            yield LimitViolation(
                joint,
                limit,
                float(bounds[k]),
                float(t[passed]),
                float(peaks[k]),
                float(t[sample]),
                tuple(int(i) for i in np.unravel_index(motion, x.shape[1:-1])),
                unit,
            )


def _coordinates(robot: Robot) -> list[tuple[str, str]]:
    """Name and unit of each entry of q; only joints with one coordinate have limits of it."""
    columns = []
    for name in robot.joint_names:
        joint = robot.joints[name]
        columns += [(name, joint.kind.unit(0))] * (joint.q.stop - joint.q.start)
    return columns


def _speeds(robot: Robot) -> list[tuple[str, str]]:
    """Name and unit of each entry of v."""
    return [column for name in robot.joint_names for column in _columns(robot.joints[name])]


def _columns(joint: JointInfo) -> list[tuple[str, str]]:
    """Name and unit of each speed of a joint."""
    width = joint.v.stop - joint.v.start or joint.kind.nv
    names = [joint.name] if width == 1 else [f"{joint.name}[{k}]" for k in range(width)]
    return [(name, f"{joint.kind.unit(k)}/s") for k, name in enumerate(names)]


def _efforts(robot: Robot) -> list[tuple[str, str]]:
    units = {"rad/s": "N m", "m/s": "N"}
    return [(name, units.get(unit, "")) for name, unit in _speeds(robot)]


#: Name and unit of each column of what has limits.
_COLUMNS = {"position": _coordinates, "velocity": _speeds, "effort": _efforts}
