"""A function of time that is called once for each instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["OncePerInstant"]

Value = TypeVar("Value")

#: Instants that are remembered.
MOST = 8192


class OncePerInstant(Generic[Value]):
    """A function of time that remembers what it returned.

    Parameters
    ----------
    function : callable
        Time [s] -> anything that does not change later on.
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
