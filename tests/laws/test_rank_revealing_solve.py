"""Laws of the compiled solve that reveals the rank, over batches in which ranks are mixed."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from support.constraint_problems import constraints, mass_matrix
from support.examples import examples

from robodyn.closed_loops.solvers import constrained_accelerations, rank_analysis
from robodyn.codegen.llvm.programs.constrained_systems.system import METHODS
from robodyn.errors import SingularError

ALL = ("auto", *METHODS)


def system(rng, nv, nc, massless):
    """M, force, K, k and the rank of K: right sides that contradict each other."""
    rank = int(rng.integers(1, min(nv, nc) + 1))
    M, size = mass_matrix(rng, nv)
    K = constraints(rng, nc, nv, rank)
    if massless:  # as many speeds without mass as the constraints can hold
        light = np.linalg.qr(K.T)[0][:, : min(rank, nv - 1)]
        light = np.linalg.svd(K)[2][: min(rank, nv - 1)].T @ light.T @ light
        heavy = np.eye(nv) - light @ np.linalg.pinv(light)
        M = heavy @ (M / np.outer(size, size)) @ heavy
        size = np.ones(nv)
    return M, rng.normal(size=nv) * size, K * size, rng.normal(size=nc), rank


@st.composite
def batches(draw, massless=False):
    """Systems of one size and different ranks."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    nv, nc = draw(st.integers(2, 9)), draw(st.integers(1, 9))
    rows = [system(rng, nv, nc, massless) for _ in range(draw(st.integers(1, 5)))]
    return tuple(np.stack(part) for part in zip(*rows, strict=True))


def part(error, *terms):
    """Largest error (n, m) over the largest of the terms of each row of the batch."""
    size = sum(np.abs(t).reshape(len(error), -1).max(axis=-1) for t in terms)
    return float((np.abs(error).max(axis=-1) / size).max())


def mul(A, x):
    return np.einsum("nij,nj->ni", A, x)


# Matrices have condition numbers of 1e4 or so, squared at worst in what is compared: 1e-16 * 1e8.
BOUND = 1e-8


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("massless", (False, True))
@examples(40)
@given(st.data())
def test_motion_is_balanced_and_constraints_are_met_as_well_as_can_be(method, massless, data):
    M, force, K, k, ranks = data.draw(batches(massless))
    found = constrained_accelerations(M, force, K, k, method)
    Kt = np.swapaxes(K, 1, 2)
    inertia, reaction = mul(M, found.a), mul(Kt, found.multipliers)
    np.testing.assert_array_equal(found.rank, ranks)
    assert part(inertia - force - reaction, inertia, force, reaction) < BOUND
    # least squares: what is left of K a + k is orthogonal to all that K can do
    slack = mul(K, found.a) + k
    assert part(mul(Kt, slack), np.abs(Kt) @ np.abs(k)[..., None]) < BOUND
    # least norm: nothing in the multipliers that makes no force
    lam = mul(np.linalg.pinv(Kt, rcond=1e-9), reaction)
    assert part(found.multipliers - lam, lam) < BOUND


def test_the_rank_is_that_by_singular_values_but_near_the_tolerance():
    """Pivoting decides as singular values do, where these are a factor of 30 from the tolerance.

    The last pivot is larger than the singular value, by sqrt(n) or so for matrices that are not
    made for the worst, and the first one is smaller than the largest, by sqrt(n) at most.
    """
    rng = np.random.default_rng(0)
    looked_at = set()
    for _ in range(300):
        nc, nv = rng.integers(2, 8, 2)
        U, V = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (nc, nv))
        small = 10.0 ** rng.uniform(-14, -1, min(nc, nv) - 1)
        K = U[:, : len(small) + 1] * np.r_[1.0, small] @ V[: len(small) + 1]
        tolerance = 10.0 ** rng.uniform(-9, -3)
        values = rank_analysis(K, tolerance=tolerance).singular_values
        if (np.abs(np.log(values / values.max() / tolerance)) < np.log(30.0)).any():
            continue
        rank = int((values > tolerance * values.max()).sum())
        zero = np.zeros(nc), np.zeros(nv)
        found = constrained_accelerations(np.eye(nv), zero[1], K, zero[0], tolerance=tolerance)
        assert found.rank == rank
        looked_at.add((rank, min(nc, nv) - rank))
    assert len(looked_at) > 15


