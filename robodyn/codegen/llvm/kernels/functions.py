"""Selections, roots, absolute values, and functions of the C library, as instructions."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.sincos import vector_type
from robodyn.symbolic.graph import ABS, ARCTAN2, FUNCTIONS, LESS, LESS_EQUAL, SQRT


def function(code: Code, op: int, dtype: str, lanes: int, given: Sequence[str]) -> str:
    """Write an operation; the name of its result.

    op: An operation of a graph. ``LESS`` and ``LESS_EQUAL`` select: the third number where the
        first one is less than the second one, else the fourth one.
    given: Names of the operands.
    """
    t = vector_type(dtype, lanes)
    if op in (LESS, LESS_EQUAL):
        x, y, first, second = given
        holds = code.name(f"fcmp {'olt' if op == LESS else 'ole'} {t} {x}, {y}")
        return code.name(f"select {vector_type('i1', lanes)} {holds}, {t} {first}, {t} {second}")
    if op in (SQRT, ABS):
        return code.intrinsic("sqrt" if op == SQRT else "fabs", t, *given)
    name = f"robodyn_{'atan2' if op == ARCTAN2 else FUNCTIONS[op]}"
    code.declare(f"declare double @{name}({', '.join(['double'] * len(given))})")
    if lanes == 1:
        return _called(code, name, dtype, given)
    result = "poison"
    for k in range(lanes):
        own = [code.name(f"extractelement {t} {x}, i32 {k}") for x in given]
        value = _called(code, name, dtype, own)
        result = code.name(f"insertelement {t} {result}, {dtype} {value}, i32 {k}")
    return result


def _called(code: Code, name: str, dtype: str, given: Sequence[str]) -> str:
    """Call a function of the C library, which computes in double precision."""
    if dtype == "float":
        given = [code.name(f"fpext float {x} to double") for x in given]
    result = code.name(f"call double @{name}({', '.join(f'double {x}' for x in given)})")
    return code.name(f"fptrunc double {result} to float") if dtype == "float" else result
