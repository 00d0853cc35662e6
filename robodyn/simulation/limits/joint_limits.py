"""Limits of joints in a simulation: reports where a motion leaves them, or cuts efforts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, get_args

import numpy as np

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray, IntArray
from robodyn.caller import warn
from robodyn.codegen.llvm.programs.sample_passes import extremes_beyond
from robodyn.errors import LimitWarning, SettingsError
from robodyn.literals import LimitKind, LimitsChoice
from robodyn.model.joint_info import JointInfo, followed, part_names
from robodyn.model.virtual_work import joint_forces, joint_speeds
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.simulation.limits.bounds import (
    Range,
    bounds_of,
    limited_motors,
    limits_depend_on_motors,
    own_effort_bounds,
    speed_bounds,
    voltage_limits,
    within_motors,
)
from robodyn.simulation.loads import column_names

#: The choices of ``limits=``.
LIMITS = get_args(LimitsChoice)


@dataclass(frozen=True)
class MotorLimits:
    """Limits of efforts that depend on speed, as those of motors do; for ``limits=`` of a motion.

    An effort is cut to its limit, as ``"enforce"`` does, and one that drives a joint the way it is
    moving falls from there linearly to zero at the limit of its speed, beyond which nothing drives
    the joint on. Braking has the whole limit at all speeds. What an effort may be follows from the
    speed at the start of a step.

    Attributes
    ----------
    knee : float
        Part of the limit of speed, 0 to 1, up to which the whole effort is there. 0: a straight
        line from standstill on, as of a motor at constant voltage; 1: all of it up to the limit.

    Raises
    ------
    SettingsError

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("puma560")
    >>> limits = rd.MotorLimits(knee=0.5)     # full torque up to half of the speed limit
    >>> run = rd.simulate(robot, lambda t, q, v: 1e4 + 0 * q, duration=0.02, limits=limits)
    >>> bool((abs(run.tau) <= robot.effort_limits + 1e-9).all())
    True
    """

    knee: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0.0 <= self.knee <= 1.0:
            raise SettingsError(
                f"knee is {self.knee!r}, expected a part of the speed limit, 0 to 1"
            )

    def share(self, v: FloatArray, speeds: FloatArray) -> FloatArray:
        """Fraction of the largest effort that is available to accelerate, 0 to 1.

        Parameters
        ----------
        v : ndarray, shape (..., nv) [rad/s, m/s]
        speeds : ndarray, shape (nv,)
            Limits; infinite where there is none.
        """
        left = 1.0 - np.abs(v) / speeds
        if self.knee == 1.0:
            return np.asarray(left > 0.0, float)
        return np.clip(left / (1.0 - self.knee), 0.0, 1.0)


@dataclass(frozen=True)
class LimitViolation:
    """A limit that a motion leaves.

    Attributes
    ----------
    joint : str
        The joint, or ``"joint[k]"`` where it has several speeds.
    limit : {"position", "velocity", "effort", "motor torque", "motor voltage"}
        Torques of motors that a transmission couples, and voltages of electric ones, each by the
        joint that it is described for.
    bound : float [rad, m], [rad/s, m/s], [N m, N], [V]
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

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("puma560")
    >>> run = rd.simulate(robot, v0=[10.0] + [0.0] * 5, duration=0.01, limits="ignore")
    >>> run.limit_violations[0].joint, run.limit_violations[0].limit
    ('joint1', 'velocity')
    """

    joint: str
    limit: LimitKind
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
    """The limits of a robot, which a simulation ignores, reports or enforces.

    Parameters
    ----------
    robot : Robot
    choice : {"ignore", "report", "enforce"} or MotorLimits

    Raises
    ------
    UnknownNameError
        For another choice.
    SettingsError
        For `MotorLimits` of motors that a transmission couples, or at joints that follow others.
    """

    def __init__(self, robot: Robot, choice: LimitsChoice | MotorLimits) -> None:
        self._motors = choice if isinstance(choice, MotorLimits) else None
        if self._motors is not None:
            choice = "enforce"
        self._robot, self._choice = robot, choice
        self._efforts = own_effort_bounds(robot) if choice == "enforce" else None
        self._coupled = choice == "enforce" and limits_depend_on_motors(robot)
        self._voltages = voltage_limits(robot) if choice == "enforce" else None
        if self._voltages and robot.model.gearing.elsewhere:
            raise SettingsError(
                f"motors of {robot.name!r} are at joints that follow others: limits by voltage "
                f"({', '.join(self._voltages.names)}) are not enforced there; give them "
                "current= or torque_limit= alone"
            )
        if self._coupled and self._motors is not None:
            coupled = [name for x in limited_motors(robot) for name in x.joints]
            why = (
                f"a transmission of {robot.name!r} couples the motors of {', '.join(coupled)}"
                if coupled
                else f"motors of {robot.name!r} are at joints that follow others"
            )
            raise SettingsError(
                f"{why}: how their limits fall with speed is not described; limits='enforce' cuts "
                "their torques at all speeds alike"
            )

    @property
    def of_joints_alone(self) -> bool:
        """Whether limits of efforts depend neither on speeds nor on the efforts of other joints."""
        return self._motors is None and not self._coupled and self._voltages is None

    @property
    def efforts(self) -> FloatArray | None:
        """The largest efforts, if they are enforced and constant for each joint."""
        return self._efforts if self.of_joints_alone else None

    def cut(self, tau: FloatArray, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Efforts as they act, shape (..., nv): within their limits where these are enforced.

        Parameters
        ----------
        tau : ndarray, shape (..., nv) [N m, N]
        t : float [s]
        q, v : ndarray, shape (..., nq), (..., nv)
        """
        if self._efforts is None:
            return tau
        upper, lower = self._efforts, -self._efforts
        if self._motors is not None:
            share = self._motors.share(v, speed_bounds(self._robot))
            with np.errstate(invalid="ignore"):  # a zero share of an infinite limit is NaN
                driving = np.where(share < 1.0, share * self._efforts, self._efforts)
            driving = np.where(np.isnan(driving), 0.0, driving)
            upper = np.where(v > 0.0, driving, upper)
            lower = np.where(v < 0.0, -driving, lower)
        within = np.minimum(np.maximum(tau, lower), upper)
        within = within_motors(self._robot.at(t), within, q) if self._coupled else within
        return within if self._voltages is None else self._within_voltages(within, v)

    def _within_voltages(self, tau: FloatArray, v: FloatArray) -> FloatArray:
        assert self._voltages is not None
        gearing = self._robot.model.gearing
        torques = gearing.torques(tau)
        change = self._voltages.within(torques, gearing.speeds(v)) - torques
        return np.asarray(tau + change @ gearing.matrix)

    def warn_of_violations(self, left: Callable[[], tuple[int, LimitViolation | None]]) -> None:
        """Warn once, in one line, of the limits that a motion leaves: how many, and the first."""
        number, first = (0, None) if self._choice == "ignore" else left()
        if first is None:
            return
        count = "a limit" if number == 1 else f"{number} limits"
        more = f"; and {number - 1} more" if number > 1 else ""
        enforce = "" if self._efforts is not None else "limits='enforce' cuts efforts to theirs, "
        message = LimitWarning(
            f"the motion of {self._robot.name!r} leaves {count} of its joints: {first}{more}. "
            f"Trajectory.limit_violations lists them; {enforce}limits='ignore' says nothing"
        )
        warn(message)


