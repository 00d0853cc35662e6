"""Speeds and multipliers are eliminated in turn: the solution is that of the whole system."""

import numpy as np
import pytest

from robodyn.equations.elimination.constrained import FreeSystem, RowGroup, guarded_inverse
from robodyn.equations.elimination.elimination import Factors
from robodyn.symbolic.constraint_row import Row

#: Joint on which each joint of two legs hangs.
PARENTS = (-1, 0, 1, 2, 2, 4, 1, 6, 7, 7, 9)


def ancestors(k):
    while k >= 0:
        yield k
        k = PARENTS[k]


def mass_matrix(rng):
    """A positive definite one with the zeros of the tree."""
    n = len(PARENTS)
    M = np.zeros((n, n))
    for k in range(n):  # each body adds to the joints that carry it
        on = list(ancestors(k))
        A = rng.normal(size=(len(on), 6))
        M[np.ix_(on, on)] += A @ A.T
    return M


def inverse_of_speed(k, pivot):
    return 1.0 / pivot


def solve(M, force, rows, of_speed, of_row):
    return Factors(M, rows, of_speed, of_row).solve(force, [row.bias for row in rows])


@pytest.mark.parametrize(
    "supports",
    [
        [],
        [(3, 4)],
        [(3, 4, 5), (3, 4, 5), (8, 9, 10)],
        [(0, 1), (2, 6), (3, 7, 10), (5,), (3, 4, 5, 8)],  # through the root, and from leg to leg
    ],
)
def test_the_solution_is_that_of_the_whole_system(supports):
    rng = np.random.default_rng(len(supports))
    M, force, n = mass_matrix(rng), rng.normal(size=len(PARENTS)), len(PARENTS)
    K, bias = np.zeros((len(supports), n)), rng.normal(size=len(supports))
    for row, support in zip(K, supports, strict=True):
        row[list(support)] = rng.normal(size=len(support))
    rows = [
        Row(0.0, {k: float(x) for k, x in enumerate(slopes) if x}, float(k))
        for slopes, k in zip(K, bias, strict=True)
    ]
    factors = Factors(M.tolist(), rows, inverse_of_speed, guarded_inverse)
    factors.solve([2.0] * n, [1.0] * len(rows))  # another right side changes nothing
    a, lam = factors.solve(force.tolist(), bias.tolist())
    whole = np.block([[M, -K.T], [K, np.zeros((len(rows), len(rows)))]])
    expected = np.linalg.solve(whole, np.concatenate([force, -bias]))
    np.testing.assert_allclose([*a, *lam], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("copies", [0, 1])
def test_the_energy_of_rates_is_that_of_the_motion_with_least(copies):
    """Also where the last row is there twice."""
    rng = np.random.default_rng(3)
    M, K = mass_matrix(rng), np.zeros((3, len(PARENTS)))
    for row, support in zip(K, [(3, 4, 5), (8, 9, 10), (3, 7, 10)], strict=True):
        row[list(support)] = rng.normal(size=len(support))
    rates = rng.normal(size=3)
    v = np.linalg.solve(M, K.T) @ np.linalg.solve(K @ np.linalg.solve(M, K.T), rates)
    again = [*range(3), *[2] * copies]
    rows = [Row(0.0, {k: float(x) for k, x in enumerate(K[n]) if x}, 0.0) for n in again]
    groups = [RowGroup(1, (1.0, 1.0))] * copies
    system = FreeSystem(M.tolist(), rows, range(len(PARENTS)), {}, groups)
    found = system.energy(rates[again].tolist())
    np.testing.assert_allclose(K @ v, rates, rtol=1e-9)
    np.testing.assert_allclose(found, v @ M @ v, rtol=1e-9)
