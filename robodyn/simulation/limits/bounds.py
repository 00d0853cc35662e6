"""The limits that a file gives for the joints of a robot, as arrays.

A limit of zero for a speed, an effort or the torque of a motor is read as "not given": many files
write 0 where they do not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError
from robodyn.literals import LimitKind
from robodyn.model.gearing import CoupledMotors
from robodyn.model.joint_info import JointInfo
from robodyn.model.virtual_work import forces_of_motors, generalised, joint_forces
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.tolerances import ACTUATION_RANK, LIMIT_EXCESS, LIMIT_EXCESS_SINGLE

#: Largest number of times that what motors give beyond their limits is shared among all.
SHARING_ROUNDS = 100


class Range(NamedTuple):
    """Limits of each column of an array, shape (k,).

    lower, upper: Infinite where no limit is given.
    edges (2, k): Lower and upper limits, extended by a tolerance for rounding.
    """

    lower: FloatArray
    upper: FloatArray
    edges: FloatArray

    @classmethod
    def of(cls, lower: ArrayLike, upper: ArrayLike, excess: float = LIMIT_EXCESS) -> Range | None:
        """The range between limits; ``None`` if all are infinite."""
        bounds = np.array([lower, upper], float)
        if np.isinf(bounds).all():
            return None
        outwards = np.array([[-excess], [excess]])
        return cls(bounds[0], bounds[1], bounds + outwards * np.maximum(1.0, np.abs(bounds)))

    def for_samples(self, x: FloatArray) -> Range:
        """The range with a tolerance for samples of this precision."""
        single = x.dtype == np.float32
        wider = Range.of(self.lower, self.upper, LIMIT_EXCESS_SINGLE) if single else None
        return wider or self


@dataclass(frozen=True, eq=False)
class JointBounds:
    """The limits of a robot's joints.

    ranges: Of positions, velocities, efforts of the joints of motors, with their indices, torques
        of motors that transmissions couple, in the order of `limited_motors`, and voltages.
    positions, velocities: Limits of joints that move, without coordinates: those that are cut, and
        those that follow.
    """

    ranges: Mapping[LimitKind, Range | None]
    positions: tuple[tuple[JointInfo, Range | None], ...]
    velocities: tuple[tuple[JointInfo, Range | None], ...]


@once_per_robot
def bounds_of(robot: Robot) -> JointBounds:
    """The limits of a robot's joints."""
    speeds, efforts = speed_bounds(robot), motor_joint_bounds(robot)
    ranges: dict[LimitKind, Range | None] = {
        "position": Range.of(robot.lower_limits, robot.upper_limits),
        "velocity": Range.of(-speeds, speeds),
        "effort": Range.of(-efforts, efforts),
        "motor torque": _of_motors(robot),
        "motor voltage": _of_voltages(robot),
    }
    moving = (joint for joint in robot.joints.values() if joint.kind.nv)
    without = [joint for joint in moving if joint.q.start == joint.q.stop]
    positions = [
        (x, Range.of(*np.array(x.position_limits)[:, None])) for x in without if x.position_limits
    ]
    velocities = [(x, _of_top_speed(x)) for x in without if has_top_speed(x)]
    return JointBounds(ranges, tuple(positions), tuple(velocities))


def _of_top_speed(joint: JointInfo) -> Range | None:
    assert joint.limits is not None
    top = [joint.limits.velocity] * joint.kind.nv
    return Range.of(np.negative(top), top)


def _of_motors(robot: Robot) -> Range | None:
    tops = [motor_bounds(x) for x in limited_motors(robot)]
    return Range.of(-np.concatenate(tops), np.concatenate(tops)) if tops else None


def _of_voltages(robot: Robot) -> Range | None:
    limits = voltage_limits(robot)
    return None if limits is None else Range.of(-limits.voltages, limits.voltages)


def has_top_speed(joint: JointInfo) -> bool:
    """Whether a joint has a limit of its speed."""
    return joint.limits is not None and 0.0 < joint.limits.velocity < np.inf


@once_per_robot
def motor_joint_bounds(robot: Robot) -> FloatArray:
    """The largest effort of each joint of a motor by itself, with the indices of `Gearing`.

    The lesser of the joint's own limit and that of its motor, through the gear; infinite where none
    is given. A motor that several moving joints turn together does not count: `within_motors` cuts
    its torque.
    """
    ratios = np.abs(robot.gear_ratios)  # zero if the motor does not move the joint
    motor = np.where(ratios > 0.0, ratios, np.inf) * _given(robot.motor_torque_limits)
    for x in robot.model.gearing.coupled:
        motor[x.speeds] = _of_all_motors(x) if len(x.speeds) == 1 else np.inf
    return np.minimum(_of_motor_joints(robot, "effort"), motor)


