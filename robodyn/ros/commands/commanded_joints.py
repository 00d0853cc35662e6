"""The joints that commands move: where they stand in the state, limits, and commands by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.errors import some_of
from robodyn.literals import CommandInterface
from robodyn.model.joint_info import part_names
from robodyn.model.virtual_work import forces_of_motors, generalised
from robodyn.ros.states.messages import StateNames
from robodyn.simulation.limits.bounds import (
    cut_at_motors,
    motor_joint_bounds,
    own_effort_bounds,
    within_motors,
)
from robodyn.simulation.loads.actuated_speeds import actuated_speeds


class CommandedJoints:
    """Joints of a robot in the order of commands: scalar coordinates, and joints of motors.

    A motor at a joint without coordinates, as it follows others, takes efforts alone.

    joints, optional: Default: those with motors.
    nv: Speeds of the robot.
    coordinates, speeds (n,): Where they stand in q and v; -1 for joints without coordinates.
    motors (n,): Where joints without coordinates stand among those of `Gearing`; else -1.
    lower, upper (n,) [rad, m]: Limits of position, of the joint and of those that follow it by
        ``<mimic>``.
    top_speed (n,) [rad/s, m/s]: The same of speed; infinite where the file says none.
    effort (n,) [N m, N]: Limits of the joint, its motor and its commands, infinite where the file
        says none.
    controlled_joints: What ``<ros2_control>`` of the file says of joints, by name.
    Raises UnknownNameError, ShapeError: For joints that the robot does not have, or named twice.
    """

    def __init__(self, names: StateNames, joints: Iterable[str] | None = None) -> None:
        robot = self._robot = names.robot
        self.nv = robot.nv
        places = _motors_elsewhere(robot)
        self._own = [name for name in names.names if names.is_own(name)]
        self._known = {*names.names, *names.told, *names.multi}
        self.controlled_joints = names.controlled_joints
        default = tuple(places) or names.motors
        self.names = default if joints is None else tuple(joints)
        if len({*self.names}) < len(self.names):
            raise rd.ShapeError(f"joints named twice: {', '.join(self.names)}", name="joints")
        self._columns = np.array([places.get(n, -1) for n in self.names], int)
        pairs = [(n, n not in places or names.is_own(n)) for n in self.names]
        self.motors = np.array([-1 if own else places[n] for n, own in pairs], int)
        self.coordinates = np.array([names.coordinate(n) if own else -1 for n, own in pairs], int)
        self.speeds = np.array([names.speed(n) if own else -1 for n, own in pairs], int)
        limits = [names.limits(n) if own else (-np.inf, np.inf, np.inf) for n, own in pairs]
        self.lower, self.upper, self.top_speed = np.array(limits).reshape(-1, 3).T
        self._elsewhere = self.motors >= 0
        self.effort = np.where(self._elsewhere, np.inf, own_effort_bounds(robot)[self.speeds])
        at = self._columns >= 0
        of_motors = motor_joint_bounds(robot)[self._columns[at]]
        self.effort[at] = np.minimum(self.effort[at], of_motors)
        for k, name in enumerate(self.names):
            if tagged := self.controlled_joints.get(name):
                self.effort[k] = min(self.effort[k], tagged.top("effort"))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def controlled(self) -> NDArray[np.intp]:
        """Speeds that a controller may move by these motors.

        Raises ActuationError: If there are fewer motors at joints that follow others than speeds
            that they move.
        """
        own = self.speeds[~self._elsewhere]
        return np.union1d(own, actuated_speeds(self._robot)) if self._elsewhere.any() else own

    @cached_property
    def effort_along(self) -> FloatArray:
        """The largest efforts along speeds, shape (nv,), zero where there is no motor [N m, N]."""
        top = np.zeros(self.nv)
        top[self.controlled] = own_effort_bounds(self._robot)[self.controlled]
        return top

    @property
    def depend_on_posture(self) -> bool:
        """Whether forces along speeds depend on the posture."""
        return bool(self._elsewhere.any())

    def forces(self, q: FloatArray, efforts: FloatArray, *, limited: bool = True) -> FloatArray:
        """Generalised forces of efforts, shape (nv,), within the limits of joints and motors."""
        tau, robot = np.zeros(self.nv), self._robot
        if limited:
            efforts = np.minimum(np.maximum(efforts, -self.effort), self.effort)
        driven = (self._columns >= 0) & self.depend_on_posture
        tau[self.speeds[~driven]] = efforts[~driven]
        if self.depend_on_posture:
            f = np.zeros(len(robot.model.gearing.ratios))
            f[self._columns[driven]] = efforts[driven]
            f = cut_at_motors(robot, f) if limited else f
            return np.asarray(tau + generalised(robot.actuation_matrix(q), f))
        return within_motors(robot, tau, q) if limited else tau

    def efforts(self, q: FloatArray, tau: FloatArray) -> FloatArray:
        """The efforts of these joints, shape (n,), that are generalised forces (nv,)."""
        found: FloatArray = tau[self.speeds]
        if self.depend_on_posture:
            f = forces_of_motors(self._robot.actuation_matrix(q), tau)
            at_motors = self._columns >= 0  # also at joints along which others act
            found[at_motors] = f[self._columns[at_motors]]
        return found

    def refuse_without_coordinates(self, rows: Iterable[int]) -> None:
        """Refuse to drive windings, and joints of motors that follow others.

        Raises ActuationError.
        """
        windings = {x.winding for x in self._robot.model.setup.windings}
        if wound := [self.names[row] for row in rows if self.names[row] in windings]:
            raise rd.ActuationError(
                f"{', '.join(wound)} of {self._robot.name!r} are windings of motors and take "
                "voltages alone, as efforts [V]"
            )
        wrong = [self.names[row] for row in rows if self._elsewhere[row]]
        if wrong:
            tree = ", or load it with coordinates='tree'" * (self._robot.coordinates != "tree")
            raise rd.ActuationError(
                f"{', '.join(wrong)} of {self._robot.name!r} follow other joints and take efforts "
                f"alone; give joints= of its coordinates ({', '.join(self._own)}){tree}"
            )

    def named(self, rows: ArrayLike) -> str:
        """Names of some of them, as a mask, shape (n,)."""
        return some_of([self.names[k] for k in np.flatnonzero(rows)])

    def row(self, name: str) -> int:
        """Where a joint stands in a command. Raises `UnknownNameError`."""
        if name not in self.names:
            raise rd.UnknownNameError("commanded joint", name, self.names)
        return self.names.index(name)

    def is_joint(self, name: str) -> bool:
        """Whether a name is one of a scalar coordinate or a joint, commanded or not."""
        return name in self._known or name in self._robot.joints

    def values(self, command: ArrayLike) -> FloatArray:
        """A command as an array, one finite number a joint. Raises `ShapeError`."""
        given = np.asarray(command, float)
        if given.shape != (len(self),):
            raise rd.ShapeError(
                f"a command has {given.size} numbers, expected {len(self)}: "
                + ", ".join(self.names),
                name="command",
                given=given.shape,
                expected=(len(self),),
            )
        if not np.isfinite(given).all():
            raise rd.ShapeError("a command holds numbers that are not finite", name="command")
        return given


def _motors_elsewhere(robot: rd.Robot) -> dict[str, int]:
    """Axes of joints of motors, if some are at joints that follow others, with their indices."""
    gearing = robot.model.gearing
    if not gearing.elsewhere:
        return {}
    joints = (robot.joints[name] for name in robot.actuated_joints)
    axes = [x for joint in joints for x in part_names(joint.name, joint.kind.nv, robot.joints)]
    return {name: k for k, name in enumerate(axes)}


#: Fields of a JointState, in the order in which one with a number is looked for.
KINDS: tuple[CommandInterface, ...] = ("position", "velocity", "effort")

#: Rows of commanded joints, what their numbers mean, and the numbers.
Wanted: TypeAlias = dict[int, tuple[CommandInterface, float]]


def read_joint_commands(
    joints: CommandedJoints,
    interfaces: Sequence[CommandInterface],
    names: Sequence[str],
    arrays: Mapping[CommandInterface, ArrayLike],
) -> tuple[Wanted, list[str]]:
    """The commands of a JointState, and what is to be told of others that are not used.

    Not a number (NaN) and empty fields command nothing. Where several fields have a number for a
    joint, that of its own interface counts, else the first of position, velocity and effort.

    A field has a number for each name, or fewer: one for each of the joints that have a command
    interface of its kind, as joint_state_topic_hardware_interface sends it.

    interfaces: Of each commanded joint.
    Raises ShapeError: For a name given twice, another length, or a number that is not finite.
    Raises UnknownNameError: If all that it commands is none of the commanded joints.
    """
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice or not names:
        text = f"{some_of(twice)} named twice" if twice else "it names no joint"
        raise rd.ShapeError(f"a command of joints by name: {text}", name="name")
    declared = _declared(joints, interfaces)
    columns = {kind: _column(kind, x, names, declared) for kind, x in arrays.items()}
    wanted: Wanted = {}
    others, several = [], []
    for k, name in enumerate(names):
        given = {kind: float(columns[kind][k]) for kind in KINDS if not np.isnan(columns[kind][k])}
        if not given:
            continue
        if name not in joints.names:
            others.append(name)
            continue
        row = joints.row(name)
        kind = interfaces[row] if interfaces[row] in given else next(iter(given))
        wanted[row] = kind, given[kind]
        if len(given) > 1:
            several.append(f"{kind} of {name}")
    if others and not wanted:
        joints.row(others[0])
    return wanted, [*_not_used(joints, others), *_of_several(several)]


def _declared(
    joints: CommandedJoints, interfaces: Sequence[CommandInterface]
) -> Mapping[str, Collection[str]]:
    """The command interfaces of each joint: of ``<ros2_control>``, where the robot has it."""
    tagged = {name: x.commands for name, x in joints.controlled_joints.items() if x.commands}
    return tagged or {name: (x,) for name, x in zip(joints.names, interfaces, strict=True)}


def _column(
    kind: CommandInterface,
    values: ArrayLike,
    names: Sequence[str],
    declared: Mapping[str, Collection[str]],
) -> FloatArray:
    """A number for each name, NaN for those that have none."""
    given, column = np.asarray(values, float), np.full(len(names), np.nan)
    own = [k for k, name in enumerate(names) if kind in declared.get(name, ())]
    if given.shape == column.shape:
        column[:] = given
    elif given.shape == (len(own),):
        column[own] = given
    elif given.size:
        having = f" (or {len(own)}, for those with a {kind} interface)" if own else ""
        raise rd.ShapeError(
            f"a command has {given.size} numbers in {kind} for {len(names)} names "
            f"({some_of(list(names))}); expected none, or one for each{having}",
            name=kind,
            given=given.shape,
            expected=column.shape,
        )
    wrong = [name for name, x in zip(names, column, strict=True) if np.isinf(x)]
    if wrong:
        raise rd.ShapeError(f"a command holds an infinite {kind} of {some_of(wrong)}", name=kind)
    return column


def _not_used(joints: CommandedJoints, others: Sequence[str]) -> list[str]:
    """What is told of joints that cannot be commanded, by the reason."""
    passive = [name for name in others if joints.is_joint(name)]
    unknown = [name for name in others if not joints.is_joint(name)]
    reasons = ("no joint of the robot", unknown), ("not commanded by the node", passive)
    return [
        f"commands for {some_of(found)} are not used: {reason} (commanded: "
        f"{some_of(list(joints.names))})"
        for reason, found in reasons
        if found
    ]


def _of_several(several: Sequence[str]) -> list[str]:
    if not several:
        return []
    return [f"commands of several kinds for a joint: {some_of(list(several))} counts alone"]
