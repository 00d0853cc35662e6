"""Rotations that remember how they were made.

A rotation ``R_AB`` is a product of turns about single axes, or a full matrix where it came from a
quaternion. Turning a vector about one axis costs four products instead of nine, and a quarter turn
costs none, so the factors are applied one by one and never multiplied out unless asked for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.symbolic.scalar import Number, cos, sin
from robodyn.symbolic.vector import Mat3, Sym3, Vec3

Factor = tuple[int, Number, Number]  # axis, cosine, sine


def _turn(v: Vec3, axis: int, c: Number, s: Number) -> Vec3:
    if axis == 0:
        return Vec3(v.x, c * v.y - s * v.z, s * v.y + c * v.z)
    if axis == 1:
        return Vec3(c * v.x + s * v.z, v.y, c * v.z - s * v.x)
    return Vec3(c * v.x - s * v.y, s * v.x + c * v.y, v.z)


class Rotation:
    """``R_AB``: maps coordinates in B to coordinates in A.

    factors: ``(axis, cosine, sine)`` for turns about x, y, z (0, 1, 2), or a `Mat3`; from A to B.
    """

    __slots__ = ("factors",)

    def __init__(self, *factors: Factor | Mat3) -> None:
        self.factors = factors

    @classmethod
    def about(cls, axis: int, angle: Number, *, snap: float = 4e-16) -> Rotation:
        """Turn about one axis by an angle [rad]; known angles are cleaned of rounding noise."""
        c, s = cos(angle), sin(angle)
        if isinstance(c, float) and isinstance(s, float):
            if abs(s) <= snap:
                c, s = math.copysign(1.0, c), 0.0
            elif abs(c) <= snap:
                c, s = 0.0, math.copysign(1.0, s)
            if c == 1.0 and s == 0.0:
                return cls()
        return cls((axis, c, s))

    @classmethod
    def from_matrix(cls, R: ArrayLike) -> Rotation:
        """Rotation of a known matrix, shape (3, 3)."""
        rows = [float(r) for r in np.asarray(R, float).ravel()]
        return cls() if rows == [1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0] else cls(Mat3(*rows))

    @classmethod
    def from_quaternion(cls, x: Number, y: Number, z: Number, w: Number) -> Rotation:
        """Rotation of a quaternion of any length but zero."""
        square = x * x + y * y + z * z + w * w
        inverse = 1.0 / square
        twice = inverse + inverse
        x2, y2, z2 = x * twice, y * twice, z * twice
        xx, yy, zz = x * x2, y * y2, z * z2
        xy, xz, yz = x * y2, x * z2, y * z2
        wx, wy, wz = w * x2, w * y2, w * z2
        one = square * inverse  # not a number where the square is zero or infinite
        return cls(
            Mat3(
                one - (yy + zz),
                xy - wz,
                xz + wy,
                xy + wz,
                one - (xx + zz),
                yz - wx,
                xz - wy,
                yz + wx,
                one - (xx + yy),
            )
        )

    def __matmul__(self, other: Rotation) -> Rotation:
        return Rotation(*self.factors, *other.factors)

    @property
    def T(self) -> Rotation:
        """The inverse rotation ``R_BA``."""
        return Rotation(
            *(f.T if isinstance(f, Mat3) else (f[0], f[1], -f[2]) for f in reversed(self.factors))
        )

    def __mul__(self, v: Vec3) -> Vec3:
        """``R_AB v``."""
        for f in reversed(self.factors):
            v = f * v if isinstance(f, Mat3) else _turn(v, *f)
        return v

    def inverse_times(self, v: Vec3) -> Vec3:
        """``R_AB^T v``."""
        for f in self.factors:
            v = f.T * v if isinstance(f, Mat3) else _turn(v, f[0], f[1], -f[2])
        return v

    def turn(self, M: Any) -> Any:
        """``R M R^T`` of a `Mat3` or `Sym3`."""
        for f in reversed(self.factors):
            if not isinstance(f, Mat3):
                M = M.turned(*f)
            elif isinstance(M, Sym3):
                M = Sym3.of(f @ M.full @ f.T)
            else:
                M = f @ M @ f.T
        return M

    @property
    def matrix(self) -> Mat3:
        """The product of all factors."""
        M = Mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        columns = [self * column for column in M.rows()]
        return Mat3(*(x for column in columns for x in column)).T
