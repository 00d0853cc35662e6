"""Functions of time: references, wrenches, and functions that remember what they returned."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.quick_dataclass import dataclass

#: Time [s] -> position (..., nq), velocity (..., nv), acceleration (..., nv). One that has a method
#: ``at_times`` is asked for many times at once, shape (n,): it returns (n, nq), (n, nv), (n, nv).
Reference: TypeAlias = Callable[[float], tuple[FloatArray, FloatArray, FloatArray]]


Value = TypeVar("Value")

#: Instants that are remembered.
MOST = 8192


class OncePerInstant(Generic[Value]):
    """A function of time that remembers what it returned.

    What it returns must not change later on.
    """

    def __init__(self, function: Callable[[float], Value]) -> None:
        self._function = function
        self._known: dict[float, Value] = {}

    def __call__(self, t: float) -> Value:
        """What the function returns at ``t`` [s]."""
        known = self._known
        if t in known:
            return known[t]
        found = self._function(t)
        if len(known) >= MOST:
            known.clear()
        known[t] = found
        return found

    def __reduce__(self) -> Any:
        return OncePerInstant, (self._function,)


@dataclass(frozen=True, eq=False)
class TimeFunction:
    """A function of the time alone, called like one of the state.

    Its function maps t [s] to wrenches by link.
    """

    function: Callable[[Any], Any]

    def __call__(self, t: Any, q: Any = None, v: Any = None) -> Any:
        """What the function returns."""
        return self.function(t)

    @property
    def symbolic(self) -> bool:
        """Whether the function says that it does nothing but arithmetic."""
        return bool(getattr(self.function, "symbolic", False))


def as_state_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ``(t, q, v)``: the given one, or `TimeFunction` where that takes one argument.

    Raises `ShapeError` for a function of another number of arguments.
    """
    if isinstance(function, TimeFunction):
        return function
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some functions that are not written in Python
        return function
    if _fits(signature, 3):
        return function
    if _fits(signature, 1):
        return TimeFunction(function)
    name = getattr(function, "__name__", type(function).__name__)
    raise ShapeError(
        f"wrenches is the function {name}{signature}, expected one of (t, q, v), or of t alone",
        name="wrenches",
        given=function,
    )


def _fits(signature: inspect.Signature, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    try:
        signature.bind(*(None,) * count)
    except TypeError:
        return False
    return True
