"""Hybrid dynamics of long linkages, in time that grows with their bodies: articulated bodies.

Joints are freed from the leaves of the tree to its root [Featherstone, table 7.1]. What a joint of
a loop lets go of depends on the multipliers of the loop, so that these are carried along: at each
body there are the wrench that a unit multiplier exerts there, joints beyond being free, and by how
much it moves the gap of each row. A multiplier is eliminated at the first body that carries all of
its loop, where nothing that follows changes its row. So loops cost something only at the bodies
between, while the mass matrix has an element for any two speeds on the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from robodyn.equations.elimination.constrained import guarded_inverse
from robodyn.equations.mechanism.bodies import BASE, Body
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import ArticulatedInertia, Twist, Wrench


class LoopRow(NamedTuple):
    """A row ``K a = -k`` of a joint that was cut, by bodies instead of by speeds.

    wrenches: What a unit multiplier exerts on the two bodies.
    carrier: The last body on the way to both of them.
    """

    wrenches: Mapping[int, Wrench]
    carrier: int


class _FreedSpeed(NamedTuple):
    """A speed that was eliminated: its column, wrench, inverse pivot, and what multipliers do."""

    number: int
    column: Twist
    wrench: Wrench
    inverse: Number
    of_rows: dict[int, Number]


class _SolvedRow(NamedTuple):
    """An eliminated row: wrench on its carrier, inverse pivot, and its entries of other rows."""

    number: int
    wrench: Wrench
    inverse: Number
    of_rows: dict[int, Number]


class ArticulatedLoops:
    """The equations of a linkage, eliminated once, for any forces.

    state: Of a mechanism whose bodies are coupled to their neighbours only, without rotors on them.
    rows: Independent in the other speeds.
    controlled: Speeds whose accelerations are given: nothing else moves these joints.
    """

    def __init__(
        self, state: State, rows: Sequence[LoopRow], controlled: frozenset[int] = frozenset()
    ) -> None:
        model = state.model
        self._model, self._state, self._rows = model, state, rows
        self._speeds: dict[int, list[_FreedSpeed]] = {}
        self._solved: dict[int, list[_SolvedRow]] = {}
        self._inertia = {body.index: ArticulatedInertia.of(body.lumped) for body in model}
        #: At each body the wrenches of unit multipliers; of each two rows how one moves the other.
        self._wrenches: dict[int, dict[int, Wrench]] = {i: {} for i in (BASE, *self._inertia)}
        self._gaps: list[dict[int, Number]] = [{} for _ in rows]
        self._carried: dict[int, list[int]] = {}
        for r, row in enumerate(rows):
            self._carried.setdefault(row.carrier, []).append(r)
            for i, F in row.wrenches.items():
                self._exert(i, r, F)
        rotors = {x.body: x.inertia for x in model.lumped_armature}
        for body in reversed(model):
            self._solve_rows(body.index)
            self._free(body, rotors.get(body.index, 0.0), controlled)
        self._solve_rows(BASE)

    def _exert(self, body: int, row: int, F: Wrench) -> None:
        known = self._wrenches[body].get(row)
        self._wrenches[body][row] = F if known is None else known + F

    def _solve_rows(self, body: int) -> None:
        """Eliminate the multipliers of all loops that this body carries."""
        own = self._carried.get(body, [])
        gaps, wrenches = self._gaps, self._wrenches[body]
        before = [gaps[r].get(r, 0.0) for r in own]
        total = sum(before, 0.0)
        solved = self._solved[body] = []
        for r, size in zip(own, before, strict=True):
            inverse = guarded_inverse(gaps[r].pop(r, 0.0), size, total)
            F, others = wrenches.pop(r, Wrench()), gaps[r]
            solved.append(_SolvedRow(r, F, inverse, others))
            for s, x in others.items():
                scaled = x * inverse
                del gaps[s][r]
                for t, y in others.items():
                    gaps[s][t] = gaps[s].get(t, 0.0) - scaled * y
                self._exert(body, s, F * -scaled)
            if body != BASE:
                inertia = self._inertia[body]
                self._inertia[body] = inertia.freed(Twist(), F, -inverse, wholly=False)

    def _free(self, body: Body, rotor: Number, controlled: frozenset[int]) -> None:
        """Eliminate the speeds of a joint, and add the remaining inertia to its parent."""
        joint, inertia = self._state[body.index], self._inertia[body.index]
        wrenches = self._wrenches[body.index]
        freed = self._speeds[body.index] = []
        for k, s in reversed(joint.columns):
            if k in controlled:
                continue
            F = inertia * s
            inverse = 1.0 / (s.dot(F) + rotor)
            of_rows = {r: s.dot(P) for r, P in wrenches.items()}
            freed.append(_FreedSpeed(k, s, F, inverse, of_rows))
            for r, x in of_rows.items():
                wrenches[r] = wrenches[r] - F * (x * inverse)
                for t, y in of_rows.items():
                    self._gaps[r][t] = self._gaps[r].get(t, 0.0) + x * y * inverse
            inertia = inertia.freed(s, F, inverse, wholly=not rotor)
        if body.parent != BASE:
            self._inertia[body.parent] += inertia.in_parent(joint.X)
            for r, P in wrenches.items():
                self._exert(body.parent, r, joint.X.wrench_out(P))

    def solve(
        self, wrenches: Mapping[int, Wrench], tau: Sequence[Number], biases: Sequence[Number]
    ) -> tuple[list[Number], list[Number]]:
        """Accelerations of speeds that are not controlled, zero for others, and multipliers.

        wrenches: What opposes the motion of bodies with the controlled accelerations alone.
        biases: ``k`` of each row, and what controlled accelerations add to it.
        """
        model, p, gaps = self._model, dict(wrenches), list(biases)
        freed: dict[int, Number] = {}
        for body in reversed(model):
            force = self._gather(body.index, p.get(body.index, Wrench()), gaps)
            for speed in self._speeds[body.index]:
                k, inverse = speed.number, speed.inverse
                u = freed[k] = (tau[k] - speed.column.dot(force)) * inverse
                force = force + speed.wrench * u
                for r, x in speed.of_rows.items():
                    gaps[r] = gaps[r] + x * u
            if body.parent != BASE:
                carried = self._state[body.index].X.wrench_out(force)
                p[body.parent] = p[body.parent] + carried if body.parent in p else carried
        self._gather(BASE, Wrench(), gaps)
        return self._distribute(freed, gaps)

    def _gather(self, body: int, force: Wrench, gaps: list[Number]) -> Wrench:
        """Effect of the multipliers eliminated at a body on the body and on other rows."""
        for row in self._solved[body]:
            x = gaps[row.number] * row.inverse
            force = force + row.wrench * x
            for s, y in row.of_rows.items():
                gaps[s] = gaps[s] - y * x
        return force

    def _distribute(
        self, freed: Mapping[int, Number], gaps: Sequence[Number]
    ) -> tuple[list[Number], list[Number]]:
        """Back substitution from the root to the leaves, the last eliminated first."""
        a: list[Number] = [0.0] * self._model.nv
        lam: list[Number] = [0.0] * len(self._rows)
        A = {BASE: Twist()}

        def multipliers(body: int) -> None:
            for row in reversed(self._solved[body]):
                gap = gaps[row.number] + A[body].dot(row.wrench)
                for s, x in row.of_rows.items():
                    gap = gap + x * lam[s]
                lam[row.number] = -(gap * row.inverse)

        multipliers(BASE)
        for body in self._model:
            moved = self._state[body.index].X.twist_in(A[body.parent])
            for speed in reversed(self._speeds[body.index]):
                felt = -moved.dot(speed.wrench)
                for r, x in speed.of_rows.items():
                    felt = felt + x * lam[r]
                a[speed.number] = freed[speed.number] + felt * speed.inverse
                moved = moved + speed.column * a[speed.number]
            A[body.index] = moved
            multipliers(body.index)
        return a, lam
