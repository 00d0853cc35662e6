"""How far the numbers of a description may be from what was meant, by the digits they have."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from robodyn.description.joint import poses_of
from robodyn.description.mechanism import Mechanism

#: Numbers with fewer digits are taken to be what was meant: 0.25 is a quarter of a metre.
DIGITS = 4

#: Digits of single and of double precision.
SINGLE, DOUBLE = 9, 15


def rounding_of(mechanism: Mechanism, length: float) -> float:
    """Norm of the displacements of all frames that rounding can have done [rad, parts of a length].

    Twice the root of the sum of squares of half a unit in the last digit of each number, as if all
    numbers were as coarse as those with digits are on average.
    """
    frames = 2 * len(mechanism.movers)
    ways, angles = mechanism.rounding or digits_of(mechanism)
    return 2.0 * math.sqrt(3.0 * frames) * math.hypot(ways / length, angles)


def digits_of(mechanism: Mechanism, text: str = "") -> tuple[float, float]:
    """Half a unit in the last digit of lengths [m] and of angles of a description, mean squares.

    In the text of a URDF axes are as they were written, before they were made unit vectors.
    """
    poses = [X for mover in mechanism.movers for X in poses_of(mover)]
    axes = [x for written in _URDF_AXES.findall(text) for x in _numbers(written)]
    axes = axes or [x for mover in mechanism.movers for x in (*mover.axis, *mover.axis2)]
    turns = _typical(x for X in poses for x in X.rpy)
    return _typical(x for X in poses for x in X.xyz), math.hypot(turns, _typical(axes))


def rounding_of_text(text: str) -> tuple[float, float]:
    """Half a unit in the last digit of lengths [m] and of angles of SDF or MJCF, mean squares.

    Of MJCF these are attributes, of SDF poses with three lengths first, and axes.
    """
    ways: list[float] = []
    angles: list[float] = []
    for name, written in _ATTRIBUTES.findall(text):
        (ways if name == "pos" else angles).extend(_numbers(written))
    for written in _POSES.findall(text):
        numbers = _numbers(written)
        ways += numbers[:3]
        angles += numbers[3:]
    for written in _AXES.findall(text):
        angles += _numbers(written)
    return _typical(ways), _typical(angles)


_ATTRIBUTES = re.compile(r"""\b(pos|quat|axis|euler|xyaxes|zaxis|axisangle)\s*=\s*["']([^"']*)""")
_POSES = re.compile(r"<pose[^>]*>([^<]*)")
_AXES = re.compile(r"<xyz[^>]*>([^<]*)")
_URDF_AXES = re.compile(r"""<axis2?\s+xyz\s*=\s*["']([^"']*)""")


def _numbers(written: str) -> list[float]:
    try:
        return [float(x) for x in written.split()]
    except ValueError:
        return []


def _typical(numbers: Iterable[float]) -> float:
    """Root mean square of half a unit in the last digit, of numbers with some digits."""
    halves = [half for x in numbers if (half := half_unit(x)) > 0.0]
    return math.sqrt(sum(x * x for x in halves) / len(halves)) if halves else 0.0


def half_unit(x: float) -> float:
    """Half a unit in the last digit of a number, zero for one with few digits or not finite.

    A number of single precision, written with all digits that it has in double precision, has half
    a unit of that.
    """
    if x in (0.0, 1.0, -1.0) or not math.isfinite(x):  # the latter is refused where it is read
        return 0.0
    mantissa, exponent = f"{float(x):.{DOUBLE - 1}e}".split("e")
    digits = len(mantissa.lstrip("-").replace(".", "").rstrip("0"))
    if digits < DIGITS:
        return 0.0
    if digits > SINGLE and float(np.float32(x)) == float(x):
        return abs(float(x)) * 2.0**-24
    return 0.5 * 10.0 ** (int(exponent) - digits + 1) if digits < DOUBLE else 0.0
