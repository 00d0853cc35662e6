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
from operator import mul
from typing import TYPE_CHECKING

from robodyn.symbolic.graph import ADD, CONST, COS, DIV, INPUT, MUL, SIN, SQRT, ByPrecision, Graph
from robodyn.tolerances import CANCELLATION_ROUNDING

__all__ = [
    "Number",
    "Scalar",
    "between_zero_and_one",
    "by_precision",
    "constant_in",
    "cos",
    "dot",
    "edge_of",
    "inputs",
    "multiple",
    "product",
    "sin",
    "sqrt",
]


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
        node = self.graph.node(MUL, a, b) if a <= b else self.graph.node(MUL, b, a)
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
            raise self._unknown("look them up in dictionaries and sets")
        return object.__hash__(self)

    def _refuse_decisions(self) -> None:
        if not self.graph.decided:
            raise self._unknown("compare them, or decide by them")

    @staticmethod
    def _unknown(what: str) -> TypeError:
        return TypeError(
            "symbols stand for all numbers at once: a symbolic controller, reference or cost "
            f"cannot {what}"
        )

    if not TYPE_CHECKING:  # they say why they are refused; checkers know of none

        def _unordered(self, other: object) -> bool:
            raise self._unknown("compare them, or decide by them")

        __lt__ = __le__ = __gt__ = __ge__ = _unordered

        def __abs__(self) -> Number:
            raise self._unknown("ask for their sign; np.sqrt(x * x) is their size")

        def __float__(self) -> float:
            raise self._unknown("make numbers of them; take np.sin, np.cos and np.sqrt, not math")

    def __pow__(self, power: float) -> Number:
        if power == 0.5:
            return sqrt(self)
        if not (isinstance(power, int) and power >= 1):
            if isinstance(power, int | float):
                raise _unavailable(f"the power {power}")
            return NotImplemented
        result: Number = self
        for _ in range(power - 1):
            result = result * self
        return result

    # numpy calls these for its functions of arrays of scalars
    def sin(self) -> Number:
        """Sine."""
        return sin(self)

    def cos(self) -> Number:
        """Cosine."""
        return cos(self)

    def sqrt(self) -> Number:
        """Square root."""
        return sqrt(self)

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


def _unavailable(what: str) -> TypeError:
    return TypeError(
        f"{what} of a symbol: symbolic controllers, references and costs take sums, products, "
        "quotients, powers such as x**2, np.sqrt, np.sin and np.cos; a controller without "
        "symbolic = True may take anything"
    )


def _refused(name: str) -> Callable[..., Number]:
    """A method that numpy calls for one of its functions, which says that there is none."""

    def refuse(*_: object) -> Number:
        raise _unavailable(f"np.{name}")

    return refuse


for _name in (
    "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cosh degrees exp exp2 expm1 hypot "
    "log log10 log1p log2 radians rint sinh tan tanh"
).split():
    setattr(Scalar, _name, _refused(_name))


def _is_array(x: object) -> bool:
    """Whether numpy has to take it apart: more than one number, or a symbol in an array."""
    if type(x) is float:
        return False
    return getattr(x, "ndim", 0) > 0 or getattr(getattr(x, "dtype", None), "kind", "") == "O"


def _sum(graph: Graph, a: int, b: int) -> Number:
    op, first, i, j = graph.op, graph.a, a >> 1, b >> 1
    if (
        i == j
        or (op[i] == MUL and op[first[i] >> 1] == CONST)
        or (op[j] == MUL and op[first[j] >> 1] == CONST)
    ):
        (x, k), (y, m) = multiple(graph, a), multiple(graph, b)
        if x == y:
            rest = k + m if abs(k + m) > CANCELLATION_ROUNDING * abs(k) else 0.0
            return _scaled(Scalar(graph, x), rest)
    if op[i] == ADD or op[j] == ADD:
        for whole, part in ((a, b ^ 1), (b, a ^ 1)):
            if op[whole >> 1] == ADD:  # (u + v) - u
                u, v = first[whole >> 1] ^ (whole & 1), graph.b[whole >> 1] ^ (whole & 1)
                if part in (u, v):
                    return Scalar(graph, v if part == u else u)
    if a > b:
        a, b = b, a
    negative = a & 1
    return Scalar(graph, 2 * graph.node(ADD, a ^ negative, b ^ negative) + negative)


