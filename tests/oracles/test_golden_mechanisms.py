"""Closed mechanisms whose motion is known by hand, from the literature or from other programs.

All are solved by the oracle in maximal coordinates.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from oracles.maximal import MaximalOracle
from support.pymbs_linkages import (
    crank_slider,
    crank_slider_angles,
    crank_slider_centers,
    four_bar,
    four_bar_angles,
    four_bar_centers,
)

from robodyn import urdf

# Mechanism, angles and centres of mass over u, masses, moments about y of the turning bodies.
EXAMPLES = {
    "four_bar": (four_bar, four_bar_angles, four_bar_centers, [1, 1, 1], [16, 16, 25]),
    "crank_slider": (
        crank_slider, crank_slider_angles, crank_slider_centers, [5, 5, 10], [1.25, 20, 0],
    ),
}  # fmt: skip


def state(name, u, du):
    """Joint coordinates and speeds, from the angles over u and their central difference."""
    angles, h = EXAMPLES[name][1], 1e-5
    relative = np.array([[1, 0, 0], [-1, 1, 0], [0, 0, 1]])
    rates = (8 * (angles(u + h) - angles(u - h)) - angles(u + 2 * h) + angles(u - 2 * h)) / (12 * h)
    return relative @ angles(u), du * relative @ rates


def by_lagrange(name, u, du):
    """Acceleration of the one freedom: M u'' + M' u'^2 / 2 + dV/du = 0.

    M = sum m |dp/du|^2 + J (d angle/du)^2 and V = sum m g z; derivatives by central differences.
    """
    _, angles, centers, masses, moments = EXAMPLES[name]
    m, J, h = np.array(masses, float), np.array(moments, float) / 12.0, 1e-3

    def slope(f, u):
        fine = (f(u + h) - f(u - h)) / (2 * h)
        coarse = (f(u + 2 * h) - f(u - 2 * h)) / (4 * h)
        return (4.0 * fine - coarse) / 3.0

    def M(u):
        return m @ np.sum(slope(centers, u) ** 2, axis=1) + J @ slope(angles, u) ** 2

    def V(u):
        return 9.81 * m @ centers(u)[:, 1]

    return -(0.5 * slope(M, u) * du**2 + slope(V, u)) / M(u)


@pytest.mark.parametrize(
    ("name", "u", "du", "expected"),
    [
        ("four_bar", np.pi / 2, 0.0, 0.90091837),
        ("four_bar", np.pi / 2, 1.3, 1.08845663),
        ("four_bar", 1.2, -0.7, 1.72904706),
        ("four_bar", -1.3, 0.5, -0.95104415),
        ("crank_slider", 0.0, 0.0, 29.43),
        ("crank_slider", 0.7, 0.0, 6.78476),
        ("crank_slider", 0.7, 2.0, 3.81523),
        ("crank_slider", -2.1, 3.0, -9.62491),
    ],
)
def test_linkages_of_pymbs(name, u, du, expected):
    """PyMbs prints the four-bar; its crank and slider is wrong but at u = 0: values by Lagrange."""
    oracle = MaximalOracle(EXAMPLES[name][0]())
    q, v = state(name, u, du)
    np.testing.assert_allclose(np.concatenate(oracle.loop_errors(q, v)), 0.0, atol=1e-8)
    s = oracle.solve(q, v)
    digits = 5e-9 if name == "four_bar" else 5e-6
    assert s.a[0] == pytest.approx(expected, abs=2 * digits)
    assert s.a[0] == pytest.approx(by_lagrange(name, u, du), rel=1e-6)
    assert oracle.mobility(q) == 1
    assert s.rank_deficiency == 3  # all pins hold the plane
    # forces in the plane are settled, those across it and their moments are not
    np.testing.assert_array_equal(s.unique["C"], [True, False, True, False, True, False])


def test_torque_of_a_crank_by_virtual_work():
    """At rest the motor carries the slope of the potential energy."""
    q, v = state("four_bar", 0.8, 0.0)
    s = MaximalOracle(four_bar()).solve(q, v, controlled=(0,))
    h = 1e-5
    rise = four_bar_centers(0.8 + h) - four_bar_centers(0.8 - h)
    np.testing.assert_allclose(s.tau, [9.81 * rise[:, 1].sum() / (2 * h), 0.0, 0.0], atol=1e-7)
    np.testing.assert_allclose(s.a, 0.0, atol=1e-10)


# Invertible cube: Wittenburg 1977, example 5.3, reduced to hinge 2. Columns: q2, effective inertia,
# torque of a motor on hinge 2 for speed 0.7 and acceleration 1 without gravity, generalised force
# of gravity, and acceleration at speed 0.7 with springs of 1 N m/rad in all six hinges.
CUBE = [
    (0.0, 0.155208333, 0.079156250, 0.204375000, 0.490000000),
    (0.5, 0.086353583, 0.072509505, 0.120734213, -22.069442788),
    (1.0, 0.069913762, 0.065670504, 0.116355811, -46.497063554),
    (1.5, 0.065892792, 0.066021967, 0.093116416, -68.781841590),
]


def cube_state(q2, dq2):
    """q3 = q1, q4 = -q2, q5 = -q1, sin q1 (1 + sin q2) = sin q2."""
    s2, c2 = np.sin(q2), np.cos(q2)
    q1 = np.arcsin(s2 / (1.0 + s2))
    dq1 = c2 * (1.0 - np.sin(q1)) / (np.cos(q1) * (1.0 + s2)) * dq2
    signs = np.array([[1, 0], [0, 1], [1, 0], [0, -1], [-1, 0]])
    return signs @ [q1, q2], signs @ [dq1, dq2]


@pytest.mark.parametrize(("q2", "inertia", "torque", "weight", "sprung"), CUBE)
def test_invertible_cube_of_wittenburg(q2, inertia, torque, weight, sprung):
    mechanism = urdf.load_mechanism("bricard")
    weightless, heavy = MaximalOracle(mechanism, np.zeros(3)), MaximalOracle(mechanism)
    (q, v), still = cube_state(q2, 0.7), np.zeros(5)
    np.testing.assert_allclose(np.concatenate(weightless.loop_errors(q, v)), 0.0, atol=1e-12)
    a = np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    near = {"rel": 0.0, "abs": 6e-10}
    slow = weightless.solve(q, still, a, controlled=(1,))
    assert slow.tau[1] == pytest.approx(inertia, **near)
    assert weightless.solve(q, v, a, controlled=(1,)).tau[1] == pytest.approx(torque, **near)
    assert -heavy.solve(q, still, controlled=(1,)).tau[1] == pytest.approx(weight, **near)
    ((q6, _),) = weightless.motions(q, v)[0][-1:]
    np.testing.assert_allclose(q6, [-q2], atol=1e-12)
    springs = weightless.solve(q, v, passive=-q, tau_cut={"hinge6": -q6})
    assert springs.a[1] == pytest.approx(sprung, rel=1e-9)
    assert slow.rank_deficiency == 1  # five rows of hinge 6, of rank four
    assert weightless.mobility(q) == 1


def test_a_cube_with_a_tilted_hinge_is_stiff():
    """Hinge 3 tilted by 0.01 rad: the ring has no freedom left, and no row is redundant."""
    mechanism = urdf.load_mechanism("bricard")
    tilted = tuple(
        dataclasses.replace(joint, axis=(np.sin(0.01), 0.0, np.cos(0.01)))
        if joint.name == "hinge3" else joint
        for joint in mechanism.joints
    )  # fmt: skip
    oracle = MaximalOracle(dataclasses.replace(mechanism, joints=tilted))
    s = oracle.solve(np.zeros(5), np.zeros(5))
    assert (oracle.mobility(np.zeros(5)), s.rank_deficiency) == (0, 0)
    np.testing.assert_allclose(s.a, 0.0, atol=1e-8)
