"""Motions that the constraints leave."""

from __future__ import annotations

from robodyn.closed_loops.solvers.methods.system import SINGULAR, SOLVED, System, motions_apart
from robodyn.codegen.llvm.builder.linear_algebra import product
from robodyn.codegen.llvm.builder.values import Number

__all__ = ["nullspace"]


def nullspace(system: System) -> Number:
    """``a = -Y^T right + Z u``, Z an orthonormal null space of the constraints [Mufti (40)]."""
    s = system
    product(s.Yt, s.right, s.a, (s.n, s.rank, 1), factor=-1.0)
    return s.code.choose(motions_apart(s, s.Z), s.code.integer(SOLVED), SINGULAR)