def _of_motor_joints(robot: Robot, what: Literal["effort", "velocity"]) -> FloatArray:
    """Limits of the joints of motors themselves, with the indices of `Gearing`."""
    gearing = robot.model.gearing
    if not gearing.elsewhere:
        return _given(robot.effort_limits if what == "effort" else robot.velocity_limits)
    bounds = np.full(len(gearing.ratios), np.inf)
    for name, at in gearing.places.items():
        limits = robot.joints[name].limits
        bounds[at] = np.inf if limits is None else getattr(limits, what)
    return _given(bounds)


@once_per_robot
def top_motor_speeds(robot: Robot) -> FloatArray:
    """How fast each motor turns at most while all joints that turn it keep their limits.

    With the indices of `Gearing`; infinite where one of these joints has no limit.
    """
    tops, gearing = _of_motor_joints(robot, "velocity"), robot.model.gearing
    result = tops * np.abs(gearing.ratios)
    for x in gearing.coupled:
        result[x.speeds] = _together(x.matrix, tops[x.speeds]).sum(axis=1)
    return result


def _together(shares: FloatArray, tops: FloatArray) -> FloatArray:
    """What each gives at most of what depends on it, where the tops may be infinite."""
    return np.abs(shares) * np.where(shares != 0.0, tops, 0.0)


@once_per_robot
def own_effort_bounds(robot: Robot) -> FloatArray:
    """The largest effort at each speed by itself, shape (nv,) [N m, N]; infinite where none is.

    As `motor_joint_bounds`; none where motors are at joints that follow others, as their limits are
    not those of single speeds.
    """
    if robot.model.gearing.elsewhere:
        return np.full(robot.nv, np.inf)
    return motor_joint_bounds(robot)


@once_per_robot
def effort_bounds(robot: Robot) -> FloatArray:
    """The largest effort of each joint of a motor, with the indices of `Gearing` [N m, N].

    The lesser of the joint's own limit and that of its motor, through the gear; where a
    transmission couples motors, of all of them together, which not every joint has at once.
    Infinite where no limit is given.
    """
    bounds = motor_joint_bounds(robot).copy()
    for x in robot.model.gearing.coupled:
        bounds[x.speeds] = np.minimum(bounds[x.speeds], _of_all_motors(x))
    return bounds


def motor_bounds(x: CoupledMotors) -> FloatArray:
    """The largest torques of coupled motors, shape (n,) [N m, N]; infinite where none is given."""
    return _given(x.torque_limits)


def _of_all_motors(x: CoupledMotors) -> FloatArray:
    """The largest effort that coupled motors have together for each joint alone."""
    return np.asarray(_together(x.matrix, motor_bounds(x)[:, None]).sum(axis=0))


@once_per_robot
def limited_motors(robot: Robot) -> tuple[CoupledMotors, ...]:
    """Groups of motors that a transmission couples, of which some have a limit.

    Raises ActuationError: If several joints of such a transmission move, and others do not.
    """
    gearing = robot.model.gearing
    limited = tuple(
        x for x in gearing.coupled if len(x.speeds) > 1 and np.isfinite(motor_bounds(x)).any()
    )
    if any(x.inverse is None for x in limited):
        gearing.refuse_partial()
    return limited


@once_per_robot
def limits_depend_on_motors(robot: Robot) -> bool:
    """Whether limits of motors are not those of single speeds, so that `within_motors` cuts."""
    elsewhere = robot.model.gearing.elsewhere
    return bool(
        limited_motors(robot) or (elsewhere and np.isfinite(motor_joint_bounds(robot)).any())
    )


def within_motors(robot: Robot, tau: FloatArray, q: FloatArray) -> FloatArray:
    """Efforts with the torques of motors cut to their limits, shape (..., nv).

    That is for motors that transmissions couple, and those at joints that follow others. Efforts
    are unchanged where no motor is beyond its limit.

    robot: At a time.
    """
    if not limits_depend_on_motors(robot):
        return tau
    if not robot.model.gearing.elsewhere:
        return _within_coupled(robot, tau)
    B, top = robot.actuation_matrix(q), motor_joint_bounds(robot)
    f = forces_of_motors(B, tau)
    within = cut_at_motors(robot, f)
    if np.array_equal(within, f):
        return tau
    shared = np.linalg.pinv(B, rcond=ACTUATION_RANK) @ B
    for _ in range(SHARING_ROUNDS):  # where more motors than motions share what is left
        left = np.einsum("...ij,...j->...i", shared, within)
        within = cut_at_motors(robot, left)
        if np.allclose(within, left, rtol=LIMIT_EXCESS, atol=0.0):
            break
    beyond = np.max(np.abs(left) / top, axis=-1, keepdims=True, initial=1.0)
    return tau + generalised(B, left / beyond - f)


