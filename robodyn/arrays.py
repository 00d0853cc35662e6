"""Checks of single arguments: numbers, shapes, names and mappings by name."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, FloatArray, Random
from robodyn.errors import ShapeError

#: What the elements of an array are called, by numpy's letter, where they are not real numbers.
_ELEMENTS = {"c": "complex numbers", "U": "text", "S": "text", "O": "objects", "M": "dates"}

_DOUBLE = np.dtype(float)

#: Devices whose memory the CPU can read, as the DLPack protocol numbers them: the CPU itself, and
#: memory of the host that graphics cards of CUDA and ROCm can read, too.
_READABLE = (1, 3, 11, 13)

#: What differentiates through a function, by the library that an array is of.
_OPERATIONS = {
    name: f" (within {title} take robodyn.interop.{name}.operation of a function)"
    for name, title in {"jax": "JAX", "torch": "PyTorch"}.items()
}

#: Longest text of a value in a message, in characters.
_LONGEST = 200

#: Up to this size, plain Python checks an array faster than numpy does.
_FEW = 64

#: Most numbers whose squares BLAS adds up, on one thread.
_SHORT = 1000


def shown(value: Any) -> str:
    """What was given, for a message: short, and whatever its ``repr`` does."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of a user's object, or of a number of too many digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def mismatch(what: str, given: Any, expected: str, name: str = "") -> ShapeError:
    """The error for what an argument cannot be; ``name`` is that of the argument."""
    message = f"{what} is {shown(given)}, expected {expected}"
    return ShapeError(message, name=name or what, given=given, expected=expected)


def wrong_shape(
    what: str, given: tuple[int, ...], told: str, expected: Any = None, *, name: str = ""
) -> ShapeError:
    """The error for an array of another shape than is told in words; ``name`` is the argument's."""
    message = f"{what} has shape {given}, expected {told}"
    return ShapeError(message, name=name or what, given=given, expected=expected or told)


