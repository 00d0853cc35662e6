"""Choice of the body frames of the equations.

The frames of a URDF are its author's. The equations use frames of their own, chosen so that their
constants are zeros and ones: the axis of every axial joint is z, the origin of a body lies at the
foot of the common normal with the parent's axis, and x points along the common normal with the
child's. Everything that a user sees is converted at the end by the constant poses ``X_LB``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.pose import inverse_pose
from robodyn.joints import joint_kind
from robodyn.joints.common.described import align_z
from robodyn.joints.common.kind import JointGeometry
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import Rotation, Vec3
from robodyn.tolerances import FRAME_ROUNDING
from robodyn.topology.spanning_tree import SpanningTree, TreeJoint

#: Common normals of axes that are nearer to parallel than this (sine) lie too far away to be used.
NEARLY_PARALLEL = 0.05

#: Largest shift of an origin along its axis, in distances between the joints.
FARTHEST = 1.5


def zxz_angles(R: FloatArray, snap: float) -> tuple[float, float, float]:
    """Angles ``a, b, c`` [rad] with ``R = Rz(a) Rx(b) Rz(c)``; ``a`` is 0 if z is kept."""
    b = math.atan2(math.hypot(R[0, 2], R[1, 2]), R[2, 2])
    if min(b, math.pi - b) <= max(snap, FRAME_ROUNDING):
        b = 0.0 if R[2, 2] > 0 else math.pi
        return 0.0, b, math.atan2(-R[0, 1], R[0, 0])
    a = math.atan2(R[0, 2], -R[1, 2])
    # From what remains, not from the last row of R: that would lose digits for small b.
    x = _about_z(-a) @ R[:, 0]
    return a, b, math.atan2(math.cos(b) * x[1] + math.sin(b) * x[2], x[0])


def rotation(R: FloatArray, snap: float) -> Rotation:
    """A known rotation as turns about z, x, z."""
    a, b, c = zxz_angles(R, snap)
    return (
        Rotation.about(2, a, snap=snap)
        @ Rotation.about(0, b, snap=snap)
        @ Rotation.about(2, c, snap=snap)
    )


def vector(p: FloatArray, snap: float) -> Vec3:
    """A known vector; components that are noise beside ``snap`` [m] are zero."""
    return Vec3(*(0.0 if abs(x) <= snap else float(x) for x in p))


def placement(X: FloatArray, snap: float = FRAME_ROUNDING) -> Placement:
    """A known pose, shape (4, 4), as a `Placement`."""
    return Placement(rotation(X[:3, :3], snap), vector(X[:3, 3], snap))


def with_parallel_axis(
    X: FloatArray, axis: FloatArray, others: Sequence[FloatArray], snap: float
) -> FloatArray:
    """A pose turned a little, so that an axis is parallel to the first that it nearly is.

    X (4, 4)
    axis (3,): Of unit length, in the frame at that pose.
    others (3,): Of unit length, where the pose is.
    snap [rad]
    """
    z = X[:3, :3] @ axis
    for other in others:
        cosine = float(z @ other)
        x, y, w = np.cross(z, math.copysign(1.0, cosine) * other)
        sine = math.hypot(x, y, w)
        if sine <= FRAME_ROUNDING:
            return X
        if sine <= snap:
            hat = np.array([[0.0, -w, y], [w, 0.0, -x], [-y, x, 0.0]])
            turned = X.copy()
            turned[:3, :3] += (hat + hat @ hat / (1.0 + abs(cosine))) @ X[:3, :3]
            return turned
    return X


class FrameChoice:
    """Frame of one body and its joint in it.

    X_LB (4, 4): Frame of the equations in the body frame of the spanning tree.
    """

    __slots__ = ("X_LB", "joint")

    def __init__(self, X_LB: FloatArray, joint: JointGeometry) -> None:
        self.X_LB, self.joint = X_LB, joint


def choose_frames(tree: SpanningTree, snap: float) -> list[FrameChoice]:
    """Frames of all bodies, parents first."""
    next_joints = _next_joints(tree)
    chosen: list[FrameChoice] = []
    axes: dict[int, list[FloatArray]] = {}  # of the joints on a body, in its frame
    for index, joint in enumerate(tree.joints):
        parent = chosen[joint.parent] if joint.parent >= 0 else None
        X_PJ = joint.X_PJ if parent is None else inverse_pose(parent.X_LB) @ joint.X_PJ
        above = parent.joint.kind if parent is not None else None
        turns = above is not None and above.axial and above.turns
        if joint_kind(joint.joint.kind).axial:
            next_joint = tree.joints[next_joints[index]] if next_joints[index] >= 0 else None
            beside, axis = axes.setdefault(joint.parent, []), np.array(joint.joint.axis)
            X_PJ = with_parallel_axis(X_PJ, axis, beside, snap)
            beside.append(X_PJ[:3, :3] @ axis)
            chosen.append(_axial(joint, X_PJ, turns, next_joint, tree.inertias[index].h, snap))
        else:
            chosen.append(_other(joint, X_PJ, snap))
    return chosen


def _axial(
    joint: TreeJoint,
    X_PJ: FloatArray,
    parent_turns: bool,
    next_joint: TreeJoint | None,
    h: FloatArray,
    snap: float,
) -> FrameChoice:
    kind = joint_kind(joint.joint.kind)
    axis = np.array(joint.joint.axis) * (-1.0 if joint.reversed else 1.0)
    R_LZ = align_z(axis)
    R_PZ = X_PJ[:3, :3] @ R_LZ
    a, b, c = zxz_angles(R_PZ, snap)
    if not kind.turns:
        shift = -R_LZ.T @ X_PJ[:3, :3].T @ X_PJ[:3, 3]
    else:
        shift = np.array([0.0, 0.0, _slide(R_PZ, X_PJ[:3, 3], parent_turns)])
    p_PB = X_PJ[:3, 3] + R_PZ @ shift
    psi = _azimuth(R_LZ, shift, next_joint, h, -c)
    offset = _wrapped(psi + c)
    if abs(offset) <= max(snap, FRAME_ROUNDING):
        offset, psi = 0.0, -c
    X_LB = np.eye(4)
    X_LB[:3, :3] = R_LZ @ _about_z(psi)
    X_LB[:3, 3] = R_LZ @ shift
    R_PJ = Rotation.about(2, a, snap=snap) @ Rotation.about(0, b, snap=snap)
    if not kind.turns:  # the offset is a constant turn
        R_PJ, offset = R_PJ @ Rotation.about(2, offset, snap=snap), 0.0
    X_PJ_chosen = Placement(R_PJ, vector(p_PB, snap))
    geometry = JointGeometry(kind, X_PJ_chosen, offset, joint.joint.constants)
    return FrameChoice(X_LB, geometry)


def _other(joint: TreeJoint, X_PJ: FloatArray, snap: float) -> FrameChoice:
    X_LB = np.eye(4)
    kind = joint_kind(joint.joint.kind)
    axes = [align_z(np.array(getattr(joint.joint, name))) for name in kind.axes]
    R = [Rotation(), Rotation()]
    if kind.frames == "aligned":
        X_LB[:3, :3] = axes[0]
        X_PJ = X_PJ @ X_LB
    else:
        R[: len(axes)] = [rotation(axis, snap) for axis in axes]
    geometry = JointGeometry(
        kind,
        placement(X_PJ, snap),
        constants=joint.joint.constants,
        R_J1=R[0],
        R_J2=R[1],
        reversed=joint.reversed,
        map=joint.joint.map,
    )
    return FrameChoice(X_LB, geometry)


def _slide(R_PZ: FloatArray, p: FloatArray, parent_turns: bool) -> float:
    """Shift of a body's origin along its axis from its place in the file."""
    z = R_PZ[:, 2]
    sine_squared = z[0] ** 2 + z[1] ** 2
    if not parent_turns:
        return -float(p @ z)
    if sine_squared > NEARLY_PARALLEL**2:  # foot of the common normal
        slide = -float(p[0] * z[0] + p[1] * z[1]) / float(sine_squared)
    else:
        slide = -float(p[2] / z[2])
    # Inertias about a far origin lose digits.
    return slide if abs(slide) <= FARTHEST * float(np.linalg.norm(p)) else 0.0


