"""A description as SDF, for Gazebo and Drake: links in a closed posture, and their joints.

SDF has no place for positions of joints: all are zero in the posture that is drawn.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from lxml import etree

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Coupling, Joint, Limits, Link, Loop, Mechanism
from robodyn.description.couplings import branches
from robodyn.description.graph_check import find_root
from robodyn.description.joint import ends_of
from robodyn.description.pose import inverse_pose
from robodyn.errors import UrdfError, some_of
from robodyn.force_elements.common.link_element import WORLD
from robodyn.joints import (
    continuous,
    cylindrical,
    distance,
    fixed,
    floating,
    helical,
    joint_kind,
    planar,
    prismatic,
    spherical,
)
from robodyn.joints.common.described import align_z
from robodyn.joints.common.relative import quaternion_of
from robodyn.tolerances import LEAST_MASS, SAME_POSITION
from robodyn.topology.spanning_tree import cut_joints
from robodyn.urdf.common.drawn import (
    DrawnRobot,
    Written,
    functions_of_users,
    has_mass,
    left_out,
    left_out_everywhere,
    turn,
    weightless_links,
)
from robodyn.urdf.common.joint_values import UNLIMITED
from robodyn.urdf.common.markup import text_of
from robodyn.urdf.sdf.joint import JOINT_TYPES
from robodyn.urdf.sdf.models import is_reserved

#: Version of SDF that is written, the first with ``<mimic>``.
VERSION = "1.11"

#: Name space of the elements that Drake reads beside those of SDF.
DRAKE = "http://drake.mit.edu"

#: A model of SDF has to have a name.
NAMELESS = "robot"

#: Words of SDF for kinds of joints, of several the first; a floating joint is none.
WORDS = {kind.name: word for word, kind in reversed(JOINT_TYPES.items())}


def sdf_text(robot: DrawnRobot) -> Written:
    """SDF of a robot.

    Raises UrdfError: If SDF has no words for what moves it.
    """
    robot, lost = split(robot)
    mechanism = robot.mechanism
    for element in _unknown(mechanism):
        raise UrdfError(
            "cannot be written as SDF, which has no word for it; of relations it has <mimic> and "
            "gearboxes",
            element=element,
            file=mechanism.file,
        )
    for item in (*mechanism.links, *mechanism.movers):
        if item.name.strip() != item.name or (is_reserved(item.name) and item.name != WORLD):
            raise UrdfError(
                f"cannot be written as SDF, which has no name {item.name!r}: rename it, without "
                "blanks at its ends, '::', and '__' around it",
                **mechanism.where(item),
            )
    root = etree.Element("sdf", version=VERSION, nsmap={"drake": DRAKE})
    model = _add(root, "model", name=mechanism.name or NAMELESS)
    frames, weightless = _frames(mechanism), weightless_links(mechanism)
    for link in mechanism.links:
        if link.name not in frames and link.name != WORLD:
            element = _add_link(model, link, robot.poses[link.name])
            if link.name in weightless:
                _text(element, "gravity", "false")
    moved = {mover.child for mover in mechanism.joints if mover.nv} - frames.keys()
    moved |= {robot.base} if robot.floating else set()
    tiny = [x.name for x in mechanism.links if x.name in moved and not has_mass(x)]
    if tiny:
        lost.append(f"links without mass ({some_of(tiny)}) have {LEAST_MASS:g} kg and kg m^2")
    # the frame of a joint is called as the joint, wherever it stands on a link
    own = {x.name for x in mechanism.joints if x.child == x.name} & frames.keys()
    own = {name for name in own if frames[name].parent == name}
    writer = _Joints(model, robot, {name: frames[name] for name in own}, [*frames.values()])
    if not robot.floating and robot.base != WORLD:
        name = writer.free_name("world_fixed")
        _add_joint(model, name, WORDS[fixed.KIND.name], WORLD, robot.base)
    for name, joint in frames.items():
        if name not in own:
            _add_frame(model, name, joint)
    for mover in mechanism.movers:
        if mover not in frames.values() and mover.kind != floating.KIND.name:
            writer.add(mover)
    for coupling in mechanism.couplings:
        _add_gearbox(model, mechanism, coupling, writer.free_name(coupling.name))
    etree.indent(root)
    lost += [*writer.lost, *_unsaid(robot)]
    return etree.tostring(root, encoding="unicode") + "\n", lost


class _Joints:
    """Joints that are written, and loops, which are joints like all others.

    own: Joints that fix links to the frames of joints of the same names.
    unwritten: Joints that fix frames.
    """

    def __init__(
        self, model: Any, robot: DrawnRobot, own: dict[str, Joint], unwritten: list[Joint]
    ) -> None:
        self.lost: list[str] = []
        self._model, self._robot, mechanism = model, robot, robot.mechanism
        self._own = own
        self._actuators = dict(mechanism.actuators)
        links = {link.name for link in mechanism.links}
        self._taken = {WORLD, *links, *(mover.name for mover in mechanism.movers)}
        self._names = {mover.name: mover.name for mover in mechanism.movers}
        taken = {WORLD, *links} - own.keys() - {joint.name for joint in unwritten}
        for wanted in sorted(taken & self._names.keys()):
            name = self._names[wanted] = self.free_name(wanted)
            self.lost.append(f"joint {wanted!r} is called {name!r}: SDF has a link of its name")

    def free_name(self, name: str) -> str:
        """A name that no link, frame or joint has: SDF has one list of names."""
        while name in self._taken:
            name += "_joint"
        self._taken.add(name)
        return name

    def add(self, mover: Joint | Loop) -> None:
        """Add a joint; its position is zero in the posture that is drawn."""
        parent, child = ends_of(mover)
        if mover.kind == distance.KIND.name:
            self._add_distance(mover, parent, child)
            return
        child = self._own[child].child if child == mover.name in self._own else child
        joint = _add_joint(self._model, self._names[mover.name], WORDS[mover.kind], parent, child)
        if isinstance(mover, Loop):
            _add_pose(joint, mover.X_successor.matrix)
        elif mover.name in self._own:
            _add_pose(joint, inverse_pose(self._own[mover.name].origin.matrix))
        drawn = self._robot.position(mover)
        if np.abs(drawn[: joint_kind(mover.kind).nv]).max(initial=0.0) > SAME_POSITION:
            shown = ", ".join(f"{x:.6g}" for x in drawn)
            self.lost.append(f"joint {mover.name!r} is at zero where it stands, which was {shown}")
        for key, value in mover.constants.items():
            if key == helical.PITCH.name:
                _text(joint, "screw_thread_pitch", math.tau * value)
        kind = joint_kind(mover.kind)
        axes = [np.array(getattr(mover, name), float) for name in kind.axes]
        if len(axes) == 2:  # the first is turned by what the second joint turns
            axes[0] = turn(axes[1], -drawn[1])[:3, :3] @ axes[0]
        for tag, axis in zip(("axis", "axis2"), axes, strict=False):
            element = _add(joint, tag)
            _text(element, "xyz", axis)
            self._add_values(element, mover, float(drawn[0]), kind.nv == 1)
        motor = self._actuators.get(mover.name)
        if motor is not None:
            _text(joint, f"{{{DRAKE}}}gear_ratio", motor.gear_ratio)
            _text(joint, f"{{{DRAKE}}}rotor_inertia", motor.rotor_inertia)

    def _add_values(self, axis: Any, mover: Joint | Loop, at: float, single: bool) -> None:
        motor = self._actuators.get(mover.name, Actuator())
        dynamics = _add(axis, "dynamics")
        _text(dynamics, "damping", mover.damping + motor.gear_ratio**2 * motor.viscous)
        _text(dynamics, "friction", mover.friction + abs(motor.gear_ratio) * motor.coulomb)
        if not single:
            return
        if mover.stiffness:
            _text(dynamics, "spring_stiffness", mover.stiffness)
            _text(dynamics, "spring_reference", mover.rest - at)
        limits, limit = mover.limits or Limits(), _add(axis, "limit")
        effort = min(limits.effort, abs(motor.gear_ratio) * motor.torque_limit)
        bounds = {"lower": limits.lower - at, "upper": limits.upper - at}
        bounds |= {"velocity": limits.velocity, "effort": effort}
        for tag, value in bounds.items():
            if math.isfinite(value):
                _text(limit, tag, value)
            elif tag in ("lower", "upper"):
                _text(limit, tag, math.copysign(UNLIMITED, value))
        if isinstance(mover, Joint) and mover.mimic is not None:
            other = mover.mimic.joint
            mimic, ratio = _add(axis, "mimic", joint=self._names[other]), mover.mimic.multiplier
            leader = float(np.ravel(self._robot.positions[other])[0])
            _text(mimic, "multiplier", ratio)
            _text(mimic, "offset", mover.mimic.offset + ratio * leader - at)
            _text(mimic, "reference", 0.0)

    def _add_distance(self, loop: Joint | Loop, parent: str, child: str) -> None:
        assert isinstance(loop, Loop)
        element = _add(self._model, f"{{{DRAKE}}}distance_constraint", name=loop.name)
        ends = ("A", "P", parent, loop.X_predecessor), ("B", "Q", child, loop.X_successor)
        for side, point, link, X in ends:
            _text(element, f"{{{DRAKE}}}distance_constraint_body_{side}", link)
            _text(element, f"{{{DRAKE}}}distance_constraint_p_{side}{point}", X.xyz)
        _text(element, f"{{{DRAKE}}}distance_constraint_distance", loop.constants["distance"])


def _add(parent: Any, tag: str, **attributes: str) -> Any:
    return etree.SubElement(parent, tag, attributes)


def _text(parent: Any, tag: str, value: object) -> None:
    etree.SubElement(parent, tag).text = text_of(value)


def _add_joint(model: Any, name: str, word: str, parent: str, child: str) -> Any:
    joint = _add(model, "joint", name=name, type=word)
    _text(joint, "parent", parent)
    _text(joint, "child", child)
    return joint


def _add_pose(element: Any, X: FloatArray, relative_to: str = "") -> None:
    pose = _add(element, "pose", rotation_format="quat_xyzw")
    if relative_to:
        pose.set("relative_to", relative_to)
    pose.text = text_of([*X[:3, 3], *quaternion_of(X)])


def _add_link(model: Any, link: Link, X_WL: FloatArray) -> Any:
    element = _add(model, "link", name=link.name)
    _add_pose(element, X_WL)
    inertial = _add(element, "inertial")
    moments = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values: dict[str, float] = dict.fromkeys(moments, 0.0)
    if has_mass(link):
        assert link.inertia is not None
        _add_pose(inertial, link.inertia.origin.matrix)
        values = {tag: getattr(link.inertia, tag) for tag in moments}
    else:
        values |= dict.fromkeys(("ixx", "iyy", "izz"), LEAST_MASS)
    _text(inertial, "mass", link.inertia.mass if has_mass(link) and link.inertia else LEAST_MASS)
    inertia = _add(inertial, "inertia")
    for tag, value in values.items():
        _text(inertia, tag, value)
    return element


def _add_frame(model: Any, name: str, joint: Joint) -> None:
    """A frame of the link that a fixed joint fixes it to."""
    on_parent = name == joint.child
    X = joint.origin.matrix if on_parent else inverse_pose(joint.origin.matrix)
    frame = _add(model, "frame", name=name, attached_to=joint.parent if on_parent else joint.child)
    _add_pose(frame, X)


def _add_gearbox(model: Any, mechanism: Mechanism, coupling: Coupling, name: str) -> None:
    """``theta_2 = -ratio theta_1``, both about the axes of their hinges."""
    (over,), (under,) = branches(mechanism, coupling)
    joints = {joint.name: joint for joint in mechanism.joints}
    gearbox = _add_joint(model, name, "gearbox", coupling.predecessor, coupling.successor)
    _text(gearbox, "gearbox_ratio", -coupling.ratio)
    _text(gearbox, "gearbox_reference_body", joints[under].parent)
    for tag, name in (("axis", under), ("axis2", over)):
        axis = _add(gearbox, tag)
        _text(axis, "xyz", joints[name].axis)
        axis[-1].set("expressed_in", joints[name].child)


def _frames(mechanism: Mechanism) -> dict[str, Joint]:
    """Links without mass that are frames of others, with the joints that fix them to these."""
    bare = {link.name for link in mechanism.links if not has_mass(link)}
    fixed_joints = [x for x in mechanism.joints if x.kind == fixed.KIND.name and x.parent != WORLD]
    frames = {x.child: x for x in fixed_joints if x.child in bare}
    for joint in fixed_joints:
        if joint.parent in bare and joint.child not in bare:
            frames.setdefault(joint.parent, joint)
    return {link: joint for link, joint in frames.items() if link != find_root(mechanism)}


def _unknown(mechanism: Mechanism) -> Iterator[str]:
    """What moves a mechanism and has no word."""
    yield from functions_of_users(mechanism)
    yield from (f"follower {x.name!r}" for x in mechanism.followers)
    for mover in mechanism.movers:
        if mover.kind not in (*WORDS, distance.KIND.name, floating.KIND.name):
            yield f"joint {mover.name!r} of kind {mover.kind!r}"
    for coupling in mechanism.couplings:
        over, under = branches(mechanism, coupling)
        if len(over) + len(under) > 2:
            yield f"coupling {coupling.name!r}"


def _unsaid(robot: DrawnRobot) -> Iterator[str]:
    """What stands in no SDF."""
    mechanism = robot.mechanism
    movers = mechanism.movers
    turned = [x for x, motor in mechanism.actuators if motor.axis or motor.mounted_on]
    free = [x.name for x in movers if x.kind == floating.KIND.name]
    loose = spherical.KIND.name, floating.KIND.name
    resisted = [x.name for x in movers if x.kind in loose and (x.damping or x.friction)]
    carried = weightless_links(mechanism).values()
    forces = [x.name or x.tag for x in mechanism.link_elements if x not in carried]
    yield from left_out(
        (
            ("armature of joints", [x.name for x in movers if x.armature]),
            ("axes and mounts of rotors", turned),
            ("floating joints, as links are free without a joint,", free),
            ("damping and friction of ball and floating joints", resisted),
            ("transmissions that couple motors", [x.name for x in mechanism.transmissions]),
            ("forces between links", forces),
        )
    )
    loops: list[Joint | Loop] = [*cut_joints(mechanism), *mechanism.loops]
    closed = [x.name for x in loops if x.kind != distance.KIND.name]
    if closed:
        yield f"loops ({some_of(closed)}) are joints, which Gazebo takes and Drake refuses"
    yield from left_out_everywhere(mechanism)


#: Kinds of joints, axes and what is added to the name, from the parent to the child.
PARTS = {
    cylindrical.KIND.name: (
        (prismatic.KIND.name, 2, "_slide"),
        (continuous.KIND.name, 2, "_turn"),
    ),
    planar.KIND.name: (
        (prismatic.KIND.name, 0, "_x"),
        (prismatic.KIND.name, 1, "_y"),
        (continuous.KIND.name, 2, "_turn"),
    ),
}


def split(robot: DrawnRobot) -> tuple[DrawnRobot, list[str]]:
    """The same robot with joints that SDF knows, and a line for each that is written as several.

    Those with motors stay as they are.
    """
    mechanism, lost = robot.mechanism, list[str]()
    taken = {x.name for x in (*mechanism.links, *mechanism.movers)}
    driven = {name for name, _ in mechanism.actuators}
    joints, loops, links = list[Joint](), list[Loop](), [*mechanism.links]
    poses, positions = dict(robot.poses), dict(robot.positions)
    for mover in mechanism.movers:
        if mover.kind not in PARTS or mover.name in driven:
            (loops if isinstance(mover, Loop) else joints).append(mover)  # type: ignore[arg-type]
            continue
        parts = _parts(mover, taken)
        last = parts[-1]
        (loops if isinstance(last, Loop) else joints).append(last)  # type: ignore[arg-type]
        joints += parts[:-1]  # type: ignore[arg-type]
        drawn = robot.position(mover)
        X = poses[ends_of(mover)[1]]
        if isinstance(mover, Loop):
            X = X @ mover.X_successor.matrix
        X = X @ turn(np.array(mover.axis, float), -float(drawn[-1]))
        for part, at in zip(parts, drawn, strict=True):
            positions[part.name] = at
            if part is not last:
                links.append(Link(between := ends_of(part)[1]))
                poses[between] = X
        lost.append(
            f"joint {mover.name!r} ({mover.kind}) is written as "
            f"{', '.join(part.name for part in parts)}"
            + (", without its limits" if mover.limits else "")
        )
    changed = dataclasses.replace(
        mechanism, links=tuple(links), joints=tuple(joints), loops=tuple(loops)
    )
    return dataclasses.replace(robot, mechanism=changed, poses=poses, positions=positions), lost


def _parts(mover: Joint | Loop, taken: set[str]) -> list[Joint | Loop]:
    """Joints in the place of one, the last of which is a loop where that is one."""
    axes = align_z(np.array(mover.axis, float)).T
    parent, _ = ends_of(mover)
    parts: list[Joint | Loop] = []
    for kind, axis, suffix in PARTS[mover.kind]:
        x = mover.axis if axis == 2 else tuple(map(float, axes[axis]))
        name = _unused(mover.name + suffix, taken)
        link = _unused(f"{name}_link", taken)
        values: dict[str, Any] = {"name": name, "kind": kind, "axis": x, "limits": None}
        if len(parts) < len(PARTS[mover.kind]) - 1:
            values |= {"damping": mover.damping, "friction": mover.friction}
            parts.append(Joint(parent=parent, child=link, armature=mover.armature, **values))
        elif isinstance(mover, Loop):
            parts.append(dataclasses.replace(mover, predecessor=parent, exact=None, **values))
        else:
            parts.append(dataclasses.replace(mover, parent=parent, exact=None, **values))
        parent = link
    return parts


def _unused(name: str, taken: set[str]) -> str:
    """A name that nothing else has: SDF has one list of names."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
