"""How a frame moves with the joints: its inertia, and how well they move it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robodyn.equations.quantities.common.quantity import REFUSED, Output, Q, Quantity
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer
from robodyn.equations.quantities.frames import jacobian_rows
from robodyn.equations.tree import composite_body
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.scalar import Number, Scalar, dot, if_not_negative, product, sqrt
from robodyn.tolerances import FRAME_ROW, FRAME_ROWS_APART


def operational_inertia(t: Tracer) -> Results:
    """``(J M^-1 J^T)^-1``; not numbers where the frame nearly loses a component."""
    J = _jacobian(t)
    heights, tests = _heights(J)
    if len(J) > t.model.nv or not all(isinstance(x, Scalar) or x for x in heights):
        return {"inertia": [[math.nan for _ in J] for _ in J]}
    M = composite_body.mass_matrix(t.state)
    factors = composite_body.factorize(M, t.model.light)
    moves = [composite_body.solve(factors, row) for row in J]
    A = [[dot(x, row) for x in moves] for row in J]
    guarded = dict.fromkeys(range(len(A)), 0.0)
    inverse = composite_body.inverse(composite_body.factorize(A, guarded))
    return {"inertia": _if_true([x for row in inverse for x in row], tests)}


def manipulability(t: Tracer) -> Results:
    """``sqrt(det(J J^T))``; not a number where the frame nearly loses a component."""
    J = _jacobian(t)
    if len(J) > t.model.nv:
        return {"manipulability": 0.0}
    heights, tests = _heights(J)
    return {"manipulability": _if_true([product(heights)], tests)}


def _if_true(values: list[Number], tests: Sequence[Number]) -> list[Number]:
    """Values; not all numbers where a test is negative."""
    for test in tests:
        values = if_not_negative(values, test)
    return values


def _jacobian(t: Tracer) -> Matrix:
    """The components that count of the frame's Jacobian."""
    rows = jacobian_rows(t, t.options["frame"])
    return [rows[k] for k in t.options.get("components", range(6))]


def _heights(rows: Sequence[Sequence[Number]]) -> tuple[list[Number], list[Number]]:
    """How far each row is from the span of those before it, by modified Gram-Schmidt.

    And numbers of which one is negative where the rows may be dependent, or one may be zero beside
    the others: the least singular value of rows of length one is at least the product of their
    heights over ``n^((n - 1) / 2)`` [Golub and Van Loan 2013, 5.2.8].
    """
    left, heights = [list(row) for row in rows], []
    for k, row in enumerate(left):
        heights.append(sqrt(dot(row, row)))
        if not isinstance(heights[k], Scalar) and not heights[k]:
            return [0.0] * len(rows), []
        unit = [x / heights[k] for x in row]
        for other in left[k + 1 :]:
            part = dot(unit, other)
            other[:] = [x - part * y for x, y in zip(other, unit, strict=True)]
    squares = [dot(row, row) for row in rows]
    total, apart, lengths = sum(squares, 0.0), product(heights), product(map(sqrt, squares))
    tests = [apart - lengths * FRAME_ROWS_APART]
    return heights, [*tests, *(x - total * FRAME_ROW for x in squares)]


def _components(t: Tracer) -> int:
    return len(t.options.get("components", range(6)))


def _row(output: Output, trace: Trace, solves: bool) -> Quantity:
    return Quantity(
        (Q,),
        (output,),
        trace,
        REFUSED,
        options=("frame", "axes", "components"),
        solves=solves,
        guarded=True,
    )


INERTIA = Output("inertia", (_components, _components), "kg, kg m, kg m^2")

#: Quantities by name.
ROWS = {
    "operational_inertia": _row(INERTIA, operational_inertia, solves=True),
    "manipulability": _row(Output("manipulability", (), "1"), manipulability, solves=False),
}
