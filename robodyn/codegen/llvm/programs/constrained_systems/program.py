"""The rank-revealing solve of a batch of constrained systems as one program."""

from __future__ import annotations

import ctypes
from typing import Any

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import c_function
from robodyn.codegen.llvm.builder.matrices import Matrix, Words
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.programs.constrained_systems import reduction
from robodyn.codegen.llvm.programs.constrained_systems.system import (
    METHODS,
    NOT_FINITE,
    SINGULAR,
    System,
)
from robodyn.codegen.llvm.target.once import once

_SOLVE = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_double)

#: What ``solve(words, tolerance)`` is told, in a table: sizes; how many numbers it is from row to
#: row of M, x, K and k, zero for one that serves all; addresses of what is given (x: generalised
#: forces of free speeds, accelerations of the others; the free speeds, ascending), of the results
#: (status and rank are integers), and of a workspace.
WORDS = (
    "batch", "nv", "nc", "n", "method", "M_step", "x_step", "K_step", "k_step",
    "M", "x", "K", "k", "free", "a", "multipliers", "residual", "rank", "status", "workspace",
)  # fmt: skip


def _row_of(words: Words, name: str, row: Number, step: Number, ld: Number) -> Matrix:
    """The array of a row of the batch."""
    array = words.array(name)
    return Matrix(array.code, array.at(row * step), ld)


@once
def solver() -> Any:
    """``solve(words, tolerance)``, which solves all rows of a batch."""
    return c_function(_solve_ir(), "solve", _SOLVE)


def _solve_ir() -> str:
    code = Code("@solve(ptr %words, double %tolerance)")
    words = Words(code, "%words", WORDS)
    nv, nc, n = (words.number(name) for name in ("nv", "nc", "n"))
    s = System(code, (nv, nc, n), words.indices("free"), words.pointer("workspace"))
    results = [words.indices(name) for name in ("status", "rank")]
    for row in code.each(words.number("batch")):
        M, x, K, k = (
            _row_of(words, name, row, words.number(f"{name}_step"), nv)
            for name in ("M", "x", "K", "k")
        )
        a, lam = _row_of(words, "a", row, nv, nv), _row_of(words, "multipliers", row, nc, nc)
        finite = _finite(M, nv * nv) & _finite(x, nv) & _finite(K, nc * nv) & _finite(k, nc)
        status, rank, residual = code.variable(NOT_FINITE), code.variable(0), code.variable(0.0)
        with code.when(finite):
            _reduce(s, M, x, K, k)
            rank.value = s.rank
            method = words.number("method")
            for place, solve in enumerate(METHODS.values()):
                with code.when(method.equals(place)):
                    status.value = solve(s)
            with code.when(~status.value.equals(SINGULAR)):
                for j in code.each(nv):
                    a.put(x.get(j), j)
                for j in code.each(n):
                    a.put(s.a.get(j) / s.columns.get(s.free.get(j)), s.free.get(j))
                residual.value = reduction.relative_residual(s)
                reduction.multipliers(s, lam)
        for array, value in zip(results, (status.value, rank.value), strict=True):
            array.put(value, row)
        _row_of(words, "residual", row, code.integer(1), nv).put(residual.value, 0)
    return code.ir()


def _finite(x: Matrix, count: Number) -> Number:
    total = x.code.variable(0.0)
    for i in x.code.each(count):
        total.add(x.get(i) * 0.0)
    return total.value < 1.0  # zero times a number that is not finite is not a number


def _reduce(s: System, M: Matrix, x: Matrix, K: Matrix, k: Matrix) -> None:
    """Make the scaled system with orthonormal constraints."""
    reduction.scale_speeds(s, M)
    reduction.scale_constraints(s, K)
    reduction.gather(s, M, x, k)
    s.rank = reduction.revealed_rank(s, s.code.argument("tolerance", "double"))
    reduction.orthonormal(s)
    reduction.right_sides(s)
