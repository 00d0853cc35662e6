"""Hybrid dynamics by the rows of the mass matrix.

Some speeds follow given accelerations (controlled, c), the others feel given forces (free, f)
[W 5.100, 5.101]::

    M_ff a_f = tau_f - h_f - M_fc a_c
    tau_c = M_cc a_c + M_cf a_f + h_c

Inverse dynamics is the end where all are controlled, forward dynamics the one where none is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.composite_body import mass_matrix
from robodyn.equations.factorization import factorize, solve
from robodyn.equations.mechanism import MechanismModel
from robodyn.equations.newton_euler import inverse_dynamics
from robodyn.equations.state import BaseState, State
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Wrench

__all__ = ["hybrid_dynamics"]


def hybrid_dynamics(
    model: MechanismModel,
    state: State,
    a: Sequence[Number],
    tau: Sequence[Number],
    controlled: frozenset[int],
    base: BaseState,
    wrenches: Mapping[int, Wrench],
) -> tuple[list[Number], list[Number]]:
    """Accelerations and forces of all speeds.

    Parameters
    ----------
    a, tau : sequence of nv numbers
        Accelerations are read where controlled, forces elsewhere.
    controlled : frozenset of int
        Indices of controlled speeds.
    """
    free = [k for k in range(model.nv) if k not in controlled]
    given: list[Number] = [a[k] if k in controlled else 0.0 for k in range(model.nv)]
    force = inverse_dynamics(model, state, given, base, wrenches)
    if free:
        M = mass_matrix(model, state)
        M_ff = [[M[i][j] for j in free] for i in free]
        x = solve(factorize(M_ff), [tau[i] - force[i] for i in free])
        for k, value in zip(free, x, strict=True):
            given[k] = value
        for c in sorted(controlled):
            for k, value in zip(free, x, strict=True):
                force[c] += M[c][k] * value
    return given, [force[k] if k in controlled else tau[k] for k in range(model.nv)]
