"""Statements of procedures as lines of a language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from robodyn.exporting.unit.unit import (
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

    assign: Lines that give an array the values of an expression.
    call: Text of a call.
    loop: Lines before, at the end of and after the body of a loop, from a gap, the least gap and
        how often the body is repeated at most.
    """

    assign: Callable[[Value, Expression], Iterable[str]]
    call: Callable[[Call], str]
    loop: Callable[[Value, float, int], tuple[list[str], list[str], list[str]]]


def lines(statements: Iterable[Statement], syntax: Syntax) -> Iterator[str]:
    """Lines of statements, with indentation."""
    for statement in statements:
        match statement:
            case Assign(result, expression):
                yield from syntax.assign(result, expression)
            case Call():
                yield syntax.call(statement)
            case WhileAbove(gap, least, most, body):
                before, last, after = syntax.loop(gap, least, most)
                yield from before
                yield from (f"    {line}" for line in [*lines(body, syntax), *last])
                yield from after


def whole_arrays(expression: Expression, filled: str) -> str:
    """An expression where arrays are added as wholes; ``filled`` is that of equal numbers."""
    if isinstance(expression, float):
        return filled
    return expression_text(expression, lambda x: x.name, repr)


def local_names(procedures: Iterable[Procedure]) -> frozenset[str]:
    """Names of variables, which functions that procedures call cannot have."""
    found = {"rounds"}
    for procedure in procedures:
        found |= {port.name for port in (*procedure.inputs, *procedure.outputs)}
        found |= {value.name for value in procedure.own}
    return frozenset(found)


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
