"""A program as assignments in a language of text: what C and CUDA have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from robodyn.errors import UnknownNameError
from robodyn.symbolic.graph import (
    ADD,
    CONST,
    COS,
    DIV,
    INPUT,
    MUL,
    SIN,
    SQRT,
    ByPrecision,
    Port,
    Program,
)

__all__ = [
    "argument_names",
    "assignments",
    "check_type",
    "identifier",
    "port_comments",
    "results",
    "statements",
]

TYPES = ("double", "float")

Text = Callable[[float], str]


def _operand(program: Program, edge: int, number: Text) -> str:
    graph, node = program.graph, edge >> 1
    sign = "-" if edge & 1 else ""
    if graph.op[node] == CONST:
        return f"({sign}{number(graph.value[node])})" if sign else number(graph.value[node])
    return f"(-t{node})" if sign else f"t{node}"


def assignments(
    program: Program,
    *,
    symbol: Callable[[int], str],
    number: Text,
    call: Callable[[str, str], str],
) -> Iterator[tuple[str, str]]:
    """Name and expression of each node, in order of evaluation.

    Parameters
    ----------
    program : Program
    symbol : callable
        Text of a scalar input.
    number : callable
        Text of a constant.
    call : callable
        Text of ``sin``, ``cos`` or ``sqrt`` of an expression.
    """
    graph = program.graph
    functions = {SQRT: "sqrt", SIN: "sin", COS: "cos"}
    for node in program.live():
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        name = f"t{node}"
        if op == CONST:
            continue
        if op == INPUT:
            yield name, symbol(a)
        elif op == ADD:
            verb = "-" if b & 1 else "+"
            left, right = _operand(program, a, number), _operand(program, b & -2, number)
            yield name, f"{left} {verb} {right}"
        elif op in (MUL, DIV):
            verb = "*" if op == MUL else "/"
            yield name, f"{_operand(program, a, number)} {verb} {_operand(program, b, number)}"
        else:
            yield name, call(functions[op], _operand(program, a, number))


def results(program: Program, number: Text) -> list[str]:
    """Text of each output scalar."""
    return [_operand(program, edge, number) for edge in program.results]


def check_type(dtype: str) -> None:
    """Raise `UnknownNameError` for what is not a type of C that we generate."""
    if dtype not in TYPES:
        raise UnknownNameError("C type", dtype, TYPES)


def identifier(text: str) -> str:
    """A name that C allows."""
    cleaned = re.sub(r"\W", "_", text)
    return cleaned if cleaned[:1].isalpha() else f"f_{cleaned}"


def argument_names(program: Program, taken: Collection[str] = ()) -> list[str]:
    """Name of each input and output array; none is ``taken`` or the name of a node."""
    names: list[str] = []
    for port in (*program.inputs, *program.outputs):
        name = identifier(port.name)
        while name in taken or name in names or re.fullmatch(r"t\d+", name):
            name += "_"
        names.append(name)
    return names


def port_comments(program: Program, names: list[str]) -> Iterator[str]:
    """A line of a comment for each array: its name, shape and unit."""
    for name, port in zip(names, (*program.inputs, *program.outputs), strict=True):
        yield f" * {name}: {'x'.join(map(str, port.shape)) or 'scalar'} [{port.unit}]"


def statements(
    program: Program, dtype: str, names: list[str], element: Callable[[str, Port, int], str]
) -> Iterator[str]:
    """Statements of C for one state: a constant for each node, then the stores.

    Parameters
    ----------
    program : Program
    dtype : {"double", "float"}
    names : list of str
        Of all arrays, from `argument_names`.
    element : callable
        Text of an element, from the array's name, its port and the index.
    """
    suffix = "" if dtype == "double" else "f"
    ports = (*program.inputs, *program.outputs)
    places = [
        element(name, port, k)
        for name, port in zip(names, ports, strict=True)
        for k in range(port.size)
    ]

    def number(x: float) -> str:
        return repr(x.single if suffix and isinstance(x, ByPrecision) else float(x)) + suffix

    for left, right in assignments(
        program,
        symbol=places.__getitem__,
        number=number,
        call=lambda function, x: f"{function}{suffix}({x})",
    ):
        yield f"const {dtype} {left} = {right};"
    first = len(places) - len(program.results)
    for place, value in zip(places[first:], results(program, number), strict=True):
        yield f"{place} = {value};"
