"""Scalars that record what is done to them.

A quantity in an equation is either a Python ``float`` (known for this robot) or a `Scalar` (an edge
of an expression graph). Arithmetic between floats is Python's own, so constants fold by
themselves; a `Scalar` applies the rules of a careful person: nothing is added to or multiplied by
zero, signs are carried to the outside, equal expressions are one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add, gt, le, lt, mul, truediv
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.symbolic import ops
from robodyn.symbolic.graph import ByPrecision, Graph
from robodyn.tolerances import CANCELLATION_ROUNDING


class Scalar:
    """An edge of an expression graph with the arithmetic of a number."""

    __slots__ = ("edge", "graph")

    graph: Graph
    edge: int

    def __init__(self, graph: Graph, edge: int) -> None:
        self.graph = graph
        self.edge = edge

    def __add__(self, other: Number) -> Number:
        if isinstance(other, Scalar):
            return _sum(self.graph, self.edge, other.edge)
        if _is_array(other):
            return NotImplemented  # arrays know how to go through their elements
        if not other:
            return self
        return _sum(self.graph, self.edge, self.graph.constant(other))

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        if isinstance(other, Scalar):
            return _sum(self.graph, self.edge, other.edge ^ 1)
        if _is_array(other):
            return NotImplemented
        if not other:
            return self
        return _sum(self.graph, self.edge, self.graph.constant(-other))

    def __rsub__(self, other: float) -> Number:
        return -self + other

    def __neg__(self) -> Scalar:
        return Scalar(self.graph, self.edge ^ 1)

    def __mul__(self, other: Number) -> Number:
        if not isinstance(other, Scalar):
            return NotImplemented if _is_array(other) else _scaled(self, other)
        a, b = self.edge, other.edge
        negative = (a ^ b) & 1
        a, b = a & -2, b & -2
        node = self.graph.node(ops.MUL, a, b) if a <= b else self.graph.node(ops.MUL, b, a)
        return Scalar(self.graph, 2 * node + negative)

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        self._refuse_decisions()
        return True

    def __eq__(self, other: object) -> bool:
        self._refuse_decisions()
        return self is other

    def __hash__(self) -> int:
        if not self.graph.decided:
            raise TypeError(f"a symbol is no key of dictionaries and sets: {_UNKNOWN}")
        return object.__hash__(self)

    def _refuse_decisions(self) -> None:
        if not self.graph.decided:
            raise TypeError(f"whether symbols are equal, or zero, is not known: {_UNKNOWN}")

    def __lt__(self, other: Number) -> Condition:
        return _compared(ops.LESS, self, other)

    def __le__(self, other: Number) -> Condition:
        return _compared(ops.LESS_EQUAL, self, other)

    def __gt__(self, other: Number) -> Condition:
        return _compared(ops.LESS, other, self)

    def __ge__(self, other: Number) -> Condition:
        return _compared(ops.LESS_EQUAL, other, self)

    def __abs__(self) -> Scalar:
        return Scalar(self.graph, 2 * self.graph.node(ops.ABS, self.edge & -2))

    def clip(self, least: Number, most: Number, out: None = None) -> Number:
        """The number, or the limit that it is beyond."""
        found: Number = clip(self, least, most)
        return found

    if not TYPE_CHECKING:  # it says why it is refused; checkers know of none

        def __float__(self) -> float:
            raise TypeError(f"a symbol has no number yet; take np.sin, not math.sin: {_UNKNOWN}")

    def __pow__(self, power: float) -> Number:
        if power == 0.5:
            return sqrt(self)
        if not (isinstance(power, int) and power >= 1):
            if isinstance(power, int | float):
                raise unavailable(f"the power {power}")
            return NotImplemented
        result: Number = self
        for _ in range(power - 1):
            result = result * self
        return result

    def __truediv__(self, other: Number) -> Number:
        if not isinstance(other, Scalar):
            return NotImplemented if _is_array(other) else _scaled(self, 1.0 / other)
        return _quotient(self.graph, self.edge, other.edge)

    def __rtruediv__(self, other: float) -> Number:
        if not other:
            return 0.0
        return _quotient(self.graph, self.graph.constant(other), self.edge)


#: What equations are made of.
Number = float | Scalar

#: What functions of users may do with symbols, in messages.
UNDERSTOOD = (
    "arithmetic, np.sin, np.sqrt, np.exp, np.tanh, np.arctan2 and the like are understood, and "
    "np.where and np.maximum for decisions; if, max and math are not"
)

_UNKNOWN = (
    "symbols stand for all numbers at once. Take rd.where(x < y, a, b) instead of if, rd.maximum "
    "and rd.minimum instead of max and min, & and | instead of and and or"
)


class Condition:
    """A comparison of symbols, or several by ``&``, ``|`` and ``~``: known where numbers are.

    choose: The first of two numbers where it holds, else the second one.
    """

    __slots__ = ("choose",)

    def __init__(self, choose: Callable[[Number, Number], Number]) -> None:
        self.choose = choose

    def __and__(self, other: Condition | bool) -> Condition:
        return Condition(lambda a, b: self.choose(where(other, a, b), b))

    def __or__(self, other: Condition | bool) -> Condition:
        return Condition(lambda a, b: self.choose(a, where(other, a, b)))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Condition:
        return Condition(lambda a, b: self.choose(b, a))

    def __bool__(self) -> bool:
        raise TypeError(f"whether a comparison of symbols holds is not known: {_UNKNOWN}")


class SymbolArray(np.ndarray[Any, np.dtype[Any]]):
    """An array of symbols: what functions of numpy do with it `symbol_arrays` says."""


def _compared(op: int, x: Number, y: Number) -> Condition:
    """A comparison of two numbers, of which one is symbolic."""
    if _is_array(x) or _is_array(y):
        return NotImplemented  # type: ignore[no-any-return]
    graph = x.graph if isinstance(x, Scalar) else y.graph  # type: ignore[union-attr]
    condition = 2 * graph.node(op, edge_of(graph, x), edge_of(graph, y))

    def choose(a: Number, b: Number) -> Number:
        first, second = edge_of(graph, a), edge_of(graph, b)
        if first == second:
            return a
        sides = 2 * graph.node(ops.SIDES, first, second)
        return Scalar(graph, 2 * graph.node(ops.SELECT, condition, sides))

    return Condition(choose)


def unavailable(what: str) -> TypeError:
    """The error of what symbols have not."""
    return TypeError(
        f"{what} of a symbol: symbols have sums, products, quotients, powers such as x**2, "
        "comparisons, abs, and of numpy sqrt, sin, cos, tan, exp, log, sinh, cosh, tanh, arctan, "
        "arctan2, sign, maximum, minimum, clip and where"
    )


def _refused(name: str) -> Callable[..., Any]:
    """A method that numpy calls for one of its functions, which says that there is none."""

    def refuse(*_: object) -> Any:
        raise unavailable(f"np.{name}")

    return refuse


def _is_array(x: object) -> bool:
    """Whether numpy has to take it apart: more than one number, or a symbol in an array."""
    if type(x) is float:
        return False
    if isinstance(x, list | tuple):
        return True
    return getattr(x, "ndim", 0) > 0 or getattr(getattr(x, "dtype", None), "kind", "") == "O"


def _sum(graph: Graph, a: int, b: int) -> Number:
    op, first, i, j = graph.op, graph.a, a >> 1, b >> 1
    if (
        i == j
        or (op[i] == ops.MUL and op[first[i] >> 1] == ops.CONST)
        or (op[j] == ops.MUL and op[first[j] >> 1] == ops.CONST)
    ):
        (x, k), (y, m) = multiple(graph, a), multiple(graph, b)
        if x == y:
            rest = 0.0 if abs(k + m) <= CANCELLATION_ROUNDING * abs(k) else k + m
            return _scaled(Scalar(graph, x), rest)
    if op[i] == ops.ADD or op[j] == ops.ADD:
        for whole, part in ((a, b ^ 1), (b, a ^ 1)):
            if op[whole >> 1] == ops.ADD:  # (u + v) - u
                u, v = first[whole >> 1] ^ (whole & 1), graph.b[whole >> 1] ^ (whole & 1)
                if part in (u, v):
                    return Scalar(graph, v if part == u else u)
    if a > b:
        a, b = b, a
    negative = a & 1
    return Scalar(graph, 2 * graph.node(ops.ADD, a ^ negative, b ^ negative) + negative)


def multiple(graph: Graph, edge: int) -> tuple[int, float]:
    """An edge as a positive one and a factor."""
    node, sign = edge >> 1, -1.0 if edge & 1 else 1.0
    if graph.op[node] == ops.MUL and graph.op[graph.a[node] >> 1] == ops.CONST:
        known = graph.value[graph.a[node] >> 1]
        if type(known) is not ByPrecision:
            return graph.b[node], sign * known
    return edge & -2, sign


def _scaled(x: Scalar, factor: float) -> Number:
    if factor == 0.0:
        return 0.0
    graph, edge = x.graph, x.edge
    node = edge >> 1
    if graph.op[node] == ops.MUL and graph.op[graph.a[node] >> 1] == ops.CONST:
        known = graph.value[graph.a[node] >> 1]
        if type(known) is not ByPrecision:
            factor *= known
            edge = graph.b[node] | (edge & 1)
    negative = (edge & 1) ^ (factor < 0.0)
    factor = abs(factor)
    if factor == 1.0:
        return Scalar(graph, (edge & -2) | negative)
    return Scalar(graph, 2 * graph.node(ops.MUL, graph.constant(factor), edge & -2) + negative)


def _quotient(graph: Graph, a: int, b: int) -> Number:
    if a >> 1 == b >> 1:
        return -1.0 if (a ^ b) & 1 else 1.0
    return Scalar(graph, 2 * graph.node(ops.DIV, a & -2, b & -2) + ((a ^ b) & 1))


def sin(x: Number) -> Number:
    """Sine of an angle [rad].

    Examples
    --------
    >>> import robodyn as rd
    >>> round(rd.sin(0.5) ** 2 + rd.cos(0.5) ** 2, 12)
    1.0
    """
    if isinstance(x, Scalar):
        return Scalar(x.graph, 2 * x.graph.node(ops.SIN, x.edge & -2) + (x.edge & 1))
    return _of_numbers(ops.SIN, x)


def cos(x: Number) -> Number:
    """Cosine of an angle [rad].

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.cos(0.0)
    1.0
    """
    if isinstance(x, Scalar):
        return Scalar(x.graph, 2 * x.graph.node(ops.COS, x.edge & -2))
    return _of_numbers(ops.COS, x)


def sqrt(x: Number) -> Number:
    """Square root of a number that is not negative.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.sqrt(2.25)
    1.5
    """
    return _function(ops.SQRT, x)


def tan(x: Any) -> Any:
    """Tangent of an angle [rad]: of a number, a symbol or an array.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.tan(0.0)
    0.0
    """
    return sin(x) / cos(x)


def exp(x: Any) -> Any:
    """Exponential function of a number, a symbol or an array.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.exp(0.0)
    1.0
    """
    return _function(ops.EXP, x)


def log(x: Any) -> Any:
    """Natural logarithm of a number, a symbol or an array.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.log(1.0)
    0.0
    """
    return _function(ops.LOG, x)


def sinh(x: Any) -> Any:
    """Hyperbolic sine of a number, a symbol or an array.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.sinh(0.0)
    0.0
    """
    return _function(ops.SINH, x)


def cosh(x: Any) -> Any:
    """Hyperbolic cosine of a number, a symbol or an array.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.cosh(0.0)
    1.0
    """
    return _function(ops.COSH, x)


def tanh(x: Any) -> Any:
    """Hyperbolic tangent of a number, a symbol or an array.

    Examples
    --------
    >>> import robodyn as rd
    >>> round(rd.tanh(0.5), 6)
    0.462117
    """
    return _function(ops.TANH, x)


def floor(x: Any) -> Any:
    """The largest whole number that is not larger: of a number, a symbol or an array.

    ``floor(x / s + 0.5) * s`` is the nearest multiple of ``s``, what encoders and converters show.
    Its derivative is zero.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.floor(-0.5)
    -1.0
    """
    return _function(ops.FLOOR, x)


def arctan(x: Any) -> Any:
    """Angle [rad] from -pi/2 to pi/2 with a given tangent: a number, a symbol or an array.

    Examples
    --------
    >>> import robodyn as rd
    >>> round(rd.arctan(1.0), 6)
    0.785398
    """
    return arctan2(x, 1.0)


def arctan2(y: Any, x: Any) -> Any:
    """Angle [rad] from -pi to pi of the direction (x, y): numbers, symbols or arrays.

    Examples
    --------
    >>> import robodyn as rd
    >>> round(rd.arctan2(1.0, -1.0), 6)
    2.356194
    """
    graph = next((z.graph for z in (y, x) if isinstance(z, Scalar)), None)
    if graph is None or _is_array(y) or _is_array(x):
        return _of_numbers(ops.ARCTAN2, y, x)
    return Scalar(graph, 2 * graph.node(ops.ARCTAN2, edge_of(graph, y), edge_of(graph, x)))


def where(condition: Any, a: Any, b: Any) -> Any:
    """One number where a condition holds, the other one where it does not.

    Both are computed. A comparison with NaN does not hold, so that the second one is taken; ``-0.0
    < 0.0`` does not hold either. The derivative is that of the number that is taken.

    Parameters
    ----------
    condition : comparison, bool or array of them
        ``x < y``, ``<=``, ``>`` or ``>=``; several by ``&``, ``|`` and ``~``.
    a, b : float, symbol or array of them
        Numbers where it holds, and where it does not.

    Examples
    --------
    >>> import robodyn as rd
    >>> [rd.where(x > 0.0, 2.0 * x, 0.0) for x in (-1.0, 1.0)]
    [0.0, 2.0]
    """
    if any(map(_is_array, (condition, a, b))):
        return np.where(*map(_viewed, (condition, a, b)))
    if isinstance(condition, Condition):
        return condition.choose(a, b)
    return a if condition else b


def maximum(a: Any, b: Any) -> Any:
    """The larger of two numbers, symbols or arrays; NaN if one of them is.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.maximum(0.5, 0.0)
    0.5
    """
    return _extreme(np.maximum, a, b, lt)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two numbers, symbols or arrays; NaN if one of them is.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.minimum(0.5, 0.0)
    0.0
    """
    return _extreme(np.minimum, a, b, gt)


