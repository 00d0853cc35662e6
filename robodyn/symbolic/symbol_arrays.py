"""Arrays of symbols, and functions of numpy of symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import and_, ge, gt, invert, le, lt, or_
from typing import Any

import numpy as np

from robodyn.symbolic import scalar
from robodyn.symbolic.scalar import Condition, Scalar, SymbolArray

#: Functions of numpy that decide, or that numpy itself knows of numbers alone.
_FUNCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.sin: scalar.sin, np.cos: scalar.cos, np.tan: scalar.tan, np.sqrt: scalar.sqrt,
    np.exp: scalar.exp, np.log: scalar.log, np.sinh: scalar.sinh, np.cosh: scalar.cosh,
    np.tanh: scalar.tanh, np.arctan: scalar.arctan, np.arctan2: scalar.arctan2,
    np.floor: scalar.floor,
    np.absolute: abs, np.fabs: abs, np.sign: scalar.sign, np.maximum: scalar.maximum,
    np.minimum: scalar.minimum, np.less: lt, np.less_equal: le, np.greater: gt,
    np.greater_equal: ge, np.logical_and: and_, np.bitwise_and: and_, np.logical_or: or_,
    np.bitwise_or: or_, np.logical_not: invert, np.invert: invert,
}  # fmt: skip


def symbol_array(values: Iterable[Any]) -> SymbolArray:
    """An array of one axis with symbols and numbers in it."""
    listed = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array.view(SymbolArray)


def _computed(
    function: np.ufunc, method: str, given: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """A function of numpy, of numbers, symbols and arrays of them."""
    plain = [_plain(x) for x in given]
    symbolic = any(map(_is_symbolic, plain))
    if symbolic and method == "__call__" and not options:
        if function.__name__ == "clip":
            return _computed(np.minimum, method, (scalar.maximum(*given[:2]), given[2]), {})
        own = _FUNCTIONS.get(function)
        if own is not None:
            with np.errstate(invalid="ignore"):  # NaN may be one side of a choice
                return _viewed(np.frompyfunc(own, function.nin, 1)(*plain))
    out = options.get("out")
    if out is not None:
        getattr(function, method)(*plain, **{**options, "out": tuple(map(_plain, out))})
        return out[0] if len(out) == 1 else out
    return _viewed(getattr(function, method)(*plain, **options))


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    """`where` of arrays."""
    plain = [*map(_plain, (condition, a, b))]
    if not any(map(_is_symbolic, plain)):
        return np.where(*plain)
    with np.errstate(invalid="ignore"):  # a side may be no number
        return _viewed(np.frompyfunc(scalar.where, 3, 1)(*plain))


def _plain(x: Any) -> Any:
    """Something as a function of numpy takes it that is to ask nobody."""
    if isinstance(x, Scalar | Condition):
        found = np.empty((), object)
        found[()] = x
        return found
    return x.view(np.ndarray) if isinstance(x, SymbolArray) else x


def _viewed(x: Any) -> Any:
    return x.view(SymbolArray) if isinstance(x, np.ndarray) and x.dtype == object else x


def _is_symbolic(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "O"


def _ufunc(x: Any, function: Any, method: str, *given: Any, **options: Any) -> Any:
    return _computed(function, method, given, options)


def _function(x: Any, function: Any, kinds: Any, given: Any, options: Any) -> Any:
    if function is np.where and len(given) == 3:
        return _chosen(*given)
    if not isinstance(x, np.ndarray):
        return NotImplemented
    return np.ndarray.__array_function__(x, function, kinds, given, options)


for _kind in (Scalar, Condition, SymbolArray):
    _kind.__array_ufunc__ = _ufunc  # type: ignore
for _kind in (Condition, SymbolArray):
    _kind.__array_function__ = _function  # type: ignore


def holds_symbols(value: Any) -> bool:
    """Whether a value is a symbol, or an array, a sequence or a mapping with symbols in it."""
    if isinstance(value, Scalar):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(x, Scalar) for x in value.flat)
    if isinstance(value, Mapping):
        return any(map(holds_symbols, value.values()))
    return isinstance(value, list | tuple) and any(map(holds_symbols, value))
