"""Planar loops that can fold: postures with all bars in one line that they can go through.

With all but two joints known, a planar loop is a triangle, and its area is the root of a number
that vanishes where the loop lies flat. Mostly the number is negative beyond: the loop does not
close there. Where two known vectors u and v make up the base of the triangle, and their lengths are
those of its sides, it is a square, and the root is ``u x v`` itself, which changes its sign: so a
parallelogram remains a parallelogram, a kite a kite. Where only the sum or the difference of the
lengths agree the number touches zero, and has no root that is smooth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number
from robodyn.tolerances import LOOP_GEOMETRY, NEARLY_FOLDING

#: Known joints that turn a vector in the plane, each with the sense of its axis: body, +1 or -1.
Turns = tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class Part:
    """A vector of constant length.

    turns: The joints that turn it.
    r, p: Where these are at zero, in numbers; and where they are.
    """

    turns: Turns
    r: Planar
    p: Planar

    @property
    def length(self) -> float:
        """Its length."""
        return math.hypot(*_numbers(self.r))


@dataclass(frozen=True, eq=False)
class Sum:
    """A vector, and the parts it is the sum of.

    parts: One of each orientation; ``None`` if it is not a sum of parts of constant length.
    """

    p: Planar = Planar()
    parts: Mapping[Turns, Part] | None = None

    @classmethod
    def of(cls, turns: Turns, r: Planar, p: Planar) -> Sum:
        """A vector of constant length."""
        return cls(p, {tuple(sorted(turns)): Part(tuple(sorted(turns)), r, p)})

    def __add__(self, other: Sum) -> Sum:
        p = self.p + other.p
        if self.parts is None or other.parts is None:
            return Sum(p)
        parts = dict(self.parts)
        for turns, x in other.parts.items():
            y = parts.get(turns)
            parts[turns] = x if y is None else Part(turns, x.r + y.r, x.p + y.p)
        return Sum(p, parts)

    def __neg__(self) -> Sum:
        parts = self.parts and {k: Part(k, -x.r, -x.p) for k, x in self.parts.items()}
        return Sum(-self.p, parts)

    def __sub__(self, other: Sum) -> Sum:
        return self + -other

    def turned(self, R: Planar, turns: Turns) -> Sum:
        """The vector turned by R, which is the product of the turns of some joints."""
        parts = self.parts and {
            own: Part(own, x.r, R @ x.p)
            for k, x in self.parts.items()
            for own in (tuple(sorted((*k, *turns))),)
        }
        return Sum(R @ self.p, parts)

    def alone(self, size: float) -> Part | None:
        """Its only part that is not zero, compared with a size; ``None`` if there is not one."""
        found = self._parts(size)
        return found[0] if len(found) == 1 else None

    def pair(self, size: float) -> tuple[Part, Part] | None:
        """Its two parts that are not zero; ``None`` if there are not two."""
        found = self._parts(size)
        return (found[0], found[1]) if len(found) == 2 else None

    def _parts(self, size: float) -> list[Part]:
        return [x for x in (self.parts or {}).values() if x.length > LOOP_GEOMETRY * size]

    @property
    def size(self) -> float:
        """Sum of the lengths of its parts."""
        return sum(x.length for x in (self.parts or {}).values())


@dataclass(frozen=True, eq=False)
class Fold:
    """Flat postures of a loop: where two vectors that known joints turn are parallel.

    flat: Whether the loop lies flat where they have the same direction, and the opposite one.
    smooth: Whether it does in both, so exactly that the area is their vector product.
    scales: Lengths of the sides of the triangle over those of the vectors, which differ by
        rounding.
    """

    one: Part
    other: Part
    flat: tuple[bool, bool]
    smooth: bool
    scales: tuple[float, float] = (1.0, 1.0)

    @property
    def across(self) -> Number:
        """Their vector product."""
        return self.one.p.cross(self.other.p)

    @property
    def angle(self) -> float:
        """From one to the other where all joints are at zero [rad]."""
        return math.remainder(
            math.atan2(*_numbers(self.other.r)[::-1]) - math.atan2(*_numbers(self.one.r)[::-1]),
            2.0 * math.pi,
        )


def fold_of_sides(base: Sum, w_1: Sum, w_2: Sum) -> Fold | None:
    """Of a triangle with the sides w_1 and w_2: u and v with ``base = u + v``.

    If it is smooth they have the lengths of w_2 and w_1.
    """
    size = base.size + w_1.size + w_2.size
    pair, first, second = base.pair(size), w_1.alone(size), w_2.alone(size)
    if pair is None or first is None or second is None:
        return None
    u, v = sorted(pair, key=lambda x: abs(x.length - first.length), reverse=True)
    sides = first.length + second.length, abs(first.length - second.length)
    gaps = [
        abs(x - y)
        for x, y in zip(sides, (u.length + v.length, abs(u.length - v.length)), strict=True)
    ]
    return _fold(u, v, gaps, size, (second.length / u.length, first.length / v.length))


def fold_of_slide(m: Sum, d: Part, length: Sum) -> Fold | None:
    """Of a slide along d whose end, at ``m + x d``, is as far away as another vector is long."""
    size = m.size + length.size
    own, parts = length.alone(size), m.parts
    if own is None or parts is None:
        return None
    moving = [x for k, x in parts.items() if k != d.turns and x.length > LOOP_GEOMETRY * size]
    if len(moving) != 1:
        return None
    beside = parts.get(d.turns)
    offset = 0.0 if beside is None else float(d.r.cross(beside.r))  # type: ignore[arg-type]
    (u,) = moving
    left = Part(u.turns, u.r.left, u.p.left)
    gaps = [abs(abs(offset + side * u.length) - own.length) for side in (-1.0, 1.0)]
    return _fold(d, left, gaps, size)


def _fold(
    one: Part,
    other: Part,
    gaps: Sequence[float],
    size: float,
    scales: tuple[float, float] = (1.0, 1.0),
) -> Fold | None:
    first, second = (gap <= NEARLY_FOLDING * size for gap in gaps)
    if not (first or second):
        return None
    smooth = all(gap <= LOOP_GEOMETRY * size for gap in gaps)
    return Fold(one, other, (first, second), smooth, scales)


def _numbers(r: Planar) -> tuple[float, float]:
    return float(r.x), float(r.y)  # type: ignore[arg-type]
