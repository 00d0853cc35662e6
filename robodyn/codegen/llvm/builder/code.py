"""The one way in which robodyn writes LLVM IR: a function, written by running Python once.

Values are symbols that Python computes with; ``for i in code.each(n)`` runs its body once and
writes a loop around it, and ``with code.when(condition)`` a branch. Such a loop must be left at its
end only: no ``break``, ``return`` or exception within. What has no Python form is written as the
text of an instruction (`Code.name`, `Code.put`, `Code.do`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import numpy as np

from robodyn.codegen.llvm.builder.values import REAL, Number, Variable

#: Operations by the kind of number, on integers and on real numbers.
_OPERATIONS = {
    "+": ("add", "fadd contract"),
    "-": ("sub", "fsub contract"),
    "*": ("mul", "fmul contract"),
    "/": ("sdiv", "fdiv"),
    "%": ("srem", "frem"),
    "<": ("icmp slt", "fcmp olt"),
    ">": ("icmp sgt", "fcmp ogt"),
    "<=": ("icmp sle", "fcmp ole"),
    ">=": ("icmp sge", "fcmp oge"),
}

_COMPARISONS = frozenset(("<", ">", "<=", ">="))

#: How often a branch is taken: hardly ever, or nearly always.
_WEIGHTS = {
    False: '!0 = !{!"branch_weights", i32 1, i32 100000}',
    True: '!1 = !{!"branch_weights", i32 100000, i32 1}',
}


class Code:
    """A function of LLVM IR, while it is written.

    head: Its name and parameters, as IR: ``"@run(ptr %x, i64 %n)"``.
    result: What it returns, as IR, after ``internal`` if no other module calls it.
    attributes: Its attributes, as IR.
    block: Label of the block that is being written; empty after the end of one.
    needed: Functions that it calls.
    """

    def __init__(self, head: str, result: str = "void", attributes: str = "nounwind") -> None:
        self._head, self._attributes = f"{result} {head}", attributes
        self._slots, self._lines = list[str](), list[str]()
        self._count, self._declarations, self.needed = 0, set[str](), list[Code]()
        self.block = "entry"

    # -- instructions -------------------------------------------------------------------------

    def name(self, text: str) -> str:
        """Write an instruction that has a result; the name of the result."""
        self._count += 1
        name = f"%v{self._count}"
        self._lines.append(f"  {name} = {text}")
        return name

    def put(self, text: str, kind: str) -> Number:
        """Write an instruction that has a result of a kind."""
        return Number(self, self.name(text), kind)

    def do(self, text: str) -> None:
        """Write an instruction without a result."""
        self._lines.append(f"  {text}")

    def declare(self, text: str) -> None:
        """Add a declaration or a constant before the functions of the module."""
        self._declarations.add(text)

    def need(self, function: Code) -> None:
        """Have a function, which this one calls, in the same module; equal ones are there once."""
        self.needed.append(function)

    def argument(self, name: str, kind: str) -> Number:
        """A parameter of the function."""
        return Number(self, f"%{name}", kind)

    # -- numbers ------------------------------------------------------------------------------

    def text(self, value: Any, kind: str) -> str:
        """A number, or its name, as an operand of an instruction; None is the null pointer."""
        if isinstance(value, Number | str):
            return str(value)
        if kind == "ptr":
            return "null" if value is None else str(value)
        if kind == "float":  # as a number that LLVM finds among those of single precision
            value = np.float32(value)
        return f"{float(value):.16e}" if kind in REAL else str(int(value))

    def integer(self, value: int) -> Number:
        """A constant."""
        return Number(self, str(value), "i64")

    def operation(self, symbol: str, a: Any, b: Any) -> Number:
        """``a symbol b``; at least one of them is of the program, or both are integers."""
        kind = next((x.kind for x in (a, b) if isinstance(x, Number)), "i64")
        name = _OPERATIONS[symbol][kind in REAL]
        result = "i1" if symbol in _COMPARISONS else kind
        return self.put(f"{name} {kind} {self.text(a, kind)}, {self.text(b, kind)}", result)

    def choose(self, condition: Number, yes: Any, no: Any) -> Number:
        """One of two numbers."""
        kind = next(x.kind for x in (yes, no) if isinstance(x, Number))
        one, other = (f"{kind} {self.text(x, kind)}" for x in (yes, no))
        return self.put(f"select i1 {condition.name}, {one}, {other}", kind)

    def intrinsic(self, function: str, kind: str, *values: object) -> str:
        """Call a function of LLVM whose arguments and result are of one kind; its result's name."""
        full, declaration = _intrinsic(function, kind, len(values))
        self.declare(declaration)
        return self.name(f"call {full}({kind} {f', {kind} '.join(map(str, values))})")

    def real(self, x: Number, kind: str) -> Number:
        """A real number in the precision ``"double"`` or ``"float"``."""
        if x.kind == kind:
            return x
        verb = "fptrunc" if kind == "float" else "fpext"
        return self.put(f"{verb} {x.kind} {x.name} to {kind}", kind)

    def root(self, x: Number) -> Number:
        """The square root."""
        return Number(self, self.intrinsic("sqrt", "double", x), "double")

    def size(self, x: Number) -> Number:
        """The absolute value."""
        return Number(self, self.intrinsic("fabs", "double", x), "double")

    # -- memory -------------------------------------------------------------------------------

    def slot(self, kind: str, align: int = 0) -> str:
        """Address of memory on the stack for a value of a kind."""
        self._count += 1
        aligned = f", align {align}" if align else ""
        self._slots.append(f"  %s{self._count} = alloca {kind}{aligned}")
        return f"%s{self._count}"

    def variable(self, start: Any) -> Variable:
        """A variable; None is the null pointer."""
        if isinstance(start, Number):
            kind = start.kind
        else:
            kind = "ptr" if start is None else "i64" if type(start) is int else "double"
        made = Variable(self, self.slot(kind), kind)
        made.value = start
        return made

    def at(self, pointer: object, index: Any, kind: str) -> str:
        """Address of an element of an array."""
        return self.name(f"getelementptr {kind}, ptr {pointer}, i64 {self.text(index, 'i64')}")

    def load(self, pointer: object, index: Any, kind: str) -> Number:
        """An element of an array."""
        return self.put(f"load {kind}, ptr {self.at(pointer, index, kind)}", kind)

    def store(self, value: Any, pointer: object, index: Any, kind: str) -> None:
        """Change an element of an array."""
        text = self.text(value, kind)
        self.do(f"store {kind} {text}, ptr {self.at(pointer, index, kind)}")

    # -- the way through ----------------------------------------------------------------------

    def label(self, name: str) -> str:
        """A label that no other block has."""
        self._count += 1
        return f"{name}{self._count}"

    def begin(self, label: str) -> None:
        """Begin a block; the one before it branches to it unless it has ended."""
        self.go(label)
        self._lines.append(f"{label}:")
        self.block = label

    def go(self, label: str) -> None:
        """End the block, if it has not ended, with a branch to another one."""
        self._end(f"br label %{label}")

    def branch(self, condition: object, yes: str, no: str, expected: bool | None = None) -> None:
        """End the block with a conditional branch; ``expected`` is the usual condition."""
        often = "" if expected is None else f", !prof !{int(expected)}"
        if expected is not None:
            self.declare(_WEIGHTS[expected])
        self._end(f"br i1 {condition}, label %{yes}, label %{no}{often}")

    def give(self, value: Number) -> None:
        """Return a result from the function."""
        self._end(f"ret {value.kind} {value}")

    def _end(self, text: str) -> None:
        if self.block:
            self.do(text)
        self.block = ""

    def each(
        self, count: Any, start: Any = 0, until: Callable[[], Number] | None = None
    ) -> Iterator[Number]:
        """Run the body of a ``for`` for the integers from ``start`` to below ``count``.

        The loop ends early where ``until``, written before each round, is true.
        """
        test = self.label("test")
        body, step, end = (f"{test}.{name}" for name in ("body", "step", "end"))
        before = self.block
        self.begin(test)
        index = Number(self, f"%{test}.k", "i64")
        first, following = self.text(start, "i64"), f"{index}.next"
        self.do(f"{index} = phi i64 [ {first}, %{before} ], [ {following}, %{step} ]")
        more = index < count
        self.branch(more if until is None else more & ~until(), body, end)
        self.begin(body)
        yield index
        self.begin(step)
        self.do(f"{following} = add i64 {index}, 1")
        self.go(test)
        self.begin(end)

    @contextmanager
    def when(self, condition: Number, expected: bool | None = None) -> Iterator[None]:
        """Run the body of a ``with`` under a condition."""
        then = self.label("then")
        self.branch(condition, then, f"{then}.end", expected)
        self.begin(then)
        yield
        self.begin(f"{then}.end")

    @contextmanager
    def either(
        self, condition: Number
    ) -> Iterator[tuple[AbstractContextManager[None], AbstractContextManager[None]]]:
        """Two bodies of a ``with``, the second of which is run if the condition does not hold."""
        then = self.label("then")
        otherwise, end = f"{then}.else", f"{then}.end"
        self.branch(condition, then, otherwise)
        yield self._part(then, end), self._part(otherwise, end)
        self.begin(end)

    @contextmanager
    def _part(self, label: str, end: str) -> Iterator[None]:
        self.begin(label)
        yield
        self.go(end)

    def call(self, function: object, result: str, *arguments: Number) -> Number:
        """Call a function by its name or address; what it returns, of the kind ``result``."""
        given = ", ".join(f"{x.kind} {x}" for x in arguments)
        text = f"call {result} {function}({given})"
        if result == "void":
            self.do(text)
            return Number(self, "", "void")
        return self.put(text, result)

    # -- the whole ----------------------------------------------------------------------------

    def ir(self) -> str:
        """A module of this function alone."""
        return module_ir(self)

    @property
    def declarations(self) -> frozenset[str]:
        """Declarations and constants before the function."""
        return frozenset(self._declarations)

    @property
    def definition(self) -> str:
        """The text of the function."""
        end = ["  ret void"] if self.block else []
        first = f"define {self._head} {self._attributes} {{"
        return "\n".join([first, "entry:", *self._slots, *self._lines, *end, "}"])


def module_ir(*functions: Code) -> str:
    """The text of a module with some functions, those that they need, and their declarations."""
    found, waiting = dict[str, Code](), [*functions]
    for code in waiting:  # which gets longer meanwhile
        found[code.definition] = code
        waiting += code.needed
    declared = sorted(frozenset[str]().union(*(code.declarations for code in found.values())))
    return "\n".join([*declared, *found, ""])


@cache
def _intrinsic(function: str, kind: str, count: int) -> tuple[str, str]:
    """A function of LLVM of numbers, or of vectors of numbers, and its declaration."""
    lanes, _, scalar = kind.strip("<>").rpartition(" x ")
    suffix = (f"v{lanes}" if lanes else "") + {"double": "f64", "float": "f32"}[scalar]
    full = f"{kind} @llvm.{function}.{suffix}"
    return full, f"declare {full}({', '.join([kind] * count)})"