def is_masked(value: Any) -> bool:
    """Whether some numbers of an array are masked. None are before somebody imports numpy.ma."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and bool(masked.is_masked(value))


def numbers(what: str, value: ArrayLike) -> Array:
    """An array of real numbers: float32 as it is, everything else in float64.

    what: Of the argument, for messages.
    value: Also an array of another library (``__dlpack__``) whose memory the CPU can read.
    Raises ShapeError: For what is no array (a ragged list), and elements that are no real numbers:
        complex ones, text, other objects, and what a mask hides; for an array in the memory of
        another device.
    """
    if type(value) is np.ndarray and value.dtype is _DOUBLE:
        return value
    if type(value) is float:
        return np.array(value)
    try:
        array = _as_array(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"its elements are {_ELEMENTS.get(array.dtype.kind, array.dtype)}")
        if is_masked(value):
            raise TypeError("some of its elements are masked")
    except (TypeError, ValueError, OverflowError, RuntimeError, BufferError) as error:
        wanted, library = "an array of real numbers", type(value).__module__.partition(".")[0]
        if isinstance(value, str):
            raise mismatch(what, value, wanted) from None
        raise ShapeError(
            f"{what} is not {wanted}: {error}{_OPERATIONS.get(library, '')}",
            name=what,
            given=type(value).__name__,
            expected=wanted,
        ) from None
    return array if array.dtype == np.float32 else array.astype(float, copy=False)


def _as_array(value: Any) -> Array:
    """An array of numpy, with the memory of ``value`` where that is an array."""
    device = getattr(value, "__dlpack_device__", None)
    if device is not None and device()[0] not in _READABLE:
        raise ValueError("it is in the memory of another device: copy it to the CPU first")
    if device is not None and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def shaped(what: str, value: ArrayLike, *tail: int | None, of: str = "") -> FloatArray:
    """An array of float64 with given last axes.

    what: Of the argument, for messages.
    value (..., *tail)
    *tail: Sizes of the last axes; None for any.
    of: The robot that wants these sizes.
    """
    array = numbers(what, value)
    if array.dtype is not _DOUBLE:
        array = array.astype(float, copy=False)
    last = array.shape[max(array.ndim - len(tail), 0) :]
    fits = last == tail or (
        len(last) == len(tail)
        and all(want is None or want == have for want, have in zip(tail, last, strict=True))
    )
    if not fits:
        sizes = ", ".join(["..."] + ["any" if n is None else str(n) for n in tail])
        told = f"({sizes})" + (f" for {of!r}" if of else "")
        raise wrong_shape(what, array.shape, told, tail)
    return array


def checked(what: str, value: ArrayLike, *tail: int | None, of: str = "") -> FloatArray:
    """`shaped`, and all numbers finite."""
    array = shaped(what, value, *tail, of=of)
    refuse_not_finite(what, array, len(tail))
    return array


def expect(what: str, value: Any, kind: type, name: str = "") -> None:
    """Refuse a value that is not what an argument takes."""
    if not isinstance(value, kind):
        package = ".".join(kind.__module__.split(".")[:2])
        place = {"robodyn.controllers": "robodyn.controllers.", "builtins": ""}.get(
            package, package.split(".")[0] + "."
        )
        raise ShapeError(
            f"{what} is {type(value).__name__}, expected a {place}{kind.__name__}",
            name=name or what,
            given=type(value).__name__,
            expected=kind.__name__,
        )


def one_name(what: str, given: Any) -> str:
    """A name. Whether something has this name is for the caller to check."""
    if not isinstance(given, str):
        raise mismatch(what, given, "a name")
    return given


def whole(what: str, given: Any) -> int:
    """An integer. True and False are refused."""
    if not isinstance(given, int | np.integer) or isinstance(given, bool):
        raise mismatch(what, given, "a whole number")
    return int(given)


def leading_axes(what: str, given: Any) -> tuple[int, ...]:
    """Lengths of leading axes, of one whole number or of several."""
    lengths = tuple(whole(what, n) for n in (given if isinstance(given, tuple) else (given,)))
    if any(n < 0 for n in lengths):
        raise ShapeError(f"{what} is {given!r}: a length is negative", name=what, given=given)
    return lengths


def truth(what: str, given: Any) -> bool:
    """True or false.

    Raises ShapeError: For any other value, even if Python would take it as true or false.
    """
    if not isinstance(given, bool | np.bool_):
        raise mismatch(what, given, "True or False")
    return bool(given)


def named(what: str, names: Iterable[Any], kind: str = "names of joints") -> tuple[Any, ...]:
    """Names, or other things, given to an argument; one name may be given as it is.

    Raises ShapeError: If it is not a collection. Whether each element is a known name is for the
        caller to check.
    """
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(names)
    except TypeError:
        raise mismatch(what, names, kind) from None


def named_alone(what: str, names: Iterable[Any]) -> tuple[Any, ...]:
    """`named`, where values beside the names would be taken for what joints are set to."""
    if isinstance(names, Mapping):
        raise ShapeError(
            f"{what} gives values by name, {shown(names)}, expected names of joints alone",
            name=what,
            given=names,
        )
    return named(what, names)


def by_name(what: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """A mapping from names to values; empty for ``None``.

    Raises ShapeError: If it is not a mapping.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        several = isinstance(given, list | tuple) and all(isinstance(x, Mapping) for x in given)
        hint = "; join several with |: a | b" if several and given else ""
        raise ShapeError(
            f"{what} is {type(given).__name__}, expected a mapping by name: {{name: value}}{hint}",
            name=what,
            given=given,
        )
    return dict(given)


def of_one_state(what: str, value: ArrayLike, size: int, of: str = "") -> FloatArray:
    """A copy of an array for one state: ``size`` finite numbers, not a batch."""
    x = checked(what, value, size, of=of)
    if x.ndim != 1:
        raise wrong_shape(what, x.shape, f"({size},)", (size,))
    return x.copy()


def number(what: str, value: Any, unit: str = "", hint: str = "") -> float:
    """One real number.

    Raises ShapeError: For text, arrays of several numbers, and anything else that is not one
        number.
    """
    if type(value) is float:
        return value
    try:
        if isinstance(value, str | bytes) or is_masked(value):
            raise TypeError
        if isinstance(value, np.ndarray | np.generic) and (
            value.ndim or value.dtype.kind not in "fiub"
        ):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        expected = "a number" + (f" [{unit}]" if unit else "") + (f"; {hint}" if hint else "")
        raise mismatch(what, value, expected) from None


