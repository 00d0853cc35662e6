"""Constraints of users that follow from the loops and are redundant in minimal coordinates."""

from __future__ import annotations

import numpy as np

from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.solvers import null_space
from robodyn.model.model import Model
from robodyn.tolerances import IMPLIED_ROW


def implied_rows(tree_form: Model, mobility: Mobility, rows: ConstraintRows) -> tuple[int, ...]:
    """Rows of couplings and users that loops imply, counted without those of the loops.

    tree_form: In tree coordinates.
    mobility: Of it, whose postures are looked at.
    """
    setup = tree_form.setup
    first = sum(closure.count for closure in setup.closures[: len(tree_form.tree.cuts)])
    implied = np.ones(len(rows.names) - first, bool)
    if not implied.size:
        return ()
    K = rows.interpreted_jacobian(mobility.analysis.postures)
    for one in K / np.array(setup.row_units)[:, None] * np.array(setup.speed_units):
        own, motions = one[first:], null_space(one[:first])
        rates = np.linalg.norm(own @ motions, axis=-1)
        implied &= rates <= IMPLIED_ROW * np.linalg.norm(own, axis=-1)
    return tuple(int(k) for k in np.flatnonzero(implied))
