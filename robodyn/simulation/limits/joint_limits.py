"""The limits that a file gives for its joints: where a motion leaves them, and cutting efforts.

A limit of zero for a speed, an effort or the torque of a motor is read as "not given": many files
write 0 where they do not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.errors import LimitWarning, UnknownNameError
from robodyn.model.joint_info import JointInfo
from robodyn.robot import Robot
from robodyn.simulation.limits.motor_limits import MotorLimits
from robodyn.tolerances import LIMIT_EXCESS

__all__ = [
    "LIMITS",
    "LimitViolation",
    "Limits",
    "effort_bounds",
    "limit_violations",
    "speed_bounds",
]

#: What a simulation can do about limits.
LIMITS = ("ignore", "report", "enforce")

#: Samples of all columns that are compared at once.
TOGETHER = 64


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
        self._speeds = speed_bounds(robot)

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
            share = self._motors.share(v, self._speeds)
            with np.errstate(invalid="ignore"):  # where no effort is given, none is cut
                driving = np.where(share < 1.0, share * self._efforts, self._efforts)
            driving = np.where(np.isnan(driving), 0.0, driving)
            upper = np.where(v > 0.0, driving, upper)
            lower = np.where(v < 0.0, -driving, lower)
        return np.minimum(np.maximum(tau, lower), upper)

    def announce(self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray) -> None:
        """Warn once, in one line, of the limits that samples leave: the first, and how many."""
        if self._choice == "ignore":
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


def effort_bounds(robot: Robot) -> FloatArray:
    """The largest effort at each speed, shape (nv,) [N m, N]; infinite where none is given.

    The lesser of the joint's own limit and that of its motor, through the gear.
    """
    ratios = np.abs(robot.gear_ratios)  # zero: the motor does not move the joint
    motor = np.where(ratios > 0.0, ratios, np.inf) * _given(robot.motor_torque_limits)
    return np.minimum(_given(robot.effort_limits), motor)


def speed_bounds(robot: Robot) -> FloatArray:
    """The largest of each speed, shape (nv,) [rad/s, m/s]; infinite where none is given."""
    return _given(robot.velocity_limits)


def _given(limits: FloatArray) -> FloatArray:
    return np.where(limits > 0.0, limits, np.inf)


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
    speeds, efforts = speed_bounds(robot), effort_bounds(robot)
    found = [
        *_beyond(
            "position", t, q, robot.lower_limits, robot.upper_limits, partial(_coordinates, robot)
        ),
        *_beyond("velocity", t, v, -speeds, speeds, partial(_speeds, robot, "/s")),
        *_beyond("effort", t, tau, -efforts, efforts, partial(_efforts, robot)),
        *_beyond_elsewhere(robot, t, q, v),
    ]
    return tuple(sorted(found, key=lambda violation: violation.start))


def _beyond_elsewhere(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray
) -> Iterator[LimitViolation]:
    """Violations of joints without coordinates: those that are cut, and those that follow others.

    Their positions and speeds are asked for where they have limits only.
    """
    others = [joint for joint in robot.joints.values() if joint.q.start == joint.q.stop]
    bounds = {joint.name: _given(np.array(_speed_limit(joint))) for joint in others}
    robot = robot.at(t.reshape(len(t), *[1] * (q.ndim - 2)))
    if any(joint.position_limits for joint in others):
        positions = robot.joint_positions(q)
        for joint in others:
            if joint.position_limits and joint.name in positions:
                lower, upper = np.array(joint.position_limits)[:, None]
                unit = joint.kind.unit(0)
                x = positions[joint.name][..., None]
                yield from _beyond(
                    "position", t, x, lower, upper, partial(list, [(joint.name, unit)])
                )
    if any(np.isfinite(list(bounds.values()))):
        velocities = robot.joint_velocities(q, v)
        for joint in others:
            if np.isfinite(bounds[joint.name]) and joint.name in velocities:
                width = joint.kind.nv
                x = velocities[joint.name].reshape(*v.shape[:-1], width)
                top = np.full(width, bounds[joint.name])
                yield from _beyond("velocity", t, x, -top, top, partial(_columns, joint, "/s"))


def _speed_limit(joint: JointInfo) -> float:
    return np.inf if joint.limits is None else joint.limits.velocity


def _beyond(
    limit: str,
    t: FloatArray,
    x: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    columns: Callable[[], list[tuple[str, str]]],
) -> Iterator[LimitViolation]:
    """Violations of one sort, column by column; their names and units are asked for if needed."""
    if not x.size:  # of no joints, or no motions
        return
    samples = np.reshape(x, (len(t), math.prod(x.shape[1:-1]), x.shape[-1]))
    for sign, bounds in ((-1.0, -lower), (1.0, upper)):
        if np.isposinf(bounds).all():
            continue
        slack = LIMIT_EXCESS * np.maximum(1.0, np.abs(np.where(np.isfinite(bounds), bounds, 0.0)))
        peaks = _peaks(samples, sign)
        for k in np.flatnonzero(peaks > bounds + slack):
            values = (sign * samples[:, :, k]).reshape(-1)
            passed = int((values > bounds[k] + slack[k]).argmax()) // samples.shape[1]
            sample, motion = divmod(int((values == peaks[k]).argmax()), samples.shape[1])
            joint, unit = columns()[k]
            yield LimitViolation(
                joint,
                limit,
                float(sign * bounds[k]),
                float(t[passed]),
                float(sign * peaks[k]),
                float(t[sample]),
                tuple(int(i) for i in np.unravel_index(motion, x.shape[1:-1])),
                unit,
            )


def _peaks(samples: FloatArray, sign: float) -> FloatArray:
    """The largest of each column, or with a negative sign of what is opposite; of numbers only."""
    quick, able = (np.maximum, np.fmax) if sign > 0.0 else (np.minimum, np.fmin)
    peaks = _reduced(quick, samples, -sign * np.inf)
    if np.isnan(peaks).any():
        peaks = _reduced(able, samples, -sign * np.inf)
    return np.asarray(sign * peaks)


def _reduced(f: np.ufunc, samples: FloatArray, start: float) -> FloatArray:
    """A function of two numbers over each column, in rows that are long enough to be quick."""
    columns = samples.shape[-1]
    rows = samples.reshape(-1, columns)
    whole = len(rows) - len(rows) % TOGETHER
    folded = f.reduce(rows[:whole].reshape(-1, TOGETHER * columns), axis=0, initial=start)
    left = np.concatenate([folded.reshape(TOGETHER, columns), rows[whole:]])
    return np.asarray(f.reduce(left, axis=0, initial=start))


def _coordinates(robot: Robot) -> list[tuple[str, str]]:
    """Name and unit of each entry of q; only joints with one coordinate have limits of it."""
    columns = []
    for name in robot.joint_names:
        joint = robot.joints[name]
        columns += [(name, joint.kind.unit(0))] * (joint.q.stop - joint.q.start)
    return columns


def _speeds(robot: Robot, per: str = "") -> list[tuple[str, str]]:
    """Name and unit of each entry of v."""
    return [column for name in robot.joint_names for column in _columns(robot.joints[name], per)]


def _columns(joint: JointInfo, per: str) -> list[tuple[str, str]]:
    """Name and unit of each speed of a joint."""
    width = joint.v.stop - joint.v.start or joint.kind.nv
    names = [joint.name] if width == 1 else [f"{joint.name}[{k}]" for k in range(width)]
    return [(name, f"{joint.kind.unit(k)}{per}") for k, name in enumerate(names)]


def _efforts(robot: Robot) -> list[tuple[str, str]]:
    units = {"rad": "N m", "m": "N"}
    return [(name, units.get(unit, "")) for name, unit in _speeds(robot)]
