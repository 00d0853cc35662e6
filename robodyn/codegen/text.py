"""A program as assignments in a language of text: what C and CUDA have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from robodyn.symbolic.graph import ADD, CONST, COS, DIV, INPUT, MUL, SIN, SQRT, Program

__all__ = ["assignments", "results"]

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
