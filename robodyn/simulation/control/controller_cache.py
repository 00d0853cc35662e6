"""Machine code of controllers, which is kept for those that differ from them by numbers alone.

Controllers with other gains are the same operations with other constants. The first of them is
compiled as it is. Where the next ones have other numbers at some places, these become an input of
one more function, that serves all of them: who tries a thousand gains compiles twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.codegen.llvm.target.once import making
from robodyn.symbolic.graph import INPUT, ByPrecision, Graph, Port, Program

__all__ = ["Code", "cached_code"]

#: Families of controllers that are kept, and their operations together.
KEPT, OPERATIONS = 64, 500_000

#: Most numbers in which programs that share code differ.
MOST = 256


class Code(NamedTuple):
    """A function, and the numbers that it gets besides its program's inputs.

    Attributes
    ----------
    function : Function or NumbaCode
        Its input ``constants``, if there is one, comes last, but for ``state``.
    constants : tuple of ndarray, shape (m,)
        One, or none.
    """

    function: Any
    constants: tuple[FloatArray, ...]


class _SharedCode:
    """Functions of programs that have the same operations as one.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program, self._plain = program, Function(program)
        self._places: tuple[int, ...] = ()
        self._general = self._plain

    @property
    def operations(self) -> int:
        """Number of operations of the program."""
        return len(self.program.graph.op)

    def code(self, program: Program) -> Code | None:
        """The function for a program; none if its operations are others."""
        if not _same_operations(self.program, program):
            return None
        found = _differing(self.program.graph, program.graph)
        if not found:
            return Code(self._plain, ())
        places = tuple(sorted({*self._places, *found}))
        values = [program.graph.value[node] for node in places]
        if len(places) > MOST or ByPrecision in map(type, values):
            return None
        if places != self._places:
            self._places, self._general = places, Function(_general(self.program, places))
        return Code(self._general, (np.array(values),))


_cache: dict[Any, _SharedCode] = {}


def cached_code(program: Program) -> Code:
    """The function of a controller's program, with machine code of earlier motions."""
    operations = len(program.graph.op)
    key = program.name, program.inputs, program.outputs, program.results, operations
    with making():
        shared = _cache.pop(key, None)
        code = None if shared is None else shared.code(program)
        if shared is None or code is None:
            shared = _SharedCode(program)
            code = shared.code(program)
        _cache[key] = shared  # the latest is the last
        count = sum(x.operations for x in _cache.values())
        while len(_cache) > KEPT or (count > OPERATIONS and len(_cache) > 1):
            count -= _cache.pop(next(iter(_cache))).operations
    assert code is not None
    return code


def _same_operations(one: Program, other: Program) -> bool:
    """Whether two programs have the same operations, in the same order."""
    a, b = one.graph, other.graph
    return (a.op, a.a, a.b) == (b.op, b.a, b.b)


def _differing(one: Graph, other: Graph) -> list[int]:
    """Nodes of constants that are not the same."""
    if one.value == other.value:
        return []
    return [node for node, value in one.value.items() if value != other.value[node]]


def _general(program: Program, places: tuple[int, ...]) -> Program:
    """The same with an input in place of some constants."""
    names = [port.name for port in program.inputs]
    at = names.index("state") if "state" in names else len(names)
    constants = Port("constants", (len(places),))
    first = sum(port.size for port in program.inputs[:at])
    own, graph = program.graph, Graph()
    graph.op, graph.a, graph.b = own.op.copy(), own.a.copy(), own.b.copy()
    graph.value = {node: x for node, x in own.value.items() if node not in places}
    for node, op in enumerate(own.op):
        if op == INPUT and own.a[node] >= first:
            graph.a[node] += constants.size
    for k, node in enumerate(places):
        graph.op[node], graph.a[node], graph.b[node] = INPUT, first + k, 0
    ports = (*program.inputs[:at], constants, *program.inputs[at:])
    return replace(program, inputs=ports, graph=graph, derived=None)
