"""Constraint rows between the two bodies of a joint that was cut.

A cut joint joins a frame F on one body to a frame G on another. Its rows are functions of the pose
``X_FG``: components of the position of G in F, and products ``a . b`` of an axis fixed in F with
one fixed in G. A kind of joint with an axis has it along z of both frames, its first axis along z
of F where it has two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from robodyn.array_types import FloatArray
from robodyn.joints.common.jet import Jet
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ, Vec3


@dataclass(frozen=True, eq=False)
class RelativeMotion:
    """Motion of G seen from F, in the axes of F; velocities are those of the origin of G.

    X: ``X_FG``.
    v, w, dv, dw: Velocity, angular velocity, and their rates at zero accelerations of all joints.
    columns: ``v`` and ``w`` a unit of each speed.
    t: The time [s].
    """

    X: Placement
    v: Vec3
    w: Vec3
    dv: Vec3
    dw: Vec3
    columns: Mapping[int, tuple[Vec3, Vec3]]
    t: Number = 0.0


@dataclass(frozen=True, eq=False)
class CutGeometry:
    """What is known of a cut joint before it moves.

    axis2: Second axis of a kind that has one, in G.
    constants: The parameters of the kind.
    """

    axis2: Vec3 = EY
    constants: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Cut:
    """A kind of joint where it is cut.

    rows: The constraints, one for each degree of freedom that the joint takes away.
    gap: What they ask, measured so that it is zero only where the joint is closed, with the same
        slopes there (see `gap`). ``None``: the rows themselves.
    axes: Its motion subspace in G at a pose ``X_FG``, along which damping and friction act; none
        where they do not.
    position: Its coordinates, shape (..., nq), from poses ``X_FG`` (..., 4, 4) at which it is
        closed. ``None`` of a kind without coordinates.
    vector: The rows are those of `position` alone, which may be taken along any axes.
    """

    rows: Callable[[RelativeMotion, CutGeometry], list[Row]]
    axes: Callable[[Placement, CutGeometry], list[Twist]] = lambda X, cut: []
    gap: Callable[[RelativeMotion, CutGeometry], list[Row]] | None = None
    position: Callable[[FloatArray, CutGeometry], FloatArray] | None = None
    vector: bool = False


def position_along(m: RelativeMotion, e: Vec3) -> Jet:
    """Component of the position of G along an axis of F."""
    slopes = {k: e.dot(v) for k, (v, _) in m.columns.items()}
    return Jet(e.dot(m.X.p), slopes, e.dot(m.v), e.dot(m.dv))


def product(m: RelativeMotion, a: Vec3, b_G: Vec3) -> Jet:
    """``a . b`` of an axis of F and one of G."""
    b = m.X.R * b_G
    axis = b.cross(a)
    slopes = {k: axis.dot(w) for k, (_, w) in m.columns.items()}
    bias = m.w.cross(b).cross(a).dot(m.w) + axis.dot(m.dw)
    return Jet(a.dot(b), slopes, axis.dot(m.w), bias)


def along(m: RelativeMotion, e: Vec3) -> Row:
    """No way along an axis of F."""
    return position_along(m, e).row


def product_row(m: RelativeMotion, a: Vec3, b_G: Vec3, at_zero: float = 0.0) -> Row:
    """``a . b - at_zero`` of an axis of F and one of G."""
    return (product(m, a, b_G) - at_zero).row


def position(m: RelativeMotion) -> list[Row]:
    """The origins coincide."""
    return [along(m, e) for e in (EX, EY, EZ)]


def parallel(m: RelativeMotion) -> list[Row]:
    """Z of G along z of F: the rows turn about x and y."""
    return [(-product(m, EY, EZ)).row, product(m, EX, EZ).row]


def aligned(m: RelativeMotion) -> list[Row]:
    """All axes of G along those of F."""
    return [*parallel(m), (-product(m, EX, EY)).row]
