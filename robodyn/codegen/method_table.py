"""The methods of one object that may be called as fast as the functions behind them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from robodyn.codegen.function import Function
from robodyn.codegen.method import fast_method, shorten

__all__ = ["MethodTable"]


class MethodTable:
    """Methods by name, each bound to a function as soon as there is one for its plain call.

    Parameters
    ----------
    guarded : names of methods
        Bound only to functions whose results are looked at: where one gives NaN, the method itself
        is called.
    """

    def __init__(self, guarded: Collection[str] = ()) -> None:
        self._guarded = frozenset(guarded)
        self._methods: dict[str, Callable[..., Any]] = {}

    def add(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that can be bound later; to be called instead of the one given."""
        made = self._methods[name] = fast_method(method)
        return made

    def bind(self, name: str, function: Function, *, guarded: bool = False) -> None:
        """Let plain calls of a method, if it was added, go straight to a function."""
        if isinstance(function, Function) and guarded == (name in self._guarded):
            method = self._methods.get(name)
            if method is not None:
                shorten(method, function, guarded=guarded)
