"""Arrays of symbols, and programs that are called with them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.codegen.calls.arguments import check_axes, common_batch
from robodyn.codegen.calls.trace_graph import inlined
from robodyn.errors import ShapeError
from robodyn.symbolic.graph import Program
from robodyn.symbolic.scalar import Number, Scalar, SymbolArray
from robodyn.symbolic.symbol_arrays import symbol_array


def symbolic_array(name: str, value: Any) -> Array:
    """An array of symbols and real numbers.

    name: Of the argument, for messages.
    Raises ShapeError: For elements that are neither, and lists that are no array.
    """
    try:
        given = np.asarray(value, object)
        flat = [x if isinstance(x, Scalar) else _real(x) for x in given.flat]
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"{name} is not an array of symbols and real numbers: {error}", name=name, given=value
        ) from None
    return symbol_array(flat).reshape(given.shape)


def _real(x: Any) -> float:
    number = float(x)
    if not math.isfinite(number):
        raise ValueError(f"{number} is not finite")
    return number


def call_with_symbols(program: Program, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The results of a program, written into the equations that its arguments belong to.

    arrays: Its inputs, from `symbolic_array`; leading axes broadcast together.
    Returns results (..., *port.shape): Of symbols, and of numbers where a result depends on no
        symbol.
    Raises ShapeError: If an argument does not fit, or symbols belong to different equations.
    """
    ports = program.inputs
    for port, array in zip(ports, arrays, strict=True):
        check_axes(port, array.shape)
    _refuse_several_graphs(arrays)
    batch = common_batch(ports, arrays)
    rows = [
        np.broadcast_to(x, (*batch, *port.shape)) for port, x in zip(ports, arrays, strict=True)
    ]
    shapes = [(*batch, *port.shape) for port in program.outputs]
    results = [np.empty(shape, object).view(SymbolArray) for shape in shapes]
    for state in np.ndindex(batch):
        numbers: list[Number] = [number for x in rows for number in x[(*state, ...)].flat]
        found = iter(inlined(program, numbers))
        for result in results:
            _fill(result[(*state, ...)], found)
    return tuple(results)


def _fill(result: Array, numbers: Iterator[Number]) -> None:
    for index in np.ndindex(result.shape):
        result[index] = next(numbers)


def _refuse_several_graphs(arrays: Sequence[Array]) -> None:
    graphs = {id(x.graph) for array in arrays for x in array.flat if isinstance(x, Scalar)}
    if len(graphs) > 1:
        raise ShapeError(
            "the symbols belong to different functions: use those that this function was called "
            "with",
            name="arguments",
        )
