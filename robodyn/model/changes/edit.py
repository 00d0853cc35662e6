"""Changed copies of a description: more links, loops, masses or springs, other motors or stops."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arrays import expect, mismatch
from robodyn.description import Actuator, Inertia, Joint, Link, Loop, Mechanism, Pose, Rotor
from robodyn.description.graph_check import find_root
from robodyn.description.pose import frame_argument, rotation_from_rpy
from robodyn.description.values import refuse_bad_values
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.force_elements import LINK_ELEMENTS, relaxed
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.joint_stop import CompliantStops
from robodyn.force_elements.point_spring import PointSpring
from robodyn.joints import fixed, floating, joint_kind, joint_map
from robodyn.joints.joint_map import JointMap
from robodyn.literals import Base
from robodyn.model.joint_info import Joints
from robodyn.model.settings import Settings
from robodyn.model.splitting import joints_referred_to, links_referred_to
from robodyn.symbolic.symbol import with_name


def with_payloads(mechanism: Mechanism, payload: Mapping[str, Inertia]) -> Mechanism:
    """A description with masses added to links."""
    links = {link.name: link for link in mechanism.links}
    for name, load in payload.items():
        if name not in links:
            raise UnknownNameError("link", name, links, repr(mechanism.name))
        expect(f"payload[{name!r}]", load, Inertia, "payload")
        if not all(map(math.isfinite, (load.mass, *load.origin.xyz, *load.matrix.ravel()))):
            raise SettingsError(f"payload[{name!r}] is {load!r}, expected finite numbers")
        links[name] = with_payload(links[name], load)
    return dataclasses.replace(mechanism, links=tuple(links.values()))


def with_frames(
    mechanism: Mechanism, frames: Mapping[str, str | tuple[str, ArrayLike]]
) -> Mechanism:
    """A description with more frames: massless links, each welded to one there is.

    frames: See `frame_argument`.
    """
    links = {link.name for link in mechanism.links}
    added, welds = [], []
    for name, given in frames.items():
        link, X = frame_argument(f"frames[{name!r}]", given, "frames")
        if name in links or name == "world":
            raise SettingsError(
                f"frames[{name!r}]: {mechanism.name!r} has a link of that name; choose another"
            )
        if link not in links:
            raise UnknownNameError("link", link, links, repr(mechanism.name))
        links.add(name)
        added.append(Link(name))
        weld = f"{link}_to_{name}"
        welds.append(Joint(weld, fixed.KIND.name, link, name, Pose.from_matrix(X)))
    return dataclasses.replace(
        mechanism, links=(*mechanism.links, *added), joints=(*mechanism.joints, *welds)
    )


def with_more(field: str, mechanism: Mechanism, given: Iterable[Loop | Rotor]) -> Mechanism:
    """A description with more closures, or more wheels that spin freely.

    field {"loops", "rotors"}

    Raises UrdfError: For values that none of them has.
    """
    changed: dict[str, Any] = {field: (*getattr(mechanism, field), *given)}
    return refuse_bad_values(dataclasses.replace(mechanism, **changed))


def with_joint_maps(mechanism: Mechanism, maps: Mapping[str, JointMap]) -> Mechanism:
    """A description in which joints move by maps."""
    joints = {joint.name: joint for joint in mechanism.joints}
    for name, given in maps.items():
        if name not in joints:
            raise UnknownNameError("joint", name, joints, repr(mechanism.name))
        limits = joints[name].limits if given.n == 1 else None
        joints[name] = dataclasses.replace(
            joints[name], kind=joint_map.KIND.name, map=given, mimic=None, limits=limits
        )
    return dataclasses.replace(mechanism, joints=tuple(joints.values()))


def with_actuators(
    mechanism: Mechanism, actuators: Mapping[str, Actuator], parameters: Iterable[str] = ()
) -> Mechanism:
    """A description with motors in place of those that these joints have.

    parameters: Names of other numbers that are given with them: those of the same joints are
        refused.
    """
    names = [mover.name for mover in mechanism.movers]
    for name in parameters:
        if (joint := name.rpartition(".")[0]) in actuators:
            raise SettingsError(
                f"parameters[{name!r}] and actuators[{joint!r}] are given together: make one "
                "change first, as in robot.with_(actuators=...).with_(parameters=...)"
            )
    for name, motor in actuators.items():
        if name not in names:
            raise UnknownNameError("joint", name, names, repr(mechanism.name))
        expect(f"actuators[{name!r}]", motor, Actuator, "actuators")
    merged = {**dict(mechanism.actuators), **actuators}
    return dataclasses.replace(mechanism, actuators=tuple(merged.items()))


def with_stops(mechanism: Mechanism, stops: CompliantStops) -> Mechanism:
    """A description with stops at the limits of joints."""
    able = {j.name for j in mechanism.joints if j.nv == 1 and _limited(j) and not j.mimic}
    able -= {name for loop in mechanism.followers for name in loop.dependent}
    given = stops.of(able)
    for name in given:
        if name not in able:
            raise SettingsError(
                f"joint {name!r} of {mechanism.name!r} is to have stops; that takes a joint of one "
                f"freedom with limits of its position, such as {', '.join(sorted(able)) or 'none'}"
            )
    return dataclasses.replace(
        mechanism,
        joints=tuple(
            dataclasses.replace(j, stop_stiffness=given[j.name], stop_damping=stops.damping)
            if j.name in given
            else j
            for j in mechanism.joints
        ),
    )


def _limited(joint: Joint) -> bool:
    limits = joint.limits
    return limits is not None and (math.isfinite(limits.lower) or math.isfinite(limits.upper))


def without_forces(mechanism: Mechanism) -> Mechanism:
    """The description without springs, damping, friction and dependence on time.

    Coordinates are the same: springs for which joints need coordinates stay, without force
    (`Mechanism.relaxed`).
    """
    return dataclasses.replace(
        mechanism,
        relaxed=True,
        joints=tuple(
            dataclasses.replace(
                x, map=x.map and x.map.stopped(), **relaxed(x, same_coordinates=True)
            )
            for x in mechanism.joints
        ),
        constraints=tuple(x.stopped() if x.rheonomic else x for x in mechanism.constraints),
        loops=tuple(
            dataclasses.replace(x, **relaxed(x, same_coordinates=True)) for x in mechanism.loops
        ),
        actuators=tuple(
            (name, dataclasses.replace(motor, viscous=0.0, coulomb=0.0))
            for name, motor in mechanism.actuators
        ),
        link_elements=(),
    )


def start_by_joint(settings: Settings, joints: Joints) -> Settings:
    """Settings with the start given by joints, so that copies with other coordinates can use it.

    joints: Of the robot in tree coordinates, to which the start belongs.
    """
    near = settings.near
    if not near or isinstance(near[0], tuple):
        return settings
    if len(near) != max((joint.q.stop for joint in joints.values()), default=0):
        return settings  # a wrong shape is an error where the start is used
    moving = (joint for joint in joints.values() if joint.q.stop > joint.q.start)
    return dataclasses.replace(settings, near=tuple((j.name, near[j.q]) for j in moving))


def with_payload(link: Link, load: Inertia) -> Link:
    """A link that carries a mass, given in its frame."""
    parts = [inertia for inertia in (link.inertia, load) if inertia is not None]
    mass = sum(part.mass for part in parts)
    if (mass == 0.0 and load.mass != 0.0) or (mass < 0.0 and load.mass < 0.0):
        raise SettingsError(
            f"payload[{link.name!r}] of {load.mass:g} kg leaves the link {mass:g} kg, "
            "expected it to leave some mass"
        )
    moment = sum((part.mass * np.array(part.origin.xyz) for part in parts), start=np.zeros(3))
    com = moment / mass if mass else moment
    J = np.zeros((3, 3))
    for part in parts:
        R = rotation_from_rpy(part.origin.rpy)
        d = np.array(part.origin.xyz) - com
        J += R @ part.matrix @ R.T + part.mass * (d @ d * np.eye(3) - np.multiply.outer(d, d))
    (xx, xy, xz), (_, yy, yz), (*_, zz) = J.tolist()
    x, y, z = com.tolist()
    return dataclasses.replace(link, inertia=Inertia(mass, Pose((x, y, z)), xx, xy, xz, yy, yz, zz))


#: Stiffness [N m/rad, N/m] and rest position [rad, m].
JointSpring = tuple[float, float]


def with_springs(
    mechanism: Mechanism, springs: Mapping[str, JointSpring] | Iterable[DescribedElement]
) -> Mechanism:
    """A description with springs beside those that it has.

    springs: A joint has one spring: another one takes its place.
    """
    if not isinstance(springs, Mapping):
        links = ["world", *(link.name for link in mechanism.links)]
        for spring in springs:
            if type(spring) not in LINK_ELEMENTS.values():
                expect("one of springs", spring, PointSpring, "springs")
            for name, _ in spring.places:
                if name not in links:
                    raise UnknownNameError("link", name, links, f"{spring.tag} {spring.name!r}")
        elements = (*mechanism.link_elements, *springs)
        return refuse_bad_values(dataclasses.replace(mechanism, link_elements=elements))
    movers: dict[str, Any] = {mover.name: mover for mover in mechanism.movers}
    for name, pair in springs.items():
        try:
            stiffness, rest = (with_name(x, float(x)) for x in pair)
        except (TypeError, ValueError):
            raise mismatch(
                f"springs[{name!r}]", pair, "stiffness and rest position", "springs"
            ) from None
        if name not in movers:
            raise UnknownNameError("joint", name, movers, repr(mechanism.name))
        single = [n for n, mover in movers.items() if _is_single(mover)]
        if name not in single:
            raise UnknownNameError(
                "joint with one degree of freedom", name, single, repr(mechanism.name)
            )
        movers[name] = dataclasses.replace(movers[name], stiffness=stiffness, rest=rest)
    joints = tuple(movers[joint.name] for joint in mechanism.joints)
    loops = tuple(movers[loop.name] for loop in mechanism.loops)
    return refuse_bad_values(dataclasses.replace(mechanism, joints=joints, loops=loops))


def _is_single(mover: Joint | Loop) -> bool:
    """Whether joints of this kind have one coordinate and one speed."""
    if isinstance(mover, Joint):
        return (mover.nq, mover.nv) == (1, 1)
    kind = joint_kind(mover.kind)
    return (kind.nq, kind.nv) == (1, 1)


#: Name of the fixed link in files.
WORLD = "world"


def without_free_root(mechanism: Mechanism, base: Base) -> Mechanism:
    """A mechanism without a world and a free joint before the robot, if it has them.

    A root with mass is a body of the robot, not the world.

    base: For ``"moving"``, only a link called ``world`` is removed, as a body may also be free in a
        frame that moves along a path, such as an orbit.
    Raises SettingsError: If more than that joint is in the world, so that the base cannot take its
        place.
    """
    root = find_root(mechanism)
    outward = [joint for joint in mechanism.joints if joint.parent == root]
    free = next((joint for joint in outward if joint.kind == floating.KIND.name), None)
    carried = base == "moving" and root != WORLD  # the free joint is relative to the moving base
    body = root != WORLD and any(
        link.name == root and link.inertia is not None for link in mechanism.links
    )
    if free is None or carried or body:
        return mechanism
    if len(outward) > 1 or _is_more(mechanism, root, free):
        raise SettingsError(
            f"base is {base!r}, and cannot take the place of joint {free.name!r}, by which "
            f"{free.child!r} moves freely in {root!r}: other things stand in {root!r} too, or the "
            "joint has damping, friction, armature or an origin of its own; with base='fixed' that "
            "joint has the six degrees of freedom"
        )
    return dataclasses.replace(
        mechanism,
        links=tuple(link for link in mechanism.links if link.name != root),
        joints=tuple(joint for joint in mechanism.joints if joint is not free),
        root=mechanism.root and free.child,
    )


def _is_more(mechanism: Mechanism, root: str, free: Joint) -> bool:
    """Whether the root or the free joint have more than what a floating base replaces."""
    used = {*links_referred_to(mechanism)}
    used |= {link.name for link in mechanism.links if link.inertia is not None}
    named = {*joints_referred_to(mechanism)}
    resists = bool(free.damping or free.friction or free.armature)
    return root in used or free.name in named or resists or free.origin != Pose()
