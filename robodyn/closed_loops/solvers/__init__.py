"""Mechanisms with loops: rank, solvers, actuation and assembly, over plain arrays.

Conventions: ``M a + h = tau + K^T lam`` and ``K a = -k``, with K (..., nc, nv).
"""

from robodyn.closed_loops.solvers.actuation import actuate
from robodyn.closed_loops.solvers.assemble import assemble
from robodyn.closed_loops.solvers.assemble_batch import assemble_each
from robodyn.closed_loops.solvers.decomposition import pivots
from robodyn.closed_loops.solvers.hybrid import constrained_hybrid
from robodyn.closed_loops.solvers.rank import (
    RankAnalysis,
    distance_to_rank_below,
    independent_speeds,
    null_space,
    rank_analysis,
)
from robodyn.closed_loops.solvers.solve import (
    ConstrainedSolution,
    constrained_accelerations,
    solve_terms,
)
from robodyn.closed_loops.solvers.velocity import project_velocity

__all__ = [
    "ConstrainedSolution",
    "RankAnalysis",
    "actuate",
    "assemble",
    "assemble_each",
    "constrained_accelerations",
    "constrained_hybrid",
    "distance_to_rank_below",
    "independent_speeds",
    "null_space",
    "pivots",
    "project_velocity",
    "rank_analysis",
    "solve_terms",
]
