"""What closes loops: residual, Jacobian and bias of every cut joint.

A closure joins a frame F on one body, the predecessor, to a frame G on another, the successor. Its
rows are functions of the pose ``X_FG``: components of the position of G in F, and products
``a . b`` of an axis fixed in F with one fixed in G. Rows of K are their exact derivatives::

    K v = 0        K a + K_dot v = 0        M a + h = tau + K^T lam

``lam`` are components of the wrench on the successor: forces along the axes of F at the origin of
G, moments about ``b x a`` [W 5.183-5.197].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robodyn.equations import frame_motion as fm
from robodyn.equations.mechanism import MechanismModel
from robodyn.equations.state import State
from robodyn.symbolic.scalar import Number, cos, sin
from robodyn.symbolic.spatial import Placement, Twist, Wrench
from robodyn.symbolic.vector import EX, EY, EZ, Mat3, Vec3

__all__ = ["ROWS", "Closure", "Coupled", "Row", "closure_rows", "closure_wrenches", "coupled_row"]

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


@dataclass(frozen=True, eq=False)
class _Relative:
    """Motion of G seen from F, in the axes of F."""

    R: Mat3
    p: Vec3
    v: Vec3
    w: Vec3
    dv: Vec3
    dw: Vec3
    columns: dict[int, tuple[Vec3, Vec3]]

    def along(self, e: Vec3) -> Row:
        """Component of the position along an axis of F."""
        return Row(
            e.dot(self.p),
            {k: e.dot(v) for k, (v, _) in self.columns.items()},
            e.dot(self.dv),
        )

    def product(self, a: Vec3, b_G: Vec3, at_zero: float = 0.0) -> Row:
        """``a . b - at_zero`` of an axis of F and one of G."""
        b = self.R * b_G
        axis = b.cross(a)
        turning = self.w.cross(b).cross(a)
        return Row(
            a.dot(b) - at_zero,
            {k: axis.dot(w) for k, (_, w) in self.columns.items()},
            turning.dot(self.w) + axis.dot(self.dw),
        )


def _relative(model: MechanismModel, state: State, closure: Closure) -> _Relative:
    zero = [0.0] * model.nv
    motion = fm.relative(
        model,
        state,
        zero,
        (closure.successor, closure.X_SG),
        (closure.predecessor, closure.X_PF),
    )
    R, V, A = motion.X.R, motion.V, motion.A
    return _Relative(
        R.matrix,
        motion.X.p,
        R * V.v,
        R * V.w,
        R * (A.v + V.w.cross(V.v)),
        R * A.w,
        {k: (R * s.v, R * s.w) for k, s in motion.columns.items()},
    )


def _turned(row: Row) -> Row:
    return Row(-row.residual, {k: -x for k, x in row.jacobian.items()}, -row.bias)


def _position(m: _Relative) -> list[Row]:
    return [m.along(e) for e in (EX, EY, EZ)]


def _parallel(m: _Relative) -> list[Row]:
    """Z of G along z of F: the rows turn about x and y."""
    return [_turned(m.product(EY, EZ)), m.product(EX, EZ)]


def _aligned(m: _Relative) -> list[Row]:
    return [*_parallel(m), _turned(m.product(EX, EY))]


def _helical(m: _Relative, closure: Closure) -> list[Row]:
    """Z advances with the angle: ``c sin(z / c - angle) = 0`` has the slope of ``z - c angle``."""
    c, z = closure.pitch, m.along(EZ)
    if not c:
        return [m.along(EX), m.along(EY), z, *_parallel(m)]
    cosine, sine = m.R.xx, m.R.yx
    residual = (sin(z.residual * (1.0 / c)) * cosine - cos(z.residual * (1.0 / c)) * sine) * c
    spins = {k: w.z for k, (_, w) in m.columns.items()}
    slope = {k: x - c * spins[k] for k, x in z.jacobian.items()}
    row = Row(residual, slope, z.bias - c * m.dw.z)
    return [m.along(EX), m.along(EY), *_parallel(m), row]


def _distance(m: _Relative, closure: Closure) -> list[Row]:
    """``(p . p - d^2) / 2 d``: the slope is the component of the velocity along the line."""
    d = closure.distance
    inverse = 1.0 / d
    return [
        Row(
            (m.p.dot(m.p) - d * d) * (0.5 * inverse),
            {k: m.p.dot(v) * inverse for k, (v, _) in m.columns.items()},
            (m.v.dot(m.v) + m.p.dot(m.dv)) * inverse,
        )
    ]


def _universal(m: _Relative, closure: Closure) -> list[Row]:
    angle = float(EZ.dot(closure.axis2))  # type: ignore[arg-type]  # known
    return [*_position(m), m.product(EZ, closure.axis2, angle)]


_KINDS: dict[str, Callable[[_Relative, Closure], list[Row]]] = {
    "fixed": lambda m, c: [*_position(m), *_aligned(m)],
    "revolute": lambda m, c: [*_position(m), *_parallel(m)],
    "continuous": lambda m, c: [*_position(m), *_parallel(m)],
    "prismatic": lambda m, c: [m.along(EX), m.along(EY), *_aligned(m)],
    "helical": _helical,
    "cylindrical": lambda m, c: [m.along(EX), m.along(EY), *_parallel(m)],
    "universal": _universal,
    "planar": lambda m, c: [m.along(EZ), *_parallel(m)],
    "spherical": lambda m, c: _position(m),
    "floating": lambda m, c: [],
    "distance": _distance,
}


def closure_rows(model: MechanismModel, state: State, closure: Closure) -> list[Row]:
    """Rows of one closure."""
    return _KINDS[closure.kind](_relative(model, state, closure), closure)


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
    m = _relative(model, state, closure)
    f, n = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)
    # a row is linear in the twist of G seen from F: its coefficients are force and moment
    for k, x in enumerate(lam):
        force, moment = _direction(m, closure, k)
        f, n = f + force * x, n + moment * x
    R = fm.relative(
        model,
        state,
        [0.0] * model.nv,
        (closure.successor, closure.X_SG),
        (closure.predecessor, closure.X_PF),
    ).X.R
    in_G = Wrench(R.inverse_times(f), R.inverse_times(n))
    # the predecessor feels the opposite at the same point, which is p in F
    in_F = Wrench(-f, -(n + m.p.cross(f)))
    return (
        closure.X_PF.wrench_out(in_F),
        closure.X_SG.wrench_out(in_G),
        closure.X_UG.wrench_out(in_G),
    )


def _direction(m: _Relative, closure: Closure, row: int) -> tuple[Vec3, Vec3]:
    """Force and moment of a unit multiplier: the row for unit velocities along and about F."""
    units = {
        axis: Twist(v=e) if axis < 3 else Twist(w=e)
        for axis, e in enumerate((EX, EY, EZ, EX, EY, EZ))
    }
    probe = _Relative(
        m.R, m.p, m.v, m.w, m.dv, m.dw, {axis: (s.v, s.w) for axis, s in units.items()}
    )
    slopes = _KINDS[closure.kind](probe, closure)[row].jacobian
    return Vec3(slopes[0], slopes[1], slopes[2]), Vec3(slopes[3], slopes[4], slopes[5])
