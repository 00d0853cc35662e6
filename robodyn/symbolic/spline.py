"""Curves through points, of numbers and of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.arrays import of_one_state
from robodyn.errors import ShapeError
from robodyn.symbolic.scalar import Number, Scalar, maximum


class Spline:
    """A smooth curve through the points of a table: a cubic between each two of them.

    Called with numbers, arrays or symbols, it gives the same. Before the first point and after the
    last the curve goes straight on. With ``u_k`` the part of the way from the first point that
    lies between points k and k + 1, it is ``y_0`` and the sum of one polynomial of each ``u_k``.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        The points, two at least; x increases.
    monotone : bool
        Between two points the curve does not leave their values (its curvature jumps at points
        then). Default: the curvature is continuous.

    Attributes
    ----------
    x, y : tuple of float
        The points.
    monotone : bool

    Raises
    ------
    ShapeError
        If x does not increase, or x and y differ in number.

    Examples
    --------
    >>> import robodyn as rd
    >>> table = rd.Spline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    >>> [round(float(table(x)), 6) for x in (0.5, 1.0, 1.5)]
    [0.25, 1.0, 2.25]
    """

    @checked_arguments
    def __init__(self, x: ArrayLike, y: ArrayLike, *, monotone: bool = False) -> None:
        count = np.size(x)
        xs = of_one_state("x", x, count)
        if count < 2 or not (np.diff(xs) > 0.0).all():
            raise ShapeError(
                f"x is {xs.tolist()}, expected two numbers or more that increase", name="x", given=x
            )
        ys = of_one_state("y", y, count)
        from scipy.interpolate import CubicSpline, PchipInterpolator

        pieces = (PchipInterpolator if monotone and count > 2 else CubicSpline)(xs, ys)
        self.x: tuple[float, ...] = tuple(xs.tolist())
        self.y: tuple[float, ...] = tuple(ys.tolist())
        self.monotone = monotone
        #: Coefficients of u, u^2, u^3 between points, shape (3, n - 1); slopes at the ends.
        self._c = np.asarray(pieces.c[-2::-1], float)
        self._ends = float(pieces(xs[0], 1)), float(pieces(xs[-1], 1))

    def __call__(self, x: Any) -> Any:
        """The curve at ``x``: a number, an array, or symbols."""
        before, ways, after = self._ways(x)
        total = before * self._ends[0] + after * self._ends[1] + self.y[0]
        for u, c in zip(ways, self._c.T.tolist(), strict=True):
            total = total + _polynomial(c, u)
        return total

    def integral(self, x: Any) -> Any:
        """The area under the curve from the first point to ``x``: of a force, its energy."""
        before, ways, after = self._ways(x)
        first, last = self._ends
        total = before * self.y[0] + before * before * (0.5 * first)
        for u, y, c in zip(ways, self.y, self._c.T.tolist(), strict=False):
            total = total + _polynomial((y, *(a / (k + 2) for k, a in enumerate(c))), u)
        return total + after * self.y[-1] + after * after * (0.5 * last)

    def _ways(self, x: Any) -> tuple[Any, list[Any], Any]:
        """Ways to ``x``: back from the first point, between each two points, on from the last."""
        if not isinstance(x, Scalar):
            x = np.asarray(x) if isinstance(x, list | tuple) else x
        passed = [maximum(x - point, 0.0) for point in self.x]
        ways = [a - b for a, b in pairwise(passed)]
        return x - self.x[0] - passed[0], ways, passed[-1]


def _polynomial(coefficients: Sequence[float], u: Any) -> Any:
    """``c_1 u + c_2 u^2 + ...``."""
    total: Number | Any = 0.0
    for c in reversed(coefficients):
        total = (total + c) * u
    return total
