"""The violation of constraints by a state, as one number without a unit.

Gaps of loops, and the rates at which they grow, are compared as numbers without units: lengths as
parts of the longest link of the loops, angles in radians, rates a unit of speed. With the gaps
``g``, their rates ``r = K v + psi`` and the speeds ``v`` of the loops, the violation is::

    sqrt(g . g + r . r / (1 + v . v))
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.joints.common.cut import RelativeMotion
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, Scalar, by_precision, if_not_negative
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import EX, EY, EZ, Mat3, Rotation, Vec3
from robodyn.tolerances import POINT_LENGTH


@dataclasses.dataclass(frozen=True, eq=False)
class Gap:
    """The violation of one constraint row by a state.

    gap, rate: The residual, and its rate.
    speeds: Those that it is about.
    """

    gap: Number
    rate: Number
    speeds: frozenset[int]


def gaps(state: State, closure: Closure, motion: RelativeMotion | None = None) -> list[Gap]:
    """Gaps of a closure: the rate of a row is its slope along the motion that G has.

    The motion may be given along other axes, where the rows are the components of a vector.
    """
    m = motion or closure.motion(state)
    measure = closure.cut.gap or closure.cut.rows
    still = measure(dataclasses.replace(m, columns={}), closure.geometry)
    moving = closure.cut.rows(dataclasses.replace(m, columns={0: (m.v, m.w)}), closure.geometry)
    speeds = frozenset(m.columns)
    rows = zip(still, moving, strict=True)
    return [Gap(g.residual, r.jacobian[0] + r.offset, speeds) for g, r in rows]


def gap_of_row(row: Row, v: Sequence[Number]) -> Gap:
    """Gap of any constraint row."""
    return Gap(row.residual, row.rate(v), frozenset(row.jacobian))


def violation(
    found: Sequence[Gap], units: Sequence[float], v: Sequence[Number], speeds: Sequence[float]
) -> tuple[Number, Number]:
    """Square of the constraint violation of a state, as a fraction: numerator and denominator.

    units: What each of them is measured in, from `row_units`.
    speeds: What each of them is measured in, from `speed_units`.
    """
    speed: Number = 1.0
    for k in sorted(frozenset[int]().union(*(x.speeds for x in found))):
        speed = speed + _square(v[k], speeds[k])
    gap: Number = 0.0
    rate: Number = 0.0
    for x, unit in zip(found, units, strict=True):
        gap, rate = gap + _square(x.gap, unit), rate + _square(x.rate, unit)
    return gap * speed + rate, speed


def _square(x: Number, unit: float) -> Number:
    part = x * (1.0 / unit)
    return part * part


def if_closed(
    values: Sequence[Number], open_by: tuple[Number, Number], tolerance: tuple[float, float]
) -> list[Number]:
    """Values, one of them NaN if a state is open by more than a tolerance.

    open_by: From `violation`.
    tolerance: In double and in single precision.
    """
    above, below = open_by
    double, single = tolerance
    symbol = next((x for x in open_by if isinstance(x, Scalar)), None)
    if not isinstance(above, Scalar) and above == 0.0:
        return list(values)
    if symbol is None:
        return if_not_negative(values, below * double**2 - above)
    allowed = below * by_precision(symbol.graph, double**2, single**2)
    return if_not_negative(values, allowed - above)


# -- units ----------------------------------------------------------------------------------------


def longest_link(model: MechanismModel, closures: Iterable[Closure]) -> float:
    """Largest distance from joint to joint around the loops [m]; 1 where there is none."""
    longest = max((x for c in closures for x in _links(model, c)), default=0.0)
    return longest if longest > POINT_LENGTH else 1.0


def _links(model: MechanismModel, closure: Closure) -> list[float]:
    """Distances from joint to joint around a loop [m]."""
    up, down = model.chains(closure.successor, closure.predecessor)
    ends: list[Vec3] = []
    found: list[Vec3] = []
    for way, last in ((up, closure.X_SG.p), (down, closure.X_PF.p)):
        points = [*(model.bodies[i].joint.X_PJ.p for i in way), last]
        ends.append(points[0])
        found += points[1:]
    return [_length(p) for p in (ends[0] - ends[1], *found)]


def _length(p: Vec3) -> float:
    return math.hypot(*(float(x) for x in (p.x, p.y, p.z)))  # type: ignore[arg-type]  # known


def row_units(closure: Closure, length: float) -> list[float]:
    """The unit of each row's gap: a length if it opens by translation, else 1 rad."""
    units = {k: (e, Vec3(0.0, 0.0, 0.0)) for k, e in enumerate((EX, EY, EZ))}
    zero = Vec3(0.0, 0.0, 0.0)
    m = RelativeMotion(SOMEWHERE, zero, zero, zero, zero, units)
    rows = closure.cut.rows(m, closure.geometry)
    return [length if any(row.jacobian.values()) else 1.0 for row in rows]


#: A pose without symmetry.
SOMEWHERE = Placement(
    Rotation(Mat3(0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6)), Vec3(0.3, -0.2, 0.5)
)


def speed_units(model: MechanismModel, length: float) -> list[float]:
    """The unit of each speed: the length per second for a translation, else 1 rad/s."""
    units = [1.0] * model.nv
    for body in model:
        for k, speed in enumerate(body.speeds):
            if body.joint.kind.unit(k) == "m":
                units[speed.index] = length
    return units
