"""Closing loops: four-bar, crank and slider, quaternions, limits; and consistent velocities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support.constraint_problems import derivative, problem

from robodyn.closed_loops.solvers import assemble, project_velocity
from robodyn.closed_loops.solvers.levenberg import Problem, minimise
from robodyn.errors import AssemblyError, ShapeError


def four_bar(lengths, ground):
    """Residual of three bars from the origin to a pin at (ground, 0), relative angles."""

    def residual(q):
        angle = np.cumsum(q)
        lengths_ = np.asarray(lengths)
        return np.array([lengths_ @ np.cos(angle) - ground, lengths_ @ np.sin(angle), 0.0 * q[0]])

    return residual


def crank_slider(crank, rod):
    """q: crank angle, rod angle (absolute), slider position."""

    def residual(q):
        return np.array(
            [
                crank * np.cos(q[0]) + rod * np.cos(q[1]) - q[2],
                crank * np.sin(q[0]) + rod * np.sin(q[1]),
            ]
        )

    return residual


def closed(residual, q, **kwargs):
    kwargs.setdefault("integrate", np.add)
    return assemble(residual, lambda q: derivative(residual, q), q=q, **kwargs)


def test_the_nearest_posture_is_found():
    residual = four_bar([1.0, 3.0, 2.5], 3.5)
    near = closed(residual, [0.7, 0.5, -1.5])
    again = closed(residual, near)
    np.testing.assert_array_equal(again, near)
    moved = closed(residual, near + np.array([1e-3, -1e-3, 1e-3]))
    assert np.abs(moved - near).max() < 3e-3


def test_convergence_is_quadratic():
    residual = four_bar([1.0, 3.0, 2.5], 3.5)
    q = closed(residual, [0.7, 0.5, -1.5])
    loops = Problem.of(
        residual, lambda q: derivative(residual, q), np.add, q, 3, np.arange(3), None, None
    )
    sizes = [minimise(loops, q + np.array([0.05, -0.05, 0.05]), 0.0, n)[1] for n in range(1, 4)]
    for before, after in pairwise(sizes):
        assert after < 5 * before**2 + 1e-15


def test_impossible_loop():
    residual = four_bar([1.0, 1.0, 1.0], 3.5)
    with pytest.raises(AssemblyError, match=r"constraint 0 is missed by 0\.5 at best") as caught:
        closed(residual, [0.4, 0.5, -0.2])
    assert np.abs(caught.value.residual).max() == pytest.approx(0.5)
    np.testing.assert_allclose(caught.value.residual, residual(caught.value.q))
    with pytest.raises(AssemblyError, match="with 3 speeds held"):
        closed(residual, [0.4, 0.5, -0.2], free=[])


def test_slider_beyond_its_dead_point():
    residual = crank_slider(0.3, 1.0)
    with pytest.raises(AssemblyError) as caught:
        closed(residual, [0.2, 0.1, 1.3001], free=[0, 1])
    assert np.abs(caught.value.residual).max() == pytest.approx(1e-4, rel=0.1)


def test_limits_are_kept():
    residual = four_bar([1.0, 3.0, 2.5], 3.5)
    low, high = np.array([0.65, -np.pi, 0.0]), np.array([0.75, np.pi, np.pi])
    q = closed(residual, [0.7, 0.5, -1.5], lower=low, upper=high)
    np.testing.assert_allclose(residual(q), 0, atol=1e-12)
    assert (q >= low).all()
    assert (q <= high).all()
    with pytest.raises(AssemblyError):
        closed(residual, [0.7, 0.5, -1.5], lower=[0.65, 0.0, 0.0], upper=[0.7, 0.1, 0.1])


def test_a_coordinate_at_its_limit_slides_along_it():
    def residual(q):
        return np.array([q[0] + 0.1 * q[1] - 1.0])

    q = closed(residual, [0.0, 0.0], upper=[0.5, 9.0], guesses=0)
    np.testing.assert_allclose(q, [0.5, 5.0])


def test_a_quaternion():
    """Turn a ball joint until its pin points at a target."""
    target = np.array([0.6, 0.0, 0.8])

    def rotate(q, x):
        u, w = q[:3], q[3]
        return x + 2 * np.cross(u, np.cross(u, x) + w * x)

    def residual(q):
        return rotate(q, np.array([0.0, 0.0, 1.0])) - target

    def jacobian(q):
        columns = [rotate(q, np.cross(e, [0.0, 0.0, 1.0])) for e in np.eye(3)]
        return np.stack(columns, axis=1)

    def integrate(q, dv):
        half = np.array([*(dv / 2), 0.0])
        u, w, x = q[:3], q[3], half[:3]
        q = q + np.array([*(w * x + np.cross(u, x)), -u @ x])
        return q / np.linalg.norm(q)

    start = np.array([0.0, 0.0, 0.0, 1.0])
    q = assemble(residual, jacobian, integrate, start, lower=np.full(4, -np.inf))
    np.testing.assert_allclose(residual(q), 0, atol=1e-13)
    assert np.linalg.norm(q) == pytest.approx(1)
    # the least turn: none about the pin itself
    assert q[2] == pytest.approx(0, abs=0.05)


def test_limits_of_the_wrong_shape():
    with pytest.raises(ShapeError, match="upper has shape"):
        closed(four_bar([1, 1, 1], 1), [0.0, 0.0, 0.0], upper=[1.0])


def test_nothing_to_close():
    q = assemble(lambda q: np.zeros(0), lambda q: np.zeros((0, 2)), np.add, [1.0, 2.0])
    np.testing.assert_array_equal(q, [1, 2])
    with pytest.raises(ShapeError, match="one posture at a time"):
        assemble(lambda q: np.zeros(0), lambda q: np.zeros((0, 2)), np.add, [[1.0, 2.0]])


def test_velocity_is_the_nearest():
    rng = np.random.default_rng(0)
    M, _, K, psi = problem(rng, 4, 6, 3)
    v = rng.normal(size=6)
    plain = project_velocity(K, v, rhs=psi)
    np.testing.assert_allclose(K @ plain, -psi, atol=1e-10)
    np.testing.assert_allclose(plain, v - np.linalg.pinv(K, 1e-10) @ (K @ v + psi), atol=1e-9)
    energy = project_velocity(K, v, M, rhs=psi)
    np.testing.assert_allclose(K @ energy, -psi, atol=1e-10)
    # the change of momentum is an impulse of the constraints
    impulse = M @ (energy - v)
    left = impulse - K.T @ np.linalg.lstsq(K.T, impulse, rcond=1e-10)[0]
    np.testing.assert_allclose(left, 0, atol=1e-8)
    np.testing.assert_allclose(project_velocity(K, energy, M, rhs=psi), energy, atol=1e-12)


def test_held_speeds_that_contradict():
    K = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(project_velocity(K, [2.0, -1.0, 7.0], free=[2]), [2, -1, 0])
    with pytest.raises(AssemblyError, match=r"row 1 of the batch.*\[0\]") as caught:
        project_velocity(K, [[2.0, -1.0, 7.0], [2.0, 1.0, 0.0]], free=[2])
    np.testing.assert_allclose(caught.value.residual, [4, 0])
