"""Mechanisms with loops: rank, solvers, actuation and assembly, over plain arrays.

Conventions: ``M a + h = tau + K^T lam`` and ``K a = -k``, with K (..., nc, nv).
"""

from robodyn.constraints.actuation import Actuation, actuate
from robodyn.constraints.assemble import assemble
from robodyn.constraints.hybrid import ConstrainedHybrid, constrained_hybrid
from robodyn.constraints.independent import IndependentSpeeds, independent_speeds
from robodyn.constraints.rank import (
    RankAnalysis,
    null_space,
    null_space_partition,
    rank_analysis,
)
from robodyn.constraints.solve import ConstrainedSolution, constrained_accelerations
from robodyn.constraints.velocity import project_velocity

__all__ = [
    "Actuation",
    "ConstrainedHybrid",
    "ConstrainedSolution",
    "IndependentSpeeds",
    "RankAnalysis",
    "actuate",
    "assemble",
    "constrained_accelerations",
    "constrained_hybrid",
    "independent_speeds",
    "null_space",
    "null_space_partition",
    "project_velocity",
    "rank_analysis",
]
