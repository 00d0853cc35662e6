"""Results of straight-line code that are numbers only where they can be trusted.

Code without branches cannot raise an error. It takes the root of what must not be negative: that is
not a number where it is, and neither is what it enters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from robodyn.symbolic.graph import ADD, SQRT, Graph
from robodyn.symbolic.scalar import Number, Scalar, multiple, sqrt

__all__ = ["if_not_negative", "inverse_above", "is_guard", "not_a_number", "one_if_positive"]


def inverse_above(pivot: Number, least: Number) -> Number:
    """Inverse of a number; not a number where it is below another one, which is positive.

    ``1 / (sqrt(p - e)^2 + e)``
    """
    root = sqrt(pivot - least)
    return 1.0 / (root * root + least)


def if_not_negative(values: Sequence[Number], test: Number) -> list[Number]:
    """Values, of which one is not a number where a tested number is negative.

    Elsewhere nothing changes: a root of four times the number is exactly twice its root, so that
    zero is added.
    """
    result = list(values)
    if not isinstance(test, Scalar) and test >= 0.0:
        return result
    k = next((k for k, x in enumerate(result) if isinstance(x, Scalar)), 0)
    if not isinstance(test, Scalar):  # known to be negative
        known = result[k]
        result[k] = not_a_number(known) if isinstance(known, Scalar) else math.nan
    else:
        result[k] = result[k] + (sqrt(test * 4.0) - sqrt(test) * 2.0)
    return result


def is_guard(graph: Graph, node: int) -> bool:
    """Whether a node is the zero of `if_not_negative`, which is no number where a test is negative.

    So is its derivative by anything: what is not a number has none, whatever it depends on.
    """
    if graph.op[node] != ADD:
        return False
    one, other = graph.a[node], graph.b[node]
    return bool((one ^ other) & 1) and (_twice(graph, one, other) or _twice(graph, other, one))


def _twice(graph: Graph, whole: int, doubled: int) -> bool:
    """Whether one edge is a root of four times a number, and the other twice the root of it."""
    root, factor = multiple(graph, doubled & -2)
    if factor != 2.0 or graph.op[whole >> 1] != SQRT or graph.op[root >> 1] != SQRT:
        return False
    (x, k), (y, m) = (multiple(graph, graph.a[edge >> 1]) for edge in (whole, root))
    return x == y and k == 4.0 * m


def not_a_number(x: Number) -> Number:
    """What is not a number, whatever number ``x`` is."""
    return sqrt(-(x * x) - 1.0)


def one_if_positive(x: Number) -> Number:
    """One, or zero where a number is negative; where a symbol is zero, not a number."""
    if not isinstance(x, Scalar):
        return 1.0 if x > 0.0 else 0.0
    return (x / sqrt(x * x) + 1.0) * 0.5
