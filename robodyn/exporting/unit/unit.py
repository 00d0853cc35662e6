"""What is exported: functions of one robot, whatever language they are written in.

Routines are straight-line code; procedures call them one after the other. A target prints each of
the few statements in its language. The text of a step in time becomes such statements by being run
(`motion.py`), as it becomes machine code elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.text.assignments import legal_name
from robodyn.errors import SettingsError
from robodyn.literals import IntegratorName, Precision
from robodyn.robot import Robot
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


__all__ = ["Step", "Unit", "legal_name", "legal_names"]


def legal_names(names: Iterable[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """The legal name of each name.

    Raises `SettingsError` if two names become the same.
    """
    found: dict[str, str] = {}
    for name in names:
        legal = legal_name(name, reserved)
        for other, taken in found.items():
            if taken == legal and other != name:
                raise SettingsError(
                    f"{other!r} and {name!r} both become {legal!r} in the code: rename one of them"
                )
        found[name] = legal
    return found


@dataclass(frozen=True, eq=False)
class Step:
    """A step in time, with the controller that gives its forces.

    h [s]
    close: ``(t, q, v)`` -> ``q_closed``, ``v_closed`` and ``residual``: the state at which a motion
        begins. None of a tree.
    advance: ``(t, q, v, tau)`` -> ``q_next``, ``v_next``, and the ``residual`` of a linkage. Forces
        are held.
    first, update: The controller at the first sample and at all others, as `robodyn.control_law`
        has them; the same where it remembers nothing. None without a controller: forces are given.
    memory: Numbers that the controller keeps from sample to sample.
    """

    h: float
    integrator: IntegratorName
    close: Procedure | None
    advance: Procedure
    first: Routine | None
    update: Routine | None
    memory: int


@dataclass(frozen=True, eq=False)
class Control:
    """A controller that stands alone, and remembers something.

    h [s]: From sample to sample.
    first, update, memory: As of a `Step`.
    """

    h: float
    first: Routine
    update: Routine
    memory: int


@dataclass(frozen=True, eq=False)
class Unit:
    """Functions of a robot that become a folder of code.

    robot: Its public attributes are the facts that code states: names of joints, sizes, limits.
    routines: Each name once. Those that procedures call are among them.
    assemblies: Closing of loops by Newton's method: ``q`` -> ``q_closed``, and the ``residual`` [m,
        rad].
    dtype: Of the arithmetic: ``"double"`` or ``"float"``.
    asked: Names that the user has asked for; what procedures call has others besides.
    name: What files and packages are called after.
    control: The controller, where it is asked for by itself and remembers something.
    """

    robot: Robot
    routines: tuple[Routine, ...]
    assemblies: tuple[Procedure, ...]
    step: Step | None
    dtype: Precision
    asked: frozenset[str]
    name: str
    control: Control | None = None

    @cached_property
    def start(self) -> tuple[FloatArray, FloatArray]:
        """A closed posture at time zero, and speeds, zero but for what time moves."""
        rest = np.zeros(self.robot.nv)
        if not self.robot.depends_on_time:
            return self.robot.neutral(), rest
        robot = self.robot.at(0.0)
        q = robot.neutral()
        return q, robot.consistent_velocity(q, rest) if robot.nc else rest

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all routines and procedures."""
        return (*(x.name for x in self.routines), *(x.name for x in self.procedures))

    @property
    def procedures(self) -> tuple[Procedure, ...]:
        """All procedures, each once."""
        stepping = (self.step.close, self.step.advance) if self.step is not None else ()
        found = (*stepping, *self.assemblies)
        return tuple(x for x in found if x is not None)