def limit_violations(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
) -> tuple[LimitViolation, ...]:
    """The limits that samples of a motion leave, the first one first."""
    return tuple(x.violation(edge) for x, edge in _in_order(robot, t, q, v, tau))


def first_violation(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
) -> tuple[int, LimitViolation | None]:
    """How many limits samples of a motion leave, and the first one."""
    found = _in_order(robot, t, q, v, tau)
    return len(found), found[0][0].violation(found[0][1]) if found else None


def _in_order(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
) -> list[tuple[_Left, int]]:
    """The limits that samples leave, by their numbers, in the order in which they do."""
    left = [*_left(robot, t, q, v, tau)]
    found = [(row, n, edge) for n, x in enumerate(left) for row, edge in x.passed()]
    return [(left[n], edge) for _, n, edge in sorted(found)]


def joined_violations(
    phases: Iterable[tuple[LimitViolation, ...]],
) -> tuple[LimitViolation, ...]:
    """The limits that phases of a motion leave, each limit once, the first one first."""
    found: dict[tuple[str, LimitKind, float], LimitViolation] = {}
    first_phase, *others = phases
    if not others:
        return first_phase
    for x in (violation for phase in (first_phase, *others) for violation in phase):
        first = found.setdefault((x.joint, x.limit, x.bound), x)
        worst = max(first, x, key=lambda y: abs(y.worst - y.bound))
        found[x.joint, x.limit, x.bound] = replace(worst, start=first.start)
    return tuple(sorted(found.values(), key=lambda violation: violation.start))


