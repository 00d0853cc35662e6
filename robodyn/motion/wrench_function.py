"""Wrenches that are functions of ``(t, q, v)``, or of the time where they take nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from robodyn.errors import ShapeError

__all__ = ["TimeFunction", "as_state_function"]


@dataclass(frozen=True, eq=False)
class TimeFunction:
    """A function of the time alone, called like one of the state.

    Attributes
    ----------
    function : callable
        t [s] -> wrenches by link.
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

    Raises
    ------
    ShapeError
        For a function of another number of arguments.
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
