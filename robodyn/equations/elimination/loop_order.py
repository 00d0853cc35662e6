"""The order in which bodies and rows of a long linkage are eliminated (`articulated_loops`).

Each row may wait for the body that carries all of its loop. Where many rows wait for one body, as
those of loops that follow one another along two chains, both chains are freed together instead, the
deepest bodies first, and each row goes as soon as it has a large pivot wherever it is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from robodyn.array_types import Array
from robodyn.equations.elimination.articulated_loops import EliminationOrder, LoopRow
from robodyn.equations.elimination.elimination_order import as_soon_as_possible
from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.spatial import ArticulatedInertia, Placement, Wrench

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
