"""A joint as its description has it, in numbers: for tools that need no equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.joints.common.evaluate import evaluate
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Rotation
from robodyn.tolerances import OPPOSITE_AXES

Vector = tuple[float, float, float]


class DescribedJoint(Protocol):
    """What a description says of how a joint moves."""

    @property
    def axis(self) -> Vector:
        """First axis, a unit vector in joint axes."""

    @property
    def axis2(self) -> Vector:
        """Second axis, in child axes."""

    @property
    def constants(self) -> Mapping[str, float]:
        """The numbers of its kind, by name."""

    @property
    def map(self) -> Any:
        """The `JointMap` of a joint that its user made."""


def align_z(axis: FloatArray) -> FloatArray:
    """Rotation matrix, shape (3, 3), that turns z to a unit vector by the shortest way.

    To vectors that are nearly opposite it turns by half a turn about x, and then the shortest way.
    """
    x, y, z = axis
    beside = x * x + y * y
    if z < 0.0 and beside < OPPOSITE_AXES**2:  # by way of -z, which half a turn about x takes z to
        return align_z(-np.asarray(axis)) @ np.diag([1.0, -1.0, -1.0])
    s = 1.0 + z if z > 0.0 else beside / (1.0 - z)  # 1 + z, with all its digits
    return np.array(
        [
            [1.0 - x * x / s, -x * y / s, x],
            [-x * y / s, 1.0 - y * y / s, y],
            [-x, -y, z],
        ]
    )


def described_pose(kind: JointKind, joint: DescribedJoint, q: Sequence[float]) -> FloatArray:
    """Child link in the joint frame of the description, shape (4, 4) [1, m]."""
    X_LZ, state = _state(kind, joint, q)
    return np.asarray(X_LZ @ matrix_of(state.X) @ X_LZ.T)


def described_subspace(kind: JointKind, joint: DescribedJoint, q: Sequence[float]) -> FloatArray:
    """Twist of the child link for unit speeds, in link axes, shape (6, nv) [m, 1]."""
    X_LZ, state = _state(kind, joint, q)
    turn = np.kron(np.eye(2), X_LZ[:3, :3])
    return np.asarray(turn @ np.array([_numbers(s) for s in state.S], float).reshape(-1, 6).T)


def matrix_of(X: Placement) -> FloatArray:
    """Homogeneous matrix of a known pose, shape (4, 4) [1, m]."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.array([list(row) for row in X.R.matrix.rows()], float)
    matrix[:3, 3] = np.array(list(X.p), float)
    return matrix


def _numbers(s: Twist) -> list[Any]:
    return list(s)


def _state(
    kind: JointKind, joint: DescribedJoint, q: Sequence[float]
) -> tuple[FloatArray, JointState]:
    """Axes of the kind in those of the description, shape (4, 4), and the joint in the former."""
    X_LZ = np.eye(4)
    R = [Rotation(), Rotation()]
    axes = [align_z(np.array(getattr(joint, name), float)) for name in kind.axes]
    if kind.frames == "described":
        R[: len(axes)] = [Rotation.from_matrix(axis) for axis in axes]
    else:
        X_LZ[:3, :3] = axes[0]
    geometry = JointGeometry(kind, constants=joint.constants, R_J1=R[0], R_J2=R[1], map=joint.map)
    nv = len(q) if kind.coordinates.flat else kind.nv
    return X_LZ, evaluate(geometry, [float(x) for x in q], [0.0] * nv)
