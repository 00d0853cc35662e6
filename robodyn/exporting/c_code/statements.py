"""Statements of procedures in C, and what code looks at before it says that all is well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robodyn.codegen.text.assignments import literal
from robodyn.exporting.c_code.signature import CNames, of_routine
from robodyn.exporting.unit.procedure import (
    Assign,
    Call,
    Expression,
    Procedure,
    Statement,
    Value,
    WhileAbove,
)
from robodyn.exporting.unit.statements import expression_text


def helpers(names: CNames, loops: bool) -> Iterator[str]:
    """Functions that `checks` calls."""
    dtype = names.unit.dtype
    size = "fabs" if dtype == "double" else "fabsf"
    yield f"""
static int all_finite(const {dtype} *x, int n)
{{
    for (int i = 0; i < n; i++) {{
        if (!isfinite(x[i])) {{
            return 0;
        }}
    }}
    return 1;
}}
"""
    if loops:
        yield f"""
static int all_within(const {dtype} *x, int n, {dtype} most)
{{
    for (int i = 0; i < n; i++) {{
        if (!({size}(x[i]) <= most)) {{
            return 0;
        }}
    }}
    return 1;
}}
"""


def checks(
    arrays: Iterable[tuple[str, int]], residual: int, most: float, names: CNames
) -> Iterator[str]:
    """Statements that return where arrays are not finite, or ``residual`` is too large.

    ``arrays`` are names and sizes. The ``residual`` has so many numbers, none of a tree, of which
    none may exceed ``most`` [m, rad].
    """
    finite = " && ".join(f"all_finite({name}, {size})" for name, size in arrays)
    yield from (f"if (!({finite})) {{", f"    return {names.macro}_NOT_FINITE;", "}")
    if residual:
        within = f"all_within(residual, {residual}, {literal(most, names.unit.dtype)})"
        yield from (f"if (!{within}) {{", f"    return {names.macro}_OPEN;", "}")


def body(procedure: Procedure, names: CNames) -> list[str]:
    """The statements of a procedure, after the arrays that it needs."""
    dtype = names.unit.dtype
    own = [f"{dtype} {x.name}[{x.size}];" for x in procedure.own if x.size]
    writer = _Statements(names, frozenset(x.name for x in procedure.inputs if not x.shape))
    return [*own, *writer.lines(procedure.statements)]


class _Statements:
    """Writes statements, of which some arrays are plain numbers."""

    def __init__(self, names: CNames, numbers: frozenset[str]) -> None:
        self._names, self._numbers, self._dtype = names, numbers, names.unit.dtype

    def lines(self, statements: Iterable[Statement]) -> Iterator[str]:
        """Lines of statements, indented by loops."""
        for x in statements:
            match x:
                case Assign(result, expression):
                    yield from self._assigned(result, expression)
                case Call():
                    yield self._called(x)
                case WhileAbove(gap, least, most, inner):
                    above = f"{gap.name}[0] > {literal(least, self._dtype)}"
                    yield f"for (int k = 0; k < {most} && {above}; k++) {{"
                    yield from (f"    {line}" for line in self.lines(inner))
                    yield "}"

    def _assigned(self, result: Value, expression: Expression) -> Iterator[str]:
        if result.size == 1:
            yield f"{result.name}[0] = {self._text(expression, '0')};"
        elif result.size:
            yield f"for (int i = 0; i < {result.size}; i++) {{"
            yield f"    {result.name}[i] = {self._text(expression, 'i')};"
            yield "}"

    def _called(self, call: Call) -> str:
        values = [x for x in (*call.inputs, *call.outputs) if x.size]
        given = (
            self._element(value, "0") if own.is_number else value.name
            for own, value in zip(of_routine(call.routine), values, strict=True)
        )
        return f"{self._names.of(call.routine.name)}({', '.join(given)});"

    def _element(self, value: Value, index: str) -> str:
        return value.name if value.name in self._numbers else f"{value.name}[{index}]"

    def _text(self, expression: Expression, index: str) -> str:
        """An expression for one number."""
        return expression_text(
            expression,
            lambda x: self._element(x, index),
            lambda x: literal(x, self._dtype),
        )