def cut_at_motors(robot: Robot, f: FloatArray) -> FloatArray:
    """Forces of the joints of motors within the limits of each, shape (..., n).

    With the indices of `Gearing`.
    """
    top = motor_joint_bounds(robot)
    return _within_coupled(robot, np.minimum(np.maximum(f, -top), top))


def _within_coupled(robot: Robot, tau: FloatArray) -> FloatArray:
    """Efforts of the joints of motors, those of transmissions within their limits."""
    for x in limited_motors(robot):
        wanted, top = x.torques(tau), motor_bounds(x)
        torques = np.minimum(np.maximum(wanted, -top), top)
        tau = tau.copy()
        tau[..., x.speeds] += x.forces(torques - wanted)
    return tau


def joint_bounds_alone(robot: Robot, instead: str) -> FloatArray:
    """`effort_bounds` of robots in which no limit depends on the efforts of other joints.

    instead: Argument that the user has to give otherwise, for the error.
    Raises SettingsError: If a transmission couples motors that have limits.
    """
    gearing = robot.model.gearing
    for x in limited_motors(robot):
        raise SettingsError(
            f"a transmission of {robot.name!r} couples the motors of {', '.join(x.joints)}: their "
            f"limits are none of one joint alone; give {instead}"
        )
    if limits_depend_on_motors(robot):
        left = [name for name in gearing.places if robot.joints[name].v == slice(0, 0)]
        raise SettingsError(
            f"motors of {robot.name!r} are at joints that follow others ({', '.join(left)}): their "
            f"limits are none of one coordinate alone; give {instead}"
        )
    return effort_bounds(robot)


def effort_shares(robot: Robot, q: FloatArray, tau: FloatArray) -> FloatArray:
    """Efforts as fractions of their limits, shape (..., n); zero where there is no limit.

    With the indices of `Gearing`. For a motor that a transmission couples to others, it is the
    fraction of its torque limit, if that is larger.

    robot: At a time.
    """
    f = joint_forces(robot.model, lambda: robot.actuation_matrix(q), tau, exact=False)
    shares = np.abs(f) / effort_bounds(robot)
    for x in limited_motors(robot):
        of_motors = np.abs(x.torques(f)) / motor_bounds(x)
        shares[..., x.speeds] = np.maximum(shares[..., x.speeds], of_motors)
    return shares


@once_per_robot
def speed_bounds(robot: Robot) -> FloatArray:
    """The largest of each speed, shape (nv,) [rad/s, m/s]; infinite where none is given."""
    return _given(robot.velocity_limits)


def _given(limits: FloatArray) -> FloatArray:
    return np.where(limits > 0.0, limits, np.inf)


@dataclass(frozen=True, eq=False)
class VoltageLimits:
    """Electric motors whose drives have a largest voltage, each array of shape (k,).

    names: Of their joints.
    columns: Their indices in `Gearing`.
    constants, resistances, voltages [N m/A], [ohm], [V]
    """

    names: tuple[str, ...]
    columns: FloatArray
    constants: FloatArray
    resistances: FloatArray
    voltages: FloatArray

    def needed(self, torques: FloatArray, speeds: FloatArray) -> FloatArray:
        """Voltages at the terminals, shape (..., k), for all motors at their shafts, (..., n)."""
        torque, speed = torques[..., self.columns], speeds[..., self.columns]
        return np.asarray(self.resistances / self.constants * torque + self.constants * speed)

    def within(self, torques: FloatArray, speeds: FloatArray) -> FloatArray:
        """Torques of all motors, shape (..., n), as the voltages allow.

        A motor that turns faster than at no load brakes, whatever is asked for.
        """
        gain = self.constants / self.resistances
        against = self.constants * speeds[..., self.columns]
        least, most = gain * (-self.voltages - against), gain * (self.voltages - against)
        found = torques.copy()
        found[..., self.columns] = np.clip(found[..., self.columns], least, most)
        return found


@once_per_robot
def voltage_limits(robot: Robot) -> VoltageLimits | None:
    """The voltage limits of a robot; ``None`` without any."""
    places, motors = robot.model.gearing.places, robot.actuators
    found = [
        (name, k, x.torque_constant, x.resistance, x.voltage)
        for name in robot.actuated_joints
        if name in motors and (x := motors[name].motor) is not None and x.voltage is not None
        for k in range(*places[name].indices(10**9))
    ]
    if not found:
        return None
    names, columns, *numbers = zip(*found, strict=True)
    return VoltageLimits(names, np.array(columns, int), *(np.array(x, float) for x in numbers))