#: The name and the unit of each column of samples.
Columns = Callable[[], Iterable[tuple[str, str]]]


@dataclass(frozen=True, eq=False)
class _Left:
    """Violations of one kind of limit.

    limit {"position", "velocity", "effort", "motor torque"}
    shape: Axes of simultaneous motions.
    samples (n motions, k)
    columns: Names and units of columns.
    """

    limit: LimitKind
    t: FloatArray
    shape: tuple[int, ...]
    samples: FloatArray
    allowed: Range
    found: PassedEdges
    columns: Columns

    @cached_property
    def _names(self) -> list[tuple[str, str]]:
        return [*self.columns()]

    def passed(self) -> Iterator[tuple[int, int]]:
        """Index of the first sample beyond each limit that is left, and the limit's number."""
        motions = math.prod(self.shape)
        return ((row // motions, k) for k, row in enumerate(self.found.rows.tolist()) if row >= 0)

    def violation(self, edge: int) -> LimitViolation:
        """The violation of a limit by its number."""
        upper, k = divmod(edge, self.samples.shape[1])
        bound, peak = self.allowed[upper][k], float(self.found.peaks[edge])
        motions = math.prod(self.shape)
        sample, motion = divmod(int(self.found.worst[edge]), motions)
        joint, unit = self._names[k]
        place = tuple(int(i) for i in np.unravel_index(motion, self.shape)) if self.shape else ()
        start, time = (float(self.t[i]) for i in (int(self.found.rows[edge]) // motions, sample))
        return LimitViolation(joint, self.limit, float(bound), start, peak, time, place, unit)


def _left(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
) -> Iterator[_Left]:
    """The limits that samples leave."""
    for limit, x, given, columns in _limited(robot, t, q, v, tau):
        if given is not None and x.size:  # there may be no motions
            allowed = given.for_samples(x)
            samples = np.ascontiguousarray(x, float).reshape(-1, x.shape[-1])
            found = passed_edges(samples, allowed.edges)
            if found is not None:
                yield _Left(limit, t, x.shape[1:-1], samples, allowed, found, columns)


def _limited(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
) -> Iterator[tuple[LimitKind, FloatArray, Range | None, Columns]]:
    """Samples that may have limits, shape (n, ..., k), and these."""
    if (of_joints := _of_joints_alone(robot)) is not None:
        for k, limit, edges, columns in of_joints:
            yield limit, (q, v, tau)[k], edges, columns
        return
    bounds, f, by_motors = bounds_of(robot), tau, limits_depend_on_motors(robot)
    voltages, gearing = voltage_limits(robot), robot.model.gearing
    by_motors = by_motors or (gearing.elsewhere and voltages is not None)
    asked = by_motors or bounds.positions or bounds.velocities
    now = robot.at(t.reshape(len(t), *[1] * (q.ndim - 2))) if asked else robot
    if by_motors:
        f = joint_forces(robot.model, lambda: now.actuation_matrix(q), tau, exact=False)
    torques = [x.torques(f) for x in limited_motors(robot)]
    needed = tau
    if voltages is not None:
        speeds = gearing.speeds(joint_speeds(robot.model, lambda: now.actuation_matrix(q), v))
        needed = voltages.needed(gearing.torques(f), speeds)
    samples = q, v, f, np.concatenate(torques, axis=-1) if torques else tau, needed
    for (limit, allowed), x in zip(bounds.ranges.items(), samples, strict=True):
        yield limit, x, allowed, partial(_columns, limit, robot)
    # joints without coordinates, which are cut or follow others, are asked for if they have limits
    positions = now.joint_positions(q) if bounds.positions else {}
    for joint, allowed in bounds.positions:
        if joint.name in positions:
            x = followed(positions[joint.name], joint)[..., None]
            yield "position", x, allowed, partial(_of_joint, joint, robot, "")
    velocities = now.joint_velocities(q, v) if bounds.velocities else {}
    for joint, allowed in bounds.velocities:
        if joint.name in velocities:
            x = velocities[joint.name].reshape(*v.shape[:-1], joint.kind.nv)
            yield "velocity", x, allowed, partial(_of_joint, joint, robot, "/s")


@once_per_robot
def _of_joints_alone(
    robot: Robot,
) -> tuple[tuple[int, LimitKind, Range, Columns], ...] | None:
    """Limits of positions, speeds and efforts, counted; ``None`` where there are others."""
    bounds = bounds_of(robot)
    if bounds.positions or bounds.velocities or limits_depend_on_motors(robot):
        return None
    if voltage_limits(robot) is not None:
        return None
    return tuple(
        (k, limit, allowed, partial(_columns, limit, robot))
        for k, (limit, allowed) in enumerate(bounds.ranges.items())
        if allowed is not None
    )


def _of_joint(joint: JointInfo, robot: Robot, rate: str) -> Iterable[tuple[str, str]]:
    """Name and unit of each freedom of a joint without coordinates."""
    units = [f"{joint.kind.unit(k)}{rate}" for k in range(joint.kind.nv)]
    return zip(part_names(joint.name, len(units), robot.joints), units, strict=True)


#: Names and units of the columns of what has limits, and what a unit becomes.
_COLUMNS: Mapping[LimitKind, tuple[Callable[..., Any], ...]] = {
    "position": (column_names.coordinate_names, column_names.coordinate_units, str),
    "velocity": (column_names.speed_names, column_names.speed_units, "{}/s".format),
    "effort": (column_names.motor_names, column_names.motor_joint_units, column_names.force_unit),
}


def _columns(limit: LimitKind, robot: Robot) -> Iterable[tuple[str, str]]:
    """Name and unit of each column of what has limits."""
    if limit == "motor voltage":
        voltages = voltage_limits(robot)
        return [(name, "V") for name in voltages.names] if voltages else []
    if limit == "motor torque":
        return [(name, "N m") for x in limited_motors(robot) for name in x.joints]
    names, units, changed = _COLUMNS[limit]
    return zip(names(robot), map(changed, units(robot)), strict=True)


class PassedEdges(NamedTuple):
    """Where columns leave their ranges: at the k lower edges, and then at the k upper edges.

    rows: The first row beyond each edge; -1 where there is none.
    worst: The first row with each of ``peaks``.
    peaks: The smallest and then the largest numbers of the columns.
    """

    rows: IntArray
    worst: IntArray
    peaks: FloatArray


def passed_edges(x: FloatArray, edges: FloatArray) -> PassedEdges | None:
    """Where columns leave their ranges; ``None`` if they do not. NaNs are ignored.

    x (n, k): In C order.
    edges (2, k): Below and above; infinite where there is none.
    """
    found = extremes_beyond(x, edges)
    if found is None:
        return None
    peaks, (rows, worst) = found
    return PassedEdges(rows.reshape(-1), worst.reshape(-1), peaks.reshape(-1))
