"""Smooth curves through points, of numbers and of symbols: splines, and Fourier series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, of_one_state
from robodyn.errors import ShapeError
from robodyn.symbolic.scalar import Number, Scalar, cos, maximum, sin
from robodyn.tolerances import CURVE_FIT, PERIOD_ROUNDING


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


#: Height of the column of the mean: its coefficient is small, and counts little as bending.
_FREE = 1e4


class FourierSeries:
    """A periodic curve through the points of a table, as a sum of sines and cosines.

    Called with numbers, arrays or symbols, it gives the same, turn after turn: the profile of a cam
    on a joint that turns without end. Of all such sums through the points it is the one that bends
    least.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        The points, two at least; x increases over less than a period. A last point one period after
        the first is left out, if it is at the same height.
    period : float
    harmonics : int, optional
        Number of sines. Fewer than half the points do not go through these, but as near as they
        can. Default: half the number of points.

    Attributes
    ----------
    x, y : tuple of float
        The points.
    period : float
    harmonics : int

    Raises
    ------
    ShapeError
        If x does not increase, is longer than a period, or x and y differ in number.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> angle = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
    >>> lift = rd.FourierSeries(angle, 0.03 - 0.01 * np.cos(angle))
    >>> [round(float(lift(x)), 6) for x in (0.3, 0.3 + 2.0 * np.pi)]
    [0.020447, 0.020447]
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    period: float
    harmonics: int

    @checked_arguments
    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        *,
        period: float = 2.0 * math.pi,
        harmonics: int | None = None,
    ) -> None:
        if not (math.isfinite(period) and period > 0.0):
            raise mismatch("period", period, "a positive number")
        count = np.size(x)
        xs = of_one_state("x", x, count)
        around = count > 2 and abs(xs[-1] - xs[0] - period) <= PERIOD_ROUNDING * period
        within = count > 1 and (around or xs[-1] - xs[0] < period)
        if not (within and (np.diff(xs) > 0.0).all()):
            raise ShapeError(
                f"x is {xs.tolist()}, expected two numbers or more that increase over less than "
                f"the period {period:g}",
                name="x",
                given=x,
            )
        ys = of_one_state("y", y, count)
        if around:
            if not abs(ys[-1] - ys[0]) <= CURVE_FIT * np.abs(ys).max():
                raise ShapeError(
                    f"y begins with {ys[0]:g} and ends with {ys[-1]:g}, a period later, expected "
                    "the same",
                    name="y",
                    given=y,
                )
            xs, ys = xs[:-1], ys[:-1]
        if harmonics is not None and harmonics < 1:
            raise ShapeError(f"harmonics is {harmonics}, expected 1 or more", name="harmonics")
        self.x = tuple(xs.tolist())
        self.y = tuple(ys.tolist())
        self.period = float(period)
        self.harmonics = len(xs) // 2 if harmonics is None else harmonics
        self._mean, self._cosines, self._sines = self._fitted(xs, ys)

    def _fitted(self, x: FloatArray, y: FloatArray) -> tuple[float, list[float], list[float]]:
        """Coefficients of least bending, ``sum k^4 (a_k^2 + b_k^2)``, through the points."""
        k = np.arange(1, self.harmonics + 1)
        angles = np.outer(2.0 * math.pi / self.period * x, k)
        columns = np.hstack([np.cos(angles), np.sin(angles)]) / np.tile(k, 2) ** 2.0
        # the mean bends nothing: as a large column it costs next to nothing
        whole = np.hstack([np.full((len(x), 1), _FREE), columns])
        found = np.linalg.lstsq(whole, y, rcond=None)[0]
        gap = np.abs(whole @ found - y).max()
        if 2 * self.harmonics + 1 >= len(x) and not gap <= CURVE_FIT * np.abs(y).max():
            raise ShapeError(
                f"no curve of {self.harmonics} sines comes nearer to the points than {gap:.3g}: "
                "some of them are too near to each other",
                name="x",
                given=x,
            )
        mean, bends = float(_FREE * found[0]), found[1:] / np.tile(k, 2) ** 2.0
        return mean, bends[: len(k)].tolist(), bends[len(k) :].tolist()

    def __call__(self, x: Any) -> Any:
        """The curve at ``x``: a number, an array, or symbols."""
        if not isinstance(x, Scalar):
            x = np.asarray(x) if isinstance(x, list | tuple) else x
        angle = x * (2.0 * math.pi / self.period)
        symbolic = isinstance(x, Scalar)
        c, s = (cos(angle), sin(angle)) if symbolic else (np.cos(angle), np.sin(angle))
        total: Any = self._mean
        ck, sk = c, s
        for k, (a, b) in enumerate(zip(self._cosines, self._sines, strict=True)):
            if k:
                ck, sk = ck * c - sk * s, sk * c + ck * s
            total = total + (ck * a + sk * b)
        return total
