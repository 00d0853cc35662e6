"""Joints and loops without degrees of freedom: welded at a position, or between base and world."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arrays import numbers
from robodyn.description import Joint, Link, Loop, Mechanism, Pose
from robodyn.description.graph_check import find_root
from robodyn.errors import SettingsError, ShapeError, UnknownNameError
from robodyn.force_elements import relaxed
from robodyn.joints import fixed, floating, joint_kind
from robodyn.joints.common.described import described_pose
from robodyn.model.splitting import joint_of_loop
from robodyn.tolerances import QUATERNION_NORM
from robodyn.topology.spanning_tree import FLOATING_BASE


def locked_position(joint: Joint, given: ArrayLike) -> tuple[float, ...]:
    """Where a joint is to be locked: one number a coordinate, quaternions of unit norm."""
    if not joint.nv:
        raise UnknownNameError("joint with a degree of freedom", joint.name, ())
    quaternion = joint_kind(joint.kind).coordinates.quaternion
    expected = "a finite number" if joint.nq == 1 else f"{joint.nq} finite numbers"
    expected += ", the last four a unit quaternion x, y, z, w" if quaternion else ""
    wrong = SettingsError(f"locked[{joint.name!r}] is {given!r}, expected {expected}")
    try:
        position = numbers("position", given)
    except ShapeError:
        raise wrong from None
    if position.shape not in ((joint.nq,), *([()] if joint.nq == 1 else [])):
        raise wrong
    position = position.ravel()
    if not np.isfinite(position).all():
        raise wrong
    if quaternion:
        norm = np.linalg.norm(position[-4:])
        if not abs(norm - 1.0) <= QUATERNION_NORM:
            raise wrong
        position = np.concatenate([position[:-4], position[-4:] / norm])
    return tuple(position.tolist())


def joints_of_loops(mechanism: Mechanism) -> dict[str, Joint]:
    """Loops that have coordinates, as the joints that they are, by name."""
    kinds = {loop.name: joint_kind(loop.kind) for loop in mechanism.loops}
    movable = [x for x in mechanism.loops if kinds[x.name].in_tree and kinds[x.name].nv]
    return {loop.name: joint_of_loop(mechanism, loop) for loop in movable}


def welded_loop(loop: Loop, joint: Joint, position: tuple[float, ...]) -> Loop:
    """A loop without degrees of freedom, and without forces along them."""
    X_JB = described_pose(joint_kind(joint.kind), joint, position)
    X_predecessor = Pose.from_matrix(loop.X_predecessor.matrix @ X_JB)
    return dataclasses.replace(
        loop,
        kind=fixed.KIND.name,
        X_predecessor=X_predecessor,
        armature=0.0,
        limits=None,
        parameters=(),
        **relaxed(loop),
    )


def free_base(mechanism: Mechanism) -> Joint:
    """The joint that a floating base has."""
    taken = {link.name for link in mechanism.links}
    world = next(name for name in ("world", "ground", "inertial_frame") if name not in taken)
    return Joint(FLOATING_BASE, floating.KIND.name, world, find_root(mechanism))


def on_a_world(mechanism: Mechanism, welded: Joint) -> Mechanism:
    """A description with a new root, to which the former root is welded."""
    if any(joint.name == welded.name for joint in mechanism.joints):
        welded = dataclasses.replace(welded, name=f"{welded.parent}_to_{welded.child}")
    links = (Link(welded.parent), *mechanism.links)
    joints, root = (welded, *mechanism.joints), mechanism.root and welded.parent
    return dataclasses.replace(mechanism, links=links, joints=joints, root=root)


def welded_joint(joint: Joint, position: tuple[float, ...]) -> Joint:
    """A joint without degrees of freedom; one that depends on time still does."""
    if joint.map is not None and joint.map.rheonomic:
        return dataclasses.replace(joint, map=joint.map.locked(position), mimic=None)
    X_JB = described_pose(joint_kind(joint.kind), joint, position)
    origin = Pose.from_matrix(joint.origin.matrix @ X_JB)
    weld = Joint(joint.name, fixed.KIND.name, joint.parent, joint.child, origin)
    kept = ("limits", "damping", "friction", "independent", "extras", "line", "merged")
    return dataclasses.replace(weld, **{name: getattr(joint, name) for name in kept})
