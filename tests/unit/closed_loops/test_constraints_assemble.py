"""Closing loops: four-bar, crank and slider, quaternions, limits; and consistent velocities."""

import numpy as np
import pytest
from support.constraint_problems import derivative

from robodyn.closed_loops.solvers import assemble, project_velocity
from robodyn.errors import AssemblyError, ShapeError


def four_bar(lengths, ground):
    """Residual of three bars from the origin to a pin at (ground, 0), relative angles."""

    def residual(q):
        angle = np.cumsum(q)
        lengths_ = np.asarray(lengths)
        return np.array([lengths_ @ np.cos(angle) - ground, lengths_ @ np.sin(angle), 0.0 * q[0]])

    return residual


def closed(residual, q, **kwargs):
    kwargs.setdefault("integrate", np.add)
    return assemble(residual, lambda q: derivative(residual, q), q=q, **kwargs)


def test_impossible_loop():
    residual = four_bar([1.0, 1.0, 1.0], 3.5)
    with pytest.raises(AssemblyError, match=r"constraint 0 is missed by 0\.5 at best") as caught:
        closed(residual, [0.4, 0.5, -0.2])
    assert np.abs(caught.value.residual).max() == pytest.approx(0.5)
    np.testing.assert_allclose(caught.value.residual, residual(caught.value.q))
    with pytest.raises(AssemblyError, match="with 3 speeds held"):
        closed(residual, [0.4, 0.5, -0.2], free=[])


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


def test_limits_of_the_wrong_shape():
    with pytest.raises(ShapeError, match="upper has shape"):
        closed(four_bar([1, 1, 1], 1), [0.0, 0.0, 0.0], upper=[1.0])


def test_nothing_to_close():
    q = assemble(lambda q: np.zeros(0), lambda q: np.zeros((0, 2)), np.add, [1.0, 2.0])
    np.testing.assert_array_equal(q, [1, 2])
    with pytest.raises(ShapeError, match="one posture at a time"):
        assemble(lambda q: np.zeros(0), lambda q: np.zeros((0, 2)), np.add, [[1.0, 2.0]])


def test_held_speeds_that_contradict():
    K = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(project_velocity(K, [2.0, -1.0, 7.0], free=[2]), [2, -1, 0])
    with pytest.raises(AssemblyError, match=r"row 1 of the batch.*\[0\]") as caught:
        project_velocity(K, [[2.0, -1.0, 7.0], [2.0, 1.0, 0.0]], free=[2])
    np.testing.assert_allclose(caught.value.residual, [4, 0])
