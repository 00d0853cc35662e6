"""Points in an impact: their motion, and the jumps of speeds [W 6.8-6.14]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from robodyn.equations.elimination.constrained import FreeSystem
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.tracer import Results, Tracer, Values
from robodyn.equations.tree import composite_body, frame_motion as fm
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, dot, if_not_negative, minimum, sqrt, where
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import EX, EY, EZ, Rotation, Vec3
from robodyn.tolerances import CONTACT_DIRECTION, IMMOVABLE, LOOP_DRIFT, SLIP_ENDED

#: Of the world.
AXES = (EX, EY, EZ)


def jumps(
    t: Tracer,
    M: Matrix,
    force: Sequence[Number],
    rates: Sequence[Number] = (),
    given: Mapping[int, Number] | None = None,
) -> tuple[list[Number], list[Number]]:
    """Jumps of speeds under generalised impulses, and multipliers of the loops [W 6.18].

    M: Mass matrix.
    rates: Of the loops, which the jumps undo. Default: zero.
    given: Speeds whose jumps are given. Default: none.
    """
    rows: Sequence[Row] = t.rows if "rows" in t.options else ()
    given = given or {}
    free = [k for k in range(t.model.nv) if k not in given]
    if not free:
        return [given[k] for k in range(t.model.nv)], [0.0] * len(rows)
    known = list(given.values())
    rest = [force[i] - dot([M[i][k] for k in given], known) for i in free]
    biases = [
        rate + dot([row.jacobian.get(k, 0.0) for k in given], known)
        for row, rate in zip(rows, rates or [0.0] * len(rows), strict=True)
    ]
    system = FreeSystem(M, rows, free, t.model.light, t.options.get("groups", ()))
    found, multipliers = system.solve(rest, biases)
    return [given.get(k, x) for k, x in enumerate(found)], multipliers


def fitted(t: Tracer, M: Matrix) -> list[Number]:
    """Changes of speeds that satisfy the loops, as if these closed just before the impact."""
    if not t.options.get("rows"):
        return t.zeros
    return jumps(t, M, t.zeros, [row.rate(t.v) for row in t.rows])[0]


def if_regular(t: Tracer, values: list[Number]) -> list[Number]:
    """Values; not all numbers where loops are open, or nearly singular, also beside the controlled.

    The speeds that are controlled do not follow from the loops.
    """
    if "rows" not in t.options:
        return values
    gaps = [t.residuals[k] for k in t.setup.position_rows]
    values = if_not_negative(values, LOOP_DRIFT**2 - dot(gaps, gaps))
    if "tangent_probe" in t.options:
        probe = t.options["tangent_probe"]
        values = closed_dynamics.if_rows_are_regular(t, values, t.free, probe)
    return closed_dynamics.if_forward_is_regular(t, values)


class Meeting:
    """Two points in contact, of which one may belong to the surroundings.

    t: With the inputs ``q``, ``v`` and ``point``, and the option ``frame``. With the option
        ``other`` there is the input ``other_point`` of that link, with ``against``, the velocity
        ``against_velocity`` of what is no part of the robot.
    """

    def __init__(self, t: Tracer) -> None:
        self._t = t
        self.points = [point_motion(t, t.options["frame"], "point")]
        if "other" in t.options:
            self.points.append(point_motion(t, t.options["other"], "other_point"))

    def along(self, n_W: Vec3) -> tuple[list[Number], Number]:
        """Generalised impulse for a unit along a direction, and speed of parting along it."""
        force: list[Number] = [0.0] * self._t.model.nv
        speed: Number = 0.0
        for sign, point in zip((1.0, -1.0), self.points, strict=False):
            n = point.X.R.inverse_times(n_W)
            speed = speed + sign * n.dot(point.V.v)
            for k, column in point.columns.items():
                force[k] = force[k] + sign * n.dot(column.v)
        if self._t.options.get("against"):
            speed = speed - n_W.dot(Vec3(*self._t.numbers["against_velocity"]))
        return force, speed

    @property
    def reach(self) -> Number:
        """Sum of the squares of the Jacobian of the velocity of parting."""
        if len(self.points) == 1:
            return sum((s.v.dot(s.v) for s in self.points[0].columns.values()), 0.0)
        return sum((dot(force, force) for force, _ in map(self.along, AXES)), 0.0)


class Hit:
    """Points in contact, and the response of the mechanism to impulses.

    Speeds before are made to fit loops that are closed, as they were if the loops closed just
    before. Those that are controlled do not jump.

    Parameters
    ----------
    t : Tracer
        As for `Meeting`; with the option ``against`` there is the input ``against_mobility``.
    """

    def __init__(self, t: Tracer) -> None:
        self._t = t
        self.M = composite_body.mass_matrix(t.state)
        self.meeting = Meeting(t)
        self._held: Mapping[int, Number] = dict.fromkeys(t.options.get("controlled", ()), 0.0)

    def response(
        self, force: Sequence[Number], rates: Sequence[Number] = ()
    ) -> tuple[list[Number], list[Number]]:
        """Jumps of speeds under generalised impulses, and multipliers of the loops.

        ``rates``: of the loops, which the jumps undo; zero if none are given.
        """
        return jumps(self._t, self.M, force, rates, self._held)

    @cached_property
    def fitted(self) -> list[Number]:
        """Changes of the speeds that satisfy the loops."""
        return fitted(self._t, self.M)

    @property
    def before(self) -> list[Number]:
        """Speeds before."""
        return [x + y for x, y in zip(self._t.v, self.fitted, strict=True)]

    def along(self, n_W: Vec3) -> tuple[list[Number], Number]:
        """Generalised impulse for a unit along a direction, and speed of parting along it."""
        force, speed = self.meeting.along(n_W)
        return force, speed + dot(force, self.fitted)

    @property
    def meets_partner(self) -> bool:
        """Whether the other body moves and is no part of the robot."""
        return bool(self._t.options.get("against"))

    @property
    def of_partner(self) -> Matrix:
        """Velocity jump of the other body per unit of impulse on it; zero for the world."""
        if not self.meets_partner:
            return [[0.0] * 3 for _ in AXES]
        x = self._t.numbers["against_mobility"]
        return [x[0:3], x[3:6], x[6:9]]

    def mobility(self, force: Sequence[Number], jump: Sequence[Number], n_W: Vec3) -> Number:
        """Jump of the speed of parting along a direction a unit of impulse along it [W 6.12]."""
        theirs = [dot(row, list(n_W)) for row in self.of_partner]
        return dot(force, jump) + dot(list(n_W), theirs)

    def results(self, after: list[Number], impulse: Vec3, loss: Number) -> Results:
        """Speeds after an impulse on the link, and of a partner that is no part of the robot."""
        found: dict[str, Values] = {"v": after, "impulse": impulse, "energy_loss": loss}
        if self.meets_partner:
            p, u = list(impulse), self._t.numbers["against_velocity"]
            found["against_v"] = [
                x - dot(row, p) for x, row in zip(u, self.of_partner, strict=True)
            ]
        return found

    @cached_property
    def trace(self) -> Number:
        """Trace of the mass matrix."""
        return sum((self.M[k][k] for k in range(self._t.model.nv)), 0.0)

    @cached_property
    def reach(self) -> Number:
        """Sum of the squares of the Jacobian of the velocity of parting."""
        return self.meeting.reach

    def movable(self, force: Sequence[Number], mobility: Number) -> Number:
        """A number that is not negative if the point is movable along a direction."""
        least = dot(force, force) + self.reach * CONTACT_DIRECTION
        return mobility * self.trace - least * IMMOVABLE

    def if_true(self, values: list[Number], tests: Sequence[Number]) -> list[Number]:
        """Values, some NaN if a test is negative, or loops are open or singular."""
        for test in tests:
            values = if_not_negative(values, test)
        return if_regular(self._t, values)


def point_motion(t: Tracer, link: str, place: str = "") -> fm.FrameMotion:
    """Motion of a point of a link, of which an input is the place; of its origin without one."""
    body, X = t.link(link)
    motion = fm.absolute(t.state, t.zeros, body, X)
    if not place:
        return motion
    return motion.onto(Placement(Rotation(), Vec3(*t.numbers[place])))


def unit_direction(t: Tracer) -> Vec3:
    """The direction of the impulse, of length one."""
    direction = Vec3(*t.numbers["direction"])
    return direction * (1.0 / sqrt(direction.dot(direction)))


class Sliding:
    """An impulse ``p_n (n - part s)`` against a slip that goes on, ends, or turns back.

    Whichever agrees with it [Whittaker 1904; Keller 1986]; Newton's restitution holds along the
    normal. Of numbers, symbols or arrays of numbers.

    u [m/s]: Velocity of the point as seen from the other body.
    n, s: Unit normal, and unit direction of the slip.
    jump: From an impulse to the jump of that velocity.
    ended, ends: The slip would end with the approach, without friction; it ends in the impact.
    parting [1/kg]: Jump of the speed of parting over the normal impulse.
    excess, scale: By how much friction can do more than to end the slip, and the size of its terms.
    """

    def __init__(
        self,
        u: Vec3,
        n: Vec3,
        s: Vec3,
        jump: Callable[[Vec3], Vec3],
        restitution: Any,
        friction: Any,
    ) -> None:
        Wn, Ws = jump(n), jump(s)
        self.nn, ns, ss = n.dot(Wn), n.dot(Ws), s.dot(Ws)
        asked_n, asked_s = -(1.0 + restitution) * minimum(u.dot(n), 0.0), -u.dot(s)
        self.above: Any = ns * asked_n - self.nn * asked_s
        below, self.scale = (
            ss * asked_n - ns * asked_s,
            sqrt((ns * asked_n) ** 2 + (self.nn * asked_s) ** 2),
        )
        size: Any = abs(self.above)
        self.excess = friction * below - size
        self.ended: Any = size <= self.scale * SLIP_ENDED
        self.ends = self.ended | (below > 0.0) & (self.excess >= 0.0)
        going_on = where(self.above >= 0.0, friction, -friction)
        self.part = where(self.ended, 0.0, where(self.ends, self.above / below, going_on))
        self.parting = self.nn - self.part * ns
        self.impulse = (n - s * self.part) * (asked_n / self.parting)
