"""What a JointState commands: numbers for some joints, of one kind each; without ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.errors import some_of
from robodyn.literals import CommandInterface
from robodyn.ros.commands.commanded_joints import CommandedJoints

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
