"""Corrections of a state that has drifted from closed loops, nearest in kinetic energy.

Positions are corrected by ``dq``, velocities by ``dv``, each of least norm with respect to the mass
matrix [Hairer, Lubich, Wanner 2006, IV.4], as a stroke of the loops would correct them::

    M dq = K^T x        K dq = -residual
    M dv = K^T y        K dv = -(K v + psi)

Speeds that are driven are not corrected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robodyn.equations.elimination.constrained import accelerations
from robodyn.equations.elimination.redundant import RowGroup
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.composite_body import mass_matrix
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number


def least_changes(
    model: MechanismModel,
    state: State,
    controlled: frozenset[int],
    rows: Sequence[Row],
    openings: Sequence[Sequence[Number]],
    groups: Sequence[RowGroup] = (),
) -> list[list[Number]]:
    """The changes of least norm with ``K x = -e``, one for each ``e`` of ``openings``.

    controlled: Driven speeds, which do not change.
    rows: Independent in the other speeds, but for groups at their end.
    """
    free = [k for k in range(model.nv) if k not in controlled]
    M = mass_matrix(model, state)
    M_ff = [[M[i][j] for j in free] for i in free]
    light = {i: model.light[k] for i, k in enumerate(free) if k in model.light}

    def least(biases: Sequence[Number]) -> list[Number]:
        own = [_of_free(row, bias, free) for row, bias in zip(rows, biases, strict=True)]
        found = accelerations(M_ff, [0.0] * len(free), own, light, groups)[0]
        result: list[Number] = [0.0] * model.nv
        for k, x in zip(free, found, strict=True):
            result[k] = x
        return result

    return [least(e) for e in openings]


def _of_free(row: Row, bias: Number, free: Sequence[int]) -> Row:
    """A row over the free speeds alone, with another bias."""
    slopes = {i: row.jacobian[k] for i, k in enumerate(free) if k in row.jacobian}
    return replace(row, jacobian=slopes, bias=bias)
