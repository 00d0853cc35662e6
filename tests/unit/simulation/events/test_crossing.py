"""Where a function crosses zero, and to which side it leaves it."""

import math

import pytest

from robodyn.simulation.events.detector import crossing, departure, sign

#: Functions on [0, 1] that cross zero once, and where.
FUNCTIONS = [
    (lambda x: x - 0.3, 0.3),
    (lambda x: 0.3 - x, 0.3),
    (lambda x: x**3 - 1e-9, 1e-3),
    (lambda x: math.expm1(30 * (x - 0.7)), 0.7),
    (lambda x: 1.0 if x < 0.6 else -1.0, 0.6),
    (lambda x: (0.5 - x) * 1e-300, 0.5),
    (lambda x: math.copysign(abs(x - 0.4) ** 0.2, x - 0.4), 0.4),
    (lambda x: 0.0 if x >= 0.8 else -1e-9, 0.8),
    (lambda x: x - 1.0, 1.0),
]


@pytest.mark.parametrize(("f", "where"), FUNCTIONS)
def test_it_returns_the_side_that_has_crossed(f, where):
    calls = []

    def counted(x):
        calls.append(x)
        return f(x)

    found = crossing(counted, 0.0, 1.0, 1e-12)
    assert abs(found - where) < 2e-12
    assert sign(f(found)) != sign(f(0.0))
    assert sign(f(found - 1.01e-12)) == sign(f(0.0))
    assert len(calls) < 90


@pytest.mark.parametrize("speed", [1.0, -1.0, 1e-3, -1e-3])
@pytest.mark.parametrize("a", [0.0, 9.81, -9.81])
def test_departure_at_a_speed(speed, a):
    step = 1e-3
    side, part = departure(lambda t: speed * t + 0.5 * a * t * t + 1e-17, step)
    assert side == sign(speed)
    assert part < 1e-2 * step


def test_departure_by_acceleration_and_none():
    assert departure(lambda t: -4.9 * t * t - 1e-17, 1e-3)[0] == -1
    assert departure(lambda t: 4.9 * t * t - 1e-17, 1e-3)[0] == 1
    assert departure(lambda t: 0.0, 1e-3)[0] == 0