def _azimuth(
    R_LZ: FloatArray,
    shift: FloatArray,
    next_joint: TreeJoint | None,
    h: FloatArray,
    unforced: float,
) -> float:
    """Angle of the x axis about z: along the common normal with the next joint's axis."""
    if next_joint is None:
        to = R_LZ.T @ h
    elif joint_kind(next_joint.joint.kind).axial:
        z = R_LZ.T @ next_joint.X_PJ[:3, :3] @ np.array(next_joint.joint.axis)
        to = np.array([-z[1], z[0], 0.0])
        if math.hypot(to[0], to[1]) < 1e-9:
            to = R_LZ.T @ next_joint.X_PJ[:3, 3] - shift
    else:
        to = R_LZ.T @ next_joint.X_PJ[:3, 3] - shift
    if math.hypot(to[0], to[1]) < 1e-9 * (
        1.0 if next_joint is not None else np.linalg.norm(h) + 1e-30
    ):
        return unforced
    psi = math.atan2(to[1], to[0])
    quarter = (psi - unforced) / (0.5 * math.pi)
    # A quarter turn costs nothing in the constants and an offset costs an addition.
    return unforced if abs(quarter - round(quarter)) < 1e-12 else psi


def _next_joints(tree: SpanningTree) -> list[int]:
    """The child with the largest subtree, for each body (-1: none)."""
    n = len(tree.joints)
    size = [1] * n
    for index in range(n - 1, -1, -1):
        parent = tree.joints[index].parent
        if parent >= 0:
            size[parent] += size[index]
    next_joints = [-1] * n
    for index in range(n):
        parent = tree.joints[index].parent
        if parent >= 0 and (next_joints[parent] < 0 or size[index] > size[next_joints[parent]]):
            next_joints[parent] = index
    return next_joints


def _about_z(angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _wrapped(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)
