"""Least squares of large matrices of low rank, against LAPACK's."""

import numpy as np
import pytest

from robodyn.closed_loops.assembly.low_rank import least_norm


def product(rng, shape, values):
    """A matrix with some singular values, and zeros."""
    rows, columns = (np.linalg.qr(rng.normal(size=(n, len(values))))[0] for n in shape)
    return rows * values @ columns.T


@pytest.mark.parametrize("shape", [(300, 120), (70, 150), (5, 40), (40, 5)])
@pytest.mark.parametrize("noise", [1e-3, 1e-6, 1e-10])
def test_it_is_the_one_of_least_norm_without_noise(shape, noise):
    rng = np.random.default_rng(1)
    values = 18.0 * np.geomspace(1.0, 10.0 * noise, min(30, min(shape) - 1))
    exact, b = product(rng, shape, values), rng.normal(size=shape[0])
    below = product(rng, shape, 1e-2 * noise * rng.uniform(size=3))
    x = least_norm(exact + below, exact @ (exact.T @ b), noise)
    wanted = np.linalg.lstsq(exact + below, exact @ (exact.T @ b), rcond=noise)[0]
    np.testing.assert_allclose(x, wanted, atol=1e-5 * np.abs(wanted).max())


def test_nothing_is_solved_by_nothing():
    for shape in ((0, 4), (3, 4), (3, 0)):
        x = least_norm(np.zeros(shape), np.ones(shape[0]), 1e-6)
        np.testing.assert_array_equal(x, np.zeros(shape[1]))
