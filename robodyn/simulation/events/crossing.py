"""Finds where a function of time crosses zero within a step."""

from __future__ import annotations

from collections.abc import Callable

#: Fractions of a step at which the sign of a function that starts at zero is taken: the first one
#: shows it if the function has a rate at zero, the second one if it has a second derivative alone.
SOON, LATER = 1e-6, 1e-3
#: Number of evaluations in which the interval around a crossing has to halve.
LOOKS = 2
#: A function with a rate has changed by SOON / LATER at the first of them, else by its square.
AT_A_SPEED = 0.3 * SOON / LATER

#: Function from the time since the start of a step [s] to the value of a witness function.
OfTime = Callable[[float], float]


def sign(x: float) -> int:
    """1, 0 or -1."""
    return (x > 0.0) - (x < 0.0)


def departure(f: OfTime, step: float) -> tuple[int, float]:
    """The sign with which a function leaves its first value, and the time at which it has [s].

    The sign is 0 if the function stays there.
    """
    start, soon, later = f(0.0), f(SOON * step), f(LATER * step)
    speed, way = soon - start, later - start
    if abs(speed) > AT_A_SPEED * abs(way):
        return sign(speed), SOON * step
    return sign(way), LATER * step


def crossing(f: OfTime, low: float, high: float, tolerance: float) -> float:
    """The time just after a function crosses zero, to within ``tolerance`` [s].

    Parameters
    ----------
    f : callable
    low, high : float [s]
        Before the crossing, and after it or at the zero.
    tolerance : float [s]

    Notes
    -----
    [Chandrupatla 1997]: inverse quadratic interpolation where three points are on a curve that
    allows it, bisection elsewhere, and wherever two looks have not halved the interval: a function
    that jumps is on no curve.
    """
    side = sign(f(low))
    a, fa, b, fb = high, f(high), low, f(low)  # the newest point, and the one across
    c, fc, part, slow = b, fb, 0.5, 0
    while (width := abs(b - a)) > tolerance:
        x = a + part * (b - a)
        fx = f(x)
        if (sign(fx) == side) == (sign(fa) == side):
            c, fc = a, fa
        else:
            c, b, fc, fb = b, a, fb, fa
        a, fa = x, fx
        nearest = 0.4 * tolerance / max(abs(b - a), tolerance)
        part = min(max(_next_part(a, b, c, fa, fb, fc), nearest), 1.0 - nearest)
        slow = slow + 1 if abs(b - a) > 0.5 * width else 0
        if slow == LOOKS:
            part, slow = 0.5, 0
    return b if sign(fa) == side else a


def _next_part(a: float, b: float, c: float, fa: float, fb: float, fc: float) -> float:
    """The next point to evaluate, as a fraction of the way from ``a`` to ``b``."""
    if fa == fb or fb == fc or fa == fc or b == c:
        return 0.5
    x, y = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (y * y < x and (1.0 - y) * (1.0 - y) < 1.0 - x):
        return 0.5
    return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