@pytest.mark.parametrize("method", METHODS)
@examples(20)
@given(st.integers(0, 2**31))
@example(676799093)  # a massless speed behind a small pivot, which leaves rounding beyond 1e-13
def test_motions_without_positive_inertia_are_named_by_every_method(method, seed):
    """Rows of a batch where a motion that is left moves no mass, or less than none."""
    rng = np.random.default_rng(seed)
    nv = int(rng.integers(2, 8))
    rank = int(rng.integers(0, nv - 1))
    rows, bad = [], []
    for row in range(6):
        K = constraints(rng, max(rank, 1), nv, rank)
        Z = np.linalg.svd(K)[2][rank:].T
        inertia = 10.0 ** rng.uniform(-1, 1, nv - rank)
        fault = rng.choice(["none", "massless speed", "negative"])
        if fault == "negative":
            inertia[rng.integers(nv - rank)] = -1.0
        M = np.eye(nv) + Z @ np.diag(inertia - 1.0) @ Z.T
        if fault == "massless speed":
            speed = rng.integers(nv)
            M[speed], M[:, speed], K[:, speed] = 0.0, 0.0, 0.0
        if fault != "none":
            bad.append(row)
        rows.append((M, K))
    M, K = (np.stack(part) for part in zip(*rows, strict=True))
    force, k = np.ones((6, nv)), np.zeros((6, K.shape[1]))
    if not bad:
        constrained_accelerations(M, force, K, k, method)
        return
    with pytest.raises(SingularError) as caught:
        constrained_accelerations(M, force, K, k, method)
    assert list(caught.value.rows) == bad


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_rounding_is_not_magnified_by_light_motions_that_the_constraints_hold(method):
    """Their inertia is rounding of zero: of either sign, and some of it passes for a pivot."""
    rng = np.random.default_rng(0)
    for _ in range(3000):
        nv, nc = rng.integers(2, 10, 2)
        M, force, K, k, _ = system(rng, int(nv), int(nc), massless=True)
        found = constrained_accelerations(M, force, K, k, method)
        inertia, reaction = M @ found.a, K.T @ found.multipliers
        size = np.abs(np.stack([inertia, force, reaction])).max()
        assert np.abs(inertia - force - reaction).max() < 1e-10 * size
        least = np.linalg.pinv(K.T, rcond=1e-9) @ reaction
        assert np.abs(found.multipliers - least).max() < 1e-10 * np.abs(least).max()
        assert np.abs(K.T @ (K @ found.a + k)).max() < 1e-10 * (np.abs(K.T) @ np.abs(k)).max()


@examples(30)
@given(batches(), st.integers(0, 2**31))
def test_speeds_that_are_not_free_accelerate_as_given(batch, seed):
    """The same as a system of the free speeds alone, with what the others do on the right."""
    M, x, K, k, _ = batch
    nv = K.shape[-1]
    rng = np.random.default_rng(seed)
    held = rng.permutation(nv)[: rng.integers(0, nv)]
    free = np.setdiff1d(np.arange(nv), held)
    for method in METHODS:
        found = constrained_accelerations(M, x, K, k, method, free=free)
        np.testing.assert_array_equal(found.a[:, held], x[:, held])
        force = x[:, free] - mul(M[:, free[:, None], held], x[:, held])
        right = k + mul(K[:, :, held], x[:, held])
        alone = constrained_accelerations(
            M[:, free[:, None], free], force, K[:, :, free], right, method
        )
        assert part(found.a[:, free] - alone.a, alone.a, x) < BOUND
        assert part(found.multipliers - alone.multipliers, alone.multipliers, x) < BOUND
        np.testing.assert_array_equal(found.rank, alone.rank)
