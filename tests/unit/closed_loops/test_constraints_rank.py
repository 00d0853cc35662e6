"""Rank, dependent rows, null spaces and the choice of independent speeds."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.constraint_problems import constraints, mass_matrix

from robodyn.closed_loops.solvers import independent_speeds, null_space, rank_analysis
from robodyn.errors import ShapeError


@given(st.integers(0, 7), st.integers(1, 7), st.data())
def test_rank_and_dependencies(nc, nv, data):
    rank = data.draw(st.integers(0, min(nc, nv)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    M, size = mass_matrix(rng, nv)
    K = constraints(rng, nc, nv, rank, spread=3, zeros=rank % 2) * size
    found = rank_analysis(K, M)
    assert found.rank == rank == found.independent.sum()
    kept = K[found.independent] / size
    kept = kept / np.linalg.norm(kept, axis=1, keepdims=True)
    assert np.linalg.matrix_rank(kept, tol=1e-9) == rank
    norms = np.linalg.norm(K / size, axis=1)
    error = np.linalg.norm((found.coefficients @ K - K) / size, axis=1)
    assert (error <= 1e-8 * norms).all()
    assert (found.coefficients[:, ~found.independent] == 0).all()
    assert (found.distance < np.inf) == (rank > 0)
    assert len(found.redundant()) == len(K) - rank


def test_which_rows_depend_on_which():
    K = np.array([[1.0, 0, 0, 0], [0, 2, 1, 0], [3, 0, 0, 0], [0, 0, 0, 0], [-3, 2, 1, 0]])
    found = rank_analysis(K)
    assert found.rank == 2
    redundant = found.redundant()
    assert redundant[3] == ()
    for row, others in redundant.items():
        np.testing.assert_allclose(found.coefficients[row] @ K, K[row], atol=1e-12)
        assert set(others) <= set(np.flatnonzero(found.independent))
    assert {tuple(sorted({*o, r})) for r, o in redundant.items()} >= {(0, 2)}


def test_rounding_in_rows_and_mixed_units_do_not_count():
    K = np.array([[1e-3, 2e-3, 1e-3], [1e3, 0, 1e3], [1e-14, -2e-14, 5e-14]])
    found = rank_analysis(K)
    assert found.rank == 2
    assert found.redundant() == {2: ()}


def test_distance_to_a_dead_point():
    angle = np.array([0.0, 1e-3, 0.1])
    K = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    K = np.stack([K, np.broadcast_to([1.0, 0.0], K.shape)], axis=-2)
    found = rank_analysis(K)
    np.testing.assert_array_equal(found.rank, [1, 2, 2])
    np.testing.assert_allclose(found.distance[1:], angle[1:] / np.sqrt(2), rtol=1e-2)
    assert found.redundant((0,)) in ({0: (1,)}, {1: (0,)})


def test_null_spaces():
    rng = np.random.default_rng(0)
    M, _ = mass_matrix(rng, 6)
    for mass in (None, M):
        K = constraints(rng, 5, 6, 3)
        Z = null_space(K, mass)
        assert Z.shape == (6, 3)
        np.testing.assert_allclose(K @ Z, 0, atol=1e-12)
        np.testing.assert_allclose(Z.T @ Z - np.eye(3), 0, atol=1e-12)


def test_independent_speeds_prefer_the_motors():
    K = np.array([[1.0, 1.0, 1e-3, 0.0], [0.0, 1.0, -1.0, 0.0]])
    assert 3 in independent_speeds(K)
    assert independent_speeds(K, [2, 3]) == (2, 3)
    assert independent_speeds(K, [0]) == (0, 3)
    assert len(independent_speeds(K, [0, 1, 2, 3])) == 2


def test_dependent_motors():
    K = np.array([[1.0, 1.0, 0.0, 0.0]])
    assert independent_speeds(K, [0, 1]) in ((0, 2, 3), (1, 2, 3))
    # more motors than motions: the best of them
    assert independent_speeds(np.eye(4)[:3], [1, 2, 3]) == (3,)
    with pytest.raises(ShapeError, match="different indices"):
        independent_speeds(K, [0, 0])


def test_rows_that_are_rounding_as_a_whole():
    """Of joints that hold nothing that others do not: no row is compared with the largest."""
    K = np.array([[3e-17, -1e-16, 0.0], [1e-16, 2e-17, 5e-18]])
    assert rank_analysis(K).rank == 0
    assert rank_analysis(1e6 * K).rank == 2


def test_without_constraints_or_speeds():
    found = rank_analysis(np.zeros((0, 3)))
    assert found.rank == 0
    assert found.redundant() == {}
    np.testing.assert_allclose(np.abs(null_space(np.zeros((0, 3)))), np.eye(3))
    assert independent_speeds(np.zeros((0, 2))) == (0, 1)
    assert rank_analysis(np.zeros((2, 0))).rank == 0
    assert independent_speeds(np.eye(3)) == ()
