"""Methods that are called as fast as the functions behind them."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from robodyn.codegen.function import Function
from robodyn.codegen.llvm.once import making, once
from robodyn.codegen.vectorcall.fast_type import FastType, fast_type
from robodyn.codegen.vectorcall.table import Table

__all__ = ["fast_method", "shorten"]


class _Method:
    """A bound method, of which calls with plain arrays go straight to a function's machine code.

    Parameters
    ----------
    method : callable
        Takes the function's inputs in order, ``out`` by keyword, and more.
    table : Table
        Kept as long as what points to it.
    """

    def __init__(self, method: Callable[..., Any], table: Table) -> None:
        self._method, self._table, self.short = method, table, False
        update_wrapper(self, method)

    def __repr__(self) -> str:
        return repr(self._method)

    def __reduce__(self) -> Any:
        return getattr, (self._method.__self__, self._method.__name__)  # type: ignore[attr-defined]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self._method(*args, **kwargs)


def fast_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """A bound method that `shorten` can give a short cut; itself, where Python allows none.

    It may be taken from its object before there is a short cut, and has it then, too.
    """
    fast = _fast_type()
    if fast is None:
        return method
    made: Callable[..., Any] = fast.type(method, _no_code())
    fast.attach(made, _no_code())
    return made


def shorten(method: object, function: Function, *, guarded: bool = False) -> None:
    """Let calls of a `fast_method` go straight to the function behind it, where Python allows it.

    ``guarded``: where the function gives no numbers, the method is asked.
    """
    fast, shared = _fast_type(), function.table
    if fast is None or shared is None or not isinstance(method, _Method) or method.short:
        return
    with making():
        if not method.short:
            method._table = shared.twin(fast.common, guarded=guarded)
            fast.attach(method, method._table)
            method.short = True


@once
def _no_code() -> Table:
    """The table of methods without a short cut: all calls go to the method."""
    fast = _fast_type()
    return Table(fast.common if fast else 0, (), (), 0)


@once
def _fast_type() -> FastType | None:
    return fast_type(_Method, _Method.__call__)
