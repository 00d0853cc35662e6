"""Universal: an angle about a first axis, fixed in J, and one about a second, fixed in B."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.joints.common.cut import Cut, CutGeometry, RelativeMotion, position, product_row
from robodyn.joints.common.evaluate import turned
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState, Part
from robodyn.joints.common.relative import angle_between
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EZ


def _state_at(joint: JointGeometry, at: Sequence[Planar], v: Sequence[Number]) -> JointState:
    R_1, R_2 = joint.R_J1, joint.R_J2
    first = R_1 @ turned(at[0]) @ R_1.T
    second = R_2 @ turned(at[1]) @ R_2.T
    axis_1, axis_2 = second.inverse_times(R_1 * EZ), R_2 * EZ
    return JointState(
        Placement(first @ second),
        [Twist(w=axis_1), Twist(w=axis_2)],
        [Twist(w=axis_1.cross(axis_2) * v[1]), Twist()],
    )


def _parts(joint: JointGeometry) -> tuple[list[Part], Placement]:
    """A turn about each axis, the other way round and in the other order if it is reversed."""
    one, two = joint.R_J1, joint.R_J2
    if joint.reversed:
        return [
            Part(joint.X_PJ @ Placement(two), 1, True, -1.0),
            Part(Placement(two.T @ one), 0, True, -1.0),
        ], Placement(one.T)
    return [
        Part(joint.X_PJ @ Placement(one), 0, True),
        Part(Placement(one.T @ two), 1, True),
    ], Placement(two.T)


def _rows(m: RelativeMotion, cut: CutGeometry) -> list[Row]:
    """The origins coincide, and the axes keep the angle between them."""
    angle = float(EZ.dot(cut.axis2))  # type: ignore[arg-type]  # known
    return [*position(m), product_row(m, EZ, cut.axis2, angle)]


def _axes(X: Placement, cut: CutGeometry) -> list[Twist]:
    return [Twist(w=X.R.inverse_times(EZ)), Twist(w=cut.axis2)]


def _position(X: FloatArray, cut: CutGeometry) -> FloatArray:
    """Of ``Rz(q0) R(axis2, q1)``: the first turns axis2, the second turns z."""
    z, axis2 = np.array([0.0, 0.0, 1.0]), np.array([float(x) for x in cut.axis2])  # type: ignore[arg-type]  # known
    first = angle_between(axis2, X[..., :3, :3] @ axis2, z)
    second = angle_between(X[..., 2, :3], z, axis2)
    return np.stack([first, second], axis=-1)


KIND = JointKind(
    "universal",
    nq=2,
    nv=2,
    turning=(True, True),
    state_at=_state_at,
    parts=_parts,
    axes=("axis", "axis2"),
    unmoved=(3,),
    cut=Cut(rows=_rows, axes=_axes, position=_position),
)
