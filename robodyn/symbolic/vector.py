"""3-vectors and 3x3 matrices over numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robodyn.symbolic.scalar import Number


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
