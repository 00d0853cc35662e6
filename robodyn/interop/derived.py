"""What JAX and PyTorch need of a function: its derivatives as programs, and checked arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from robodyn.codegen import Function
from robodyn.codegen.calls.arguments import check_axes, check_count, common_batch
from robodyn.errors import ShapeError
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number, edge_of, inputs


def with_jacobians(function: Function, names: Sequence[str]) -> Function:
    """The outputs of a function, and after them an array with their derivatives.

    The array has a row for each number of the outputs, and a column for each number of the inputs
    that are named.
    """
    graph, given = _graph_of(function.inputs)
    results, slopes = inline(function.program, given), [*_slopes(function, names, given)]
    shape = len(results), sum(_size(function, name) for name in names)
    results += [x for row in zip(*slopes, strict=True) for part in row for x in part]
    outputs = (*function.outputs, Port("slopes", shape))
    return _function(f"{function.name}_and", names, function.inputs, outputs, graph, results)


def pushforward(function: Function, names: Sequence[str]) -> Function:
    """Changes of the outputs, from the inputs and, after them, changes of those that are named."""
    by_name = {port.name: port for port in function.inputs}
    moved = tuple(_input_like(by_name[name], "change of ") for name in names)
    outputs = tuple(_input_like(port, "change of ") for port in function.outputs)
    graph, given, changes = _graph_with_numbers(function.inputs, moved)
    results: list[Number] = [0.0] * sum(port.size for port in outputs)
    for slopes, change in zip(_slopes(function, names, given), changes, strict=True):
        for k, row in enumerate(slopes):
            results[k] = _sum([results[k], *(s * x for s, x in zip(row, change, strict=True))])
    ports = (*function.inputs, *moved)
    return _function(f"{function.name}_along", names, ports, outputs, graph, results)


def pullback(function: Function, names: Sequence[str]) -> Function:
    """Derivatives of a number by the inputs that are named, from those by the outputs.

    They are its inputs after those of the function.
    """
    by_name = {port.name: port for port in function.inputs}
    weights = tuple(_input_like(port, "weight of ") for port in function.outputs)
    outputs = tuple(_input_like(by_name[name], "slope by ") for name in names)
    graph, given, pulled = _graph_with_numbers(function.inputs, weights)
    weight = [w for numbers in pulled for w in numbers]
    results = [
        _sum([w * row[k] for w, row in zip(weight, slopes, strict=True)])
        for name, slopes in zip(names, _slopes(function, names, given), strict=True)
        for k in range(_size(function, name))
    ]
    ports = (*function.inputs, *weights)
    return _function(f"{function.name}_back", names, ports, outputs, graph, results)


def _slopes(
    function: Function, names: Sequence[str], given: Sequence[Number]
) -> Iterator[list[list[Number]]]:
    """For each input that is named a row of derivatives for each number of the outputs."""
    rows = sum(port.size for port in function.outputs)
    for name in names:
        numbers = inline(function.jacobian(name, raw=True).program, given)
        size = _size(function, name)
        yield [numbers[size * k : size * (k + 1)] for k in range(rows)]


def _size(function: Function, name: str) -> int:
    (size,) = (port.size for port in function.inputs if port.name == name)
    return size


def _graph_of(ports: Sequence[Port]) -> tuple[Graph, list[Number]]:
    graph = Graph()
    return graph, list(inputs(graph, 0, sum(port.size for port in ports)))


def _graph_with_numbers(
    ports: Sequence[Port], more: Sequence[Port]
) -> tuple[Graph, list[Number], list[list[Number]]]:
    """A graph, the numbers of some inputs, and those of each of some more."""
    graph, given = _graph_of((*ports, *more))
    first, parts = sum(port.size for port in ports), list[list[Number]]()
    at = first
    for port in more:
        parts.append(given[at : at + port.size])
        at += port.size
    return graph, given[:first], parts


def _sum(terms: Sequence[Number]) -> Number:
    total: Number = 0.0
    for term in terms:
        total = total + term
    return total


def _input_like(port: Port, before: str) -> Port:
    return Port(before + port.name, port.shape)


def _function(
    name: str,
    names: Sequence[str],
    ports: tuple[Port, ...],
    outputs: tuple[Port, ...],
    graph: Graph,
    results: Sequence[Number],
) -> Function:
    edges = tuple(edge_of(graph, x) for x in results)
    return Function(Program("_".join([name, *names]), ports, outputs, graph, edges))


def checked_batch(
    ports: Sequence[Port], arrays: Sequence[Any], is_real: Callable[[Any], bool]
) -> tuple[int, ...]:
    """Leading axes of the inputs of a function, broadcast together.

    arrays: With ``shape``, ``ndim`` and ``dtype``.
    is_real: Whether the elements of such an array are real numbers.
    """
    check_count(ports, len(arrays))
    for port, array in zip(ports, arrays, strict=True):
        if not is_real(array):
            raise ShapeError(
                f"{port.name} is not an array of real numbers: its elements are {array.dtype}",
                name=port.name,
                given=str(array.dtype),
                expected="an array of real numbers",
            )
        check_axes(port, tuple(array.shape))
    return common_batch(ports, arrays)
