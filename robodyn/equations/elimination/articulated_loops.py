"""Hybrid dynamics of long linkages, in time that grows with their bodies: articulated bodies.

Joints are freed from the leaves of the tree to its root [Featherstone, table 7.1]. What a joint of
a loop lets go of depends on the multipliers of the loop, so that these are carried along: at each
body there are the wrench that a unit multiplier exerts there, joints beyond being free, and by how
much it moves the gap of each row. A multiplier is eliminated at the first body that carries all of
its loop, where nothing that follows changes its row. So loops cost something only at the bodies
between, while the mass matrix has an element for any two speeds on the same way.

Where one body carries many loops, as those of two chains with bars across, their multipliers would
all wait for it. Each then goes as soon as the joints beyond give it a pivot, in an order that is
given (`robodyn.equations.quantities.common.long_linkages`). It leaves a mass that the bodies which
it joins have in common: by it the acceleration of one asks for a wrench on the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from robodyn.equations.elimination.constrained import guarded_inverse
from robodyn.equations.mechanism.bodies import BASE, Body
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number, dot
from robodyn.symbolic.spatial import ArticulatedInertia, Placement, Twist, Wrench
from robodyn.symbolic.vector import Mat3, Sym3, Vec3

#: Wrench on one body, six numbers, a unit of each component of the acceleration of another.
Common: TypeAlias = list[list[Number]]


class LoopRow(NamedTuple):
    """A row ``K a = -k`` of a joint that was cut, by bodies instead of by speeds.

    wrenches: What a unit multiplier exerts on the two bodies.
    carrier: The last body on the way to both of them.
    """

    wrenches: Mapping[int, Wrench]
    carrier: int


class EliminationOrder(NamedTuple):
    """In which order bodies are freed, and after which of them rows go before their carrier.

    bodies: Children before their parents.
    after: Numbers of rows by the body after which they go.
    """

    bodies: Sequence[int]
    after: Mapping[int, Sequence[int]]


class _FreedSpeed(NamedTuple):
    """A speed that was eliminated: its column, wrench, inverse pivot, and what multipliers do.

    others: Wrenches on other bodies that have a mass in common with its own.
    """

    number: int
    column: Twist
    wrench: Wrench
    inverse: Number
    of_rows: dict[int, Number]
    others: dict[int, Wrench]


class _SolvedRow(NamedTuple):
    """An eliminated row: wrenches on bodies, inverse pivot, and its entries of other rows."""

    number: int
    wrenches: dict[int, Wrench]
    inverse: Number
    of_rows: dict[int, Number]


class ArticulatedLoops:
    """The equations of a linkage, eliminated once, for any forces.

    state: Of a mechanism whose bodies are coupled to their neighbours only, without rotors on them.
    rows: Independent in the other speeds.
    controlled: Speeds whose accelerations are given: nothing else moves these joints.
    order, optional: Default: from the last body to the first, each row at its carrier.
    """

    def __init__(
        self,
        state: State,
        rows: Sequence[LoopRow],
        controlled: frozenset[int] = frozenset(),
        order: EliminationOrder | None = None,
    ) -> None:
        model = state.model
        self._model, self._state, self._rows = model, state, rows
        self._order = order or EliminationOrder([body.index for body in reversed(model)], {})
        self._speeds: dict[int, list[_FreedSpeed]] = {}
        self._solved: dict[int, list[_SolvedRow]] = {}
        self._early: dict[int, list[_SolvedRow]] = {}
        self._inertia = {body.index: ArticulatedInertia.of(body.lumped) for body in model}
        #: At each body the wrenches of unit multipliers; of each two rows how one moves the other.
        self._wrenches: dict[int, dict[int, Wrench]] = {i: {} for i in self._inertia}
        self._gaps: list[dict[int, Number]] = [{} for _ in rows]
        #: By two bodies, the lesser first: the wrench on that one by the other.
        self._common: dict[tuple[int, int], Common] = {}
        early = {r for own in self._order.after.values() for r in own}
        carried: dict[int, list[int]] = {}
        for r, row in enumerate(rows):
            if r not in early:
                carried.setdefault(row.carrier, []).append(r)
            for i, F in row.wrenches.items():
                if i != BASE:
                    self._exert(i, r, F)
        rotors = {x.body: x.inertia for x in model.lumped_armature}
        for i in self._order.bodies:
            self._solved[i] = self._solve_rows(carried.get(i, ()))
            self._free(model.bodies[i], rotors.get(i, 0.0), controlled)
            self._early[i] = self._solve_rows(self._order.after.get(i, ()))
        self._solved[BASE] = self._solve_rows(carried.get(BASE, ()))

    def _exert(self, body: int, row: int, F: Wrench) -> None:
        known = self._wrenches[body].get(row)
        self._wrenches[body][row] = F if known is None else known + F

    def _solve_rows(self, own: Sequence[int]) -> list[_SolvedRow]:
        """Eliminate multipliers."""
        gaps, solved = self._gaps, []
        before = [gaps[r].get(r, 0.0) for r in own]
        total = sum(before, 0.0)
        for r, size in zip(own, before, strict=True):
            inverse = guarded_inverse(gaps[r].pop(r, 0.0), size, total)
            on = {i: held.pop(r) for i, held in self._wrenches.items() if r in held}
            others = gaps[r]
            solved.append(_SolvedRow(r, on, inverse, others))
            for s, x in others.items():
                scaled = x * inverse
                del gaps[s][r]
                for t, y in others.items():
                    gaps[s][t] = gaps[s].get(t, 0.0) - scaled * y
                for i, F in on.items():
                    self._exert(i, s, F * -scaled)
            for i, F in on.items():
                self._inertia[i] = self._inertia[i].freed(Twist(), F, -inverse, wholly=False)
            self._add_common(on, inverse)
        return solved

    def _free(self, body: Body, rotor: Number, controlled: frozenset[int]) -> None:
        """Eliminate the speeds of a joint, and add the remaining inertia to its parent."""
        i = body.index
        joint, inertia = self._state[i], self._inertia[i]
        wrenches = self._wrenches.pop(i)
        beside = [j for pair in self._common if i in pair for j in pair if j != i]
        freed = self._speeds[i] = []
        for k, s in reversed(joint.columns):
            if k in controlled:
                continue
            F = inertia * s
            inverse = 1.0 / (s.dot(F) + rotor)
            of_rows = {r: s.dot(P) for r, P in wrenches.items()}
            others = {j: self._on(j, i, s) for j in beside}
            freed.append(_FreedSpeed(k, s, F, inverse, of_rows, others))
            for r, x in of_rows.items():
                wrenches[r] = wrenches[r] - F * (x * inverse)
                for j, W in others.items():
                    self._exert(j, r, W * -(x * inverse))
                for t, y in of_rows.items():
                    self._gaps[r][t] = self._gaps[r].get(t, 0.0) + x * y * inverse
            inertia = inertia.freed(s, F, inverse, wholly=not rotor)
            if others:
                for j, W in others.items():
                    self._inertia[j] = self._inertia[j].freed(Twist(), W, inverse, wholly=False)
                self._add_common({i: F, **others}, -inverse)
        common = {j: self._taken(i, j) for j in beside}
        if body.parent != BASE:
            self._inertia[body.parent] += inertia.in_parent(joint.X)
            for r, P in wrenches.items():
                self._exert(body.parent, r, joint.X.wrench_out(P))
            for j, C in common.items():
                self._hand_on(body.parent, j, _turned(joint.X, C))

    # -- masses that bodies have in common --------------------------------------------------------

    def _add_common(self, wrenches: Mapping[int, Wrench], factor: Number) -> None:
        """Add ``factor F G^T`` of each two of some wrenches."""
        numbers = {i: [*F] for i, F in sorted(wrenches.items())}
        for i, F in numbers.items():
            for j, G in numbers.items():
                if i < j:
                    scaled = [y * factor for y in G]
                    C = [[x * y for y in scaled] for x in F]
                    known = self._common.get((i, j))
                    self._common[i, j] = C if known is None else _sum(known, C)

    def _on(self, body: int, other: int, s: Twist) -> Wrench:
        """The wrench on a body by an acceleration of another."""
        C = self._common[min(body, other), max(body, other)]
        C = C if body < other else _transposed(C)
        numbers = [dot(row, [*s]) for row in C]
        return Wrench(Vec3(*numbers[:3]), Vec3(*numbers[3:]))

    def _taken(self, body: int, other: int) -> Common:
        """What a body, which is freed, has in common with another: wrenches on the first."""
        C = self._common.pop((min(body, other), max(body, other)))
        return C if body < other else _transposed(C)

    def _hand_on(self, parent: int, other: int, C: Common) -> None:
        """Give what a body had in common with another to its parent."""
        if parent == other:
            self._inertia[parent] += _doubled(C)
            return
        pair = (min(parent, other), max(parent, other))
        C = C if parent < other else _transposed(C)
        self._common[pair] = _sum(self._common[pair], C) if pair in self._common else C

    # -- solutions --------------------------------------------------------------------------------

    def solve(
        self, wrenches: Mapping[int, Wrench], tau: Sequence[Number], biases: Sequence[Number]
    ) -> tuple[list[Number], list[Number]]:
        """Accelerations of speeds that are not controlled, zero for others, and multipliers.

        wrenches: What opposes the motion of bodies with the controlled accelerations alone.
        biases: ``k`` of each row, and what controlled accelerations add to it.
        """
        p, gaps = dict(wrenches), list(biases)
        freed: dict[int, Number] = {}
        for i in self._order.bodies:
            self._gather(self._solved[i], p, gaps)
            force = p.get(i, Wrench())
            for speed in self._speeds[i]:
                k, inverse = speed.number, speed.inverse
                u = freed[k] = (tau[k] - speed.column.dot(force)) * inverse
                force = force + speed.wrench * u
                for j, F in speed.others.items():
                    _add(p, j, F * u)
                for r, x in speed.of_rows.items():
                    gaps[r] = gaps[r] + x * u
            parent = self._model.bodies[i].parent
            if parent != BASE:
                _add(p, parent, self._state[i].X.wrench_out(force))
            self._gather(self._early[i], p, gaps)
        self._gather(self._solved[BASE], p, gaps)
        return self._distribute(freed, gaps)

    @staticmethod
    def _gather(solved: Sequence[_SolvedRow], p: dict[int, Wrench], gaps: list[Number]) -> None:
        """Effect of multipliers that were eliminated together on bodies and on other rows."""
        for row in solved:
            x = gaps[row.number] * row.inverse
            for i, F in row.wrenches.items():
                _add(p, i, F * x)
            for s, y in row.of_rows.items():
                gaps[s] = gaps[s] - y * x

    def _distribute(
        self, freed: Mapping[int, Number], gaps: Sequence[Number]
    ) -> tuple[list[Number], list[Number]]:
        """Back substitution from the root to the leaves, the last eliminated first."""
        a: list[Number] = [0.0] * self._model.nv
        lam: list[Number] = [0.0] * len(self._rows)
        A = {BASE: Twist()}

        def multipliers(solved: Sequence[_SolvedRow]) -> None:
            for row in reversed(solved):
                gap = gaps[row.number]
                for i, F in row.wrenches.items():
                    gap = gap + A[i].dot(F)
                for s, x in row.of_rows.items():
                    gap = gap + x * lam[s]
                lam[row.number] = -(gap * row.inverse)

        multipliers(self._solved[BASE])
        for i in reversed(self._order.bodies):
            multipliers(self._early[i])
            moved = self._state[i].X.twist_in(A[self._model.bodies[i].parent])
            for speed in reversed(self._speeds[i]):
                felt = -moved.dot(speed.wrench)
                for j, F in speed.others.items():
                    felt = felt - A[j].dot(F)
                for r, x in speed.of_rows.items():
                    felt = felt + x * lam[r]
                a[speed.number] = freed[speed.number] + felt * speed.inverse
                moved = moved + speed.column * a[speed.number]
            A[i] = moved
            multipliers(self._solved[i])
        return a, lam


def _add(p: dict[int, Wrench], body: int, F: Wrench) -> None:
    p[body] = p[body] + F if body in p else F


def _transposed(C: Common) -> Common:
    return [list(column) for column in zip(*C, strict=True)]


def _sum(C: Common, D: Common) -> Common:
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(C, D, strict=True)]


def _turned(X: Placement, C: Common) -> Common:
    """Wrenches on the parent instead of those on a body."""
    columns = _transposed(C)
    return _transposed([[*X.wrench_out(Wrench(Vec3(*x[:3]), Vec3(*x[3:])))] for x in columns])


def _doubled(C: Common) -> ArticulatedInertia:
    """``C + C^T``, of wrenches on a body by its own acceleration."""
    D = _sum(C, _transposed(C))
    M, A = (
        Sym3(D[k][k], D[k][k + 1], D[k][k + 2], D[k + 1][k + 1], D[k + 1][k + 2], D[k + 2][k + 2])
        for k in (0, 3)
    )
    return ArticulatedInertia(A, Mat3(*(x for row in D[3:] for x in row[:3])), M)
