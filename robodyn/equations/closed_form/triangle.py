"""Triangles that close a planar loop: two unknown joints, in closed form.

Each of the two chains of a loop is a row of rigid pieces with unknown joints between them. Where a
triangle cannot close, the square root is of a negative number, and the result is not a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number, sqrt

__all__ = ["Piece", "UnknownJoint", "close"]


@dataclass(frozen=True, eq=False)
class UnknownJoint:
    """A joint to be solved for; ``direction`` as that of `linkage.Link`."""

    body: int
    turning: bool
    direction: Planar


@dataclass(frozen=True, eq=False)
class Piece:
    """A rigid part of a chain.

    Attributes
    ----------
    p, R : Planar
        Its end in the axes at its beginning; axes at its end in those at its beginning.
    joint : UnknownJoint or None
        At its end; ``None`` for the last piece, which ends where the loop closes.
    """

    p: Planar
    R: Planar
    joint: UnknownJoint | None


def close(one: Sequence[Piece], other: Sequence[Piece], branch: float) -> dict[int, Planar]:
    """Places of the two unknown joints: cosine and sine, or displacement and zero."""
    if len(one) == len(other) == 2:
        return _two_arms(one, other, branch)
    return _one_arm(one[0].p, other, branch) if len(one) == 1 else _one_arm(other[0].p, one, branch)


def _two_arms(one: Sequence[Piece], other: Sequence[Piece], branch: float) -> dict[int, Planar]:
    """An unknown joint in each chain."""
    a, b = one[0].joint, other[0].joint
    assert a is not None
    assert b is not None
    if b.turning and not a.turning:
        return _two_arms(other, one, branch)
    P_1, R_1, w_1 = one[0].p, one[0].R, one[1].p
    P_2, R_2, w_2 = other[0].p, other[0].R, other[1].p
    D = P_2 - P_1
    if not a.turning:  # both slide
        return _two_slides((a, R_1 @ a.direction), (b, -(R_2 @ b.direction)),
                           D + R_2 @ w_2 - R_1 @ w_1)  # fmt: skip
    if b.turning:
        side = _side(D, w_1.squared, w_2.squared, branch)
        return {
            a.body: _own(a, R_1.back @ _turn(w_1, side)),
            b.body: _own(b, R_2.back @ _turn(w_2, side - D)),
        }
    m, d = D + R_2 @ w_2, R_2 @ b.direction
    x = _slide(m, d, w_1.squared, branch)
    return {a.body: _own(a, R_1.back @ _turn(w_1, m + d * x)), b.body: Planar(x)}


def _one_arm(end: Planar, pieces: Sequence[Piece], branch: float) -> dict[int, Planar]:
    """Both unknown joints in one chain, whose end is known."""
    first, second, third = pieces
    a, b = first.joint, second.joint
    assert a is not None
    assert b is not None
    R_1, R_2, D = first.R, second.R, end - first.p
    w_1, w_2 = second.p, third.p
    if a.turning and b.turning:
        side = _side(D, w_1.squared, w_2.squared, branch)
        turned = _turn(w_1, side)
        return {
            a.body: _own(a, R_1.back @ turned),
            b.body: _own(b, (turned @ R_2).back @ _turn(w_2, D - side)),
        }
    if a.turning:
        m, d = w_1 + R_2 @ w_2, R_2 @ b.direction
        x = _slide(m, d, D.squared, branch)
        return {a.body: _own(a, R_1.back @ _turn(m + d * x, D)), b.body: Planar(x)}
    if b.turning:
        m, d = R_1 @ w_1 - D, R_1 @ a.direction
        x = _slide(m, d, w_2.squared, branch)
        turned = _turn(w_2, -(m + d * x))
        return {a.body: Planar(x), b.body: _own(b, (R_1 @ R_2).back @ turned)}
    R = R_1 @ R_2
    return _two_slides((a, R_1 @ a.direction), (b, R @ b.direction), D - R_1 @ w_1 - R @ w_2)


def _own(joint: UnknownJoint, turn: Planar) -> Planar:
    return Planar(turn.x, turn.y * joint.direction.y)


def _turn(start: Planar, end: Planar) -> Planar:
    """Rotation from one vector to another of the same length."""
    return (start.back @ end) * (1.0 / start.squared)


def _side(D: Planar, first: Number, second: Number, branch: float) -> Planar:
    """Side of a triangle on base ``D``: squares of the sides are given; left of D for +1."""
    n = D.squared
    along = (first + n - second) * 0.5
    across = sqrt(first * n - along * along) * branch
    return (D @ Planar(along, across)) * (1.0 / n)


def _slide(m: Planar, d: Planar, length: Number, branch: float) -> Number:
    """Displacement ``x`` with ``|m + d x|^2 = length``: the larger one for +1."""
    along, across = d.dot(m), d.cross(m)
    return sqrt(length - across * across) * branch - along


def _two_slides(
    a: tuple[UnknownJoint, Planar], b: tuple[UnknownJoint, Planar], gap: Planar
) -> dict[int, Planar]:
    inverse = 1.0 / a[1].cross(b[1])
    return {
        a[0].body: Planar(gap.cross(b[1]) * inverse),
        b[0].body: Planar(a[1].cross(gap) * inverse),
    }
