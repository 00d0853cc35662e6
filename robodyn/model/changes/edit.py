"""Changed copies of a description: more links, loops and masses, other motors and stops."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arrays import expect
from robodyn.description import Actuator, Inertia, Joint, Link, Loop, Mechanism, Pose, Rotor
from robodyn.description.frame_argument import frame_argument
from robodyn.description.pose import rotation_from_rpy
from robodyn.description.values import refuse_bad_values
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.force_elements import relaxed
from robodyn.force_elements.joint_stop import CompliantStops
from robodyn.joints import fixed, joint_map
from robodyn.joints.joint_map import JointMap
from robodyn.model.joint_info import Joints
from robodyn.model.settings import Settings


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
