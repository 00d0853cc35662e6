"""Wittenburg Ex. 5.3: the invertible cube, six tetrahedra in a ring of six pins."""

from __future__ import annotations

import numpy as np
import pytest
from support.constraint_problems import derivative, invertible_cube, invertible_cube_posture

from robodyn.closed_loops.solvers import (
    actuate,
    assemble,
    constrained_accelerations,
    constrained_hybrid,
    null_space_partition,
    project_velocity,
)

SIZE = 0.5
POINTS = np.array([(0, 0, 0), (0, 0, -1), (1, 0, -1), (1, 1, -1), (1, 1, 0)], float)
AXES = np.eye(3)[[0, 1, 2, 0, 1]]
CORNERS = np.array(
    [
        [(0, 0, 0), (SIZE, 0, 0), (0, 0, -1), (0, SIZE, -1)],
        [(0, 0, -1), (0, SIZE, -1), (1, 0, -1), (1, 0, -1 + SIZE)],
        [(1, 0, -1), (1, 0, -1 + SIZE), (1, 1, -1), (1 - SIZE, 1, -1)],
        [(1, 1, -1), (1 - SIZE, 1, -1), (1, 1, 0), (1, 1 - SIZE, 0)],
        [(1, 1, 0), (1, 1 - SIZE, 0), (0, 1, 0), (0, 1, -SIZE)],
    ]
)
MASS = SIZE**2 / 6
# q2: M_eff, tau for qd2 = 0.7 and qdd2 = 1, force of gravity, qdd2 with springs
GOLDEN = {
    0.0: (0.155208333, 0.079156250, 0.204375000, 0.490000000),
    0.5: (0.086353583, 0.072509505, 0.120734213, -22.069442788),
    1.0: (0.069913762, 0.065670504, 0.116355811, -46.497063554),
    1.5: (0.065892792, 0.066021967, 0.093116416, -68.781841590),
}


def rotation(axis, angle):
    x, y, z = axis
    S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * S + (1 - np.cos(angle)) * (S @ S)


def mass_matrix(q):
    """Of the five moving bodies, from the Jacobians of their mass centres."""
    M, R, p = np.zeros((5, 5), q.dtype), np.eye(3), np.zeros(3)
    axes, points = [], []
    for body in range(5):
        axes.append(R @ AXES[body])
        points.append(R @ POINTS[body] + p)
        turn = R @ rotation(AXES[body], q[body])
        p, R = points[body] - turn @ POINTS[body], turn
        centre = CORNERS[body].mean(axis=0)
        spread = CORNERS[body] - centre
        moments = MASS / 20 * spread.T @ spread
        inertia = R @ (np.trace(moments) * np.eye(3) - moments) @ R.T
        w = np.array([*axes, *np.zeros((4 - body, 3))])
        x = R @ centre + p
        v = np.array([np.cross(u, x - o) for u, o in zip(axes, points, strict=True)])
        v = np.concatenate([v, np.zeros((4 - body, 3))])
        M = M + MASS * v @ v.T + w @ inertia @ w.T
    return M


def potential(q):
    R, p, height = np.eye(3), np.zeros(3), 0.0
    for body in range(5):
        turn = R @ rotation(AXES[body], q[body])
        p, R = R @ POINTS[body] + p - turn @ POINTS[body], turn
        height = height + (R @ CORNERS[body].mean(axis=0) + p)[2]
    return 9.81 * MASS * height


def posture(q2, rate=0.7):
    """q, v, M, centrifugal terms h, K, k there."""
    q = invertible_cube_posture(q2)
    M, dM = mass_matrix(q), derivative(mass_matrix, q)
    K = derivative(invertible_cube, q)
    v = rate * null_space_partition(K, [1])[:, 0]
    h = np.einsum("ijk,j,k", dM, v, v) - np.einsum("ijk,i,j", dM, v, v) / 2
    # Kdot v is the second derivative of the residual along v
    e = 1e-4
    second = (invertible_cube(q + e * v) + invertible_cube(q - e * v)) / e**2
    return q, v, M, h, K, second


@pytest.mark.parametrize("q2", GOLDEN)
def test_golden_numbers(q2):
    inertia, tau, gravity, spring = GOLDEN[q2]
    q, _, M, h, K, k = posture(q2)
    Z = null_space_partition(K, [1])[:, 0]
    assert Z @ M @ Z == pytest.approx(inertia, abs=2e-9)
    g = derivative(lambda x: np.array([potential(x)]), q)[0]
    assert -Z @ g == pytest.approx(gravity, abs=2e-8)

    hybrid = constrained_hybrid(M, h, K, k, [1], [1.0], np.zeros(4))
    assert hybrid.tau[1] == pytest.approx(tau, abs=1e-7)
    assert hybrid.residual < 1e-6
    motor = actuate(M @ hybrid.a + h, K, [1])
    assert motor.tau[1] == pytest.approx(tau, abs=1e-7)

    # sixth spring, in the cut hinge: q6 = -q2 acts on the motion as on hinge 2
    springs = -q - np.array([0, q[1], 0, 0, 0])
    for method in ("auto", "kkt", "schur", "nullspace", "partition"):
        found = constrained_accelerations(M, springs - h, K, k, method)
        assert found.rank == 4
        assert found.a[1] == pytest.approx(spring, abs=2e-5)


def test_assembly_finds_the_motion():
    """Redundant constraints; hinge 2 held, the others guessed."""
    expected = invertible_cube_posture(1.0)
    q = assemble(
        invertible_cube,
        lambda q: derivative(invertible_cube, q),
        np.add,
        expected + np.array([0.1, 0, -0.2, 0.1, 0.1]),
        free=[0, 2, 3, 4],
    )
    np.testing.assert_allclose(q, expected, atol=1e-12)


def test_velocity_with_a_speed_held():
    q, v, M, _, K, _ = posture(0.5)
    wild = np.array([3.0, v[1], -2.0, 0.0, 1.0])
    for mass in (None, M):
        found = project_velocity(K, wild, mass, free=[0, 2, 3, 4])
        np.testing.assert_allclose(found, v, atol=1e-10)
    assert len(q) == len(v)
