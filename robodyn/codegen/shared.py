"""Machine code that is shared by functions of robots with other parameters.

The numbers of a robot, such as its masses, are the last input of the shared program. A function of
one robot is that program bound to the numbers of the robot.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.kernels import CompiledCode, Kernels
from robodyn.codegen.llvm.target.once import Memo
from robodyn.codegen.trampolines import Trampoline
from robodyn.codegen.vectorcall.table import Table
from robodyn.errors import SettingsError
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs


class SharedCode:
    """A program whose last input is the numbers of a robot, and its machine code."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._code = {x: CompiledCode(program, x) for x in ("double", "float")}
        self._derivatives: Memo[SharedCode] = Memo()

    def __reduce__(self) -> Any:
        return SharedCode, (self.program,)

    def jacobian(self, name: str, raw: bool) -> SharedCode:
        """Derivatives by an input, which take the same numbers; see `Function.jacobian`."""
        key = (name, raw)
        return self._derivatives.get(key, lambda: SharedCode(jacobian(self.program, name, raw)))

    def compiled(self, dtype: str) -> CompiledCode:
        """Machine code for ``"double"`` or ``"float"``, which takes the numbers as an input."""
        return self._code[dtype]

    @cached_property
    def partly_used(self) -> tuple[int, ...]:
        """As `Function.partly_used`, for all inputs before the numbers."""
        return partly_used(self.program, len(self.program.inputs) - 1)

    @cached_property
    def for_rows(self) -> SharedCode:
        """The same program for batches in which each state has numbers of its own."""
        *before, numbers = self.program.inputs
        ports = (*before, replace(numbers, common=False))
        return SharedCode(replace(self.program, inputs=ports))

    @cached_property
    def operations(self) -> dict[str, int]:
        """Number of operations for one state."""
        return self.program.operations()


def partly_used(program: Program, inputs: int | None = None) -> tuple[int, ...]:
    """Indices of the inputs, among the first ones, of which results need some numbers only."""
    needed, first, found = {*program.needed}, 0, []
    for index, port in enumerate(program.inputs[:inputs]):
        own = range(first, first + port.size)
        if not port.name.startswith("base_") and not needed.issuperset(own):
            found.append(index)
        first = own.stop
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Bound:
    """Shared code bound to the numbers of one robot, or of many; a `Function` is made of it.

    numbers (n,) or (robots, n): With rows of numbers, the last leading axis of states counts the
        robots.
    """

    code: SharedCode
    numbers: FloatArray

    @property
    def name(self) -> str:
        """Name of the program."""
        return self.code.program.name

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Inputs of the program but the numbers."""
        return self.code.program.inputs[:-1]

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Outputs of the program."""
        return self.code.program.outputs

    @cached_property
    def rows(self) -> dict[str, Array]:
        """Rows of numbers in each precision; empty for a single robot."""
        if self.numbers.ndim == 1:
            return {}
        return {"double": self.numbers, "float": self.numbers.astype(np.float32)}

    def operations(self) -> dict[str, int]:
        """Number of operations for one state."""
        return self.code.operations

    def kernels(self, dtype: str, table: Table | None) -> Kernels:
        """The machine code for ``"double"`` or ``"float"``, which has the numbers of the robot.

        Of rows of numbers they are its last input.
        """
        if self.rows:
            return Kernels(self.code.for_rows.compiled(dtype), dtype, table)

        def trampoline() -> Trampoline:
            numbers = self.numbers.astype(np.float64 if dtype == "double" else np.float32)
            return Trampoline(len(self.inputs), len(self.outputs), numbers)

        return Kernels(self.code.compiled(dtype), dtype, table, trampoline)

    def jacobian(self, name: str, raw: bool) -> Bound:
        """Derivatives by an input; arguments as for `Function.jacobian`."""
        return Bound(self.code.jacobian(name, raw), self.numbers)

    @cached_property
    def folded(self) -> Program:
        """The program in which the numbers are constants.

        Raises SettingsError: If there are several robots.
        """
        if self.numbers.ndim > 1:
            raise SettingsError(
                f"{self.name} is that of {len(self.numbers)} rows of parameters, which have no "
                "program in common: take a function of robot.with_(parameters=) with one row"
            )
        whole, graph = self.code.program, Graph()
        count = sum(port.size for port in self.inputs)
        given = [*inputs(graph, 0, count), *map(float, self.numbers)]
        edges = tuple(edge_of(graph, x) for x in inline(whole, given))
        return replace(whole, inputs=self.inputs, graph=graph, results=edges, derived=None)
