"""A point of a link that is hit: how it moves, and how the speeds give way [W 6.8-6.14]."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from robodyn.equations.elimination.constrained import accelerations
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.tracer import Tracer
from robodyn.equations.tree import composite_body
from robodyn.equations.tree import frame_motion as fm
from robodyn.joints.common.cut import Row
from robodyn.symbolic.guarded import if_not_negative
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, dot, sqrt
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import EX, EY, EZ, Vec3
from robodyn.tolerances import CONTACT_DIRECTION, IMMOVABLE, LOOP_DRIFT

__all__ = ["AXES", "Hit", "hit_point", "unit_direction"]

#: Of the world.
AXES = (EX, EY, EZ)


class Hit:
    """A point of a link, and the mechanism as impulses see it.

    Speeds before are made to fit loops that are closed, as they were if the loops closed just
    before.

    Parameters
    ----------
    t : Tracer
        With the inputs ``q``, ``v`` and ``point``, and the option ``frame``.
    """

    def __init__(self, t: Tracer) -> None:
        self._t = t
        self._rows: Sequence[Row] = t.rows if "rows" in t.options else ()
        self.M = composite_body.mass_matrix(t.model, t.state)
        self.point = hit_point(t)

    def response(
        self, force: Sequence[Number], rates: Sequence[Number] = ()
    ) -> tuple[list[Number], list[Number]]:
        """Jumps of speeds under generalised impulses, and multipliers of the loops.

        ``rates``: of the loops, which the jumps undo; zero if none are given.
        """
        given = rates or [0.0] * len(self._rows)
        own = [Row(0.0, row.jacobian, x) for row, x in zip(self._rows, given, strict=True)]
        return accelerations(
            self.M, force, own, self._t.model.light, self._t.options.get("groups", ())
        )

    @cached_property
    def fitted(self) -> list[Number]:
        """What the speeds change by to fit the loops."""
        t = self._t
        if not self._rows:
            return t.zeros
        opening = [
            dot(list(row.jacobian.values()), [t.v[k] for k in row.jacobian]) for row in self._rows
        ]
        rates = [x + row.offset for x, row in zip(opening, self._rows, strict=True)]
        return self.response(t.zeros, rates)[0]

    @property
    def before(self) -> list[Number]:
        """Speeds before."""
        return [x + y for x, y in zip(self._t.v, self.fitted, strict=True)]

    def along(self, n_W: Vec3) -> tuple[list[Number], Number]:
        """Generalised impulse for a unit along a direction, and speed of the point along it."""
        n, columns = self.point.X.R.inverse_times(n_W), self.point.columns
        nv = self._t.model.nv
        force = [n.dot(columns[k].v) if k in columns else 0.0 for k in range(nv)]
        return force, n.dot(self.point.V.v) + dot(force, self.fitted)

    @cached_property
    def trace(self) -> Number:
        """Of the mass matrix."""
        return sum((self.M[k][k] for k in range(self._t.model.nv)), 0.0)

    @cached_property
    def reach(self) -> Number:
        """Sum of the squares of the point's Jacobian."""
        return sum((s.v.dot(s.v) for s in self.point.columns.values()), 0.0)

    def movable(self, force: Sequence[Number], mobility: Number) -> Number:
        """A number that is not negative where the point can give way along a direction."""
        least = dot(force, force) + self.reach * CONTACT_DIRECTION
        return mobility * self.trace - least * IMMOVABLE

    def if_true(self, values: list[Number], tests: Sequence[Number]) -> list[Number]:
        """Values; not all numbers where a test is negative, or loops are open or singular."""
        t = self._t
        for test in tests:
            values = if_not_negative(values, test)
        if self._rows:
            gaps = [t.gaps[k].residual for k in t.setup.position_rows]
            values = if_not_negative(values, LOOP_DRIFT**2 - dot(gaps, gaps))
            values = closed_dynamics.if_forward_is_regular(t, values)
        return values


def hit_point(t: Tracer) -> fm.FrameMotion:
    """Motion of the point."""
    body, X = t.link(t.options["frame"])
    link = fm.absolute(t.model, t.state, t.zeros, t.base, body, X)
    return link.onto(Placement(Rotation(), Vec3(*t.numbers["point"])))


def unit_direction(t: Tracer) -> Vec3:
    """The direction of the impulse, of length one."""
    direction = Vec3(*t.numbers["direction"])
    return direction * (1.0 / sqrt(direction.dot(direction)))