def vector(what: str, value: Any) -> tuple[float, float, float]:
    """Three real numbers.

    Raises ShapeError: For anything but a sequence of three.
    """
    if type(value) is tuple and [type(x) for x in value] == [float] * 3:
        return value
    try:
        if isinstance(value, str | bytes | Mapping):
            raise TypeError
        x, y, z = value
    except (TypeError, ValueError):
        raise mismatch(what, value, "three numbers") from None
    return number(f"{what}[0]", x), number(f"{what}[1]", y), number(f"{what}[2]", z)


def each(
    what: str,
    given: ArrayLike,
    count: int,
    kind: str,
    fits: Callable[[FloatArray], Any],
    of: str = "",
) -> FloatArray:
    """One number for all or one for each, in an array of its own, shape (count,).

    kind: Of number, for messages: ``"a positive number"``.
    fits: Whether numbers in an array are of this kind.
    of: What each is of, for messages.
    """
    x = np.array(numbers(what, given), float)
    if x.shape not in ((), (count,)) or not np.all(fits(x)):
        message = f"{what} is {shown(given)}, expected {kind}, or {count} of them{of}"
        raise ShapeError(message, name=what, given=given, expected=(count,))
    return np.array(np.broadcast_to(x, (count,)))


def all_finite(x: Array) -> bool:
    """Whether all numbers are finite."""
    if not x.ndim:
        return math.isfinite(x)
    if x.size <= _FEW and math.isfinite(sum((x if x.ndim == 1 else x.ravel()).tolist())):
        return True
    return bool(np.isfinite(x).all())  # finite numbers may have no finite sum


def sum_of_squares(x: FloatArray) -> float:
    """The sum of the squares of all numbers, which is not finite if one of them is not.

    BLAS spreads long sums over threads, which takes it a hundred times as long.
    """
    if x.size <= _SHORT:
        return float(np.vdot(x, x))
    flat = x.reshape(-1)
    return float(np.einsum("i,i", flat, flat))


def finite(**arrays: ArrayLike) -> None:
    """Refuse arrays over coordinates or speeds that hold NaN or infinity.

    Raises ShapeError: Names the array, the first such number and, in a batch, its state.
    """
    for name, array in arrays.items():
        refuse_not_finite(name, np.asarray(array), 1)


def refuse_not_finite(
    name: str, x: Array, axes: int, where: Callable[[list[int]], str] = lambda index: ""
) -> None:
    """Refuse an array that holds NaN or infinity.

    axes: Number of its last axes that belong to one state.
    where: From the index of a number within its state to a text that the message adds.
    """
    if x.dtype.kind != "f" or all_finite(x):
        return
    index = np.argwhere(~np.isfinite(x))[0].tolist()
    own = min(axes, len(index))
    state, index = index[: len(index) - own], index[len(index) - own :]
    value = x[(*state, *index)]
    raise ShapeError(
        f"{name} holds numbers that are not finite: {name}{index or ''} is {value}{where(index)}"
        + (f" in state {state} of the batch" if state else ""),
        name=name,
        given=x,
    )


def together(**arrays: ArrayLike) -> tuple[int, ...]:
    """The common shape of the leading axes of arrays over coordinates or speeds."""
    shapes = {name: np.shape(array) for name, array in arrays.items()}
    try:
        return np.broadcast_shapes(*(shape[:-1] for shape in shapes.values()))
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(
            f"the leading axes do not broadcast together: {shown}", name="arguments", given=shapes
        ) from None


def generator(rng: Random | None) -> np.random.Generator:
    """A generator of random numbers, from a generator or a seed; `ShapeError` for anything else."""
    try:
        if isinstance(rng, bool):
            raise TypeError("a truth value is no seed")
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"rng is {rng!r}, expected a numpy Generator or a seed: {error}", name="rng", given=rng
        ) from None
