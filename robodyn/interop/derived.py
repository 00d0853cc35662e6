"""What JAX and PyTorch need of a function: its derivatives as programs, and checked arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.codegen import Function
from robodyn.codegen.calls.arguments import check_axes, check_count, common_batch
from robodyn.errors import ShapeError
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, Scalar, edge_of, inputs


def with_jacobians(function: Function, names: Sequence[str]) -> Function:
    """The outputs of a function, and after them an array with their derivatives.

    The array has a row for each number of the outputs, and a column for each number of the inputs
    that are named.
    """
    given, _ = _numbers(function.inputs)
    slopes = _slopes(function, names, given)
    results = [*inline(function.program, given), *slopes.ravel()]
    outputs = (*function.outputs, Port("slopes", slopes.shape))
    return _function(f"{function.name}_and", names, function.inputs, outputs, results)


def pushforward(function: Function, names: Sequence[str]) -> Function:
    """Changes of the outputs, from the inputs and, after them, changes of those that are named."""
    moved = tuple(_like(port, "change of ") for port in _named(function, names))
    outputs = tuple(_like(port, "change of ") for port in function.outputs)
    given, changes = _numbers(function.inputs, moved)
    results = _slopes(function, names, given) @ changes
    ports = (*function.inputs, *moved)
    return _function(f"{function.name}_along", names, ports, outputs, results)


def pullback(function: Function, names: Sequence[str]) -> Function:
    """Derivatives of a number by the inputs that are named, from those by the outputs.

    They are its inputs after those of the function.
    """
    weights = tuple(_like(port, "weight of ") for port in function.outputs)
    outputs = tuple(_like(port, "slope by ") for port in _named(function, names))
    given, pulled = _numbers(function.inputs, weights)
    results = pulled @ _slopes(function, names, given)
    ports = (*function.inputs, *weights)
    return _function(f"{function.name}_back", names, ports, outputs, results)


def _slopes(function: Function, names: Sequence[str], given: Sequence[Number]) -> Array:
    """Derivatives of the numbers of the outputs by those of the inputs that are named."""
    rows = sum(port.size for port in function.outputs)
    slopes = np.empty((rows, 0), object)
    for port in _named(function, names):
        numbers = inline(function.jacobian(port.name, raw=True).program, given)
        own = np.array(numbers, object).reshape(rows, port.size)
        slopes = np.concatenate([slopes, own], axis=1)
    return slopes


def _named(function: Function, names: Sequence[str]) -> list[Port]:
    by_name = {port.name: port for port in function.inputs}
    return [by_name[name] for name in names]


def _numbers(ports: Sequence[Port], more: Sequence[Port] = ()) -> tuple[list[Number], Array]:
    """The numbers of some inputs of a graph, and those of some more."""
    count, others = (sum(port.size for port in x) for x in (ports, more))
    numbers = list(inputs(Graph(), 0, count + others))
    return numbers[:count], np.array(numbers[count:], object)


def _like(port: Port, before: str) -> Port:
    return Port(before + port.name, port.shape)


def _function(
    name: str,
    names: Sequence[str],
    ports: tuple[Port, ...],
    outputs: tuple[Port, ...],
    results: Sequence[Number] | Array,
) -> Function:
    graph = next((x.graph for x in results if isinstance(x, Scalar)), Graph())
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
