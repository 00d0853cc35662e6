"""Constraint rows of closed loops: residual, Jacobian and bias of every cut joint.

A closure joins a frame F on one body, the predecessor, to a frame G on another, the successor. Its
rows are functions of the pose ``X_FG``, which the kind of joint gives (`robodyn.joints`). Rows of K
are their exact derivatives::

    K v = 0        K a + K_dot v = 0        M a + h = tau + K^T lam

``lam`` are components of the wrench on the successor: forces along the axes of F at the origin of
G, moments about ``b x a`` [W 5.183-5.197].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from robodyn.equations.loops.constraint_functions import ConstraintFunctions
from robodyn.equations.loops.frame_functions import function_cut
from robodyn.equations.loops.relative_motion import TIME, relative_motion
from robodyn.equations.mechanism.state import State
from robodyn.joints.common.cut import Cut, CutGeometry, RelativeMotion
from robodyn.joints.common.kind import JointKind
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist, Wrench
from robodyn.symbolic.vector import EX, EY, EZ, Vec3


@dataclass(frozen=True, eq=False)
class Closure:
    """A joint that was cut.

    predecessor, successor: Bodies.
    X_PF, X_SG: Frames in the bodies, turned so that an axis is z; of two axes, the first is z of F.
    geometry: Second axis, and numbers of the kind.
    X_UG: Frame G in the frame that the user gave on the successor.
    damping, friction: Viscous and dry, along each freedom.
    functions: The rows, where they are not those of the kind.
    """

    name: str
    kind: JointKind
    predecessor: int
    successor: int
    X_PF: Placement
    X_SG: Placement
    geometry: CutGeometry = CutGeometry()  # noqa: RUF009  (immutable)
    X_UG: Placement = Placement()  # noqa: RUF009
    damping: float = 0.0
    friction: float = 0.0
    functions: ConstraintFunctions | None = None

    @cached_property
    def cut(self) -> Cut:
        """The constraints of its kind, or those that functions give."""
        if self.functions is not None:
            return function_cut(self.functions)
        assert self.kind.cut is not None, f"a {self.kind} joint cannot be cut"
        return self.kind.cut

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """Of each row: whether it is one of positions, too."""
        return (True,) * self.kind.count if self.functions is None else self.functions.holonomic

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.holonomic)

    @property
    def rheonomic(self) -> bool:
        """Its rows depend on time, beside the joints that do."""
        return self.functions is not None and self.functions.rheonomic

    @property
    def steady(self) -> bool:
        """No motion is possible motion, but for joints that time moves."""
        return self.functions is None or self.functions.steady


@dataclass(frozen=True, eq=False)
class Coupled:
    """Coordinates whose weighted sum is constant: gears whose axes are not next to each other.

    offset [rad, m]
    """

    name: str
    weights: tuple[tuple[int, int, float], ...]
    offset: float


def loop_motion(state: State, closure: Closure) -> RelativeMotion:
    """Motion of G seen from F."""
    frames = (closure.successor, closure.X_SG), (closure.predecessor, closure.X_PF)
    return relative_motion(state, *frames)


def closure_rows(state: State, closure: Closure) -> list[Row]:
    """Rows of one closure."""
    return rows_of_motion(loop_motion(state, closure), closure)


def rows_of_motion(motion: RelativeMotion, closure: Closure) -> list[Row]:
    """Rows of one closure, of a motion of G seen from F along any axes."""
    return [_timed(row) for row in closure.cut.rows(motion, closure.geometry)]


def closure_gap(state: State, closure: Closure) -> list[Row]:
    """The gap of each row, in a measure that vanishes only if the closure is closed."""
    measure = closure.cut.gap or closure.cut.rows
    return [_timed(row) for row in measure(loop_motion(state, closure), closure.geometry)]


def _timed(row: Row) -> Row:
    """A row with its rate by time alone as the offset."""
    if TIME not in row.jacobian:
        return row
    slopes = dict(row.jacobian)
    return dataclasses.replace(row, offset=row.offset + slopes.pop(TIME), jacobian=slopes)


def coupled_row(coupling: Coupled, q: Sequence[Number]) -> Row:
    """The row of a coupling: linear."""
    total: Number = -coupling.offset
    slopes: dict[int, Number] = {}
    for q_index, v_index, weight in coupling.weights:
        total = total + q[q_index] * weight
        slopes[v_index] = slopes.get(v_index, 0.0) + weight
    return Row(total, slopes, 0.0)


def stabilised(row: Row, v: Sequence[Number], alpha: Number, beta: Number) -> Row:
    """A row whose gap vanishes as an oscillator comes to rest [W 5.198].

    ``K a = -(k + 2 alpha (K v + psi) + beta^2 gap)``; a row of speeds has no gap.
    """
    bias = row.bias + alpha * row.rate(v) * 2.0 + beta * beta * row.residual
    return dataclasses.replace(row, bias=bias)


def closure_wrenches(
    state: State, closure: Closure, lam: Sequence[Number]
) -> tuple[Wrench, Wrench, Wrench]:
    """Multipliers of a closure as wrenches.

    Returns on_predecessor, on_successor: About the bodies' origins, in their axes.
    Returns in_joint: On the successor, about the origin of the user's frame there, in its axes.
    """
    m = loop_motion(state, closure)
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
    slopes = closure.cut.rows(probe, closure.geometry)[row].jacobian
    return Vec3(slopes[0], slopes[1], slopes[2]), Vec3(slopes[3], slopes[4], slopes[5])
