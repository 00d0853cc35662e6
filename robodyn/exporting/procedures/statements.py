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

__all__ = ["Syntax", "lines", "local_names"]


@dataclass(frozen=True)
class Syntax:
    """How a language writes statements.

    Attributes
    ----------
    filled : callable
        Text of an array of equal numbers, from their number and the value.
    call : callable
        Text of a statement, from the name of a function, of what it is given and of what it gives.
    loop : callable
        Lines before, at the end of and after the body of a loop, from the text of a gap, the least
        gap and how often the body is repeated at most.
    end : str
        Of a statement.
    """

    filled: Callable[[int, float], str]
    call: Callable[[str, list[str], list[str]], str]
    loop: Callable[[str, float, int], tuple[list[str], list[str], list[str]]]
    end: str = ""


def lines(procedure: Procedure, names: Mapping[str, str], syntax: Syntax) -> Iterator[str]:
    """Lines of the statements, with indentation.

    Parameters
    ----------
    procedure : Procedure
    names : mapping of str to str
        Of functions in the text, by names of routines.
    syntax : Syntax
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
                yield f"{result.name} = {_text(expression)}{syntax.end}"
            case Call(routine, inputs, outputs):
                given, found = [x.name for x in inputs], [x.name for x in outputs]
                yield syntax.call(names[routine.name], given, found) + syntax.end
            case WhileAbove(gap, least, most, body):
                before, last, after = syntax.loop(gap.name, least, most)
                yield from before
                yield from (f"    {line}" for line in [*_lines(body, names, syntax), *last])
                yield from after


def _text(expression: Expression) -> str:
    match expression:
        case Value(name, _):
            return name
        case Plus(left, right):
            second = f"({_text(right)})" if isinstance(right, Plus) else _text(right)
            return f"{_text(left)} + {second}"
        case Times(factor, of):
            return f"{factor!r} * {_text(of) if isinstance(of, Value) else f'({_text(of)})'}"
    return repr(expression)
