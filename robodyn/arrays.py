"""The one place where arrays from outside are checked before machine code sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.array_types import Array
from robodyn.errors import ShapeError
from robodyn.symbolic.graph import Port

__all__ = [
    "as_inputs",
    "as_outputs",
    "by_name",
    "check_axes",
    "common_batch",
    "expect",
    "finite",
    "generator",
    "named",
    "over",
    "rows",
    "together",
    "written",
]


def _described(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(["...", *map(str, shape)]) + ")"


def _as_array(port: Port, value: ArrayLike) -> Array:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"its elements are {array.dtype}")
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"{port.name} is not an array of real numbers: {error}",
            name=port.name,
            given=type(value).__name__,
            expected=port.shape,
        ) from None
    check_axes(port, array.shape)
    return array


def check_axes(port: Port, shape: tuple[int, ...]) -> None:
    """Raise `ShapeError` unless the last axes are those of the port."""
    tail = len(shape) - len(port.shape)
    if tail < 0 or shape[tail:] != port.shape:
        raise ShapeError(
            f"{port.name} has shape {shape}, expected {_described(port.shape)}",
            name=port.name,
            given=shape,
            expected=port.shape,
        )


def _plain(array: Array, dtype: Any) -> Array:
    """C-contiguous, aligned, of that dtype and byte order; of exactly numpy's own type."""
    flags = array.flags
    if type(array) is np.ndarray and array.dtype == dtype and flags.c_contiguous and flags.aligned:
        return array
    return np.array(array, dtype, order="C")


def as_inputs(
    ports: Sequence[Port], values: Sequence[ArrayLike]
) -> tuple[list[Array], tuple[int, ...], Any]:
    """Check and convert the inputs of a function.

    Parameters
    ----------
    ports : sequence of Port
    values : sequence of array_like, shape (..., *port.shape)

    Returns
    -------
    arrays : list of ndarray
        C-contiguous, aligned, of one dtype.
    batch : tuple of int
        Their leading axes, broadcast together.
    dtype : numpy dtype
        float32 if all inputs are, else float64.

    Raises
    ------
    ShapeError
    """
    if len(values) != len(ports):
        names = ", ".join(port.name for port in ports)
        raise ShapeError(
            f"{len(values)} arrays given, expected {len(ports)}: {names}",
            name="arguments",
            given=len(values),
            expected=len(ports),
        )
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

    Parameters
    ----------
    ports : sequence of Port
    out : ndarray, tuple of ndarray or None
        An array for one output, a tuple of arrays for several, None for new ones.
    batch : tuple of int
        Leading axes.
    dtype : numpy dtype

    Raises
    ------
    ShapeError
        If one is not a writeable, C-contiguous array of the right shape and dtype.
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


def over(what: str, value: ArrayLike, size: int, robot: str) -> NDArray[np.float64]:
    """An array over the coordinates or the speeds of a robot, shape (..., size), in float64.

    Raises
    ------
    ShapeError
    """
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what} is not an array of numbers: {error}", name=what) from None
    if array.ndim == 0 or array.shape[-1] != size:
        raise ShapeError(
            f"{what} has shape {array.shape}, expected (..., {size}) for {robot!r}",
            name=what,
            given=array.shape,
            expected=(size,),
        )
    return array


def expect(what: str, value: Any, kind: type, name: str = "") -> None:
    """Refuse a value that is not what an argument takes.

    Raises
    ------
    ShapeError
    """
    if not isinstance(value, kind):
        raise ShapeError(
            f"{what} is {type(value).__name__}, expected a robodyn.{kind.__name__}",
            name=name or what,
            given=type(value).__name__,
            expected=kind.__name__,
        )


def named(what: str, names: Iterable[Any], kind: str = "names of joints") -> tuple[Any, ...]:
    """Names, or other things, given to an argument; one name may be given as it is.

    Raises
    ------
    ShapeError
        If it is no collection. That each is a name is for those to say who know the names.
    """
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(names)
    except TypeError:
        raise ShapeError(f"{what} is {names!r}, expected {kind}", name=what, given=names) from None


def by_name(what: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Values by name given to an argument; none for ``None``.

    Raises
    ------
    ShapeError
        If it is no mapping.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ShapeError(
            f"{what} is {type(given).__name__}, expected a mapping by name: {{name: value}}",
            name=what,
            given=given,
        )
    return dict(given)


def finite(**arrays: ArrayLike) -> None:
    """Refuse arrays that hold NaN or infinity.

    Raises
    ------
    ShapeError
        Names the array and, of a batch, the first such state.
    """
    for name, array in arrays.items():
        x = np.asarray(array)
        if x.ndim and x.dtype.kind == "f" and not np.isfinite(x).all():
            states = np.argwhere(~np.isfinite(x).all(axis=-1))
            where = f" in state {states[0].tolist()} of the batch" if x.ndim > 1 else ""
            raise ShapeError(f"{name} holds numbers that are not finite{where}", name=name, given=x)


def together(**arrays: ArrayLike) -> tuple[int, ...]:
    """Leading axes of arrays over coordinates or speeds, broadcast together.

    Raises
    ------
    ShapeError
    """
    shapes = {name: np.shape(array) for name, array in arrays.items()}
    try:
        return np.broadcast_shapes(*(shape[:-1] for shape in shapes.values()))
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(
            f"the leading axes do not broadcast together: {shown}", name="arguments", given=shapes
        ) from None


def generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """A generator of random numbers; `ShapeError` for what is neither that nor a seed."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"rng is {rng!r}, expected a numpy Generator or a seed: {error}", name="rng", given=rng
        ) from None


def written(result: Array, out: Array | None) -> Array:
    """A result, copied into ``out`` where that is given.

    Raises
    ------
    ShapeError
        If it does not fit.
    """
    if out is None:
        return result
    _check_output(Port("the result", ()), out, result.shape, result.dtype)
    out[...] = result
    return out


def rows(array: Array, port: Port, batch: tuple[int, ...]) -> tuple[Array, int]:
    """An input as rows of a flat batch, and its stride from row to row (0: one row for all)."""
    leading = array.shape[: array.ndim - len(port.shape)]
    if leading == batch:
        return array, port.size
    if all(n == 1 for n in leading):
        return array, 0
    full = np.ascontiguousarray(np.broadcast_to(array, (*batch, *port.shape)))
    return full, port.size
