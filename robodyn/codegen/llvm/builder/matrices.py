"""Matrices, integers and tables of words in memory: products, triangular solves, and LAPACK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.rows import Buffer
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.target.lapack import SIGNATURES

#: Stands for the last argument of a LAPACK routine, its status.
INFO = object()


class Matrix(NamedTuple):
    """Real numbers, column after column, as Fortran keeps them; a vector is one column.

    pointer: To the first element.
    ld: From one column to the next.
    """

    code: Code
    pointer: str
    ld: Any

    def part(self, row: Any, column: Any = 0) -> Matrix:
        """The matrix from that element on."""
        place = self.code.operation("*", self.ld, column) + row
        return Matrix(self.code, self.code.at(self.pointer, place, "double"), self.ld)

    def get(self, row: Any, column: Any = 0) -> Number:
        """One element."""
        return self.code.put(f"load double, ptr {self.part(row, column).pointer}", "double")

    def put(self, value: Any, row: Any, column: Any = 0) -> None:
        """Change one element."""
        number = self.code.text(value, "double")
        self.code.do(f"store double {number}, ptr {self.part(row, column).pointer}")


class Workspace:
    """Matrices in memory by name, one after the other, with columns of equal length.

    columns: How many columns each has.
    """

    def __init__(self, code: Code, pointer: str, ld: Number, columns: Mapping[str, Any]) -> None:
        self._arrays, column = dict[str, Matrix](), code.integer(0)
        for name, count in columns.items():
            self._arrays[name] = Matrix(code, pointer, ld).part(0, column)
            column = column + count

    def __getattr__(self, name: str) -> Matrix:
        return self._arrays[name]


class Indices(NamedTuple):
    """Integers in memory: ``i64`` of numpy, or ``i32`` of LAPACK."""

    code: Code
    pointer: str
    kind: str

    def get(self, i: Any) -> Number:
        """One of them."""
        found = self.code.load(self.pointer, i, self.kind)
        return found if self.kind == "i64" else self.code.put(f"sext i32 {found} to i64", "i64")

    def put(self, value: Any, i: Any) -> None:
        """Change one."""
        if self.kind == "i32":
            number = self.code.text(value, "i64")
            value = self.code.put(f"trunc i64 {number} to i32", "i32")
        self.code.store(value, self.pointer, i, self.kind)


def call_routine(code: Code, routine: str, *arguments: Any) -> Number | None:
    """Call a routine of BLAS or LAPACK.

    *arguments: In the order of Fortran: letters, integers, real numbers, `Indices`, and `Matrix`,
        which stands for two arguments, the array and its leading dimension; for one, a vector,
        where no integer follows. ``INFO`` stands last where the routine has it.
    Returns What ``INFO`` was set to.
    """
    kinds = SIGNATURES[routine]
    given: list[str] = []
    info = None
    for x in arguments:
        if isinstance(x, Matrix):
            given.append(x.pointer)
            if kinds[len(given) - 1] == "M":
                given.append(_stored(code, x.ld, "#"))
        elif isinstance(x, Indices):
            given.append(x.pointer)
        elif x is INFO:
            info = Indices(code, code.slot("i32"), "i32")
            given.append(info.pointer)
        else:
            given.append(_stored(code, x, kinds[len(given)]))
    if len(given) != len(kinds):
        raise TypeError(f"{routine} takes {len(kinds)} arguments, {len(given)} given")
    code.declare(f"declare void @robodyn_{routine}({', '.join(['ptr'] * len(kinds))})")
    code.do(f"call void @robodyn_{routine}({', '.join(f'ptr {x}' for x in given)})")
    return None if info is None else info.get(0)


def _stored(code: Code, x: Any, kind: str) -> str:
    """Address of a letter or a number: Fortran takes all arguments by reference."""
    if kind == "c":
        code.declare(f'@letter_{x} = private constant [1 x i8] c"{x}"')
        return f"@letter_{x}"
    if kind == "#":
        slot = code.slot("i32")
        Indices(code, slot, "i32").put(x, 0)
        return slot
    return code.variable(x if isinstance(x, Number) else float(x)).pointer


def product(
    A: Matrix, B: Matrix, C: Matrix, shape: tuple[Number | int, ...], transposed: str = "NN",
    *, factor: Number | float = 1.0, keep: float = 0.0,
) -> None:  # fmt: skip
    """``C = factor A B + keep C`` with A (m, k), B (k, n), of ``shape = (m, k, n)``.

    ``transposed`` has a T for each of A, B that stands transposed in memory, else an N.
    """
    m, k, n = shape
    if type(n) is int:  # a vector
        rows, columns = (k, m) if transposed == "TN" else (m, k)
        if keep == 0.0:  # dgemv leaves C as it was where k is 0
            for i in A.code.each(m):
                C.put(0.0, i)
        call_routine(A.code, "dgemv", transposed[0], rows, columns, factor, A, B, 1, keep, C, 1)
    else:
        call_routine(A.code, "dgemm", *transposed, m, n, k, factor, A, B, keep, C)


def copy(
    A: Matrix, B: Matrix, rows: Number, columns: Number | int = 1, factor: float = 1.0
) -> None:
    """``B = factor A``."""
    code = A.code
    for j in code.each(columns):
        for i in code.each(rows):
            B.put(A.get(i, j) * factor, i, j)


def solve_triangular(L: Matrix, kind: str, X: Matrix, n: Number, columns: Number | int = 1) -> None:
    """``L^-1 X`` or ``L^-T X`` in place; L (n, n), ``kind`` is L or U (lower, upper), N or T."""
    if type(columns) is int:  # a vector
        call_routine(L.code, "dtrsv", *kind, "N", n, L, X, 1)
    else:
        call_routine(L.code, "dtrsm", "L", *kind, "N", n, columns, 1.0, L, X)


class Words:
    """Numbers and addresses in a table.

    pointer: Address of the table, as IR.
    names: Of the words, in order.
    """

    def __init__(self, code: Code, pointer: object, names: Sequence[str]) -> None:
        self._code, self._pointer = code, pointer
        self._place = {name: k for k, name in enumerate(names)}

    def at(self, name: str) -> str:
        """Address of a word."""
        return self._code.at(self._pointer, self._place[name], "i64")

    def word(self, name: str, kind: str = "i64") -> Number:
        """A word: an integer ``i64``, or an address ``ptr``."""
        return self._code.put(f"load {kind}, ptr {self.at(name)}", kind)

    def number(self, name: str) -> Number:
        """An integer."""
        return self.word(name)

    def pointer(self, name: str) -> str:
        """An address."""
        return self.word(name, "ptr").name

    def array(self, name: str, kind: str = "double") -> Buffer:
        """Real numbers ``"double"`` or ``"float"`` at an address."""
        return Buffer(self._code, self.pointer(name), kind)

    def indices(self, name: str) -> Indices:
        """Integers at an address."""
        return Indices(self._code, self.pointer(name), "i64")
