"""Constraints of users between the joints of a tree."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.equations.loops.constraint import TracedConstraint
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.errors import TopologyError
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number


@dataclass(frozen=True, eq=False)
class Related:
    """A constraint and the bodies whose joints it is about; ``None`` for joints that are locked."""

    given: TracedConstraint
    bodies: tuple[int | None, ...]

    @property
    def name(self) -> str:
        """Name given by the user."""
        return self.given.name

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """Of each row: whether it is one of positions, too."""
        return self.given.functions.holonomic

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.given.functions.count

    @property
    def rheonomic(self) -> bool:
        """It depends on time."""
        return self.given.functions.rheonomic

    @property
    def steady(self) -> bool:
        """No motion is possible motion."""
        return self.given.functions.steady


def related(model: MechanismModel, given: TracedConstraint) -> Related:
    """A constraint with the bodies of its joints.

    Raises TopologyError: If a joint has no coordinate any more.
    """
    bodies = {body.description.name: body.index for body in model}
    locked = dict(given.locked)
    for joint in given.joints:
        if joint not in bodies and joint not in locked:
            raise TopologyError(
                f"joint {joint!r} has no coordinate of its own: it is fixed or gone",
                element=f"constraint {given.name!r}",
            )
    return Related(
        given, tuple(None if joint in locked else bodies[joint] for joint in given.joints)
    )


def constraint_rows(state: State, constraint: Related) -> list[Row]:
    """Rows of one constraint."""
    given, locked = constraint.given, dict(constraint.given.locked)
    functions = given.functions
    q: list[Number] = []
    v: list[Number] = []
    moved: list[list[tuple[int, Number]]] = []
    rest: list[Number] = []
    for joint, i, (_, _, nv) in zip(given.joints, constraint.bodies, given.sizes, strict=True):
        if i is None:
            q, v = [*q, *locked[joint]], [*v, *[0.0] * nv]
            moved, rest = [*moved, *[[]] * nv], [*rest, *[0.0] * nv]
            continue
        at = state[i]
        q, v, rest = [*q, *at.q], [*v, *at.v], [*rest, *at.own_c]
        moved += [[(k, x) for k, m, x in at.ratios if m == n] for n in range(nv)]
    q = [*q, state.t] if functions.rheonomic else q
    values = inline(functions.value, q)
    slopes, offsets = inline(functions.slopes, q), inline(functions.offset, q)
    bias, m = inline(functions.bias, [*q, *v]), len(v)
    rows = []
    for k in range(functions.count):
        columns: dict[int, Number] = {}
        left = bias[k]
        for speeds, c, slope in zip(moved, rest, slopes[k * m : (k + 1) * m], strict=True):
            left = left + slope * c
            for index, ratio in speeds:
                columns[index] = columns.get(index, 0.0) + slope * ratio
        rows.append(Row(values[k], columns, left, offsets[k]))
    return rows
