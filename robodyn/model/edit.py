"""Changed copies of a description: masses added to links, joints welded."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from robodyn.arrays import expect
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose
from robodyn.equations.loops.constraint import TracedConstraint
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.joints import fixed, joint_kind
from robodyn.joints.common.described import described_pose
from robodyn.model.joint_info import Joints
from robodyn.model.locking import all_held, couplings_left
from robodyn.model.settings import Settings

__all__ = ["changed", "loaded", "start_by_joint", "without_forces"]


def changed(
    mechanism: Mechanism, payload: Mapping[str, Inertia], locked: Mapping[str, float]
) -> Mechanism:
    """A description with masses added to links and joints welded."""
    links = {link.name: link for link in mechanism.links}
    joints = {joint.name: joint for joint in mechanism.joints}
    for name, load in payload.items():
        if name not in links:
            raise UnknownNameError("link", name, links, repr(mechanism.name))
        expect(f"payload[{name!r}]", load, Inertia, "payload")
        if not all(map(math.isfinite, (load.mass, *load.origin.xyz, *load.matrix.ravel()))):
            raise SettingsError(f"payload[{name!r}] is {load!r}, expected finite numbers")
        links[name] = loaded(links[name], load)
    for name, value in locked.items():
        if name not in joints:
            raise UnknownNameError("joint", name, joints, repr(mechanism.name))
        if not isinstance(value, int | float | np.number) or not math.isfinite(value):
            raise SettingsError(f"locked[{name!r}] is {value!r}, expected a finite number")
    held = all_held(mechanism, {name: float(value) for name, value in locked.items()})
    for name, value in held.items():
        joints[name] = _welded(joints[name], value)
    couplings, rows = couplings_left(mechanism, held)
    return dataclasses.replace(
        mechanism,
        links=tuple(links.values()),
        joints=tuple(joints.values()),
        couplings=couplings,
        constraints=(*(_holding(given, held) for given in mechanism.constraints), *rows),
    )


def without_forces(mechanism: Mechanism) -> Mechanism:
    """The same bodies, joints and rotors without springs, damping and friction."""
    return dataclasses.replace(
        mechanism,
        joints=tuple(
            dataclasses.replace(x, stiffness=0.0, damping=0.0, friction=0.0)
            for x in mechanism.joints
        ),
        loops=tuple(dataclasses.replace(x, damping=0.0, friction=0.0) for x in mechanism.loops),
        actuators=tuple(
            (name, dataclasses.replace(motor, viscous=0.0, coulomb=0.0))
            for name, motor in mechanism.actuators
        ),
        springs=(),
    )


def start_by_joint(settings: Settings, joints: Joints) -> Settings:
    """Settings whose start is given by joints: that holds for a copy with other coordinates, too.

    Parameters
    ----------
    settings : Settings
    joints : Joints
        Of the robot in tree coordinates, to which the start belongs.
    """
    near = settings.near
    if not near or isinstance(near[0], tuple):
        return settings
    if len(near) != max((joint.q.stop for joint in joints.values()), default=0):
        return settings  # of a wrong shape, which is said where it is used
    moving = (joint for joint in joints.values() if joint.q.stop > joint.q.start)
    return dataclasses.replace(settings, near=tuple((j.name, near[j.q]) for j in moving))


def _holding(given: TracedConstraint, locked: Mapping[str, float]) -> TracedConstraint:
    """A constraint that knows which of its joints are welded."""
    for name in given.joints:
        given = given.holding(name, locked[name]) if name in locked else given
    return given


def loaded(link: Link, load: Inertia) -> Link:
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
        R = part.origin.matrix[:3, :3]
        d = np.array(part.origin.xyz) - com
        J += R @ part.matrix @ R.T + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return dataclasses.replace(link, inertia=Inertia.from_matrix(mass, com, J))


def _welded(joint: Joint, value: float) -> Joint:
    if (joint.nq, joint.nv) != (1, 1):
        raise UnknownNameError("joint with one degree of freedom", joint.name, ())
    X_JB = described_pose(joint_kind(joint.kind), joint, [float(value)])
    origin = Pose.from_matrix(joint.origin.matrix @ X_JB)
    return dataclasses.replace(
        joint, kind=fixed.KIND.name, origin=origin, mimic=None, map=None, parameters=()
    )
