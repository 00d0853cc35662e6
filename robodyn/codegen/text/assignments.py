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
    "indices",
    "places",
    "plain",
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
    """A name that C allows, and other languages too."""
    cleaned = re.sub(r"\W", "_", text, flags=re.ASCII)
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


def plain(text: str) -> str:
    """A text on one line, without what would end a string or a comment, or stand for something."""
    return " ".join(text.split()).replace("\\", "/").replace('"', "'")


def indices(port: Port, k: int, first: int = 0) -> tuple[int, ...]:
    """Where the k-th number of an array stands along its axes, which begin at ``first``."""
    found: list[int] = []
    for size in reversed(port.shape):
        k, index = divmod(k, size)
        found.append(index + first)
    return tuple(reversed(found))


def places(
    program: Program, names: list[str], element: Callable[[str, Port, int], str]
) -> tuple[list[str], list[str]]:
    """Text of each number of the inputs, and of each number of the outputs.

    Parameters
    ----------
    program : Program
    names : list of str
        Of all arrays, from `argument_names`.
    element : callable
        Text of an element, from the array's name, its port and the index.
    """
    texts = [
        element(name, port, k)
        for name, port in zip(names, (*program.inputs, *program.outputs), strict=True)
        for k in range(port.size)
    ]
    first = len(texts) - len(program.results)
    return texts[:first], texts[first:]


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
    given, written = places(program, names, element)

    def number(x: float) -> str:
        return repr(x.single if suffix and isinstance(x, ByPrecision) else float(x)) + suffix

    for left, right in assignments(
        program,
        symbol=given.__getitem__,
        number=number,
        call=lambda function, x: f"{function}{suffix}({x})",
    ):
        yield f"const {dtype} {left} = {right};"
    for place, value in zip(written, results(program, number), strict=True):
        yield f"{place} = {value};"
