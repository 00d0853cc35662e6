"""Numbers of a description that have names, and numbers that are computed from them."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partialmethod
from operator import add, mul, neg, pow, sub, truediv
from typing import Any, cast

import numpy as np

from robodyn.arrays import number
from robodyn.errors import SettingsError, ShapeError
from robodyn.symbolic.scalar import (
    Number,
    arctan,
    arctan2,
    cos,
    cosh,
    exp,
    log,
    maximum,
    minimum,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

_NAMED: tuple[Callable[..., Any], ...] = (
    sin, cos, tan, sqrt, exp, log, sinh, cosh, tanh, arctan, arctan2, maximum, minimum
)  # fmt: skip
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": truediv,
    "**": pow,
    "negative": neg,
    "abs": abs,
}
_OPERATIONS.update((x.__name__, x) for x in _NAMED)

#: Functions of numpy that keep names, and those that ask about a number alone.
_FUNCTIONS: dict[np.ufunc, str] = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.true_divide: "/",
    np.negative: "negative",
    np.absolute: "abs",
    np.fabs: "abs",
} | {getattr(np, name): name for name in _OPERATIONS if isinstance(getattr(np, name, 0), np.ufunc)}
_QUESTIONS = frozenset(
    (np.isfinite, np.isnan, np.isinf, np.sign, np.signbit, np.equal, np.not_equal)
) | {np.less, np.less_equal, np.greater, np.greater_equal}

#: Words that are no names in C.
_C_WORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while sin cos sqrt exp log sinh cosh tanh atan2 fabs sinf cosf "
    "sqrtf".split()
)


class Symbol(float):
    """A number with a name, or what sums, products and powers of such numbers are.

    To whoever does not ask for its name it is a number. Arrays, and the functions of ``math``, take
    it as that and lose the name.

    made: ``("symbol", name)``, or an operation and its operands.
    """

    __slots__ = ("made",)
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

    def same_as(self, other: Any) -> bool:
        """Whether another number is computed alike from numbers of the same names."""
        if not isinstance(other, Symbol) or len(other.made) != len(self.made):
            return False
        pairs = zip(self.made, other.made, strict=True)
        return all(x.same_as(y) if isinstance(x, Symbol) else x == y for x, y in pairs)

    def only(self, names: Set[str]) -> float:
        """The same number, of which no others than these names are kept."""
        operation, *operands = self.made
        if names.isdisjoint(name for name, _ in self.named()):
            return float(self)
        kept = (x.only(names) if isinstance(x, Symbol) else x for x in operands)
        return Symbol(float(self), (operation, *kept))

    def _with(self, operation: str, *operands: Any) -> Any:
        operands = tuple(x.item() if isinstance(x, np.number) else x for x in operands)
        plain = [float(x) if isinstance(x, Symbol) else x for x in operands]
        if any(isinstance(x, np.ndarray) for x in operands):
            return _OPERATIONS[operation](*plain)
        if not all(isinstance(x, float | int) for x in operands):
            return NotImplemented
        value = cast("float", _OPERATIONS[operation](*plain))
        return Symbol(value, (operation, *operands))

    def __array_ufunc__(self, function: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        """What a function of numpy gives: a number with names, or an array of plain numbers."""
        of_numbers = method == "__call__" and all(map(_is_number, given)) and not options
        if not of_numbers or function in _QUESTIONS:
            plain = (float(x) if isinstance(x, Symbol) else x for x in given)
            return getattr(function, method)(*plain, **options)
        if function in (np.power, np.square):
            base, power = (*given, 2)[:2]
            return (base if isinstance(base, Symbol) else float(base)) ** power
        if function not in _FUNCTIONS:
            names = ", ".join(repr(name) for x in given for name in _names(x))
            raise SettingsError(
                f"np.{function.__name__} would lose the name of symbol {names}: names are kept by "
                "sums, products, quotients, powers, sin, cos, tan, sqrt, exp, log, sinh, cosh, "
                "tanh, arctan, arctan2, maximum, minimum and abs; float(x) is the plain number"
            )
        return self._with(_FUNCTIONS[function], *given)

    def __abs__(self) -> Any:
        return self._with("abs", self)

    def __pos__(self) -> Symbol:
        return self

    def __neg__(self) -> Any:
        return self._with("negative", self)

    def __rpow__(self, base: Any, modulo: None = None) -> Any:
        raise self._refused(f"the power of {base!r} to it")

    def __mod__(self, other: Any) -> Any:
        raise self._refused("its rest by division")

    __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = __mod__

    def _refused(self, what: str) -> SettingsError:
        names = ", ".join(repr(name) for name in _names(self))
        return SettingsError(
            f"{what} would lose the name of symbol {names}: float(x) is the plain number"
        )

    def __pow__(self, power: Any, modulo: None = None) -> Any:
        power = power.item() if isinstance(power, np.integer) else power
        if not (isinstance(power, int) and power >= 1) and power != 0.5:
            raise SettingsError(
                f"a symbol to the power {power!r}, expected a whole number from 1 on, or 0.5"
            )
        return self._with("**", self, power)


def _is_number(x: Any) -> bool:
    """Whether something is one number."""
    return isinstance(x, float | int | np.number)


def _names(x: Any) -> Iterator[str]:
    """Names that a number is computed from."""
    return (name for name, _ in x.named()) if isinstance(x, Symbol) else iter(())


def with_name(given: Any, value: float) -> float:
    """A number that was checked, or the symbol that was given for it."""
    return given if isinstance(given, Symbol) else value


def named_again(given: float, value: float) -> float:
    """Another value for a number, under the same name; one that is computed from names stays."""
    if not isinstance(given, Symbol):
        return value
    return Symbol(value, given.made) if given.made[0] == "symbol" else given


def with_names(given: Any, values: tuple[float, float, float]) -> tuple[float, float, float]:
    """The same of three numbers."""
    (a, b, c), (x, y, z) = given, values
    return with_name(a, x), with_name(b, y), with_name(c, z)


def symbol(name: str, value: float) -> Symbol:
    """A number with a name, for a length, mass, inertia or stiffness of a description.

    Sums, products, quotients, powers, ``abs``, and ``np.sin``, ``np.sqrt``, ``np.exp``,
    ``np.arctan2`` and the like of it depend on it. What it stands in must be a description made by
    program: `robodyn.Inertia`, `robodyn.Pose`, `robodyn.Joint`, `robodyn.Loop`,
    `robodyn.PointSpring`. For numbers of a file there is ``robodyn.load(symbols=)``.
    ``robot.function(name, symbols=True)`` has the symbols as inputs.

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


def _operator(operation: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """An operation of a symbol with a number, and of a number with a symbol."""

    def forwards(self: Symbol, other: Any) -> Any:
        return self._with(operation, self, other)

    def backwards(self: Symbol, other: Any) -> Any:
        return self._with(operation, other, self)

    return forwards, backwards


for _name, _sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/")):
    for _prefix, _method in zip(("__", "__r"), _operator(_sign), strict=True):
        setattr(Symbol, f"{_prefix}{_name}__", _method)
# as functions of arrays of objects call them
for _name in ("sin", "cos", "sqrt", "tan", "exp", "log", "sinh", "cosh", "tanh", "arctan"):
    setattr(Symbol, _name, partialmethod(lambda self, name: self._with(name, self), _name))
