"""Checks and conversions of the arrays of a call, and the signature that tools show of it."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import numbers, wrong_shape
from robodyn.errors import ShapeError
from robodyn.symbolic.graph import Port


def _described(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(["...", *map(str, shape)]) + ")"


def _as_array(port: Port, value: ArrayLike) -> Array:
    array = numbers(port.name, value)
    check_axes(port, array.shape)
    return array


def check_axes(port: Port, shape: tuple[int, ...]) -> None:
    """Raise `ShapeError` unless the last axes are those of the port."""
    tail = len(shape) - len(port.shape)
    if tail < 0 or shape[tail:] != port.shape:
        raise wrong_shape(port.name, shape, _described(port.shape), port.shape)


def check_count(ports: Sequence[Port], count: int, what: str = "arrays") -> None:
    """Raise `ShapeError` unless there are as many arrays as ports."""
    if count != len(ports):
        names = ", ".join(port.name for port in ports)
        raise ShapeError(
            f"{count} {what} given, expected {len(ports)}: {names}",
            name="arguments",
            given=count,
            expected=len(ports),
        )


def _plain(array: Array, dtype: Any) -> Array:
    """The array as C-contiguous, aligned ``numpy.ndarray`` of a dtype in native byte order."""
    flags = array.flags
    if type(array) is np.ndarray and array.dtype == dtype and flags.c_contiguous and flags.aligned:
        return array
    return np.array(array, dtype, order="C")


def as_inputs(
    ports: Sequence[Port], values: Sequence[ArrayLike]
) -> tuple[list[Array], tuple[int, ...], Any]:
    """Check and convert the inputs of a function.

    values (..., *port.shape)
    Returns arrays: C-contiguous, aligned, of one dtype.
    Returns batch: Their leading axes, broadcast together.
    Returns dtype: float32 if all inputs are, else float64.
    """
    check_count(ports, len(values))
    arrays = [_as_array(port, value) for port, value in zip(ports, values, strict=True)]
    single = bool(arrays) and all(array.dtype == np.float32 for array in arrays)
    dtype = np.dtype(np.float32 if single else np.float64)
    arrays = [_plain(array, dtype) for array in arrays]
    return arrays, common_batch(ports, arrays), dtype


def common_batch(ports: Sequence[Port], arrays: Sequence[Any]) -> tuple[int, ...]:
    """Leading axes of the inputs, broadcast together; `ShapeError` if they cannot be."""
    leading = [a.shape[: a.ndim - len(p.shape)] for a, p in zip(arrays, ports, strict=True)]
    if leading and leading.count(leading[0]) == len(leading):
        return tuple(leading[0])
    try:
        return np.broadcast_shapes(*leading)
    except ValueError:
        shown = ", ".join(f"{p.name} {a.shape}" for p, a in zip(ports, arrays, strict=True))
        raise ShapeError(
            f"the leading axes do not broadcast together: {shown}",
            name="arguments",
            given=leading,
        ) from None


def as_outputs(ports: Sequence[Port], out: Any, batch: tuple[int, ...], dtype: Any) -> list[Array]:
    """Check the arrays to write into, or make them.

    out: An array for one output, a tuple of arrays for several, None for new ones.
    batch: Leading axes.
    Raises ShapeError: If one is not a writeable, C-contiguous array of the right shape and dtype.
    """
    if out is None:
        return [np.empty((*batch, *port.shape), dtype) for port in ports]
    given = (out,) if len(ports) == 1 else out
    if not isinstance(given, tuple | list) or len(given) != len(ports):
        names = ", ".join(port.name for port in ports)
        raise ShapeError(
            f"out must be a tuple of {len(ports)} arrays: {names}", name="out", expected=len(ports)
        )
    for port, array in zip(ports, given, strict=True):
        _check_output(port, array, (*batch, *port.shape), dtype)
    return list(given)


def _check_output(port: Port, out: Any, shape: tuple[int, ...], dtype: Any) -> None:
    if not isinstance(out, np.ndarray):
        raise ShapeError(
            f"out for {port.name} is {type(out).__name__}, expected an ndarray",
            name="out",
            given=type(out).__name__,
            expected=shape,
        )
    if out.shape != shape or out.dtype != dtype:
        raise ShapeError(
            f"out for {port.name} is {out.dtype} of shape {out.shape}, "
            f"expected {dtype} of shape {shape}",
            name="out",
            given=(out.shape, out.dtype),
            expected=(shape, dtype),
        )
    flags = out.flags
    if not (flags.c_contiguous and flags.aligned and flags.writeable):
        raise ShapeError(
            f"out for {port.name} must be C-contiguous, aligned and writeable", name="out"
        )


def apart(results: Sequence[Any], inputs: Sequence[Any], library: Any = np) -> list[Any]:
    """Results in memory of their own: new arrays for those that overlap inputs or each other.

    library: Of the arrays: numpy or cupy.
    """
    return [
        library.empty_like(result)
        if any(library.may_share_memory(result, x) for x in (*inputs, *results[:k]))
        else result
        for k, result in enumerate(results)
    ]


def written(result: Array, out: Array | None) -> Array:
    """A result, copied into ``out`` where that is given.

    Raises ShapeError: If it does not fit.
    """
    if out is None:
        return result
    _check_output(Port("the result", ()), out, result.shape, result.dtype)
    out[...] = result
    return out


def rows(array: Array, port: Port, batch: tuple[int, ...]) -> tuple[Array, int]:
    """An input as rows of a flat batch, and its stride from row to row (0 for a single row)."""
    leading = array.shape[: array.ndim - len(port.shape)]
    if leading == batch:
        return array, port.size
    if all(n == 1 for n in leading):
        return array, 0
    full = np.ascontiguousarray(np.broadcast_to(array, (*batch, *port.shape)))
    return full, port.size


class CallSignature:
    """Descriptor of the signature of an object with ``inputs``: these in order, and ``out``."""

    def __get__(self, function: Any, owner: type) -> inspect.Signature:
        if function is None:
            raise AttributeError("__signature__")
        names = _legal(port.name for port in function.inputs)
        given = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
        out = inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        return inspect.Signature([*given, out])


def _legal(names: Iterable[str]) -> list[str]:
    """Names converted to Python identifiers: ``wrench[tool]`` becomes ``wrench_tool``."""
    found = ["out"]
    for name in names:
        word = re.sub(r"\W+", "_", name).strip("_")
        legal = word.isidentifier() and not keyword.iskeyword(word) and word not in found
        found.append(word if legal else f"input_{len(found)}")
    return found[1:]
