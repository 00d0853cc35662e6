"""One damped step of inverse kinematics: toward poses and points of frames, loops closed.

With the errors ``e`` of all targets and the gaps of all loops, their slopes ``J`` and a wish ``d``
of the speeds, the step is

    dq = d + J^T y        (J J^T + lambda) y = e - J d

[Nakamura, Hanafusa 1986], where ``lambda`` falls with the square of the error [Sugihara 2011], from
a bound that is given, so that steps are short at singular postures, and Newton's near the target.
Targets out of reach need steps that are the shorter the farther these are: no bound. What ``d``
would change of the targets is taken out of it: it acts in the null space. A joint that is at a
limit stays there while the errors press it outward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robodyn.equations.mechanism.coordinate_steps import integrate
from robodyn.equations.quantities.common.quantity import STATE, Input, Output, Q, Quantity
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.tree.composite_body import factorize, solve
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number, clip, is_zero, maximum, sqrt, where
from robodyn.symbolic.spatial import Twist
from robodyn.symbolic.vector import Mat3, Rotation, Vec3
from robodyn.tolerances import ACTIVE_LIMIT, RIGID_TRANSFORM

#: Damping where no error is left.
LEAST_DAMPING = 1e-9
#: Loops are damped by that part of it, so that targets hardly open them, and at least by so much.
OF_LOOPS, LEAST_OF_LOOPS = 1e-6, 1e-11
#: Part of the way to the preferred posture that is a step, and the longest such step [rad, m].
WISHED, FARTHEST = 0.1, 0.1


@dataclass(frozen=True)
class _Row:
    """An error that is to vanish, and how speeds lessen it."""

    error: Number
    slopes: Mapping[int, Number]
    of_loop: bool = False


def _goal_size(t: Tracer) -> int:
    """How many numbers say where frames are to be: 16 of a pose, 3 of a point."""
    points = t.options.get("points", ())
    return sum(3 if name in points else 16 for name in t.frame_names)


def inverse_kinematics_step(t: Tracer) -> Results:
    """Coordinates after a step; the error before it and the length of the step."""
    rows, misfit = _goal_rows(t)
    gaps = [t.gaps[k] for k in t.setup.position_rows]
    rows += [_Row(-gap.residual, gap.jacobian, True) for gap in gaps]
    square = _sum(row.error * row.error for row in rows)
    speeds = sorted({k for row in rows for k in row.slopes})
    bounds = t.options.get("bounds", ())
    wish: dict[int, Number] = {}
    if t.options.get("posture"):
        q, wanted = t.numbers["q"], t.numbers["posture"]
        wish = {k: (wanted[n] - q[n]) * WISHED for n, k in t.options["flat"]}
        speeds = sorted({*speeds, *wish})
    push = {k: _sum(row.slopes[k] * row.error for row in rows if k in row.slopes) for k in speeds}
    slope, most = t.numbers["damping"]
    rising = square * slope
    damping = rising / (rising / most + 1.0) + LEAST_DAMPING
    step = _step(rows, speeds, _free(t, bounds, push), wish, damping)
    if wish:
        step = _step(rows, speeds, _free(t, bounds, step), wish, damping)
    moved = integrate(t.model, t.numbers["q"], [step.get(k, 0.0) for k in range(t.model.nv)])
    for n, _, lower, upper in bounds:
        moved[n] = clip(moved[n], lower, upper)
    length = sqrt(_sum(x * x for x in step.values()))
    return {"q": moved, "measure": [sqrt(square + misfit), length]}


# -- errors -----------------------------------------------------------------------------------


def _goal_rows(t: Tracer) -> tuple[list[_Row], Number]:
    """Errors of all frames, and squares of what must vanish besides where they do."""
    rows: list[_Row] = []
    misfit: Number = 0.0
    first, points = 0, t.options.get("points", ())
    for name in t.frame_names:
        F = t.frame(name)
        count = 3 if name in points else 16
        goal = t.numbers["goals"][first : first + count]
        first += count
        place = Vec3(*goal) if count == 3 else Vec3(goal[3], goal[7], goal[11])
        errors = list(F.X.R.inverse_times(place - F.X.p))
        if count == 16:
            turn, more = _turning_error(F.X.R, Mat3(*goal[0:3], *goal[4:7], *goal[8:11]))
            errors += list(turn)
            misfit = misfit + more + _misfit(goal)
        columns = {k: list(s) for k, s in F.columns.items() if isinstance(s, Twist)}
        for n, error in enumerate(errors):
            rows.append(_Row(error, {k: s[n] for k, s in columns.items() if not is_zero(s[n])}))
    return rows, misfit


def _turning_error(R: Rotation, goal: Mat3) -> tuple[Vec3, Number]:
    """``2 sin(angle / 2)`` along the axis that leads to a rotation, in the frame's axes.

    It vanishes at half a turn, too: its square and the second result make ``(4 sin(angle / 4))^2``,
    whose slope it is.
    """
    E = R.T.matrix @ goal
    axis = Vec3((E.zy - E.yz) * 0.5, (E.xz - E.zx) * 0.5, (E.yx - E.xy) * 0.5)
    cosine = (E.xx + E.yy + E.zz + 1.0) * 0.25  # of half the angle, squared
    size: Any = abs(cosine)
    half = 1.0 / sqrt(size + 1e-12)
    rest = 1.0 - cosine * half
    return axis * half, 4.0 * rest * rest


def _misfit(X: Sequence[Number]) -> Number:
    """By how much a matrix is no rigid motion: zero if it is one, up to rounding."""
    x, y, z = (Vec3(*X[k : k + 3]) for k in (0, 4, 8))
    off = [x.dot(x) - 1.0, y.dot(y) - 1.0, z.dot(z) - 1.0, x.dot(y), y.dot(z), z.dot(x)]
    off += [X[12], X[13], X[14], X[15] - 1.0]
    found: Number = maximum(_sum(d * d for d in off) - RIGID_TRANSFORM, 0.0)
    return found


# -- the step ---------------------------------------------------------------------------------


def _free(
    t: Tracer,
    bounds: Sequence[tuple[int, int, float, float]],
    push: Mapping[int, Number],
) -> dict[int, Number]:
    """Factors of speeds: zero where a joint is at a limit and pressed outward, else one."""
    free: dict[int, Number] = {}
    for n, k, lower, upper in bounds:
        if k in push and k >= 0:
            q, x = t.numbers["q"][n], push[k]
            above = (q >= upper - ACTIVE_LIMIT) & (x > 0.0)
            free[k] = where(above | (q <= lower + ACTIVE_LIMIT) & (x < 0.0), 0.0, 1.0)
    return free


def _step(
    rows: Sequence[_Row],
    speeds: Sequence[int],
    free: Mapping[int, Number],
    wish: Mapping[int, Number],
    damping: Number,
) -> dict[int, Number]:
    """The damped step over the speeds that are free."""
    J = [{k: x * free.get(k, 1.0) for k, x in row.slopes.items()} for row in rows]
    A: list[list[Number]] = [
        [_sum(x * J[j][k] for k, x in J[i].items() if k in J[j]) for j in range(len(rows))]
        for i in range(len(rows))
    ]
    for i, row in enumerate(rows):
        A[i][i] = A[i][i] + (damping * OF_LOOPS + LEAST_OF_LOOPS if row.of_loop else damping)
    factors = factorize(A)

    def along(values: Sequence[Number]) -> dict[int, Number]:
        y = solve(factors, values)
        return {
            k: _sum(slopes[k] * y[i] for i, slopes in enumerate(J) if k in slopes) for k in speeds
        }

    step = along([row.error for row in rows])
    if not wish:
        return step
    d = {k: x * free.get(k, 1.0) for k, x in wish.items()}
    seen = along([_sum(x * d[k] for k, x in slopes.items() if k in d) for slopes in J])
    unseen = _bounded({k: d.get(k, 0.0) - seen[k] for k in speeds})
    return {k: step[k] + unseen[k] for k in speeds}


def _bounded(wish: Mapping[int, Number]) -> dict[int, Number]:
    """The same direction, no longer than a step may be."""
    square = _sum(x * x for x in wish.values())
    scale = 1.0 / sqrt(square * (1.0 / FARTHEST**2) + 1.0)
    return {k: x * scale for k, x in wish.items()}


def _sum(terms: object) -> Number:
    return sum(terms, 0.0)  # type: ignore[call-overload, no-any-return]


#: Quantities by name.
ROWS = {
    "inverse_kinematics_step": Quantity(
        (Q, Input("goals", _goal_size, "1, m"), Input("damping", 2, "1")),
        (Output("q", ("nq",), "rad, m"), Output("measure", (2,), "m, rad")),
        inverse_kinematics_step,
        STATE,
        base=True,
        options=("frames", "points", "posture", "bounds", "flat"),
    ),
}
