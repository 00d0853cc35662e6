"""Routines, which are straight-line code, and procedures, which call them one after the other.

A target prints each of the few statements in its language. The text of a step in time becomes such
statements by being run (`recorder.py`), as it becomes machine code elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from robodyn.symbolic.graph import Port, Program


@dataclass(frozen=True, eq=False)
class Routine:
    """One function: from input arrays to output arrays by straight-line code.

    Its name is the user's, of which a target makes a legal one of its language (`legal_names`).
    ``about`` is one sentence on what it computes.
    """

    name: str
    about: str
    program: Program


@dataclass(frozen=True)
class Value:
    """An array of a procedure: an input, an output, or one of its own, each name once."""

    name: str
    size: int


@dataclass(frozen=True)
class Plus:
    """A sum, number by number."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Times:
    """A multiple, number by number."""

    factor: float
    of: Expression


#: A number stands for as many equal ones as are needed.
Expression: TypeAlias = Value | Plus | Times | float


@dataclass(frozen=True)
class Assign:
    """``result = expression``, number by number."""

    result: Value
    expression: Expression


@dataclass(frozen=True)
class Call:
    """A routine is called with values for its inputs, and writes others."""

    routine: Routine
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


@dataclass(frozen=True)
class WhileAbove:
    """Statements that are repeated while ``gap > least``, at most ``most`` times."""

    gap: Value
    least: float
    most: int
    body: tuple[Statement, ...]


Statement: TypeAlias = Assign | Call | WhileAbove


@dataclass(frozen=True, eq=False)
class Procedure:
    """A function made of statements.

    In the statements each of its inputs and outputs is a `Value` of its name.
    """

    name: str
    about: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    statements: tuple[Statement, ...]

    @property
    def own(self) -> tuple[Value, ...]:
        """Arrays that are neither inputs nor outputs, in the order in which they are assigned."""
        known = {port.name for port in (*self.inputs, *self.outputs)}
        found = dict.fromkeys(_assigned(self.statements))
        return tuple(x for x in found if x.name not in known)


def without_unused(
    statements: tuple[Statement, ...], outputs: Collection[str]
) -> tuple[Statement, ...]:
    """The statements without assignments of arrays that nothing reads."""
    while True:
        needed = {x.name for x in _read(statements)} | set(outputs)
        fewer = _with(statements, needed)
        if fewer == statements:
            return statements
        statements = fewer


def _with(statements: tuple[Statement, ...], needed: Collection[str]) -> tuple[Statement, ...]:
    """Those statements that call something, or assign what is needed."""
    found = (
        replace(x, body=_with(x.body, needed)) if isinstance(x, WhileAbove) else x
        for x in statements
    )
    return tuple(x for x in found if not isinstance(x, Assign) or x.result.name in needed)


def walk(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """All statements, those within loops after these."""
    for x in statements:
        yield x
        if isinstance(x, WhileAbove):
            yield from walk(x.body)


def _read(statements: tuple[Statement, ...]) -> Iterator[Value]:
    """Arrays that statements read."""
    for x in walk(statements):
        match x:
            case Assign(_, expression):
                yield from _values(expression)
            case Call(_, inputs, _):
                yield from inputs
            case WhileAbove(gap):
                yield gap


def _values(expression: Expression) -> Iterator[Value]:
    """Arrays of an expression."""
    match expression:
        case Value():
            yield expression
        case Plus(left, right):
            yield from _values(left)
            yield from _values(right)
        case Times(_, of):
            yield from _values(of)


def _assigned(statements: tuple[Statement, ...]) -> Iterator[Value]:
    """Arrays that statements assign."""
    for x in walk(statements):
        match x:
            case Assign(result, _):
                yield result
            case Call(_, _, outputs):
                yield from outputs
