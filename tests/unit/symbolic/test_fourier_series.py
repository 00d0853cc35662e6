"""Periodic curves through the points of a table."""

import numpy as np
import pytest

import robodyn as rd

TURN = 2.0 * np.pi


def test_a_curve_goes_through_its_points_turn_after_turn():
    rng = np.random.default_rng(0)
    for count in (2, 5, 8, 37):
        x = np.sort((np.arange(count) + rng.uniform(0.0, 0.6, count)) / count) * TURN
        y = rng.normal(size=count)
        curve = rd.FourierSeries(x, y)
        assert curve.harmonics == count // 2
        for turns in (0.0, -3.0, 5.0):
            np.testing.assert_allclose(curve(x + turns * TURN), y, atol=1e-9)
        assert abs(curve(float(x[0])) - y[0]) < 1e-9


def test_sines_are_themselves_and_steps_are_smooth():
    x = np.linspace(0.0, 3.0, 10)
    curve = rd.FourierSeries(
        x, 0.2 + np.sin(TURN / 3.0 * x) - 0.5 * np.cos(2 * TURN / 3.0 * x), period=3.0
    )
    assert len(curve.x) == 9  # the last point is the first one again
    t = np.linspace(-4.0, 4.0, 41)
    wanted = 0.2 + np.sin(TURN / 3.0 * t) - 0.5 * np.cos(2 * TURN / 3.0 * t)
    np.testing.assert_allclose(curve(t), wanted, atol=1e-13)
    # of even numbers of points, the highest sine is left out where it bends for nothing
    even = np.linspace(0.0, TURN, 8, endpoint=False)
    flat = rd.FourierSeries(even, np.cos(even))
    np.testing.assert_allclose(flat(t), np.cos(t), atol=1e-8)
    near = rd.FourierSeries(even, np.cos(even) + 0.1 * np.cos(3 * even), harmonics=1)
    np.testing.assert_allclose(near(t), np.cos(t), atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.0, 0.0], [1.0, 2.0]), "increase over less than the period"),
        (([0.0, 7.0], [1.0, 2.0]), "increase over less than the period"),
        (([0.0], [1.0]), "two numbers or more"),
        (([0.0, 1.0, TURN], [1.0, 2.0, 3.0]), "begins with 1 and ends with 3"),
        (([0.0, 1.0], [1.0, 2.0, 3.0]), "y has"),
        (([0.0, 1.0], [1.0, 2.0], -1.0), "expected a positive number"),
        (([0.0, 1.0], [1.0, 2.0], TURN, 0), "expected 1 or more"),
        (([0.0, 1e-8, 2e-8, 3.0], [1.0, -2.0, 3.0, 0.0]), "too near to each other"),
    ],
)
def test_faulty_tables_are_refused(arguments, words):
    x, y, *rest = arguments
    with pytest.raises(rd.ShapeError, match=words):
        rd.FourierSeries(x, y, **dict(zip(("period", "harmonics"), rest, strict=False)))
