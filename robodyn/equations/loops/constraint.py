"""Constraints given by their user as functions of coordinates, speeds, time [W 5.183, 5.184].

Traced once; `frame_functions` has what becomes of the function.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.arrays import mismatch
from robodyn.equations.loops.frame_functions import (
    SAMPLES,
    ConstraintFunctions,
    expressions,
    program,
)
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.errors import ShapeError, TopologyError, UnknownNameError
from robodyn.joints import joint_kind
from robodyn.joints.common.user_function import called, takes_time
from robodyn.literals import ConstraintKind
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph
from robodyn.symbolic.scalar import Number, inputs


class Constraint:
    """Constraints between the joints of a robot, beside those of its loops.

    A function with a parameter called ``t`` gets the time [s]: it ties joints to the clock. Methods
    of such a robot take the time as ``t=``, and simulations supply it.

    Parameters
    ----------
    name : str
        Its rows are called ``"name[0]"``, ``"name[1]"``, ...
    function : callable
        Holonomic: ``q -> f``, zero where the constraint is met. Nonholonomic: ``q, v -> g``, linear
        in v and zero along possible motions. Or ``q, t -> f`` and ``q, v, t -> g``. ``q`` and ``v``
        are lists of the coordinates and speeds of the joints, in their order; the result is one
        expression or a list of them.
        Arithmetic, functions such as `robodyn.sin`, and `robodyn.where` (or numpy's) are
        understood, ``if`` is not.
    joints : names of joints
        ``"floating_base"`` is that of a floating base.
    kind : {"holonomic", "nonholonomic"}

    Raises
    ------
    UnknownNameError
        For another kind.
    ShapeError
        Where no joint, or one joint twice, is named.

    Examples
    --------
    >>> import robodyn as rd
    >>> same = rd.Constraint("same", lambda q: q[0] - q[1], joints=("shoulder", "elbow"))
    >>> robot = rd.load("double_pendulum", constraints=[same])
    >>> robot.dof, robot.assemble([0.3, 0.3]).tolist()
    (1, [0.3, 0.3])
    """

    name: str
    function: Callable[..., Any]
    kind: ConstraintKind
    joints: tuple[str, ...]

    @checked_arguments
    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        joints: Iterable[str],
        kind: ConstraintKind = "holonomic",
    ) -> None:
        if not (isinstance(name, str) and name):
            raise mismatch("the name of a constraint", name, "text", "name")
        self.name, self.function, self.kind = name, function, kind
        self.joints = (joints,) if isinstance(joints, str) else tuple(joints)
        if not self.joints or len(set(self.joints)) < len(self.joints):
            raise ShapeError(
                f"constraint {name!r} names {self.joints}, expected some joints, each once",
                name="joints",
                given=self.joints,
            )

    def traced(
        self, joints: Mapping[str, tuple[str, int, int]], links: Collection[str] = ()
    ) -> TracedConstraint:
        """As programs, for joints of given kind, nq and nv by name; it reads no links."""
        known = [name for name, (_, nq, _) in joints.items() if nq]
        for joint in self.joints:
            if joint not in known:
                raise UnknownNameError(
                    "joint with coordinates", joint, known, f"constraint {self.name!r}"
                )
        sizes = tuple(joints[joint] for joint in self.joints)
        n, m = sum(nq for _, nq, _ in sizes), sum(nv for _, _, nv in sizes)
        timed, holonomic = takes_time(self.function), self.kind == "holonomic"
        graph = Graph()
        q, v = inputs(graph, 0, n + int(timed)), inputs(graph, n + int(timed), m)
        own, time = (list(q[:-1]), {"t": q[-1]}) if timed else (list(q), {})
        arguments = (own,) if holonomic else (own, list(v))
        results = expressions(self.name, called(repr(self), self.function, *arguments, **time))
        given = program("given", graph, (len(q), m), results)
        functions = ConstraintFunctions.of(
            given, [holonomic] * len(results), partial(_rates, sizes), timed
        )
        points = np.random.default_rng(0).uniform(-1.0, 1.0, (SAMPLES, len(q)))
        functions.check(self.name, points)
        return TracedConstraint(self.name, self.joints, sizes, functions)

    def __repr__(self) -> str:
        return f"constraint {self.name!r}"


Sizes = Sequence[tuple[str, int, int]]


@dataclass(frozen=True, eq=False)
class TracedConstraint:
    """A constraint as programs.

    sizes: Of the joints.
    locked: Joints that were welded there since; one number a coordinate.
    """

    name: str
    joints: tuple[str, ...]
    sizes: tuple[tuple[str, int, int], ...]
    functions: ConstraintFunctions
    locked: tuple[tuple[str, tuple[float, ...]], ...] = ()

    def stopped(self) -> TracedConstraint:
        """A copy at a fixed time: it still depends on the time, but has no rate by it."""
        return dataclasses.replace(self, functions=self.functions.stopped())

    @property
    def links(self) -> tuple[str, ...]:
        """No links, since it is between joints."""
        return ()

    @property
    def rheonomic(self) -> bool:
        """It depends on time."""
        return self.functions.rheonomic

    @property
    def nonholonomic(self) -> bool:
        """It constrains speeds, and not positions."""
        return not all(self.functions.holonomic)

    def locking(self, joint: str, position: tuple[float, ...]) -> TracedConstraint:
        """With a joint welded at a position [rad, m]."""
        return dataclasses.replace(self, locked=(*self.locked, (joint, position)))


def _rates(sizes: Sizes, q: Sequence[Number], v: Sequence[Number]) -> list[Number]:
    """Rates of the coordinates of joints."""
    rates: list[Number] = []
    first_q = first_v = 0
    for kind, nq, nv in sizes:
        own_q, own_v = q[first_q : first_q + nq], v[first_v : first_v + nv]
        rates += joint_kind(kind).coordinates.rates(own_q, own_v)
        first_q, first_v = first_q + nq, first_v + nv
    return rates


@dataclass(frozen=True, eq=False)
class Related:
    """A constraint and the bodies whose joints it is about; ``None`` for joints that are locked."""

    given: TracedConstraint
    bodies: tuple[int | None, ...]

    @classmethod
    def of(cls, model: MechanismModel, given: TracedConstraint) -> Related:
        """A constraint with the bodies of its joints.

        Raises TopologyError: If a joint has no coordinate any more.
        """
        bodies = {body.description.name: body.index for body in model}
        known = bodies | dict.fromkeys(joint for joint, _ in given.locked)
        for joint in given.joints:
            if joint not in known:
                raise TopologyError(
                    f"joint {joint!r} has no coordinate of its own: it is fixed or gone",
                    element=f"constraint {given.name!r}",
                )
        return cls(given, tuple(known[joint] for joint in given.joints))

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
        return self.given.rheonomic

    @property
    def steady(self) -> bool:
        """No motion is possible motion."""
        return self.given.functions.steady

    def rows(self, state: State) -> list[Row]:
        """Its rows."""
        given, locked = self.given, dict(self.given.locked)
        functions = given.functions
        q: list[Number] = []
        v: list[Number] = []
        moved: list[list[tuple[int, Number]]] = []
        rest: list[Number] = []
        for joint, i, (_, _, nv) in zip(given.joints, self.bodies, given.sizes, strict=True):
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

    gaps = rows
