"""Machine code of controllers, which is kept for those that differ from them by numbers alone.

Controllers with other gains are the same operations with other constants. The first of them is
compiled as it is. Where the next ones have other numbers at some places, these become an input of
one more function, that serves all of them: who tries a thousand gains compiles twice.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.symbolic.graph import INPUT, ByPrecision, Graph, Port, Program

__all__ = ["Code", "known_codes"]

#: Families of controllers that are kept, and their operations together.
KEPT, OPERATIONS = 64, 500_000

#: Most numbers in which members of a family differ.
MOST = 256


class Code(NamedTuple):
    """A function, and the numbers that it gets besides its program's inputs.

    Attributes
    ----------
    function : Function
        Its input ``constants``, if there is one, comes last, but for ``memory``.
    constants : tuple of ndarray, shape (m,)
        One, or none.
    """

    function: Function
    constants: tuple[FloatArray, ...]


class _Family:
    """Functions of programs that have the same operations.

    Parameters
    ----------
    programs : tuple of Program
        Of one controller.
    """

    def __init__(self, programs: tuple[Program, ...]) -> None:
        self.programs = programs
        self._plain = [Function(program) for program in programs]
        self._places: list[tuple[int, ...]] = [()] * len(programs)
        self._general: list[Function] = []

    @property
    def operations(self) -> int:
        """Of all programs."""
        return sum(len(program.graph.op) for program in self.programs)

    def codes(self, programs: tuple[Program, ...]) -> list[Code] | None:
        """Functions for programs; none if they are of another family."""
        pairs = list(zip(self.programs, programs, strict=True))
        if not all(_same_operations(own, other) for own, other in pairs):
            return None
        found = [_differing(own.graph, other.graph) for own, other in pairs]
        if not any(found):
            return [Code(f, ()) for f in self._plain]
        places = [tuple(sorted({*x, *y})) for x, y in zip(self._places, found, strict=True)]
        values = [[p.graph.value[n] for n in x] for p, x in zip(programs, places, strict=True)]
        kinds = {type(x) for own in values for x in own}
        if max(map(len, places)) > MOST or ByPrecision in kinds:
            return None
        if places != self._places:
            given = zip(self.programs, places, strict=True)
            self._places, self._general = places, [Function(_general(*own)) for own in given]
        constants = ((np.array(x or [0.0]),) for x in values)
        return [Code(*own) for own in zip(self._general, constants, strict=True)]


_known: dict[Any, _Family] = {}
_lock = threading.Lock()


def known_codes(*programs: Program) -> list[Code]:
    """The functions of a controller's programs, with machine code of earlier motions."""
    key = tuple((p.name, p.inputs, p.outputs, p.results, len(p.graph.op)) for p in programs)
    with _lock:
        family = _known.pop(key, None)
        codes = None if family is None else family.codes(programs)
        if family is None or codes is None:
            family = _Family(programs)
            codes = family.codes(programs)
        _known[key] = family  # the latest is the last
        count = sum(x.operations for x in _known.values())
        while len(_known) > KEPT or (count > OPERATIONS and len(_known) > 1):
            count -= _known.pop(next(iter(_known))).operations
    assert codes is not None
    return codes


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
    """The same with an input in place of some constants, one number at least."""
    names = [port.name for port in program.inputs]
    at = names.index("memory") if "memory" in names else len(names)
    constants = Port("constants", (max(len(places), 1),))
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
