"""Mechanisms with loops: rank, solvers, actuation and assembly, over plain arrays.

Conventions: ``M a + h = tau + K^T lam`` and ``K a = -k``, with K (..., nc, nv).
"""

from robodyn.closed_loops.solvers.assemble import assemble as assemble
from robodyn.closed_loops.solvers.assemble_batch import assemble_each as assemble_each
from robodyn.closed_loops.solvers.decomposition import pivots as pivots
from robodyn.closed_loops.solvers.hybrid import (
    actuate as actuate,
    constrained_hybrid as constrained_hybrid,
)
from robodyn.closed_loops.solvers.rank import (
    RankAnalysis as RankAnalysis,
    distance_to_rank_below as distance_to_rank_below,
    independent_speeds as independent_speeds,
    null_space as null_space,
    rank_analysis as rank_analysis,
)
from robodyn.closed_loops.solvers.solve import (
    ConstrainedSolution as ConstrainedSolution,
    constrained_accelerations as constrained_accelerations,
    project_velocity as project_velocity,
    solve_terms as solve_terms,
)
