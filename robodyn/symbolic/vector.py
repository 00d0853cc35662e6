"""3-vectors, 3x3 matrices over numbers, and rotations that remember how they were made.

A rotation ``R_AB`` is a product of turns about single axes, or a full matrix where it came from a
quaternion. Turning a vector about one axis costs four products instead of nine, and a quarter turn
costs none, so the factors are applied one by one and never multiplied out unless asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.symbolic.scalar import Number, cos, sin


class Vec3:
    """A vector in the axes of one frame."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: Number, y: Number, z: Number) -> None:
        self.x, self.y, self.z = x, y, z

    @classmethod
    def of(cls, values: Sequence[Number]) -> Vec3:
        """Vector of three numbers; numpy scalars become floats."""
        x, y, z = (v if hasattr(v, "edge") else float(v) for v in values)
        return cls(x, y, z)

    def __iter__(self) -> Iterator[Number]:
        return iter((self.x, self.y, self.z))

    def __add__(self, other: Vec3) -> Vec3:
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Number) -> Vec3:
        return Vec3(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other: Vec3) -> Number:
        """Scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vec3) -> Vec3:
        """Vector product ``self x other``."""
        return Vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def outer(self, other: Vec3) -> Mat3:
        """Dyad ``self other^T``."""
        return Mat3(*(a * b for a in self for b in other))


ZERO3 = Vec3(0.0, 0.0, 0.0)
EX, EY, EZ = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)


class Mat3:
    """A 3x3 matrix, elements by rows."""

    __slots__ = ("xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz")

    def __init__(
        self,
        xx: Number,
        xy: Number,
        xz: Number,
        yx: Number,
        yy: Number,
        yz: Number,
        zx: Number,
        zy: Number,
        zz: Number,
    ) -> None:
        self.xx, self.xy, self.xz = xx, xy, xz
        self.yx, self.yy, self.yz = yx, yy, yz
        self.zx, self.zy, self.zz = zx, zy, zz

    @classmethod
    def zero(cls) -> Mat3:
        """The zero matrix."""
        return cls(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @classmethod
    def skew(cls, a: Vec3) -> Mat3:
        """``[a]x``, so that ``[a]x b = a x b``."""
        return cls(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)

    def __iter__(self) -> Iterator[Number]:
        return iter(
            (self.xx, self.xy, self.xz, self.yx, self.yy, self.yz, self.zx, self.zy, self.zz)
        )

    def rows(self) -> tuple[Vec3, Vec3, Vec3]:
        """The three rows."""
        return (
            Vec3(self.xx, self.xy, self.xz),
            Vec3(self.yx, self.yy, self.yz),
            Vec3(self.zx, self.zy, self.zz),
        )

    @property
    def T(self) -> Mat3:
        """The transpose."""
        return Mat3(self.xx, self.yx, self.zx, self.xy, self.yy, self.zy, self.xz, self.yz, self.zz)

    def __add__(self, other: Mat3) -> Mat3:
        return Mat3(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Mat3) -> Mat3:
        return Mat3(*(a - b for a, b in zip(self, other, strict=True)))

    def __neg__(self) -> Mat3:
        return Mat3(*(-a for a in self))

    def scaled(self, factor: Number) -> Mat3:
        """The matrix times a number."""
        return Mat3(*(a * factor for a in self))

    def __mul__(self, v: Vec3) -> Vec3:
        x, y, z = self.rows()
        return Vec3(x.dot(v), y.dot(v), z.dot(v))

    def __matmul__(self, other: Mat3) -> Mat3:
        columns = other.T.rows()
        return Mat3(*(row.dot(column) for row in self.rows() for column in columns))

    def turned(self, axis: int, c: Number, s: Number) -> Mat3:
        """``R M R^T`` for a rotation by an angle (``c``, ``s``) about one axis.

        The antisymmetric part of the block in the plane of rotation does not change, and
        ``c^2 + s^2 = 1`` saves the rest: four products for the block instead of eight.
        """
        if axis == 0:
            a, b, e, d = self.yy, self.yz, self.zy, self.zz
            px, py, rx, ry, w = self.xy, self.xz, self.yx, self.zx, self.xx
        elif axis == 1:
            a, b, e, d = self.zz, self.zx, self.xz, self.xx
            px, py, rx, ry, w = self.yz, self.yx, self.zy, self.xy, self.yy
        else:
            a, b, e, d = self.xx, self.xy, self.yx, self.yy
            px, py, rx, ry, w = self.zx, self.zy, self.xz, self.yz, self.zz
        t = s * (a - d) + c * (b + e)
        u, k = s * t, c * t
        a, b, e, d = a - u, k - e, k - b, d + u
        px, py = c * px - s * py, s * px + c * py
        rx, ry = c * rx - s * ry, s * rx + c * ry
        if axis == 0:
            return Mat3(w, px, py, rx, a, b, ry, e, d)
        if axis == 1:
            return Mat3(d, ry, e, py, w, px, b, rx, a)
        return Mat3(a, b, rx, e, d, ry, px, py, w)


class Sym3:
    """A symmetric 3x3 matrix."""

    __slots__ = ("xx", "xy", "xz", "yy", "yz", "zz")

    def __init__(
        self, xx: Number, xy: Number, xz: Number, yy: Number, yz: Number, zz: Number
    ) -> None:
        self.xx, self.xy, self.xz, self.yy, self.yz, self.zz = xx, xy, xz, yy, yz, zz

    @classmethod
    def zero(cls) -> Sym3:
        """The zero matrix."""
        return cls(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @classmethod
    def diagonal(cls, d: Number) -> Sym3:
        """``d`` times the unit matrix."""
        return cls(d, 0.0, 0.0, d, 0.0, d)

    @classmethod
    def of(cls, M: Mat3) -> Sym3:
        """A matrix that is known to be symmetric."""
        return cls(M.xx, M.xy, M.xz, M.yy, M.yz, M.zz)

    def __iter__(self) -> Iterator[Number]:
        return iter((self.xx, self.xy, self.xz, self.yy, self.yz, self.zz))

    @property
    def full(self) -> Mat3:
        """As a general matrix."""
        return Mat3(self.xx, self.xy, self.xz, self.xy, self.yy, self.yz, self.xz, self.yz, self.zz)

    def __add__(self, other: Sym3) -> Sym3:
        return Sym3(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Sym3) -> Sym3:
        return Sym3(*(a - b for a, b in zip(self, other, strict=True)))

    def __mul__(self, v: Vec3) -> Vec3:
        return self.full * v

    def turned(self, axis: int, c: Number, s: Number) -> Sym3:
        """``R S R^T`` for a rotation by an angle (``c``, ``s``) about one axis."""
        if axis == 0:
            a, b, d, px, py, w = self.yy, self.yz, self.zz, self.xy, self.xz, self.xx
        elif axis == 1:
            a, b, d, px, py, w = self.zz, self.xz, self.xx, self.yz, self.xy, self.yy
        else:
            a, b, d, px, py, w = self.xx, self.xy, self.yy, self.xz, self.yz, self.zz
        t = s * (a - d) + c * (b + b)
        u = s * t
        a, b, d = a - u, c * t - b, d + u
        px, py = c * px - s * py, s * px + c * py
        if axis == 0:
            return Sym3(w, px, py, a, b, d)
        if axis == 1:
            return Sym3(d, py, b, w, px, a)
        return Sym3(a, b, px, d, py, w)


def skew_square(w: Vec3) -> Sym3:
    """``[w]x [w]x``."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    return Sym3(-(yy + zz), w.x * w.y, w.x * w.z, -(xx + zz), w.y * w.z, -(xx + yy))


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
