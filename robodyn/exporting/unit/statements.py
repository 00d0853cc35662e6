"""Statements of procedures as lines, in languages whose arrays are added as wholes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from robodyn.exporting.unit.procedure import (
    Assign,
    Call,
    Expression,
    Plus,
    Procedure,
    Statement,
    Times,
    Value,
    WhileAbove,
)


@dataclass(frozen=True)
class Syntax:
    """How a language writes statements.

    filled: Text of an array of equal numbers, from their number and the value.
    call: Text of a statement, from the name of a function, of what it is given and of what it
        gives.
    loop: Lines before, at the end of and after the body of a loop, from the text of a gap, the
        least gap and how often the body is repeated at most.
    end: Of a statement.
    """

    filled: Callable[[int, float], str]
    call: Callable[[str, list[str], list[str]], str]
    loop: Callable[[str, float, int], tuple[list[str], list[str], list[str]]]
    end: str = ""


def lines(procedure: Procedure, names: Mapping[str, str], syntax: Syntax) -> Iterator[str]:
    """Lines of the statements, with indentation.

    ``names`` are those of functions in the text, by those of routines.
    """
    return _lines(procedure.statements, names, syntax)


def local_names(procedures: Iterable[Procedure]) -> frozenset[str]:
    """Names of variables, which functions that procedures call cannot have."""
    found = {"rounds"}
    for procedure in procedures:
        found |= {port.name for port in (*procedure.inputs, *procedure.outputs)}
        found |= {value.name for value in procedure.own}
    return frozenset(found)


def _lines(
    statements: tuple[Statement, ...], names: Mapping[str, str], syntax: Syntax
) -> Iterator[str]:
    for statement in statements:
        match statement:
            case Assign(result, float(value)):
                yield f"{result.name} = {syntax.filled(result.size, value)}{syntax.end}"
            case Assign(result, expression):
                text = expression_text(expression, lambda x: x.name, repr)
                yield f"{result.name} = {text}{syntax.end}"
            case Call(routine, inputs, outputs):
                given, found = [x.name for x in inputs], [x.name for x in outputs]
                yield syntax.call(names[routine.name], given, found) + syntax.end
            case WhileAbove(gap, least, most, body):
                before, last, after = syntax.loop(gap.name, least, most)
                yield from before
                yield from (f"    {line}" for line in [*_lines(body, names, syntax), *last])
                yield from after


def expression_text(
    expression: Expression, value: Callable[[Value], str], number: Callable[[float], str]
) -> str:
    """An expression, by texts of arrays and numbers; sums in it are added as numpy adds them."""

    def text(x: Expression, *bracketed: type) -> str:
        return f"({written(x)})" if isinstance(x, bracketed) else written(x)

    def written(x: Expression) -> str:
        match x:
            case Value():
                return value(x)
            case Plus(left, right):
                return f"{text(left)} + {text(right, Plus)}"
            case Times(factor, of):
                return f"{number(factor)} * {text(of, Plus, Times, float)}"
        return number(x)

    return written(expression)
