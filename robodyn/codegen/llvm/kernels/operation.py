"""An operation of a graph as instructions: for one state, for vectors of states, in pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robodyn.codegen.llvm.kernels.sincos import sincos
from robodyn.codegen.llvm.kernels.sums import FMA
from robodyn.codegen.llvm.kernels.vectors import Vectors
from robodyn.symbolic.graph import (
    ABS,
    ADD,
    ARCTAN2,
    COS,
    DIV,
    FUNCTIONS,
    LESS,
    LESS_EQUAL,
    MUL,
    SIN,
    SQRT,
)

#: Operations that are one instruction, or a function of LLVM.
_VERBS = {MUL: "fmul", DIV: "fdiv"}
_INTRINSICS = {SQRT: "sqrt", ABS: "fabs", FMA: "fma"}
_COMPARISONS = {LESS: "fcmp olt", LESS_EQUAL: "fcmp ole"}


def write_operation(
    w: Vectors, op: int, operands: Sequence[int], value: Callable[[int], str]
) -> str:
    """Write an operation; the name of its result.

    op: An operation of a graph, or ``FMA``. ``LESS`` and ``LESS_EQUAL`` select: the third number
        where the first one is less than the second one, else the fourth one.
    operands: An odd one is the number before it with the other sign.
    value: Writes what gives an operand; its name.
    """
    if op == ADD:
        a, b = operands
        return w.name(f"{'fsub' if b & 1 else 'fadd'} {w.type} {value(a)}, {value(b & -2)}")
    if op in _VERBS:
        a, b = operands
        return w.name(f"{_VERBS[op]} {w.type} {value(a)}, {value(b)}")
    given = map(value, operands)
    if op in _INTRINSICS:
        return w.code.intrinsic(_INTRINSICS[op], w.type, *given)
    if op in (SIN, COS):
        return sincos(w, *given)[op == COS]
    if op in _COMPARISONS:
        x, y, first, second = given
        return w.select(w.binary(_COMPARISONS[op], x, y), first, second)
    return w.c_function(f"robodyn_{'atan2' if op == ARCTAN2 else FUNCTIONS[op]}", *given)