def sign(x: Any) -> Any:
    """-1, 0 or 1 of a number, a symbol or an array, NaN of NaN; the derivative is zero.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.sign(-2.0)
    -1.0
    """
    x = _viewed(x)
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, where(x >= 0.0, 0.0, math.nan)))


def _extreme(function: np.ufunc, a: Any, b: Any, beyond: Callable[[Any, Any], Any]) -> Any:
    """The second number where it is beyond the first one."""
    if any(_is_array(x) or hasattr(x, "made") for x in (a, b)):  # or a `Symbol`
        return function(_viewed(a), _viewed(b))
    if not isinstance(a, Scalar):  # a comparison with NaN takes the second side: that is symbolic
        a, b = b, a
    found = where(beyond(a, b), b, a)
    return where(b <= b, found, b) if isinstance(b, Scalar) or b != b else found


def _function(op: int, x: Any) -> Number:
    """A function that no rule makes shorter."""
    return (
        Scalar(x.graph, 2 * x.graph.node(op, x.edge))
        if isinstance(x, Scalar)
        else _of_numbers(op, x)
    )


def _of_numbers(op: int, *x: Any) -> Number:
    """A function of numbers, of which one that has a name keeps it, or of arrays."""
    if any(_is_array(y) or hasattr(y, "made") for y in x):  # or a `Symbol`
        found: Number = getattr(np, ops.FUNCTIONS[op])(*map(_viewed, x))
        return found
    return _KNOWN[op](*x)


