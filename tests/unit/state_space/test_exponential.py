"""The exponential of matrices, against scipy and closed forms."""

import numpy as np
import pytest
from scipy.linalg import expm

from robodyn.state_space.exponential import exponential


def rounding(M):
    """How much the exponential changes by rounding of a matrix, which is in proportion to both."""
    return 8.0 * np.finfo(float).eps * max(1.0, np.abs(M).sum(axis=-2).max())


@pytest.mark.parametrize("size", [1e-9, 0.1, 1.0, 4.0])
def test_random_matrices_are_those_of_scipy(size):
    M = size * np.random.default_rng(0).standard_normal((5, 6, 6))
    expected = expm(M)
    scale = np.abs(expected).max(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(exponential(M) / scale, expected / scale, rtol=0, atol=rounding(M))


def test_closed_forms():
    np.testing.assert_allclose(exponential(np.array([[0.0, 2.0], [0.0, 0.0]])), [[1, 2], [0, 1]])
    turn = exponential(np.array([[0.0, -1e3], [1e3, 0.0]]))
    np.testing.assert_allclose(turn[:, 0], [np.cos(1e3), np.sin(1e3)], atol=1e-11)
    np.testing.assert_allclose(exponential(np.diag([-1e7, -1.0, 0.0])), np.diag([0, np.exp(-1), 1]))
    assert exponential(np.zeros((0, 0))).shape == (0, 0)


def test_stiff_joints(puma):
    """Dry friction is smoothed: poles of 1e5 1/s beside those of an arm."""
    model = puma.linearize(np.zeros(6), np.zeros(6), np.zeros(6))
    for dt in (1e-4, 1e-2, 1.0):
        expected = expm(model.A * dt)
        np.testing.assert_allclose(
            model.sampled(dt).A, expected, rtol=0, atol=rounding(model.A * dt)
        )
