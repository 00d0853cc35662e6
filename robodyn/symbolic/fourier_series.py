"""Periodic curves through points, of numbers and of symbols."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, of_one_state
from robodyn.errors import ShapeError
from robodyn.symbolic.scalar import Scalar, cos, sin
from robodyn.tolerances import CURVE_FIT, PERIOD_ROUNDING

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
