"""A description to URDF text that reads back equal."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from robodyn.description import (
    Actuator,
    Coupling,
    Joint,
    Limits,
    Link,
    Loop,
    Mechanism,
    Mimic,
    Pose,
    Transmission,
)
from robodyn.description.graph_check import find_root, graph_problems
from robodyn.description.joint import FIELDS, ends_of, poses_of, shared_fields
from robodyn.errors import UrdfError
from robodyn.files import as_path, replacing
from robodyn.joints import continuous, fixed, joint_kind, prismatic, revolute
from robodyn.topology.spanning_tree import cut_joints
from robodyn.urdf.actuation import GENERAL
from robodyn.urdf.common.drawn import functions_of_users
from robodyn.urdf.common.joint_values import UNLIMITED, plain_limits
from robodyn.urdf.common.markup import attributes, child, element
from robodyn.urdf.followers import follower_element
from robodyn.urdf.parse import read

_Item = TypeVar("_Item", Joint, Loop)

_X = (1.0, 0.0, 0.0)
_Y = (0.0, 1.0, 0.0)

#: Kinds whose joints other readers refuse without ``<limit>``.
_ALWAYS_LIMITED = (revolute.KIND.name, prismatic.KIND.name)

# Characters that no XML 1.0 document may have.
_ILLEGAL = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def write(
    mechanism: Mechanism, path: str | os.PathLike[str] | None = None, *, strict_tree: bool = False
) -> str:
    """URDF text of a mechanism; ``urdf.parse`` of it gives an equal mechanism.

    A loop whose frame on the successor is the link frame is written as the joint it is, with the
    mark ``cut="true"``, so that the file shows the graph as drawn; other loops as ``<loop>``.

    Other readers need finite limits of position, speed and effort: 1e16 stands for none, and
    revolute joints that turn without limits become continuous ones.

    Parameters
    ----------
    mechanism : Mechanism
    path : path, optional
        File to write. It is replaced at once, so that no reader sees half of it.
    strict_tree : bool
        Write every loop as ``<loop>``, which readers that know trees only (of ROS) pass over; then
        the joints that are cut are among ``loops`` of what is read.

    Returns
    -------
    text : str

    Raises
    ------
    UrdfError
        If the mechanism has no notation in a file.
    MissingFileError, FileError
        If the file cannot be written; an existing file is then unchanged.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("four_bar")
    >>> again = rd.load(rd.urdf.write(robot.mechanism))
    >>> again.joint_names == robot.joint_names
    True
    """
    for function in functions_of_users(mechanism):
        kind, _, _ = function.partition(" ")
        raise UrdfError(
            f"cannot be written: {kind}s of one's own have no notation in a file", element=function
        )
    if mechanism.root is not None and mechanism.root != _root_without_name(mechanism):
        raise UrdfError(
            f"cannot be written: URDF has no notation for a base that joints point to, as "
            f"{mechanism.root!r}; write the description as it was before root= was given",
            element=f"link {mechanism.root!r}",
        )
    mechanism = as_written(mechanism, strict_tree=strict_tree)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot{attributes(name=mechanism.name)}>"]
    for link in mechanism.links:
        lines += element("link", {"name": link.name}, [*_inertia(link), *link.extras])
    for joint in mechanism.joints:
        lines += _joint(joint)
    for loop in mechanism.loops:
        lines += _loop(loop, strict_tree)
    for coupling in mechanism.couplings:
        lines += _coupling(coupling)
    for item in mechanism.link_elements:
        lines += element(item.tag, _non_default_fields(item))
    for follower in mechanism.followers:
        lines += follower_element(follower)
    for rotor in mechanism.rotors:
        lines += element("rotor", _non_default_fields(rotor))
    said, _, extras = _actuated_extras(mechanism)
    lines += extras
    for transmission in mechanism.transmissions:
        lines += [] if transmission in said else _transmission(transmission)
    text = "\n".join([*lines, "</robot>", ""])
    illegal = re.search(_ILLEGAL, text)  # compiled when it is first needed: that takes a while
    if illegal:
        raise UrdfError(f"cannot be written: XML cannot hold the character {illegal.group()!r}")
    if path is not None:
        with replacing(as_path("path", path)) as unfinished:
            unfinished.write_text(text, encoding="utf-8", newline="\n")
    return text


def as_written(mechanism: Mechanism, *, strict_tree: bool = False) -> Mechanism:
    """The mechanism that is written: the same, less what its joints say and do not use.

    These are axes, limits and rest positions that kinds of joints do not have. Revolute joints
    without limits of position are continuous. Joints that follow one which follows another follow
    that one, as not all readers look further. With ``strict_tree``, joints that are cut are loops.
    """
    cut = [x for x in cut_joints(mechanism) if strict_tree and x.mimic is None and x.map is None]
    mimics = {joint.name: joint.mimic for joint in mechanism.joints}
    kept = [_following_one(x, mimics) for x in mechanism.joints if x not in cut]
    return dataclasses.replace(
        mechanism,
        joints=tuple(map(_as_continuous, map(_without_unused, kept))),
        loops=tuple(map(_without_unused, (*map(as_loop, cut), *mechanism.loops))),
    )


def as_loop(joint: Joint) -> Loop:
    """The loop that a joint closes where it is cut: its frame on the child is the link frame."""
    return Loop(
        predecessor=joint.parent,
        successor=joint.child,
        X_predecessor=joint.origin,
        **shared_fields(joint),
    )


def _following_one(joint: Joint, mimics: Mapping[str, Mimic | None]) -> Joint:
    """A joint, which follows the last of those that follow each other."""
    mimic, seen = joint.mimic, {joint.name}
    while mimic and mimic.joint not in seen and (then := mimics.get(mimic.joint)):
        seen.add(mimic.joint)
        offset = mimic.multiplier * then.offset + mimic.offset
        mimic = Mimic(then.joint, mimic.multiplier * then.multiplier, offset)
    return joint if mimic is joint.mimic else dataclasses.replace(joint, mimic=mimic)


def _as_continuous(joint: Joint) -> Joint:
    """A joint, which is continuous if it can turn on and on."""
    limits = joint.limits
    if joint.kind != revolute.KIND.name or (
        limits and (math.isfinite(limits.lower) or math.isfinite(limits.upper))
    ):
        return joint
    return dataclasses.replace(joint, kind=continuous.KIND.name)


def _without_unused(item: _Item) -> _Item:
    """A joint or a loop without what it does not use."""
    kind = joint_kind(item.kind)
    axis = item.axis if kind.axes else _X
    axis2 = item.axis2 if len(kind.axes) > 1 else _Y
    limits, rest = plain_limits(kind, item.limits), item.rest if item.stiffness else 0.0
    used = {parameter.name for parameter in kind.parameters}
    values: dict[str, Any] = {"limits": limits, "axis": axis, "axis2": axis2, "rest": rest}
    values |= {name: 0.0 for name in FIELDS if name not in used and hasattr(item, name)}
    plain = dataclasses.replace(item, **values)
    return item if plain == item else plain


def _root_without_name(mechanism: Mechanism) -> str | None:
    """The base that readers find; none where there is none."""
    plain = dataclasses.replace(mechanism, root=None)
    return None if graph_problems(plain) else find_root(plain)


def _non_default_fields(item: Any) -> dict[str, object]:
    """Fields of a dataclass, without those at their default."""
    return {
        field.name: getattr(item, field.name)
        for field in dataclasses.fields(item)
        if getattr(item, field.name) != field.default
    }


def _within(tag: str, children: Iterable[str], **values: object) -> list[str]:
    """Lines of an element that is a child of another one."""
    return [line[2:] for line in element(tag, values, children)]


def _inertia(link: Link) -> list[str]:
    inertia = link.inertia
    if inertia is None:
        return []
    moments = {key: getattr(inertia, key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    mass, inside = child("mass", value=inertia.mass), child("inertia", **moments)
    return _within("inertial", [*_origin("origin", inertia.origin), mass, inside])


def _origin(tag: str, pose: Pose) -> Iterator[str]:
    if pose != Pose():
        yield child(tag, xyz=pose.xyz, rpy=pose.rpy)


def _joint(joint: Joint) -> list[str]:
    if joint.map is not None:
        raise UrdfError("a joint given as a map cannot be written", element=f"joint {joint.name!r}")
    independent = None if joint.independent is None else str(joint.independent).lower()
    values = {"name": joint.name, "type": joint.kind, "independent": independent}
    mimic = [] if joint.mimic is None else [child("mimic", **dataclasses.asdict(joint.mimic))]
    return element("joint", values, [*_joint_children(joint), *mimic, *joint.extras])


def _joint_children(item: Joint | Loop) -> Iterator[str]:
    """What joints have, those that close loops too."""
    for tag, link in zip(("parent", "child"), ends_of(item), strict=True):
        yield child(tag, link=link)
    yield from _origin("origin", poses_of(item)[0])
    yield from _axes(item)
    yield from _limits(item, required=item.kind in _ALWAYS_LIMITED)
    yield from _joint_values(item)


def _axes(item: Joint | Loop) -> Iterator[str]:
    if item.axis != _X:
        yield child("axis", xyz=item.axis)
    if len(joint_kind(item.kind).axes) > 1:
        yield child("axis2", xyz=item.axis2)
    for name, value in item.constants.items():
        yield child(name, value=value)


def _limits(item: Joint | Loop, *, required: bool) -> Iterator[str]:
    if item.limits is None and not required:
        return
    limits = item.limits or Limits()
    bounds = {key: getattr(limits, key) for key in ("lower", "upper", "velocity", "effort")}
    finite = {
        key: x if math.isfinite(x) else math.copysign(UNLIMITED, x) for key, x in bounds.items()
    }
    if not (required or math.isfinite(limits.lower) or math.isfinite(limits.upper)):
        del finite["lower"], finite["upper"]
    yield child("limit", **finite)


def loop_element(cut: Joint | Loop) -> str:
    """A closure as a ``<loop>`` in one line, to be pasted into a file.

    A joint closes it where its frame on the child is the link frame.
    """
    cut = as_loop(cut) if isinstance(cut, Joint) else cut
    return " ".join(line.strip() for line in _loop(cut, strict_tree=True))


def is_written_as_joint(loop: Loop, strict_tree: bool) -> bool:
    """Whether a loop is written as ``<joint cut="true">``, not as ``<loop>``."""
    return loop.X_successor == Pose() and joint_kind(loop.kind).in_tree and not strict_tree


def _loop(loop: Loop, strict_tree: bool) -> list[str]:
    values: dict[str, object] = {"name": loop.name, "type": loop.kind}
    if is_written_as_joint(loop, strict_tree):
        return element("joint", values | {"cut": "true"}, _joint_children(loop))
    children = []
    sides = zip(("predecessor", "successor"), ends_of(loop), poses_of(loop), strict=True)
    for tag, link, pose in sides:
        children += _within(tag, _origin("origin", pose), link=link)
    children += [*_axes(loop), *_limits(loop, required=False), *_joint_values(loop)]
    return element("loop", values, children)


def _joint_values(item: Joint | Loop) -> Iterator[str]:
    if item.damping or item.friction or item.stiffness or item.armature:
        spring = (item.stiffness, item.rest) if item.stiffness else (None, None)
        yield child(
            "dynamics",
            damping=item.damping,
            friction=item.friction,
            spring_stiffness=spring[0],
            spring_reference=spring[1],
            armature=item.armature or None,
        )


def _coupling(coupling: Coupling) -> list[str]:
    children = [
        child("predecessor", link=coupling.predecessor),
        child("successor", link=coupling.successor),
        child("ratio", value=coupling.ratio),
    ]
    if coupling.offset:
        children.append(child("offset", value=coupling.offset))
    return element("coupling", {"name": coupling.name}, children)


def written_as_motors(mechanism: Mechanism) -> list[str]:
    """Joints of actuators that are written as ``<motor>``, as no element kept as text says them."""
    return _actuated_extras(mechanism)[1]


def _actuated_extras(mechanism: Mechanism) -> tuple[list[Transmission], list[str], list[str]]:
    """Elements kept as text, and a ``<motor>`` for each actuator that they do not say.

    Also the transmissions that they say, and the joints of these motors.

    Actuators read back in the order of these elements, so each ``<motor>`` goes before the element
    that says the next actuator.
    """
    read_back = [_motors_in_extra(extra, mechanism) for extra in mechanism.extras]
    spoken = [{} if x is None else dict(x.actuators) for x in read_back]
    transmissions = [y for x in read_back if x is not None for y in x.transmissions]
    motors: list[str] = []
    lines: list[str] = []
    extra = 0
    said: dict[str, Actuator] = {}
    for name, actuator in mechanism.actuators:
        ahead = [i for i in range(extra, len(spoken)) if name in spoken[i]]
        if ahead:
            for i in range(extra, ahead[0] + 1):
                lines += ["  " + mechanism.extras[i]]
                for joint, found in spoken[i].items():
                    said.setdefault(joint, found)
            extra = ahead[0] + 1
        if said.get(name) != actuator:
            motors.append(name)
            lines += _motor(name, actuator)
    return transmissions, motors, lines + ["  " + text for text in mechanism.extras[extra:]]


def _motors_in_extra(extra: str, mechanism: Mechanism) -> Mechanism | None:
    """What an element that is kept as text says of motors."""
    if not extra.startswith(("<transmission", "<ros2_control")):
        return None
    joints = "".join(
        f'<joint{attributes(name=joint.name)} type="{fixed.KIND}">'
        '<parent link="a"/><child link="b"/></joint>'
        for joint in mechanism.movers
    )
    text = f'<robot name="robot">{joints}{extra}</robot>'
    return read(text)[0]


def _transmission(given: Transmission) -> list[str]:
    numbers = "  ".join(" ".join(map(repr, row)) for row in given.matrix)
    driven = [child("joint", name=name) for name in given.joints]
    matrix = f"<matrix>{numbers}</matrix>"
    children = [f"<type>{GENERAL}</type>", *driven, matrix]
    return element("transmission", {"name": given.name}, children)


def _motor(joint: str, actuator: Actuator) -> list[str]:
    values, children = _non_default_fields(actuator), []
    if electric := values.pop("motor", None):
        inner = _non_default_fields(electric)
        winding = inner.pop("thermal", None)
        heat = [child("winding", **vars(winding))] if winding else ()
        children += _within("electric", heat, **inner)
    if elastic := values.pop("elastic", None):
        children.append(child("elastic", **_non_default_fields(elastic)))
    return element("motor", {"joint": joint, **values}, children)
