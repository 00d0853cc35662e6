"""Laws of the compiled solve that reveals the rank, over batches in which ranks are mixed."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

import numpy as np
import pytest
from constraint_problems import constraints, mass_matrix
from hypothesis import given, settings
from hypothesis import strategies as st

from robodyn.closed_loops.solvers import constrained_accelerations, rank_analysis, solve
from robodyn.closed_loops.solvers.compiled_solve import METHODS, room, solve_batch

ALL = ("auto", *METHODS)


@functools.cache
def solve_loops():
    """The machine code, compiled if it has to be."""
    return solve._machine_code()


@st.composite
def batches(draw, massless=False):
    """M, force, K, k and the ranks of K: right sides that contradict each other."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    nv, nc = draw(st.integers(2, 9)), draw(st.integers(1, 9))
    rows, ranks = [], []
    for _ in range(draw(st.integers(1, 5))):
        rank = int(rng.integers(1, min(nv, nc) + 1))
        M, size = mass_matrix(rng, nv)
        K = constraints(rng, nc, nv, rank)
        if massless:  # as many speeds without mass as the constraints can hold
            light = np.linalg.qr(K.T)[0][:, : min(rank, nv - 1)]
            light = np.linalg.svd(K)[2][: min(rank, nv - 1)].T @ light.T @ light
            heavy = np.eye(nv) - light @ np.linalg.pinv(light)
            M = heavy @ (M / np.outer(size, size)) @ heavy
            size = np.ones(nv)
        rows.append((M, rng.normal(size=nv) * size, K * size, rng.normal(size=nc)))
        ranks.append(rank)
    return *(np.stack(part) for part in zip(*rows, strict=True)), np.array(ranks)


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
@settings(max_examples=40, deadline=None)
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


@settings(max_examples=20, deadline=None)
@given(batches(), st.integers(0, len(METHODS) - 1))
def test_machine_code_does_what_python_does(batch, method):
    solve._solver._code = solve_loops()
    M, force, K, k, _ = batch
    n, nc, nv = K.shape
    numbers, integers = room(nv, nc)
    a, lam, residual = np.zeros(n * nv), np.zeros(n * nc), np.zeros(n)
    status, rank = np.zeros(n, int), np.zeros(n, int)
    sizes = [n, nv, nc, nv, method, nv * nv, nv, nc * nv, nc]
    given_ = [x.ravel() for x in (M, force, K, k)]
    reals = [*given_, a, lam, residual, np.zeros(numbers)]
    solve_batch(sizes, 1e-9, reals, [np.arange(nv), status, rank, np.zeros(integers, int)])
    found = constrained_accelerations(M, force, K, k, METHODS[method])
    np.testing.assert_array_equal(found.rank, rank)
    # the same operations, fused or not
    assert part(found.a - a.reshape(n, nv), found.a) < BOUND
    assert part(found.multipliers - lam.reshape(n, nc), found.multipliers) < BOUND


def test_loops_are_compiled_when_there_is_much_to_solve_and_once(tmp_path):
    code = (
        "import sys, numpy as np, robodyn as rd; robot = rd.load('four_bar'); q = robot.neutral();"
        "x = np.zeros(robot.nv); robot.forward_dynamics(q, x, x);"
        "few = robot.constrained_dynamics(q, x, x).a; print('numba' in sys.modules);"
        "x = np.zeros((2000, robot.nv)); many = robot.constrained_dynamics(q, x, x).a;"
        "print('numba' in sys.modules, bool(np.abs(many - few).max() < 1e-9 * np.abs(few).max()))"
    )
    environment = {**os.environ, "ROBODYN_CACHE_DIR": str(tmp_path)}
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            check=True, capture_output=True, text=True, env=environment,
        ).stdout.split()
        for _ in range(2)
    ]  # fmt: skip
    assert printed == [["False", "True", "True"], ["False", "False", "True"]]


def test_what_python_cannot_go_on_with_is_left_to_machine_code(monkeypatch):
    """An infinite number is an error for Python only."""
    solver = solve._Solver()

    def stops(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(solve, "_solver", solver)
    solver._looked = True  # nothing is kept
    with monkeypatch.context() as patched:
        patched.setattr(solve, "solve_batch", stops)
        patched.setattr(solve, "_machine_code", lambda: compiled_code)
        compiled_code = solve_loops()
        found = constrained_accelerations(np.eye(2), [1, 2], [[1, 0]], [0])
    np.testing.assert_allclose(found.a, [0, 2], atol=1e-15)
