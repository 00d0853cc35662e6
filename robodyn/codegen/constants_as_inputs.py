"""Code that is shared by programs with the same operations, whose constants become an input.

Programs of a controller with other gains, or of a step with other masses, differ in constants
alone. The first one is compiled as it is. When another one comes, the constants that differ become
an input of one more program, which serves all that follow: to try a thousand gains takes two
compilations. `robodyn.codegen.shared` has the code of programs with such an input.
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
from robodyn.symbolic import ops
from robodyn.symbolic.graph import ByPrecision, Graph, Port, Program

#: Largest number of programs in the cache, and of all their operations.
KEPT, OPERATIONS = 64, 500_000

#: Largest number of constants that become an input.
MOST = 256

Made = TypeVar("Made")


class _SameOperations(Generic[Made]):
    """Code of all programs that have the same operations as one of them."""

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
        """Code for a program, and its constants that are inputs; ``None`` for other operations."""
        if not _same_operations(self.program, program):
            return None
        own, other = self.program.graph.value, program.graph.value
        if own == other:
            return self.plain, np.zeros(0)
        places = tuple(sorted({*self._places, *(x for x in own if own[x] != other[x])}))
        values = [other[node] for node in places]
        if len(places) > MOST or ByPrecision in map(type, values):
            return None
        if places != self._places:
            self._places, self._general = places, general(self.program, places)
        return self._general, np.array(values)


class ConstantsAsInputs(Generic[Made]):
    """Cache of code by the operations of programs, whatever their constants are.

    plain: Makes the code of a program as it is.
    general: Makes the code of a program in which some constants are an input.
    name: Name of that input.
    before: Name of the input before which it is inserted. Default, and where there is no such
        input: it is the last one.
    common: All states of a batch have the same constants.
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
        self._kept: dict[Any, _SameOperations[Made]] = {}

    def of(self, program: Program) -> tuple[Made, FloatArray]:
        """The code for a program, and its constants that are an input, shape (m,)."""
        operations = len(program.graph.op)
        key = program.name, program.inputs, program.outputs, program.results, operations
        with making():
            alike = self._kept.pop(key, None)
            code = None if alike is None else alike.of(program, self._general)
            if alike is None or code is None:
                alike = _SameOperations(program, self._plain(program))
                code = alike.plain, np.zeros(0)
            self._kept[key] = alike  # the order of use, from which the oldest are removed
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
            if op == ops.INPUT and own.a[node] >= first:
                graph.a[node] += len(places)
        for k, node in enumerate(places):
            graph.op[node], graph.a[node], graph.b[node] = ops.INPUT, first + k, 0
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
    """Whether two programs have the same operations and constants."""
    if one is other:
        return True
    same = one.results == other.results and one.graph.value == other.graph.value
    return same and _same_operations(one, other)


_FUNCTIONS: ConstantsAsInputs[Function | SharedCode] = ConstantsAsInputs(
    Function, SharedCode, "numbers", common=True
)


def function_of(program: Program) -> Function:
    """The function of a program; its machine code is shared with programs of other constants."""
    code, numbers = _FUNCTIONS.of(program)
    return code if isinstance(code, Function) else Function(Bound(code, numbers))
