"""Vectors and rotations of a plane, as complex numbers over numbers of equations."""

from __future__ import annotations

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number


@dataclass(frozen=True, eq=False)
class Planar:
    """``x + i y``: a vector, or the rotation by an angle whose cosine is x and whose sine is y."""

    x: Number = 0.0
    y: Number = 0.0

    def __add__(self, other: Planar) -> Planar:
        return Planar(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Planar) -> Planar:
        return Planar(self.x - other.x, self.y - other.y)

    def __neg__(self) -> Planar:
        return Planar(-self.x, -self.y)

    def __matmul__(self, other: Planar) -> Planar:
        """Product of complex numbers: turns a vector, or one rotation after another."""
        return Planar(
            self.x * other.x - self.y * other.y,
            self.x * other.y + self.y * other.x,
        )

    def __mul__(self, factor: Number) -> Planar:
        return Planar(self.x * factor, self.y * factor)

    @property
    def back(self) -> Planar:
        """The conjugate: the inverse rotation."""
        return Planar(self.x, -self.y)

    @property
    def left(self) -> Planar:
        """A quarter turn ahead."""
        return Planar(-self.y, self.x)

    @property
    def squared(self) -> Number:
        """Length squared."""
        return self.x * self.x + self.y * self.y

    def dot(self, other: Planar) -> Number:
        """Scalar product."""
        return self.x * other.x + self.y * other.y

    def cross(self, other: Planar) -> Number:
        """Vector product, which is normal to the plane."""
        return self.x * other.y - self.y * other.x
