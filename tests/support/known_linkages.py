"""Closed mechanisms whose motion is known by hand, from the literature or from other programs."""

import numpy as np
from support.pymbs_linkages import (
    crank_slider,
    crank_slider_angles,
    crank_slider_centers,
    four_bar,
    four_bar_angles,
    four_bar_centers,
)

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
