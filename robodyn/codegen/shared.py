"""Machine code that several functions share, which differ in numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.kernels import CompiledCode
from robodyn.codegen.llvm.target.once import making
from robodyn.codegen.trampolines import Trampoline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import edge_of, inputs

__all__ = ["Bound", "BoundCode", "SharedCode"]


class SharedCode:
    """A program whose last input are numbers of a robot, with its machine code.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._code = {x: CompiledCode(program, x) for x in ("double", "float")}

    def __reduce__(self) -> Any:
        return SharedCode, (self.program,)

    def compiled(self, dtype: str) -> CompiledCode:
        """Machine code for ``"double"`` or ``"float"``, which takes the numbers as an input."""
        return self._code[dtype]

    @property
    def name(self) -> str:
        """Of the program."""
        return self.program.name

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Of the program."""
        return self.program.outputs

    @cached_property
    def operations(self) -> dict[str, int]:
        """Number of operations for one state."""
        return self.program.operations()


@dataclass(frozen=True, eq=False)
class Bound:
    """Shared code with the numbers of one robot: what a `Function` can be made of.

    Attributes
    ----------
    code : SharedCode
    numbers : ndarray, shape (n,)
    derived : callable, optional
        As of a `Program`.
    """

    code: SharedCode
    numbers: FloatArray
    derived: Callable[[str], Program | None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"code": self.code, "numbers": self.numbers, "derived": None}

    @property
    def name(self) -> str:
        """Of the function."""
        return self.code.name

    @property
    def inputs(self) -> tuple[Port, ...]:
        """All but the numbers."""
        return self.code.program.inputs[:-1]

    @property
    def outputs(self) -> tuple[Port, ...]:
        """As of the program."""
        return self.code.outputs

    def operations(self) -> dict[str, int]:
        """Number of operations for one state."""
        return self.code.operations

    @cached_property
    def folded(self) -> Program:
        """The program in which the numbers are constants."""
        whole, graph = self.code.program, Graph()
        count = sum(port.size for port in self.inputs)
        given = [*inputs(graph, 0, count), *map(float, self.numbers)]
        edges = tuple(edge_of(graph, x) for x in inline(whole, given))
        return replace(whole, inputs=self.inputs, graph=graph, results=edges, derived=self.derived)


class BoundCode:
    """Machine code with the numbers of one robot.

    Parameters
    ----------
    bound : Bound
    dtype : {"double", "float"}
    """

    def __init__(self, bound: Bound, dtype: str) -> None:
        self._bound, self._dtype = bound, dtype

    @cached_property
    def _trampoline(self) -> Trampoline:
        numbers = self._bound.numbers.astype(np.float64 if self._dtype == "double" else np.float32)
        return Trampoline(len(self._bound.inputs), len(self._bound.outputs), numbers)

    def address(self, kind: str, name: str) -> int:
        """Address of a symbol of the ``"scalar"`` or ``"batch"`` code."""
        kernel = self._bound.code.compiled(self._dtype).address(kind, name)
        with making():
            return self._trampoline.address(name, kernel)
