"""Laws that files have a notation for: by which one joint follows another, or several."""

from __future__ import annotations

from typing import Any

from robodyn.arguments import check_fields
from robodyn.errors import ShapeError
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.fourier_series import FourierSeries
from robodyn.symbolic.spline import Spline


@dataclass(frozen=True)
class Polynomial:
    """``c_0 + c_1 x + c_2 x^2 + ...``."""

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.coefficients:
            raise ShapeError("a polynomial without coefficients", name="coefficients")

    def __call__(self, x: Any) -> Any:
        """Its value: of a number or a symbol."""
        *rest, total = self.coefficients
        for c in reversed(rest):
            total = total * x + c
        return total


@dataclass(frozen=True)
class Table:
    """A smooth curve through points, see `robodyn.Spline`; with a period `robodyn.FourierSeries`.

    monotone: Of a spline.
    period: Zero of a spline.
    harmonics: Of a periodic one; zero: half the number of points.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    monotone: bool = False
    period: float = 0.0
    harmonics: int = 0

    def __call__(self, x: Any) -> Any:
        """Its value: of a number or a symbol."""
        if self.period:
            sines = self.harmonics or None
            return FourierSeries(self.x, self.y, period=self.period, harmonics=sines)(x)
        return Spline(self.x, self.y, monotone=self.monotone)(x)


@dataclass(frozen=True)
class Linear:
    """``offset + sum of c_k x_k``, of several joints."""

    coefficients: tuple[float, ...]
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, *x: Any) -> Any:
        """Its value: of numbers or symbols."""
        return sum((c * y for c, y in zip(self.coefficients, x, strict=True)), self.offset)


Curve = Polynomial | Table | Linear
