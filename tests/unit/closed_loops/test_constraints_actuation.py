"""Motor torques of closed linkages, and hybrid roles with loops (R-CV5)."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.constraint_problems import problem
from support.examples import examples

from robodyn.closed_loops.solvers import (
    actuate,
    constrained_accelerations,
    constrained_hybrid,
    independent_speeds,
    null_space,
)
from robodyn.errors import ActuationError


@st.composite
def problems(draw):
    nv = draw(st.integers(2, 7))
    nc = draw(st.integers(0, 6))
    rank = draw(st.integers(0, min(nc, nv - 1)))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    return (*problem(rng, nc, nv, rank), rank, rng)


@examples(100)
@given(problems(), st.integers(0, 3))
def test_torques_produce_the_motion_and_are_least(drawn, more):
    """Inverse after forward dynamics; with more motors than motions the least torques."""
    M, force, K, k, _, rng = drawn
    motors = np.array(independent_speeds(K, M=M), int)
    rest = np.setdiff1d(np.arange(len(M)), motors)
    motors = np.sort(np.concatenate([motors, rng.permutation(rest)[:more]]))
    a = constrained_accelerations(M, force, K, k).a
    g = M @ a - force  # inertia and h with tau = 0 included
    tau, multipliers = actuate(g, K, motors)
    size = np.abs(g).max()
    np.testing.assert_allclose(tau + K.T @ multipliers, g, atol=1e-9 * size)
    others = np.setdiff1d(np.arange(len(M)), motors)
    assert (tau[others] == 0).all()

    Z = null_space(K)
    least = np.linalg.lstsq(Z[motors].T, Z.T @ g, rcond=1e-12)[0]
    np.testing.assert_allclose(tau[motors], least, atol=1e-6 * size)
    lam = np.linalg.lstsq(K.T, g - tau, rcond=1e-11)[0]
    np.testing.assert_allclose(multipliers, lam, atol=1e-6 * size)


def test_missing_motor():
    K = np.array([[1.0, 1.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0]])
    g = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 3.0]])
    assert actuate(g[0], K, [2])[0].tolist() == [0, 0, 1, 0]
    with pytest.raises(ActuationError, match="row 1 of the batch") as caught:
        actuate(g, K, [0, 2])
    np.testing.assert_allclose(np.abs(caught.value.direction), [0, 0, 0, 1], atol=1e-12)
    with pytest.raises(ActuationError, match=r"motors at the speeds \[2\]") as caught:
        actuate([1.0, 0.0, 0.0, 0.0], K, [2])
    direction = caught.value.direction
    np.testing.assert_allclose(K @ direction, 0, atol=1e-12)
    assert direction[2] == pytest.approx(0)
    assert abs(direction @ [1, 0, 0, 0]) > 0.1
    with pytest.raises(ActuationError):
        actuate([1.0, 0.0, 0.0, 0.0], K, [])


@examples(100)
@given(problems(), st.data())
def test_hybrid_agrees_with_forward_dynamics(drawn, data):
    """Any speeds controlled, along a motion that the loops allow."""
    M, force, K, k, _, rng = drawn
    nv = len(M)
    c = np.array(sorted(data.draw(st.sets(st.integers(0, nv - 1)))), int)
    f = np.setdiff1d(np.arange(nv), c)
    forward = constrained_accelerations(M, force, K, k)
    h = rng.normal(size=nv)
    tau = force + h
    found = constrained_hybrid(M, h, K, k, c, forward.a[c], tau[f])
    size = np.abs(M @ forward.a).max() + np.abs(tau).max()
    scale = np.abs(forward.a).max()
    np.testing.assert_allclose(found.a, forward.a, atol=1e-6 * scale)
    np.testing.assert_array_equal(found.tau[f], tau[f])
    balance = M @ found.a + h - found.tau - K.T @ found.multipliers
    np.testing.assert_allclose(balance, 0, atol=1e-7 * size)
    terms = np.abs(K) @ np.abs(found.a) + np.abs(k)
    assert (np.abs(K @ found.a + k) <= 1e-8 * terms.max(initial=0.0)).all()
    assert np.linalg.norm(found.tau[c]) <= np.linalg.norm(tau[c]) * (1 + 1e-6) + 1e-9
    # least torques, then least multipliers
    _check_least(K, c, f, found, size)


def _check_least(K, c, f, found, size):
    """Stationary: no change of lam that free speeds do not feel makes tau_c or lam less."""
    U, values, _ = np.linalg.svd(K[:, f]) if len(f) else (np.eye(len(K)), np.zeros(0), None)
    N = U[:, (values > 1e-9).sum() :]
    if not (N.size and len(c)):
        return
    felt = K[:, c].T @ N
    assert np.abs(felt.T @ found.tau[c]).max() < 1e-6 * size
    _, values, Vt = np.linalg.svd(felt)
    idle = N @ Vt[(values > 1e-9).sum() :].T
    np.testing.assert_allclose(idle.T @ found.multipliers, 0, atol=1e-6 * size)


def test_rounding_is_not_a_missing_motor():
    K = np.zeros((0, 2))
    g = np.array([1e-15, 2e-15])
    with pytest.raises(ActuationError):
        actuate(g, K, [0])
    assert actuate(g, K, [0], scale=10.0)[0].tolist() == [1e-15, 0]
