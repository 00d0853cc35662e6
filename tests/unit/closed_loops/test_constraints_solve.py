"""Accelerations and multipliers against the whole dense system."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.constraint_problems import problem
from support.examples import examples

from robodyn.closed_loops.solvers import constrained_accelerations, solve
from robodyn.errors import ShapeError, UnknownNameError

METHODS = ("kkt", "schur", "nullspace", "partition")


@st.composite
def sizes(draw):
    nv = draw(st.integers(1, 8))
    nc = draw(st.integers(0, 8))
    return nc, nv, draw(st.integers(0, min(nc, nv))), draw(st.integers(0, 2**31))


@examples(100)
@given(sizes())
def test_scales_of_rows_do_not_disturb_the_accelerations(drawn):
    nc, nv, rank, seed = drawn
    rng = np.random.default_rng(seed)
    M, force, K, k = problem(rng, nc, nv, rank)
    s = 10.0 ** rng.uniform(-3, 3, nc)
    plain = constrained_accelerations(M, force, K, k)
    answers = [
        constrained_accelerations(M, force, s[:, None] * K, s * k, method) for method in METHODS
    ]
    for found in answers:
        scale = np.abs(plain.a).max(initial=1.0)
        assert found.rank == rank
        np.testing.assert_allclose(found.a, plain.a, rtol=0, atol=1e-7 * scale)
        lam = answers[0].multipliers
        size = np.abs(lam).max(initial=1.0)
        np.testing.assert_allclose(found.multipliers, lam, rtol=0, atol=1e-7 * size)
    # least 2-norm: orthogonal to the multipliers that make no force
    free = np.linalg.svd(K / np.sqrt(np.diag(M)))[0][:, rank:] / s[:, None]
    free = free / np.linalg.norm(free, axis=0)
    assert np.abs(free.T @ lam).max(initial=0.0) < 1e-7 * size


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sizes", [(3, 5, 0), (3, 5, 2), (4, 4, 4), (0, 3, 0), (6, 2, 1)])
def test_results_do_not_depend_on_what_memory_held_before(method, sizes):
    given_ = problem(np.random.default_rng(1), *sizes)
    first = constrained_accelerations(*given_, method)
    nv, nc = given_[0].shape[0], given_[2].shape[0]
    memory, _ = solve._workspaces._arrays[nv, nc]
    for rest in (np.nan, 1e9):
        memory[:] = rest
        again = constrained_accelerations(*given_, method)
        np.testing.assert_array_equal(again.a, first.a)
        np.testing.assert_array_equal(again.multipliers, first.multipliers)


def test_bad_arguments():
    with pytest.raises(UnknownNameError, match="there are: auto, kkt"):
        constrained_accelerations(np.eye(2), [0, 0], [[1, 0]], [0], "lu")
    with pytest.raises(ShapeError, match="k has shape"):
        constrained_accelerations(np.eye(2), [0, 0], [[1, 0]], [0, 1])
    with pytest.raises(ShapeError, match="not finite"):
        constrained_accelerations(np.eye(2), [0, np.nan], [[1, 0]], [0])
    with pytest.raises(ShapeError, match="do not broadcast"):
        constrained_accelerations(np.eye(2), np.zeros((3, 2)), np.zeros((2, 1, 2)), [0])
    with pytest.raises(ShapeError, match="an array of real numbers"):
        constrained_accelerations("M", [0, 0], [[1, 0]], [0])
