"""Curves through points against scipy's, and as laws of force."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator

import robodyn as rd

rng = np.random.default_rng(0)
X, Y = np.sort(rng.uniform(-3.0, 3.0, 9)), rng.normal(size=9)
AT = np.append(np.linspace(X[0], X[-1], 101), X)


@pytest.mark.parametrize(("monotone", "other"), [(False, CubicSpline), (True, PchipInterpolator)])
def test_curves_are_those_of_scipy(monotone, other):
    curve, wanted = rd.Spline(X, Y, monotone=monotone), other(X, Y)
    np.testing.assert_allclose(curve(AT), wanted(AT), atol=1e-13)
    np.testing.assert_allclose(curve.integral(AT), wanted.antiderivative()(AT), atol=1e-13)
    assert curve(0.1) == pytest.approx(float(wanted(0.1)), abs=1e-13)


def test_curves_go_straight_on():
    curve, inner = rd.Spline(X, Y), CubicSpline(X, Y)
    for end, way in ((0, -1.3), (-1, 2.0)):
        value, slope = Y[end], inner(X[end], 1)
        np.testing.assert_allclose(curve(X[end] + way), value + slope * way, rtol=1e-12)
        area = inner.antiderivative()(X[end]) + value * way + 0.5 * slope * way**2
        np.testing.assert_allclose(curve.integral(X[end] + way), area, rtol=1e-12)


@pytest.mark.parametrize("angle", [0.1, X[4], X[0] - 1.0, X[-1] + 1.0])
def test_a_table_is_a_spring(angle):
    """Force, energy and stiffness, at a point of the table and outside of it too."""
    curve, inner = rd.Spline(X, Y), CubicSpline(X, Y)
    force = rd.Force(
        lambda q, v, t: [-curve(q[0])], joint="elbow", potential=lambda q: curve.integral(q[0])
    )
    robot = rd.load("double_pendulum", gravity=(0, 0, 0), forces=[force])
    q, still = np.array([0.3, angle]), np.zeros(2)
    np.testing.assert_allclose(robot.passive_forces(q, still), [0.0, -curve(angle)], atol=1e-13)
    np.testing.assert_allclose(robot.elastic_energy(q), curve.integral(angle), atol=1e-13)
    stiffness = robot.derivatives("inverse_dynamics", q, still, still)["q"]
    slope = float(inner(np.clip(angle, X[0], X[-1]), 1))
    np.testing.assert_allclose(stiffness, np.diag([0.0, slope]), atol=1e-12)


@pytest.mark.parametrize(
    "wrong", [([0.0], [1.0]), ([0.0, 0.0], [1.0, 2.0]), ([1.0, 0.0], [1.0, 2.0]), ([0.0, 1.0], [1])]
)
def test_tables_have_two_points_that_increase(wrong):
    with pytest.raises(rd.ShapeError, match="expected"):
        rd.Spline(*wrong)
