"""Methods that are called as fast as the functions behind them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any

from robodyn.codegen.entry import FastType, fast_type
from robodyn.codegen.entry_table import Table
from robodyn.codegen.function import Function

__all__ = ["fast_method"]


class _Method:
    """A bound method, of which calls with plain arrays go straight to a function's machine code.

    Parameters
    ----------
    method : callable
        Takes the function's inputs in order, ``out`` by keyword, and more.
    table : Table
        Of the function; kept as long as what points to it.
    """

    def __init__(self, method: Callable[..., Any], table: Table) -> None:
        self._method, self._table = method, table
        update_wrapper(self, method)

    def __repr__(self) -> str:
        return repr(self._method)

    def __reduce__(self) -> Any:
        return getattr, (self._method.__self__, self._method.__name__)  # type: ignore[attr-defined]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self._method(*args, **kwargs)


def fast_method(
    method: Callable[..., Any], function: Function, *, guarded: bool = False
) -> Callable[..., Any]:
    """A bound method, with a short cut to the function behind it where Python allows one.

    ``guarded``: where the function gives no numbers, the method is asked.
    """
    fast, shared = _fast_type(), function.table
    if fast is None or shared is None:
        return method
    table = shared.twin(fast.common, guarded=guarded)
    made: Callable[..., Any] = fast.type(method, table)
    fast.attach(made, table)
    return made


@cache
def _fast_type() -> FastType | None:
    return fast_type(_Method, _Method.__call__)
