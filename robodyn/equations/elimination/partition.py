"""Hybrid dynamics by the rows of the mass matrix, with closed loops or without.

Some speeds follow given accelerations (controlled, c), the others feel given forces (free, f)
[W 5.100, 5.101], and loops the multipliers of their constraints [W 5.191, 5.197]::

    M_ff a_f = tau_f - h_f - M_fc a_c + K_f^T lam        K_f a_f = -(k + K_c a_c)
    tau_c = M_cc a_c + M_cf a_f + h_c - K_c^T lam

Inverse dynamics is the end where all are controlled, forward dynamics the one where none is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.elimination.constrained import FreeSystem, RowGroup
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.composite_body import Matrix, mass_matrix
from robodyn.equations.tree.newton_euler import inverse_dynamics
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Wrench


def hybrid_dynamics(
    state: State,
    a: Sequence[Number],
    tau: Sequence[Number],
    controlled: frozenset[int],
    wrenches: Mapping[int, Wrench],
    moves: Sequence[Number] | None = None,
) -> tuple[list[Number], list[Number]]:
    """Accelerations and forces of all speeds of a tree; arguments as below."""
    return closed_hybrid_dynamics(state, a, tau, controlled, wrenches, (), moves=moves)[:2]


def closed_hybrid_dynamics(
    state: State,
    a: Sequence[Number],
    tau: Sequence[Number],
    controlled: frozenset[int],
    wrenches: Mapping[int, Wrench],
    rows: Sequence[Row],
    groups: Sequence[RowGroup] = (),
    moves: Sequence[Number] | None = None,
) -> tuple[list[Number], list[Number], list[Number]]:
    """Accelerations and forces of all speeds, and multipliers.

    a, tau: Accelerations are read where controlled, forces elsewhere.
    controlled: Indices of controlled speeds.
    rows: Independent in the free speeds, but for groups at their end.
    moves, optional: 1 for each speed that moves, 0 for those of a tree that are held at rest.
    """
    model = state.model
    free = [k for k in range(model.nv) if k not in controlled]
    given: list[Number] = [a[k] if k in controlled else 0.0 for k in range(model.nv)]
    force = inverse_dynamics(state, given, wrenches)
    lam: list[Number] = []
    if free:
        M = mass_matrix(state)
        biases = [
            sum((x * given[k] for k, x in row.jacobian.items() if k not in free), row.bias)
            for row in rows
        ]
        right = [tau[i] - force[i] for i in free]
        if moves is not None:
            M, right = (
                _only_moving(M, moves),
                [moves[i] * x for i, x in zip(free, right, strict=True)],
            )
        system = FreeSystem(M, rows, free, model.light, groups)
        x, lam = system.solve(right, biases)
        for k in free:
            given[k] = x[k]
        for c in sorted(controlled):
            force[c] = sum((M[c][k] * x[k] for k in free), force[c])
            for row, value in zip(rows, lam, strict=True):
                force[c] -= row.jacobian.get(c, 0.0) * value
    forces = [force[k] if k in controlled else tau[k] for k in range(model.nv)]
    return given, forces, lam


def _only_moving(M: Matrix, moves: Sequence[Number]) -> Matrix:
    """The mass matrix with rows and columns of the unit matrix for speeds that are held."""
    found = [[x * (moves[i] * moves[j]) for j, x in enumerate(row)] for i, row in enumerate(M)]
    for i, row in enumerate(found):
        row[i] = M[i][i] * moves[i] + (1.0 - moves[i])
    return found
