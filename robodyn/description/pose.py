"""Poses as URDF writes them, ``xyz`` and ``rpy``, and frames in links as users give them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, one_name, shaped, vector, wrong_shape
from robodyn.motion.base_motion import check_rigid
from robodyn.symbolic.symbol import with_names

Vector = tuple[float, float, float]


def inverse_pose(X: FloatArray) -> FloatArray:
    """``X_BA`` of ``X_AB``, shape (4, 4) [1, m]."""
    inverse = np.eye(4)
    inverse[:3, :3] = X[:3, :3].T
    inverse[:3, 3] = -X[:3, :3].T @ X[:3, 3]
    return inverse


def rotation_from_rpy(rpy: Vector) -> NDArray[np.float64]:
    """Rotation matrix of fixed-axis roll, pitch, yaw angles.

    rpy [rad]: Angles about x, y, z of the fixed frame, applied in this order (URDF).
    Returns R (3, 3): Maps coordinates in the turned frame to coordinates in the fixed frame.
    """
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, rpy), map(math.cos, rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(R: ArrayLike) -> Vector:
    """Roll, pitch, yaw [rad] of a rotation matrix, shape (3, 3); roll is 0 at the singularity."""
    R = np.asarray(R, float)
    cosine = math.hypot(R[0, 0], R[1, 0])
    if cosine < 1e-15:
        return 0.0, math.atan2(-R[2, 0], cosine), math.atan2(-R[0, 1], R[1, 1])
    yaw = math.atan2(R[1, 0], R[0, 0])
    # Without the yaw, the second row is (0, cos roll, -sin roll): near the singularity, where the
    # yaw has few digits, the roll is the one that belongs to it.
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, math.atan2(-R[2, 0], cosine), yaw


@dataclass(frozen=True)
class Pose:
    """Pose of a frame B in a frame A as URDF writes it.

    Attributes
    ----------
    xyz : (3,) [m]
        Origin of B in A.
    rpy : (3,) [rad]
        Roll, pitch, yaw of B about the fixed axes of A.

    Raises
    ------
    ShapeError
        If one of them is not three numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> X = rd.Pose(xyz=(1, 2, 3), rpy=(0, 0, np.pi / 2)).matrix
    >>> (X.round(9) + 0.0).tolist()
    [[0.0, -1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 1.0, 3.0], [0.0, 0.0, 0.0, 1.0]]
    """

    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("xyz", "rpy"):
            given = getattr(self, name)
            object.__setattr__(self, name, with_names(given, vector(name, given)))

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Homogeneous matrix ``X_AB``, shape (4, 4) [1, m]."""
        X = np.eye(4)
        X[:3, :3] = rotation_from_rpy(self.rpy)
        X[:3, 3] = self.xyz
        return X

    @classmethod
    @checked_arguments
    def from_matrix(cls, X: ArrayLike) -> Pose:
        """Pose of a homogeneous matrix, shape (4, 4) [1, m].

        Raises
        ------
        ShapeError
            If it is no 4x4 matrix of numbers.
        """
        X = shaped("X", X, 4, 4)
        if X.ndim != 2:
            raise wrong_shape("X", X.shape, "(4, 4): one pose", (4, 4))
        x, y, z = (float(c) for c in X[:3, 3])
        return cls((x, y, z), rpy_from_rotation(X[:3, :3]))


def frame_argument(what: str, given: Any, name: str) -> tuple[str, FloatArray]:
    """A link, or the world, and the pose of a frame in it, shape (4, 4).

    what: Which frame it is, in messages.
    given (3,)) or (str, array_like of shape (4, 4)): A link alone means its own frame; an offset
        [m], one there with the axes of the link.
    name: The argument.
    """
    if isinstance(given, str):
        return given, np.eye(4)
    if not (isinstance(given, tuple | list) and len(given) == 2):
        raise mismatch(what, given, "a link, (link, offset (3,)) or (link, pose (4, 4))", name)
    link, X = one_name(name, given[0]), given[1]
    what = f"{what} in {link!r}"
    pose = np.eye(4)
    if np.ndim(X) == 1:
        pose[:3, 3] = shaped(what, X, 3)
    else:
        X = shaped(what, X, 4, 4)
        if X.ndim != 2:
            raise wrong_shape(what, X.shape, "one pose (4, 4)", name=name)
        pose[:] = X
    check_rigid(pose, what)
    return link, pose
