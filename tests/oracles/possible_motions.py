"""Dynamics in maximal coordinates by the motions that joints leave possible.

The equations of `oracles.maximal`, with the constraints solved first: their singular values are
seen as they are, where those of the whole system are about their squares. So this oracle still
knows near a singular posture what that one no longer tells from zero.
"""

from dataclasses import dataclass

import numpy as np

#: Singular values below this part of the largest one are zero.
ZERO = 1e-13


@dataclass(frozen=True)
class Possible:
    """Accelerations and forces.

    ``sizes`` are singular values of the constraints over the largest one. ``settled``: the torques
    of controlled speeds cannot be traded for wrenches in joints. ``residual`` is what is left of
    the constraints, zero if the accelerations that were given are possible.
    """

    a: np.ndarray
    tau: np.ndarray
    sizes: np.ndarray
    settled: bool
    residual: float

    @property
    def condition(self):
        """Of the constraints that count."""
        return 1.0 / float(self.sizes[self.sizes > ZERO].min())


def possible_motion(oracle, q, v, tau, a=None, controlled=()):
    """Hybrid dynamics: ``a`` counts for the controlled speeds, ``tau`` for the others."""
    _, (G, S, bias), (mass, loads) = oracle.equations(q, v)
    n, k, nv = len(loads), oracle.columns, oracle.nv
    given = np.zeros((len(controlled), n + k))
    given[np.arange(len(controlled)), n + np.array(controlled, int)] = 1.0
    rows = np.vstack([np.hstack([G, -S]), given])
    wanted = np.zeros(0) if a is None else np.asarray(a)[list(controlled)]
    right = np.concatenate([bias, wanted])
    U, sizes, Vh = np.linalg.svd(rows)
    rank = int(np.sum(sizes > ZERO * sizes[0]))
    least, free = Vh[:rank].T @ ((U[:, :rank].T @ right) / sizes[:rank]), Vh[rank:].T
    M, f = np.zeros((n + k, n + k)), np.concatenate([loads, tau, np.zeros(k - nv)])
    M[:n, :n] = mass
    f[n + np.array(controlled, int)] = 0.0
    x = least + free @ np.linalg.solve(free.T @ M @ free, free.T @ (f - M @ least))
    # M x - f = rows' forces
    forces = U[:, :rank] @ ((Vh[:rank] @ (M @ x - f)) / sizes[:rank])
    torques = np.array(tau, float)
    torques[list(controlled)] = forces[len(bias) :]
    settled = np.abs(U[len(bias) :, rank:]).max(initial=0.0) < 1e-7
    residual = float(np.abs(rows @ x - right).max())
    return Possible(x[n : n + nv], torques, sizes / sizes[0], bool(settled), residual)
