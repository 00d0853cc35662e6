"""Hybrid dynamics by the rows of the mass matrix, with closed loops or without.

Some speeds follow given accelerations (controlled, c), the others feel given forces (free, f)
[W 5.100, 5.101], and loops the multipliers of their constraints [W 5.191, 5.197]::

    M_ff a_f = tau_f - h_f - M_fc a_c + K_f^T lam        K_f a_f = -(k + K_c a_c)
    tau_c = M_cc a_c + M_cf a_f + h_c - K_c^T lam

Inverse dynamics is the end where all are controlled, forward dynamics the one where none is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.elimination.constrained import accelerations
from robodyn.equations.elimination.redundant import RowGroup
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import BaseState, State
from robodyn.equations.tree.composite_body import mass_matrix
from robodyn.equations.tree.newton_euler import inverse_dynamics
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Wrench


def hybrid_dynamics(
    model: MechanismModel,
    state: State,
    a: Sequence[Number],
    tau: Sequence[Number],
    controlled: frozenset[int],
    base: BaseState,
    wrenches: Mapping[int, Wrench],
) -> tuple[list[Number], list[Number]]:
    """Accelerations and forces of all speeds of a tree; arguments as below."""
    return closed_hybrid_dynamics(model, state, a, tau, controlled, base, wrenches, ())[:2]


def closed_hybrid_dynamics(
    model: MechanismModel,
    state: State,
    a: Sequence[Number],
    tau: Sequence[Number],
    controlled: frozenset[int],
    base: BaseState,
    wrenches: Mapping[int, Wrench],
    rows: Sequence[Row],
    groups: Sequence[RowGroup] = (),
) -> tuple[list[Number], list[Number], list[Number]]:
    """Accelerations and forces of all speeds, and multipliers.

    a, tau: Accelerations are read where controlled, forces elsewhere.
    controlled: Indices of controlled speeds.
    rows: Independent in the free speeds, but for groups at their end.
    """
    free = [k for k in range(model.nv) if k not in controlled]
    given: list[Number] = [a[k] if k in controlled else 0.0 for k in range(model.nv)]
    force = inverse_dynamics(model, state, given, base, wrenches)
    lam: list[Number] = []
    if free:
        M = mass_matrix(model, state)
        M_ff = [[M[i][j] for j in free] for i in free]
        light = {i: model.light[k] for i, k in enumerate(free) if k in model.light}
        own = [_of_free(row, given, free) for row in rows]
        rest = [tau[i] - force[i] for i in free]
        x, lam = accelerations(M_ff, rest, own, light, groups)
        for k, value in zip(free, x, strict=True):
            given[k] = value
        for c in sorted(controlled):
            for k, value in zip(free, x, strict=True):
                force[c] += M[c][k] * value
            for row, value in zip(rows, lam, strict=True):
                force[c] -= row.jacobian.get(c, 0.0) * value
    forces = [force[k] if k in controlled else tau[k] for k in range(model.nv)]
    return given, forces, lam


def _of_free(row: Row, given: Sequence[Number], free: Sequence[int]) -> Row:
    """A row over the free speeds alone, with the terms of controlled ones in its bias."""
    bias = sum((x * given[k] for k, x in row.jacobian.items() if k not in free), row.bias)
    slopes = {i: row.jacobian[k] for i, k in enumerate(free) if k in row.jacobian}
    return Row(row.residual, slopes, bias)
