"""Statements of procedures in C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robodyn.codegen.text.assignments import literal
from robodyn.exporting.c_code.signature import Names, of_routine
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

__all__ = ["body"]


def body(procedure: Procedure, names: Names) -> list[str]:
    """The statements of a procedure, after the arrays that it needs."""
    dtype = names.unit.dtype
    own = [f"{dtype} {x.name}[{x.size}];" for x in procedure.own if x.size]
    writer = _Writer(names, frozenset(x.name for x in procedure.inputs if not x.shape))
    return [*own, *writer.lines(procedure.statements)]


class _Writer:
    """Writes statements, of which some arrays are plain numbers."""

    def __init__(self, names: Names, numbers: frozenset[str]) -> None:
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
        """An expression for one number; sums within are added as numpy adds them."""
        match expression:
            case Value():
                return self._element(expression, index)
            case Plus(left, right):
                second = self._text(right, index)
                second = f"({second})" if isinstance(right, Plus) else second
                return f"{self._text(left, index)} + {second}"
            case Times(factor, of):
                inner = self._text(of, index)
                inner = inner if isinstance(of, Value) else f"({inner})"
                return f"{literal(factor, self._dtype)} * {inner}"
        return literal(expression, self._dtype)
