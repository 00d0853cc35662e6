"""Loops over dense matrices as IR: for what straight-line code cannot do.

A program is written by running Python once. Its numbers are symbols; ``for i in code.each(n)`` runs
its body once and writes a loop around it, and ``with code.when(condition)`` a branch. A loop must
be left at its end only: no ``break``, ``return`` or exception within.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from robodyn.codegen.llvm.builder.values import Number, Variable
from robodyn.codegen.llvm.cache.object_code import compiled, generator_key
from robodyn.codegen.llvm.target.lapack import SIGNATURES, add_routines
from robodyn.codegen.llvm.target.once import making
from robodyn.codegen.llvm.target.target import chosen_target, load_object, object_code, optimised

__all__ = ["INFO", "Code", "Indices", "Matrix", "load_program"]

#: Operations by the kind of number: on integers and on real numbers.
_OPERATIONS = {
    "+": ("add", "fadd contract"),
    "-": ("sub", "fsub contract"),
    "*": ("mul", "fmul contract"),
    "/": ("sdiv", "fdiv"),
    "<": ("icmp slt", "fcmp olt"),
    ">": ("icmp sgt", "fcmp ogt"),
}

#: Stands for the last argument of a routine of LAPACK, which says how it went.
INFO = object()


class Matrix(NamedTuple):
    """Real numbers, column after column, as Fortran keeps them; a vector is one column.

    Attributes
    ----------
    code : Code
    pointer : str
        To the first element.
    ld : int or Number
        From one column to the next.
    """

    code: Code
    pointer: str
    ld: Any

    def part(self, row: Any, column: Any = 0) -> Matrix:
        """The matrix from that element on."""
        place = self.code.operation("*", self.ld, column) + row
        pointer = self.code.put(f"getelementptr double, ptr {self.pointer}, i64 {place.name}", "")
        return Matrix(self.code, pointer.name, self.ld)

    def get(self, row: Any, column: Any = 0) -> Number:
        """One element."""
        return self.code.put(f"load double, ptr {self.part(row, column).pointer}", "double")

    def put(self, value: Any, row: Any, column: Any = 0) -> None:
        """Change one element."""
        number = self.code.text(value, "double")
        self.code.do(f"store double {number}, ptr {self.part(row, column).pointer}")


class Indices(NamedTuple):
    """Whole numbers in memory: ``i64`` of numpy, or ``i32`` as LAPACK keeps them."""

    code: Code
    pointer: str
    kind: str

    def _at(self, i: Any) -> str:
        i = self.code.text(i, "i64")
        return self.code.put(f"getelementptr {self.kind}, ptr {self.pointer}, i64 {i}", "").name

    def get(self, i: Any) -> Number:
        """One of them."""
        found = self.code.put(f"load {self.kind}, ptr {self._at(i)}", "i64")
        return (
            found if self.kind == "i64" else self.code.put(f"sext i32 {found.name} to i64", "i64")
        )

    def put(self, value: Any, i: Any) -> None:
        """Change one."""
        number = self.code.text(value, "i64")
        if self.kind == "i32":
            number = self.code.put(f"trunc i64 {number} to i32", "").name
        self.code.do(f"store {self.kind} {number}, ptr {self._at(i)}")


class Code:
    """A function that returns nothing, while it is written.

    Parameters
    ----------
    head : str
        Its name and parameters, as IR.
    """

    def __init__(self, head: str) -> None:
        self._head, self._slots, self._lines = head, list[str](), list[str]()
        self._count, self._called, self._letters = 0, set[str](), set[str]()

    def put(self, text: str, kind: str) -> Number:
        """Write an instruction that has a result."""
        self._count += 1
        self._lines.append(f"  %v{self._count} = {text}")
        return Number(self, f"%v{self._count}", kind)

    def do(self, text: str) -> None:
        """Write an instruction without a result, or a label."""
        self._lines.append(text if text.endswith(":") else f"  {text}")

    def text(self, value: Any, kind: str) -> str:
        """A number as it stands in an instruction."""
        if isinstance(value, Number):
            return value.name
        return str(int(value)) if kind == "i64" else f"{float(value):.16e}"

    def operation(self, symbol: str, a: Any, b: Any) -> Number:
        """``a symbol b``; at least one of them is of the program, or both are integers."""
        kind = next((x.kind for x in (a, b) if isinstance(x, Number)), "i64")
        name = _OPERATIONS[symbol][kind == "double"]
        result = "i1" if symbol in "<>" else kind
        return self.put(f"{name} {kind} {self.text(a, kind)}, {self.text(b, kind)}", result)

    def choose(self, condition: Number, yes: Any, no: Any) -> Number:
        """One of two numbers."""
        kind = next(x.kind for x in (yes, no) if isinstance(x, Number))
        one, other = (f"{kind} {self.text(x, kind)}" for x in (yes, no))
        return self.put(f"select i1 {condition.name}, {one}, {other}", kind)

    def root(self, x: Number) -> Number:
        """The square root."""
        return self.put(f"call double @llvm.sqrt.f64(double {x.name})", "double")

    def size(self, x: Number) -> Number:
        """The absolute value."""
        return self.put(f"call double @llvm.fabs.f64(double {x.name})", "double")

    def integer(self, value: int) -> Number:
        """A constant."""
        return Number(self, str(value), "i64")

    def variable(self, start: Any) -> Variable:
        """A number that changes."""
        kind = (
            start.kind if isinstance(start, Number) else "i64" if type(start) is int else "double"
        )
        made = Variable(self, self.slot(kind), kind)
        made.value = start
        return made

    def slot(self, kind: str) -> str:
        """Memory of the function for a value of a kind; its address."""
        self._count += 1
        self._slots.append(f"  %s{self._count} = alloca {kind}")
        return f"%s{self._count}"

    def each(self, count: Any, start: Any = 0) -> Iterator[Number]:
        """Run the body of a ``for`` for the integers from ``start`` to below ``count``."""
        index, label = self.variable(start), f"loop{self._count}"
        self.do(f"br label %{label}.test")
        self.do(f"{label}.test:")
        self._branch(index.value < count, f"{label}.body", f"{label}.end")
        self.do(f"{label}.body:")
        yield index.value
        index.value = index.value + 1
        self.do(f"br label %{label}.test")
        self.do(f"{label}.end:")

    @contextmanager
    def when(self, condition: Number) -> Iterator[None]:
        """Run the body of a ``with`` under a condition."""
        self._count += 1
        label = f"if{self._count}"
        self._branch(condition, f"{label}.then", f"{label}.end")
        self.do(f"{label}.then:")
        yield
        self.do(f"br label %{label}.end")
        self.do(f"{label}.end:")

    def _branch(self, condition: Number, yes: str, no: str) -> None:
        self.do(f"br i1 {condition.name}, label %{yes}, label %{no}")

    def call(self, routine: str, *arguments: Any) -> Number | None:
        """Call a routine of BLAS or LAPACK.

        Parameters
        ----------
        routine : str
        *arguments
            In the order of Fortran: letters, integers, real numbers, `Indices`, and `Matrix`,
            which stands for two arguments, the array and its leading dimension; for one, a vector,
            where no integer follows. ``INFO`` stands last where the routine has it.

        Returns
        -------
        Number or None
            What ``INFO`` was set to.
        """
        kinds = SIGNATURES[routine]
        self._called.add(routine)
        given: list[str] = []
        info = None
        for x in arguments:
            if isinstance(x, Matrix):
                given.append(x.pointer)
                if kinds[len(given) - 1] == "M":
                    given.append(self._stored(x.ld, "#"))
            elif isinstance(x, Indices):
                given.append(x.pointer)
            elif x is INFO:
                info = Indices(self, self.slot("i32"), "i32")
                given.append(info.pointer)
            else:
                given.append(self._stored(x, kinds[len(given)]))
        if len(given) != len(kinds):
            raise TypeError(f"{routine} takes {len(kinds)} arguments, {len(given)} given")
        listed = ", ".join(f"ptr {x}" for x in given)
        self.do(f"call void @robodyn_{routine}({listed})")
        return None if info is None else info.get(0)

    def _stored(self, x: Any, kind: str) -> str:
        """Address of a letter or a number: Fortran takes all arguments by reference."""
        if kind == "c":
            self._letters.add(x)
            return f"@letter_{x}"
        if kind == "#":
            slot = self.slot("i32")
            Indices(self, slot, "i32").put(x, 0)
            return slot
        return self.variable(x if isinstance(x, Number) else float(x)).pointer

    def ir(self) -> str:
        """The whole text."""
        letters = [f'@letter_{x} = private constant [1 x i8] c"{x}"' for x in sorted(self._letters)]
        known = ["declare double @llvm.sqrt.f64(double)", "declare double @llvm.fabs.f64(double)"]
        for name in sorted(self._called):
            kinds = ", ".join(["ptr"] * len(SIGNATURES[name]))
            known.append(f"declare void @robodyn_{name}({kinds})")
        body = [f"define void {self._head} nounwind {{", *self._slots, *self._lines]
        return "\n".join([*letters, *known, *body, "  ret void", "}", ""])


def load_program(ir: str, name: str, *, long: bool = False) -> tuple[int, Any]:
    """Address of a function in the machine code of a program, and what owns the code.

    Object code is kept under a hash of the program, as that of all functions is.

    Parameters
    ----------
    ir : str
    name : str
        Of the function.
    long : bool
        Loops are of many rounds: they compute vectors.
    """
    key = generator_key("robodyn.codegen.llvm.target.target", chosen_target(), ir, long)
    with making():
        code = compiled(key, lambda: object_code(optimised(ir, loops=long)))
        add_routines()
        engine = load_object(code)
    return int(engine.get_function_address(name)), engine
