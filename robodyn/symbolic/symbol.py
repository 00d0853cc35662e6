"""Numbers of a description that have names, and numbers that are computed from them."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Mapping
from operator import add, mul, neg, pow, sub, truediv
from typing import Any

import numpy as np

from robodyn.arrays import number
from robodyn.errors import SettingsError, ShapeError
from robodyn.symbolic.scalar import Number

__all__ = ["Symbol", "symbol", "with_name", "with_names"]

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": truediv,
    "**": pow,
    "negative": neg,
}

#: Words that are no names in C.
_C_WORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while sin cos sqrt".split()
)


class Symbol(float):
    """A number with a name, or what sums, products and powers of such numbers are.

    To whoever does not ask for its name it is a number. Arrays, and functions such as ``np.sin``,
    take it as that and lose the name.

    Attributes
    ----------
    made : tuple
        ``("symbol", name)``, or an operation and its operands.
    """

    __slots__ = ("made",)
    #: Numbers of numpy leave operations with it to it.
    __array_priority__ = 1000.0

    made: tuple[Any, ...]

    def __new__(cls, value: float, made: tuple[Any, ...]) -> Symbol:
        """A number, and how it was made."""
        new = super().__new__(cls, value)
        new.made = made
        return new

    def __reduce__(self) -> Any:
        return Symbol, (float(self), self.made)

    def of(self, numbers: Mapping[str, Number]) -> Number:
        """The number with others in the places of those that have names."""
        operation, *operands = self.made
        if operation == "symbol":
            return numbers[operands[0]]
        given = (x.of(numbers) if isinstance(x, Symbol) else x for x in operands)
        found: Number = _OPERATIONS[operation](*given)
        return found

    def named(self) -> list[tuple[str, float]]:
        """Names of the numbers that it is computed from, with these."""
        operation, *operands = self.made
        if operation == "symbol":
            return [(operands[0], float(self))]
        return [pair for x in operands if isinstance(x, Symbol) for pair in x.named()]

    def _with(self, operation: str, *operands: Any) -> Any:
        operands = tuple(x.item() if isinstance(x, np.number) else x for x in operands)
        plain = [float(x) if isinstance(x, Symbol) else x for x in operands]
        if any(isinstance(x, np.ndarray) for x in operands):
            return _OPERATIONS[operation](*plain)
        if not all(isinstance(x, float | int) for x in operands):
            return NotImplemented
        return Symbol(_OPERATIONS[operation](*plain), (operation, *operands))

    def __add__(self, other: Any) -> Any:
        return self._with("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._with("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._with("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._with("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._with("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("/", other, self)

    def __pos__(self) -> Symbol:
        return self

    def __neg__(self) -> Any:
        return self._with("negative", self)

    def __pow__(self, power: Any, modulo: None = None) -> Any:
        power = power.item() if isinstance(power, np.integer) else power
        if not (isinstance(power, int) and power >= 1) and power != 0.5:
            raise SettingsError(
                f"a symbol to the power {power!r}, expected a whole number from 1 on, or 0.5"
            )
        return self._with("**", self, power)


def with_name(given: Any, value: float) -> float:
    """A number that was checked, or the symbol that was given for it."""
    return given if isinstance(given, Symbol) else value


def with_names(given: Any, values: tuple[float, float, float]) -> tuple[float, float, float]:
    """The same of three numbers."""
    (a, b, c), (x, y, z) = given, values
    return with_name(a, x), with_name(b, y), with_name(c, z)


def symbol(name: str, value: float) -> Symbol:
    """A number with a name, for a length, mass, inertia or stiffness of a description.

    Sums, products, quotients and powers of it depend on it. What it stands in must be a description
    made by program: `robodyn.Inertia`, `robodyn.Pose`, `robodyn.Joint`, `robodyn.Loop`. For numbers
    of a file there is ``robodyn.load(symbols=)``. ``robot.function(name, symbols=True)`` has the
    symbols as inputs.

    Parameters
    ----------
    name : str
        Also in C, so letters, digits and underscores, the first one no digit.
    value : float

    Raises
    ------
    SettingsError
        For what is no name in C.
    ShapeError
        If ``value`` is no finite number.

    Examples
    --------
    >>> import robodyn as rd
    >>> l = rd.symbol("l", 0.5)
    >>> float(l / 2)
    0.25
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise SettingsError(
            f"the symbol {name!r} is no name in C: take letters, digits and underscores, the first "
            "one no digit"
        )
    if name in _C_WORDS or keyword.iskeyword(name):
        raise SettingsError(f"the symbol {name!r} has a meaning in C or Python: take another name")
    size = number("value", value)
    if not math.isfinite(size):
        raise ShapeError(f"value is {size}, expected a finite number", name="value", given=value)
    return Symbol(size, ("symbol", name))
