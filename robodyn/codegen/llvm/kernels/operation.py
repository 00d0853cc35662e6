"""An operation of a graph as instructions: for one state, for vectors of states, in pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robodyn.codegen.llvm.kernels.sincos import sincos
from robodyn.codegen.llvm.kernels.sums import FMA
from robodyn.codegen.llvm.kernels.vectors import Vectors
from robodyn.symbolic import ops

#: Operations that are one instruction, or a function of LLVM.
_VERBS = {ops.MUL: "fmul", ops.DIV: "fdiv"}
_INTRINSICS = {ops.SQRT: "sqrt", ops.ABS: "fabs", FMA: "fma"}
_COMPARISONS = {ops.LESS: "fcmp olt", ops.LESS_EQUAL: "fcmp ole"}


def write_operation(
    w: Vectors, op: int, operands: Sequence[int], value: Callable[[int], str]
) -> str:
    """Write an operation; the name of its result.

    op: An operation of a graph, or ``FMA``. ``LESS`` and ``LESS_EQUAL`` select: the third number
        where the first one is less than the second one, else the fourth one.
    operands: An odd one is the number before it with the other sign.
    value: Writes what gives an operand; its name.
    """
    if op == ops.ADD:
        a, b = operands
        return w.name(f"{'fsub' if b & 1 else 'fadd'} {w.type} {value(a)}, {value(b & -2)}")
    if op in _VERBS:
        a, b = operands
        return w.name(f"{_VERBS[op]} {w.type} {value(a)}, {value(b)}")
    given = map(value, operands)
    if op in _INTRINSICS:
        return w.code.intrinsic(_INTRINSICS[op], w.type, *given)
    if op in (ops.SIN, ops.COS):
        return sincos(w, *given)[op == ops.COS]
    if op in _COMPARISONS:
        x, y, first, second = given
        return w.select(w.binary(_COMPARISONS[op], x, y), first, second)
    return w.c_function(f"robodyn_{'atan2' if op == ops.ARCTAN2 else ops.FUNCTIONS[op]}", *given)