def _viewed(x: Any) -> Any:
    """An array of symbols as one of which numpy asks what functions do; lists are arrays."""
    x = np.asarray(x) if isinstance(x, list | tuple) else x
    return x.view(SymbolArray) if isinstance(x, np.ndarray) and x.dtype.kind == "O" else x


def clip(x: Any, least: Any, most: Any) -> Any:
    """Numbers, symbols or arrays, or where they are beyond a limit that limit."""
    return minimum(maximum(x, least), most)


def is_zero(x: Any) -> bool:
    """Whether a number is known to be zero."""
    return x.__class__ is float and not x


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """Sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


def product(values: Iterable[Number]) -> Number:
    """Product of numbers."""
    return reduce(mul, values, 1.0)


def inputs(graph: Graph, first: int, count: int) -> list[Number]:
    """Scalar inputs ``first ... first + count - 1`` of a program."""
    return [Scalar(graph, 2 * graph.node(ops.INPUT, first + k)) for k in range(count)]


def by_precision(graph: Graph, double: float, single: float) -> Scalar:
    """A positive constant that is another one in single precision."""
    return Scalar(graph, graph.by_precision(ByPrecision(double, single)))


def constant_in(graph: Graph | None, value: float) -> Number:
    """A constant of one program in the graph of another; what depends on precision still does."""
    if graph is None or not isinstance(value, ByPrecision):
        return value
    return Scalar(graph, graph.by_precision(value))


#: What operations of a graph do with numbers, known or symbolic.
OPERATIONS: dict[int, Callable[..., Any]] = {
    ops.ADD: add, ops.MUL: mul, ops.DIV: truediv, ops.LESS: lt, ops.LESS_EQUAL: le,
    ops.SIDES: lambda a, b: (a, b), ops.SELECT: lambda condition, sides: where(condition, *sides),
    ops.SQRT: sqrt, ops.SIN: sin, ops.COS: cos, ops.ABS: abs, ops.ARCTAN2: arctan2,
    ops.EXP: exp, ops.LOG: log, ops.TANH: tanh, ops.SINH: sinh, ops.COSH: cosh,
    ops.FLOOR: floor,
}  # fmt: skip


def _floor(x: float) -> float:
    return float(np.floor(x))


_KNOWN: dict[int, Callable[..., float]] = {
    ops.SQRT: math.sqrt, ops.SIN: math.sin, ops.COS: math.cos, ops.ARCTAN2: math.atan2,
    ops.EXP: math.exp, ops.LOG: math.log, ops.TANH: math.tanh, ops.SINH: math.sinh,
    ops.COSH: math.cosh, ops.FLOOR: _floor,
}  # fmt: skip


# numpy calls methods of these names for its functions of arrays of objects
for _name in (
    "arccos arccosh arcsin arcsinh arctanh cbrt degrees exp2 expm1 hypot log10 log1p log2 radians "
    "rint"
).split():
    setattr(Scalar, _name, _refused(_name))
for _own in (sin, cos, tan, sqrt, exp, log, sinh, cosh, tanh, arctan, arctan2):
    setattr(Scalar, _own.__name__, _own)
setattr(Scalar, "__floor__", floor)  # noqa: B010


def edge_of(graph: Graph, x: Number) -> int:
    """Edge of a number, constants included."""
    return x.edge if isinstance(x, Scalar) else graph.constant(float(x))


def inverse_above(pivot: Number, least: Number) -> Number:
    """Inverse of a number; not a number where it is below another one, which is positive."""
    found: Number = where(pivot >= least, 1.0 / pivot, math.nan)
    return found


def if_not_negative(values: Sequence[Number], test: Number) -> list[Number]:
    """Values, of which one is not a number where a tested number is negative."""
    result = list(values)
    if result:
        k = next((k for k, x in enumerate(result) if isinstance(x, Scalar)), 0)
        result[k] = where(test >= 0.0, result[k], math.nan)
    return result
