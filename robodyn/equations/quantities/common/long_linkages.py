"""Long closed linkages, for which articulated bodies take the fewest operations.

Each row may wait for the body that carries all of its loop. Where many rows wait for one body, as
those of loops that follow one another along two chains, both chains are freed together instead, the
deepest bodies first, and each row goes as soon as it has a large pivot wherever it is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from robodyn.array_types import Array
from robodyn.equations.elimination.articulated_loops import (
    ArticulatedLoops,
    EliminationOrder,
    LoopRow,
)
from robodyn.equations.elimination.elimination import TRIED, as_soon_as_possible
from robodyn.equations.elimination.singularity import Probe
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.equations.quantities.common.tracer import Tracer
from robodyn.equations.tree import articulated_body
from robodyn.equations.tree.newton_euler import armature_forces, body_motions, inverse_dynamics
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, dot
from robodyn.symbolic.spatial import ArticulatedInertia, Placement, Wrench


def preferred(t: Tracer, controlled: frozenset[int]) -> bool:
    """Whether the free part of a linkage is long, and suitable for articulated bodies."""
    setup, model = t.setup, t.model
    special = setup.coupled or setup.constraints or t.options.get("groups") or model.lumped_rotors
    none = not t.options.get("rows", t.setup.closures)
    if special or model.light or not model.chained or none:
        return False
    return articulated_body.preferred(model, controlled)


def equations(t: Tracer, controlled: frozenset[int]) -> ArticulatedLoops:
    """Masses and chosen rows of a linkage, eliminated once in a program."""
    if ("long linkage", controlled) not in t.kept:
        t.kept["long linkage", controlled] = _equations(t, controlled)
    found: ArticulatedLoops = t.kept["long linkage", controlled]
    return found


def _equations(t: Tracer, controlled: frozenset[int]) -> ArticulatedLoops:
    rows = loop_rows(t)
    return ArticulatedLoops(t.state, rows, controlled, order_of(t, rows, controlled))


def order_of(
    t: Tracer, rows: Sequence[LoopRow], controlled: frozenset[int]
) -> EliminationOrder | None:
    """Another order of elimination than the usual one, if that takes much fewer operations."""
    return loop_order(
        t.model, rows, lambda: [(x.state, loop_rows(x)) for x in _tried(t)], controlled
    )


def loop_rows(t: Tracer) -> list[LoopRow]:
    """The rows that were chosen, by bodies."""
    return [
        LoopRow(_wrenches(t, closure, k), _carrier(t.model, closure)) for closure, k in _chosen(t)
    ]


def _chosen(t: Tracer) -> list[tuple[Closure, int]]:
    """Closures with the numbers of their rows that were chosen."""
    places = [(c, k) for c in t.setup.closures for k in range(c.count)]
    return [places[row] for row in t.options.get("rows", range(len(places)))]


def _tried(t: Tracer) -> list[Tracer]:
    """The same linkage in some closed postures, with numbers instead of symbols."""
    postures = t.options.get("postures", ())[:TRIED]
    return [Tracer(t.given, t.chosen, numbers={**t.numbers, "q": [*q]}) for q in postures]


def _biases(t: Tracer, a: Sequence[Number], controlled: frozenset[int]) -> list[Number]:
    """``k`` of each row, and what controlled accelerations add to it."""
    if t.options.get("stabilization"):
        return [
            sum((x * a[k] for k, x in row.jacobian.items() if k in controlled), row.bias)
            for row in t.rows
        ]
    rows: dict[Closure, list[Row]] = {}
    for closure, _ in _chosen(t):
        if closure not in rows:
            motion = closure.motion(t.state)
            columns = {k: motion.columns[k] for k in motion.columns if k in controlled}
            rows[closure] = closure.rows(t.state, replace(motion, columns=columns))
    return [rows[closure][k].acceleration(a) for closure, k in _chosen(t)]


def hybrid_dynamics(
    t: Tracer, a: Sequence[Number], tau: Sequence[Number], controlled: frozenset[int]
) -> tuple[list[Number], list[Number], list[Number]]:
    """Accelerations and forces of all speeds, and multipliers of the chosen rows.

    a, tau: Accelerations are read where controlled, forces elsewhere.
    controlled: Indices of controlled speeds.
    """
    given: list[Number] = [x if k in controlled else 0.0 for k, x in enumerate(a)]
    motion = body_motions(t.state, given)
    p = {body.index: body.lumped.wrench(motion[body.index]) for body in t.model}
    for body, F in t.wrenches.items():
        if body != BASE:
            p[body] -= F
    biases = _biases(t, a, controlled)
    own = armature_forces(t.model.lumped_armature, t.state, t.zeros)
    free = [x - own.get(k, 0.0) for k, x in enumerate(tau)]
    moved, lam = equations(t, controlled).solve(p, free, biases)
    found = [given[k] if k in controlled else x for k, x in enumerate(moved)]
    forces = list(tau)
    if controlled:
        needed = inverse_dynamics(t.state, found, t.wrenches)
        for c in controlled:
            column = [row.jacobian.get(c, 0.0) for row in t.rows]
            forces[c] = needed[c] - dot(column, lam)
    return found, forces, lam


def least_changes(
    t: Tracer, controlled: frozenset[int], openings: Sequence[Sequence[Number]]
) -> list[list[Number]]:
    """The changes of least norm with ``K x = -e``, one for each ``e`` of ``openings``."""
    linkage = equations(t, controlled)
    return [linkage.solve({}, t.zeros, e)[0] for e in openings]


def conditioning(t: Tracer, controlled: frozenset[int], probe: Probe) -> Number:
    """Nearness of the rows to dependence; see `constrained.FreeSystem.energy`."""
    _, lam = equations(t, controlled).solve({}, t.zeros, [-rate for rate in probe.right])
    return dot(lam, probe.right)


def _wrenches(t: Tracer, closure: Closure, row: int) -> dict[int, Wrench]:
    unit = [float(k == row) for k in range(closure.count)]
    on_predecessor, on_successor, _ = closure.wrenches(t.state, unit)
    return {closure.predecessor: on_predecessor, closure.successor: on_successor}


def _carrier(model: MechanismModel, closure: Closure) -> int:
    """The last body on the way to both of the bodies that a closure joins."""
    to_predecessor, to_successor = model.chains(closure.predecessor, closure.successor)
    if to_predecessor:
        return model.bodies[to_predecessor[0]].parent
    return model.bodies[to_successor[0]].parent if to_successor else closure.predecessor


#: Mean number of rows that wait at a body, beyond which they go earlier.
WAITING = 8

#: Part of a pivot that there must be where its row goes before its carrier: in long linkages there
#: is often no more in the end.
PART = 2e-3


def loop_order(
    model: MechanismModel,
    rows: Sequence[LoopRow],
    systems: Callable[[], Sequence[tuple[State, Sequence[LoopRow]]]],
    controlled: frozenset[int],
) -> EliminationOrder | None:
    """Another order than the usual one, if many rows would wait, and there are states to try it.

    systems: Makes states, with numbers, and their rows.
    """
    if _waiting(model, rows) <= WAITING * len(model.bodies):
        return None
    tried = systems()
    if not tried:
        return None
    state = tried[0][0]
    depths = {BASE: 0}
    for body in model:
        depths[body.index] = depths[body.parent] + 1
    bodies = sorted((body.index for body in model), key=lambda i: (-depths[i], -i))
    speeds = [
        k for i in reversed(bodies) for k, _ in state[i].columns if k not in controlled
    ]  # fmt: skip
    place = {k: n for n, k in enumerate(speeds)}
    after: dict[int, list[int]] = {}
    of_rows = [{place[k] for k in _speeds(state, row) if k in place} for row in rows]
    A = np.array([_system(*one, speeds) for one in tried])
    found = as_soon_as_possible(A, len(speeds), of_rows, PART)
    owner = {place[k]: i for i in bodies for k, _ in state[i].columns if k in place}
    for r, n in enumerate(found):
        after.setdefault(owner[n], []).append(r)
    return EliminationOrder(bodies, after)


def _waiting(model: MechanismModel, rows: Sequence[LoopRow]) -> int:
    """Number of rows that wait at each body, all together."""
    total = 0
    for row in rows:
        above: set[int] = set()
        for i in row.wrenches:
            while i not in (row.carrier, BASE):
                above.add(i)
                i = model.bodies[i].parent
        total += len(above)
    return total


def _speeds(state: State, row: LoopRow) -> set[int]:
    """Speeds between the carrier of a loop and its ends."""
    found: set[int] = set()
    for i in row.wrenches:
        while i not in (row.carrier, BASE):
            found |= {k for k, _ in state[i].columns}
            i = state.model.bodies[i].parent
    return found


def _system(state: State, rows: Sequence[LoopRow], speeds: Sequence[int]) -> Array:
    """Masses with rows beside them, over some speeds, as numbers."""
    model = state.model
    J = {BASE: np.zeros((6, model.nv))}
    M = np.diag(np.zeros(model.nv))
    rotors = {x.body: x.inertia for x in model.lumped_armature}
    for body in model:
        joint = state[body.index]
        own = J[body.index] = _twist_in(joint.X) @ J[body.parent]
        for k, s in joint.columns:
            own[:, k] += [float(x) for x in s]  # type: ignore[arg-type]  # known
            M[k, k] += float(rotors.get(body.index, 0.0))
        M += own.T @ _matrix(ArticulatedInertia.of(body.lumped)) @ own
    K = np.array([sum(_numbers(F) @ J[i] for i, F in row.wrenches.items()) for row in rows])
    K, count = K[:, speeds], len(speeds)
    A = np.zeros((count + len(rows),) * 2)
    A[:count, :count], A[count:, :count], A[:count, count:] = M[np.ix_(speeds, speeds)], K, K.T
    return A


def _numbers(F: Wrench) -> Array:
    return np.array([float(x) for x in F])  # type: ignore[arg-type]  # known


def _twist_in(X: Placement) -> Array:
    R = np.array([[float(x) for x in row] for row in X.R.matrix.rows()])  # type: ignore[arg-type]
    x, y, z = (float(c) for c in X.p)  # type: ignore[arg-type]
    T = np.zeros((6, 6))
    T[:3, :3] = T[3:, 3:] = R.T
    T[:3, 3:] = R.T @ np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # of v + w x p
    return T


def _matrix(inertia: ArticulatedInertia) -> Array:
    A, B, M = (
        np.array([[float(x) for x in row] for row in m.rows()])  # type: ignore[arg-type]
        for m in (inertia.A.full, inertia.B, inertia.M.full)
    )
    return np.block([[M, B.T], [B, A]])
