"""Derivatives of functions of a robot, made once for each function."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

from robodyn.codegen import Function, making

__all__ = ["derivative", "rates"]

_made: WeakKeyDictionary[Function, dict[str, Function]] = WeakKeyDictionary()


def derivative(function: Function, name: str) -> Function:
    """The derivative of a function with respect to an input; see `Function.jacobian`."""
    return _kept(function, name, lambda: function.jacobian(name))


def rates(integrate: Function) -> Function:
    """Derivative of the rates of coordinates with respect to speeds, from ``integrate``."""
    return _kept(integrate, "rates", lambda: Function(integrate.program.rates["q"]))


def _kept(function: Function, name: str, make: Callable[[], Function]) -> Function:
    with making():
        known = _made.setdefault(function, {})
        if name not in known:
            known[name] = make()
        return known[name]
