"""Statements of procedures in C, and what code looks at before it says that all is well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robodyn.codegen.text.assignments import literal
from robodyn.exporting.c_code.signature import CFunction, CNames, parameters
from robodyn.exporting.templates import template
from robodyn.exporting.unit.statements import Syntax, expression_text, lines as statement_lines
from robodyn.exporting.unit.unit import Call, Expression, Procedure, Value


def helpers(names: CNames, loops: bool) -> Iterator[str]:
    """Functions that `checks` calls."""
    dtype = names.unit.dtype
    yield template("finite.c", dtype=dtype)
    if loops:
        yield template("within.c", dtype=dtype, size="fabs" if dtype == "double" else "fabsf")


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


def procedure_in_c(procedure: Procedure, name: str, names: CNames) -> CFunction:
    """A function of statements, after the arrays that it needs, which no header declares."""
    dtype = names.unit.dtype
    own = [f"{dtype} {x.name}[{x.size}];" for x in procedure.own if x.size]
    given = [x.declared(dtype) for x in parameters(procedure)]
    lines = [*own, *statement_lines(procedure.statements, _syntax(procedure, names))]
    return CFunction("static void", name, given, lines)


def _syntax(procedure: Procedure, names: CNames) -> Syntax:
    dtype = names.unit.dtype
    numbers = {x.name for x in procedure.inputs if not x.shape}

    def element(value: Value, index: str) -> str:
        return value.name if value.name in numbers else f"{value.name}[{index}]"

    def text(x: Expression, index: str) -> str:
        return expression_text(x, lambda y: element(y, index), lambda y: literal(y, dtype))

    def assign(result: Value, x: Expression) -> list[str]:
        name, size = result.name, result.size
        if size == 1:
            return [f"{name}[0] = {text(x, '0')};"]
        head = f"for (int i = 0; i < {size}; i++) {{"
        return [head, f"    {name}[i] = {text(x, 'i')};", "}"] if size else []

    def call(x: Call) -> str:
        values = [y for y in (*x.inputs, *x.outputs) if y.size]
        given = (
            element(value, "0") if own.is_number else value.name
            for own, value in zip(parameters(x.routine), values, strict=True)
        )
        return f"{names.of(x.routine.name)}({', '.join(given)});"

    def loop(gap: Value, least: float, most: int) -> tuple[list[str], list[str], list[str]]:
        above = f"{gap.name}[0] > {literal(least, dtype)}"
        return [f"for (int k = 0; k < {most} && {above}; k++) {{"], [], ["}"]

    return Syntax(assign, call, loop)
