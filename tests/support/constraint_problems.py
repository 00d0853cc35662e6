"""Random constraint problems, and the dense systems that say what is right."""

import numpy as np


def mass_matrix(rng, nv):
    """Symmetric positive definite, inertias between 1e-2 and 1e2; and their square roots."""
    A = rng.normal(size=(nv, nv))
    size = 10.0 ** rng.uniform(-1, 1, nv)
    return size[:, None] * (A @ A.T / max(nv, 1) + 0.3 * np.eye(nv)) * size, size


def constraints(rng, nc, nv, rank, *, spread=0.0, zeros=0):
    """Jacobian (nc + zeros, nv) of that rank: combined rows, scaled 10**+-spread, zero rows."""
    K = rng.normal(size=(rank, nv))
    if rank < nc:
        mixed = rng.normal(size=(nc - rank, rank))
        if rank:
            mixed[0] = np.eye(rank)[0]  # a duplicate
        K = np.concatenate([K, mixed @ K])
    K = np.concatenate([K, np.zeros((zeros, nv))])
    K = K[rng.permutation(nc + zeros)]
    return K * 10.0 ** rng.uniform(-spread, spread, (nc + zeros, 1))


def problem(rng, nc, nv, rank, **kwargs):
    """Mass matrix, force, Jacobian, consistent right side."""
    M, size = mass_matrix(rng, nv)
    K = constraints(rng, nc, nv, rank, **kwargs) * size
    return M, rng.normal(size=nv) * size, K, -K @ (rng.normal(size=nv) / size)


def derivative(function, x):
    """Jacobian of a function of an array, by complex step."""
    columns = [function(x + 1e-30j * e).imag / 1e-30 for e in np.eye(len(x))]
    return np.stack(columns, axis=-1)
