"""Triangles that close a planar loop: two unknown joints, in closed form.

Each of the two chains of a loop is a row of rigid pieces with unknown joints between them. Where a
triangle cannot close, the square root is of a negative number, and the result is not a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robodyn.equations.closed_form.folding import (
    Fold,
    Part,
    Sum,
    Turns,
    fold_of_sides,
    fold_of_slide,
)
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number, sqrt


@dataclass(frozen=True, eq=False)
class UnknownJoint:
    """A joint to be solved for; ``direction`` as that of `linkage.Link`."""

    body: int
    turning: bool
    direction: Planar


@dataclass(frozen=True, eq=False)
class Piece:
    """A rigid part of a chain.

    end: In the axes at its beginning.
    R: Axes at its end in those at its beginning.
    turns: Joints within it that turn.
    joint: At its end; ``None`` for the last piece, which ends where the loop closes.
    """

    end: Sum
    R: Planar
    turns: Turns
    joint: UnknownJoint | None

    def beyond(self, x: Sum) -> Sum:
        """A vector in the axes at its end, in those at its beginning."""
        return x.turned(self.R, self.turns)

    @property
    def along(self) -> Part:
        """Direction of the sliding joint at its end, in the axes at its beginning."""
        assert self.joint is not None
        turns, d = tuple(sorted(self.turns)), self.joint.direction
        return Part(turns, d, self.R @ d)


Places = dict[int, Planar]


@dataclass(frozen=True, eq=False)
class Triangle:
    """A triangle in which two joints are unknown.

    fold: How it can lie flat and go through; ``None`` where it does not close beyond.
    close: From +1 or -1, which way to close it, to places of the unknown joints: cosine and sine,
        or displacement and zero. Of a smooth fold the way goes with `Fold.across`.
    """

    fold: Fold | None
    close: Callable[[float], Places]


def _sides(
    fold: Fold | None,
    D: Planar,
    first: Planar,
    second: Planar,
    places: Callable[[Planar, Planar], Places],
) -> Triangle:
    """Both turn: sides of known lengths on a base D."""

    def close(branch: float) -> Places:
        n = D.squared
        if fold is None or not fold.smooth:
            side = _side(D, n, first.squared, second.squared, branch)
            return places(side, D - side)
        v = fold.other
        side = v.p if branch > 0.0 else (D @ D @ v.p.back) * (1.0 / n)
        of_second, of_first = fold.scales
        return places(side * of_first, (D - side) * of_second)

    return Triangle(fold, close)


def _turn_and_slide(
    fold: Fold | None,
    m: Planar,
    d: Planar,
    squared: Number,
    places: Callable[[Number, Planar], Places],
) -> Triangle:
    """One turns and one slides: ``m + x d`` is as long as another vector."""

    def close(branch: float) -> Places:
        along, across = d.dot(m), d.cross(m)
        smooth = fold is not None and fold.smooth
        root = fold.across if fold is not None and smooth else sqrt(squared - across * across)
        x = root * branch - along
        return places(x, m + d * x)

    return Triangle(fold, close)


def triangle(one: Sequence[Piece], other: Sequence[Piece]) -> Triangle:
    """The triangle of two chains."""
    if len(one) == len(other) == 2:
        return _two_arms(one, other)
    return _one_arm(one[0].end, other) if len(one) == 1 else _one_arm(other[0].end, one)


def _two_arms(one: Sequence[Piece], other: Sequence[Piece]) -> Triangle:
    """An unknown joint in each chain."""
    (first, w_1), (second, w_2) = ((x[0], x[1].end) for x in (one, other))
    a, b = first.joint, second.joint
    assert a is not None
    assert b is not None
    if b.turning and not a.turning:
        return _two_arms(other, one)
    D, R_1, R_2 = second.end - first.end, first.R, second.R
    if not a.turning:  # both slide
        gap = D + second.beyond(w_2) - first.beyond(w_1)
        return _two_slides((a, first.along.p), (b, -second.along.p), gap.p)
    if b.turning:

        def turned(side: Planar, rest: Planar) -> Places:
            return {
                a.body: _own(a, R_1.back @ _turn(w_1.p, side)),
                b.body: _own(b, R_2.back @ _turn(w_2.p, -rest)),
            }

        return _sides(fold_of_sides(D, w_1, w_2), D.p, w_1.p, w_2.p, turned)
    m, d = D + second.beyond(w_2), second.along

    def slid(x: Number, end: Planar) -> Places:
        return {a.body: _own(a, R_1.back @ _turn(w_1.p, end)), b.body: Planar(x)}

    return _turn_and_slide(fold_of_slide(m, d, w_1), m.p, d.p, w_1.p.squared, slid)


def _one_arm(end: Sum, pieces: Sequence[Piece]) -> Triangle:
    """Both unknown joints in one chain, whose end is known."""
    first, second, third = pieces
    a, b = first.joint, second.joint
    assert a is not None
    assert b is not None
    R_1, R_2, D = first.R, second.R, end - first.end
    w_1, w_2 = second.end, third.end
    if a.turning and b.turning:

        def turned(side: Planar, rest: Planar) -> Places:
            turn = _turn(w_1.p, side)
            return {
                a.body: _own(a, R_1.back @ turn),
                b.body: _own(b, (turn @ R_2).back @ _turn(w_2.p, rest)),
            }

        return _sides(fold_of_sides(D, w_1, w_2), D.p, w_1.p, w_2.p, turned)
    if a.turning:
        m, d = w_1 + second.beyond(w_2), second.along

        def behind(x: Number, end: Planar) -> Places:
            return {a.body: _own(a, R_1.back @ _turn(end, D.p)), b.body: Planar(x)}

        return _turn_and_slide(fold_of_slide(m, d, D), m.p, d.p, D.p.squared, behind)
    if b.turning:
        m, d = first.beyond(w_1) - D, first.along

        def ahead(x: Number, end: Planar) -> Places:
            turn = _turn(w_2.p, -end)
            return {a.body: Planar(x), b.body: _own(b, (R_1 @ R_2).back @ turn)}

        return _turn_and_slide(fold_of_slide(m, d, w_2), m.p, d.p, w_2.p.squared, ahead)
    R = R_1 @ R_2
    gap = D.p - R_1 @ w_1.p - R @ w_2.p
    return _two_slides((a, first.along.p), (b, R @ b.direction), gap)


def _own(joint: UnknownJoint, turn: Planar) -> Planar:
    return Planar(turn.x, turn.y * joint.direction.y)


def _turn(start: Planar, end: Planar) -> Planar:
    """Rotation from one vector to another of the same length."""
    return (start.back @ end) * (1.0 / start.squared)


def _side(D: Planar, n: Number, first: Number, second: Number, branch: float) -> Planar:
    """Side of a triangle on base ``D``: squares of the sides are given; left of D for +1."""
    along = (first + n - second) * 0.5
    across = sqrt(first * n - along * along) * branch
    return (D @ Planar(along, across)) * (1.0 / n)


def _two_slides(
    a: tuple[UnknownJoint, Planar], b: tuple[UnknownJoint, Planar], gap: Planar
) -> Triangle:
    """Both slide: one way to close."""

    def close(branch: float) -> Places:
        inverse = 1.0 / a[1].cross(b[1])
        return {
            a[0].body: Planar(gap.cross(b[1]) * inverse),
            b[0].body: Planar(a[1].cross(gap) * inverse),
        }

    return Triangle(None, close)
