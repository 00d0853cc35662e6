"""What closes loops: residual, Jacobian and bias of every cut joint.

A closure joins a frame F on one body, the predecessor, to a frame G on another, the successor. Its
rows are functions of the pose ``X_FG``: components of the position of G in F, and products
``a . b`` of an axis fixed in F with one fixed in G. Rows of K are their exact derivatives::

    K v = 0        K a + K_dot v = 0        M a + h = tau + K^T lam

``lam`` are components of the wrench on the successor: forces along the axes of F at the origin of
G, moments about ``b x a`` [W 5.183-5.197].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robodyn.equations.loops.relative_motion import RelativeMotion, relative_motion
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number, cos, sin
from robodyn.symbolic.spatial import Placement, Twist, Wrench
from robodyn.symbolic.vector import EX, EY, EZ, Vec3

__all__ = [
    "ROWS",
    "Closure",
    "Coupled",
    "Row",
    "closure_rows",
    "closure_wrenches",
    "coupled_row",
    "loop_motion",
]

#: Number of rows of each kind.
ROWS = {
    "fixed": 6,
    "revolute": 5,
    "continuous": 5,
    "prismatic": 5,
    "helical": 5,
    "cylindrical": 4,
    "universal": 4,
    "planar": 3,
    "spherical": 3,
    "floating": 0,
    "distance": 1,
}


@dataclass(frozen=True, eq=False)
class Closure:
    """A joint that was cut.

    Attributes
    ----------
    name, kind : str
    predecessor, successor : int
        Bodies.
    X_PF, X_SG : Placement
        Frames in the bodies, turned so that an axis is z; of a universal joint, the first axis is z
        of F.
    pitch : float [m/rad]
    distance : float [m]
    axis2 : Vec3
        Second axis of a universal joint, in G.
    X_UG : Placement
        Frame G in the frame that the user gave on the successor.
    damping, friction : float
        Viscous and dry, along each freedom.
    """

    name: str
    kind: str
    predecessor: int
    successor: int
    X_PF: Placement
    X_SG: Placement
    pitch: float = 0.0
    distance: float = 0.0
    axis2: Vec3 = EY
    X_UG: Placement = Placement()  # noqa: RUF009  (immutable)
    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True, eq=False)
class Coupled:
    """Coordinates whose weighted sum is constant: gears whose axes are not next to each other.

    Attributes
    ----------
    name : str
    weights : tuple of (q index, v index, float)
    offset : float [rad, m]
    """

    name: str
    weights: tuple[tuple[int, int, float], ...]
    offset: float


@dataclass(frozen=True, eq=False)
class Row:
    """One scalar constraint.

    Attributes
    ----------
    residual : Number [m, rad]
    jacobian : dict of v index to Number
    bias : Number
        ``K_dot v``.
    offset : Number
        Possible velocities have ``K v = -offset``.
    """

    residual: Number
    jacobian: dict[int, Number]
    bias: Number
    offset: Number = 0.0


def loop_motion(model: MechanismModel, state: State, closure: Closure) -> RelativeMotion:
    """Motion of G seen from F."""
    frames = (closure.successor, closure.X_SG), (closure.predecessor, closure.X_PF)
    return relative_motion(model, state, *frames)


def _along(m: RelativeMotion, e: Vec3) -> Row:
    """Component of the position along an axis of F."""
    slopes = {k: e.dot(v) for k, (v, _) in m.columns.items()}
    return Row(e.dot(m.X.p), slopes, e.dot(m.dv))


def _product(m: RelativeMotion, a: Vec3, b_G: Vec3, at_zero: float = 0.0) -> Row:
    """``a . b - at_zero`` of an axis of F and one of G."""
    b = m.X.R * b_G
    axis = b.cross(a)
    turning = m.w.cross(b).cross(a)
    slopes = {k: axis.dot(w) for k, (_, w) in m.columns.items()}
    return Row(a.dot(b) - at_zero, slopes, turning.dot(m.w) + axis.dot(m.dw))


def _turned(row: Row) -> Row:
    return Row(-row.residual, {k: -x for k, x in row.jacobian.items()}, -row.bias)


def _position(m: RelativeMotion) -> list[Row]:
    return [_along(m, e) for e in (EX, EY, EZ)]


def _parallel(m: RelativeMotion) -> list[Row]:
    """Z of G along z of F: the rows turn about x and y."""
    return [_turned(_product(m, EY, EZ)), _product(m, EX, EZ)]


def _aligned(m: RelativeMotion) -> list[Row]:
    return [*_parallel(m), _turned(_product(m, EX, EY))]


def _helical(m: RelativeMotion, closure: Closure) -> list[Row]:
    """Z advances with the angle: ``c sin(z / c - angle) = 0`` has the slope of ``z - c angle``."""
    c, z = closure.pitch, _along(m, EZ)
    if not c:
        return [_along(m, EX), _along(m, EY), z, *_parallel(m)]
    cosine, sine = m.X.R.matrix.xx, m.X.R.matrix.yx
    residual = (sin(z.residual * (1.0 / c)) * cosine - cos(z.residual * (1.0 / c)) * sine) * c
    spins = {k: w.z for k, (_, w) in m.columns.items()}
    slope = {k: x - c * spins[k] for k, x in z.jacobian.items()}
    row = Row(residual, slope, z.bias - c * m.dw.z)
    return [_along(m, EX), _along(m, EY), *_parallel(m), row]


def _distance(m: RelativeMotion, closure: Closure) -> list[Row]:
    """``(p . p - d^2) / 2 d``: the slope is the component of the velocity along the line."""
    d = closure.distance
    inverse = 1.0 / d
    return [
        Row(
            (m.X.p.dot(m.X.p) - d * d) * (0.5 * inverse),
            {k: m.X.p.dot(v) * inverse for k, (v, _) in m.columns.items()},
            (m.v.dot(m.v) + m.X.p.dot(m.dv)) * inverse,
        )
    ]


def _universal(m: RelativeMotion, closure: Closure) -> list[Row]:
    angle = float(EZ.dot(closure.axis2))  # type: ignore[arg-type]  # known
    return [*_position(m), _product(m, EZ, closure.axis2, angle)]


_KINDS: dict[str, Callable[[RelativeMotion, Closure], list[Row]]] = {
    "fixed": lambda m, c: [*_position(m), *_aligned(m)],
    "revolute": lambda m, c: [*_position(m), *_parallel(m)],
    "continuous": lambda m, c: [*_position(m), *_parallel(m)],
    "prismatic": lambda m, c: [_along(m, EX), _along(m, EY), *_aligned(m)],
    "helical": _helical,
    "cylindrical": lambda m, c: [_along(m, EX), _along(m, EY), *_parallel(m)],
    "universal": _universal,
    "planar": lambda m, c: [_along(m, EZ), *_parallel(m)],
    "spherical": lambda m, c: _position(m),
    "floating": lambda m, c: [],
    "distance": _distance,
}


def closure_rows(model: MechanismModel, state: State, closure: Closure) -> list[Row]:
    """Rows of one closure."""
    return _KINDS[closure.kind](loop_motion(model, state, closure), closure)


def coupled_row(coupling: Coupled, q: Sequence[Number]) -> Row:
    """The row of a coupling: linear."""
    total: Number = -coupling.offset
    slopes: dict[int, Number] = {}
    for q_index, v_index, weight in coupling.weights:
        total = total + q[q_index] * weight
        slopes[v_index] = slopes.get(v_index, 0.0) + weight
    return Row(total, slopes, 0.0)


def closure_wrenches(
    model: MechanismModel, state: State, closure: Closure, lam: Sequence[Number]
) -> tuple[Wrench, Wrench, Wrench]:
    """Multipliers of a closure as wrenches.

    Returns
    -------
    on_predecessor, on_successor : Wrench
        About the bodies' origins, in their axes.
    in_joint : Wrench
        On the successor, about the origin of the user's frame there, in its axes.
    """
    m = loop_motion(model, state, closure)
    f, n = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    # a row is linear in the twist of G seen from F: its coefficients are force and moment
    for k, x in enumerate(lam):
        force, moment = _direction(m, closure, k)
        f, n = f + force * x, n + moment * x
    in_G = Wrench(m.X.R.inverse_times(f), m.X.R.inverse_times(n))
    # the predecessor feels the opposite at the same point, which is p in F
    in_F = Wrench(-f, -(n + m.X.p.cross(f)))
    return (
        closure.X_PF.wrench_out(in_F),
        closure.X_SG.wrench_out(in_G),
        closure.X_UG.wrench_out(in_G),
    )


def _direction(m: RelativeMotion, closure: Closure, row: int) -> tuple[Vec3, Vec3]:
    """Force and moment of a unit multiplier: the row for unit velocities along and about F."""
    units = {
        axis: Twist(v=e) if axis < 3 else Twist(w=e)
        for axis, e in enumerate((EX, EY, EZ, EX, EY, EZ))
    }
    probe = dataclasses.replace(m, columns={axis: (s.v, s.w) for axis, s in units.items()})
    slopes = _KINDS[closure.kind](probe, closure)[row].jacobian
    return Vec3(slopes[0], slopes[1], slopes[2]), Vec3(slopes[3], slopes[4], slopes[5])
