"""Code of programs that are alike, with the same operations and other constants.

Controllers with other gains, or steps of robots with other masses, are the same operations with
other constants. The first of them is compiled as it is. Where the next ones have other numbers at
some places, these become an input of one more program, that serves all of them: who tries a
thousand gains compiles twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.function import Function
from robodyn.codegen.llvm.target.once import making
from robodyn.codegen.shared import Bound, SharedCode
from robodyn.symbolic.graph import INPUT, ByPrecision, Graph, Port, Program

__all__ = ["AlikeCode", "function_of"]

#: Programs that are kept, and their operations together.
KEPT, OPERATIONS = 64, 500_000

#: Most numbers in which programs that share code differ.
MOST = 256

Made = TypeVar("Made")


class _Alike(Generic[Made]):
    """What is made of programs that have the same operations as one."""

    def __init__(self, program: Program, plain: Made) -> None:
        self.program, self.plain = program, plain
        self._places: tuple[int, ...] = ()
        self._general = plain

    @property
    def operations(self) -> int:
        """Number of operations of the program."""
        return len(self.program.graph.op)

    def of(
        self, program: Program, general: Callable[[Program, tuple[int, ...]], Made]
    ) -> tuple[Made, FloatArray] | None:
        """What is made for a program, and its numbers; none if its operations are others."""
        if not _same_operations(self.program, program):
            return None
        found = _differing(self.program.graph, program.graph)
        if not found:
            return self.plain, np.zeros(0)
        places = tuple(sorted({*self._places, *found}))
        values = [program.graph.value[node] for node in places]
        if len(places) > MOST or ByPrecision in map(type, values):
            return None
        if places != self._places:
            self._places, self._general = places, general(self.program, places)
        return self._general, np.array(values)


class AlikeCode(Generic[Made]):
    """Code that is kept for programs that differ by numbers alone.

    Parameters
    ----------
    plain : callable
        Makes it of a program as it is.
    general : callable
        Makes it of a program with an input more, in the place of constants.
    name : str
        Of that input.
    before : str
        Input before which it stands, if there is one of this name. Default: it comes last.
    common : bool
        All states of a batch have the same numbers.
    """

    def __init__(
        self,
        plain: Callable[[Program], Made],
        general: Callable[[Program], Made],
        name: str,
        before: str = "",
        common: bool = False,
    ) -> None:
        self._plain, self._make = plain, general
        self._name, self._before, self._common = name, before, common
        self._kept: dict[Any, _Alike[Made]] = {}

    def of(self, program: Program) -> tuple[Made, FloatArray]:
        """The code for a program, and the numbers that it gets besides its inputs, shape (m,)."""
        operations = len(program.graph.op)
        key = program.name, program.inputs, program.outputs, program.results, operations
        with making():
            alike = self._kept.pop(key, None)
            code = None if alike is None else alike.of(program, self._general)
            if alike is None or code is None:
                alike = _Alike(program, self._plain(program))
                code = alike.plain, np.zeros(0)
            self._kept[key] = alike  # the latest is the last
            count = sum(x.operations for x in self._kept.values())
            while len(self._kept) > KEPT or (count > OPERATIONS and len(self._kept) > 1):
                count -= self._kept.pop(next(iter(self._kept))).operations
        return code

    def _general(self, program: Program, places: tuple[int, ...]) -> Made:
        """The code of a program with an input in place of some constants."""
        names = [port.name for port in program.inputs]
        at = names.index(self._before) if self._before in names else len(names)
        first = sum(port.size for port in program.inputs[:at])
        own, graph = program.graph, Graph()
        graph.op, graph.a, graph.b = own.op.copy(), own.a.copy(), own.b.copy()
        graph.value = {node: x for node, x in own.value.items() if node not in places}
        for node, op in enumerate(own.op):
            if op == INPUT and own.a[node] >= first:
                graph.a[node] += len(places)
        for k, node in enumerate(places):
            graph.op[node], graph.a[node], graph.b[node] = INPUT, first + k, 0
        port = Port(self._name, (len(places),), common=self._common)
        ports = (*program.inputs[:at], port, *program.inputs[at:])
        return self._make(replace(program, inputs=ports, graph=graph, derived=None))


def _same_operations(one: Program, other: Program) -> bool:
    """Whether two programs have the same operations, in the same order, of the same coordinates."""
    a, b = one.graph, other.graph
    if (a.op, a.a, a.b) != (b.op, b.a, b.b) or one.rates.keys() != other.rates.keys():
        return False
    return all(_same(x, other.rates[name]) for name, x in one.rates.items())


def _same(one: Program, other: Program) -> bool:
    """Whether two programs compute the same."""
    if one is other:
        return True
    same = one.results == other.results and one.graph.value == other.graph.value
    return same and _same_operations(one, other)


def _differing(one: Graph, other: Graph) -> list[int]:
    """Nodes of constants that are not the same."""
    if one.value == other.value:
        return []
    return [node for node, value in one.value.items() if value != other.value[node]]


_FUNCTIONS: AlikeCode[Function | SharedCode] = AlikeCode(
    Function, SharedCode, "numbers", common=True
)


def function_of(program: Program) -> Function:
    """The function of a program, with machine code of those that were alike."""
    code, numbers = _FUNCTIONS.of(program)
    return code if isinstance(code, Function) else Function(Bound(code, numbers))