def multiple(graph: Graph, edge: int) -> tuple[int, float]:
    """An edge as a positive one and a factor."""
    node, sign = edge >> 1, -1.0 if edge & 1 else 1.0
    if graph.op[node] == MUL and graph.op[graph.a[node] >> 1] == CONST:
        known = graph.value[graph.a[node] >> 1]
        if type(known) is not ByPrecision:
            return graph.b[node], sign * known
    return edge & -2, sign


def _scaled(x: Scalar, factor: float) -> Number:
    if factor == 0.0:
        return 0.0
    graph, edge = x.graph, x.edge
    node = edge >> 1
    if graph.op[node] == MUL and graph.op[graph.a[node] >> 1] == CONST:
        known = graph.value[graph.a[node] >> 1]
        if type(known) is not ByPrecision:
            factor *= known
            edge = graph.b[node] | (edge & 1)
    negative = (edge & 1) ^ (factor < 0.0)
    factor = abs(factor)
    if factor == 1.0:
        return Scalar(graph, (edge & -2) | negative)
    return Scalar(graph, 2 * graph.node(MUL, graph.constant(factor), edge & -2) + negative)


def _quotient(graph: Graph, a: int, b: int) -> Number:
    if a >> 1 == b >> 1:
        return -1.0 if (a ^ b) & 1 else 1.0
    return Scalar(graph, 2 * graph.node(DIV, a & -2, b & -2) + ((a ^ b) & 1))


def sin(x: Number) -> Number:
    """Sine of an angle [rad].

    Examples
    --------
    >>> import robodyn as rd
    >>> round(rd.sin(0.5) ** 2 + rd.cos(0.5) ** 2, 12)
    1.0
    """
    if isinstance(x, Scalar):
        return Scalar(x.graph, 2 * x.graph.node(SIN, x.edge & -2) + (x.edge & 1))
    return _known(math.sin, "sin", x)


def cos(x: Number) -> Number:
    """Cosine of an angle [rad].

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.cos(0.0)
    1.0
    """
    if isinstance(x, Scalar):
        return Scalar(x.graph, 2 * x.graph.node(COS, x.edge & -2))
    return _known(math.cos, "cos", x)


def sqrt(x: Number) -> Number:
    """Square root of a number that is not negative.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.sqrt(2.25)
    1.5
    """
    if isinstance(x, Scalar):
        return Scalar(x.graph, 2 * x.graph.node(SQRT, x.edge))
    return _known(math.sqrt, "sqrt", x)


def _known(function: Callable[[float], float], name: str, x: float) -> float:
    """A function of a number; one that has a name keeps it."""
    of_its_own: Callable[[], float] | None = getattr(x, name, None)
    return function(x) if of_its_own is None else of_its_own()


def between_zero_and_one(x: Number) -> Number:
    """The number, or the end of that interval that is nearest to it."""
    if not isinstance(x, Scalar):
        return min(max(x, 0.0), 1.0)
    above = (x + sqrt(x * x)) * 0.5
    beyond = above - 1.0
    return (above + 1.0 - sqrt(beyond * beyond)) * 0.5


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """Sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


def product(values: Iterable[Number]) -> Number:
    """Product of numbers."""
    return reduce(mul, values, 1.0)


def inputs(graph: Graph, first: int, count: int) -> list[Number]:
    """Scalar inputs ``first ... first + count - 1`` of a program."""
    return [Scalar(graph, 2 * graph.node(INPUT, first + k)) for k in range(count)]


def by_precision(graph: Graph, double: float, single: float) -> Scalar:
    """A positive constant that is another one in single precision."""
    return Scalar(graph, graph.by_precision(ByPrecision(double, single)))


def constant_in(graph: Graph | None, value: float) -> Number:
    """A constant of one program in the graph of another; what depends on precision still does."""
    if graph is None or not isinstance(value, ByPrecision):
        return value
    return Scalar(graph, graph.by_precision(value))


def edge_of(graph: Graph, x: Number) -> int:
    """Edge of a number, constants included."""
    return x.edge if isinstance(x, Scalar) else graph.constant(float(x))
