"""Dynamics of a linkage whose mobility is known, whatever its last digits say of it.

The equations of `oracles.maximal`, solved without a tolerance for the rank: of the constraints of
all joints as many are independent as the known mobility leaves, and those that are independent by
the least singular values beyond that are none. So a linkage written with few digits can be solved
as the one that is meant, too, and the difference says how much the digits matter.
"""

from dataclasses import dataclass

import numpy as np
from oracles.maximal import MaximalOracle


@dataclass(frozen=True)
class State:
    """What the equations say at a state.

    Attributes
    ----------
    a : ndarray, shape (nv,)
    wrenches : dict of str to ndarray, shape (6,)
        As in `oracles.maximal.Solution`, those of least norm.
    unique : dict of str to ndarray of bool, shape (6,)
        Which components of them the equations settle.
    margin : float
        The least singular value that counts, of the largest.
    """

    a: np.ndarray
    wrenches: dict[str, np.ndarray]
    unique: dict[str, np.ndarray]
    margin: float


@dataclass(frozen=True)
class Motion:
    """Positions and speeds at times, and the least margin on the way."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    margin: float


class KnownMobility:
    """A mechanism of ``dof`` degrees of freedom, those of a floating base included."""

    def __init__(self, mechanism, dof, gravity=(0.0, 0.0, -9.81), base="fixed", cut=None):
        self.oracle, self.dof = MaximalOracle(mechanism, gravity, base, cut), dof
        self.nq, self.nv = self.oracle.nq, self.oracle.nv
        self.coordinates = {e.joint.name: (e.q, e.v) for e in self.oracle.edges}
        self.rank = self.nv - dof

    # ---- positions and speeds

    def gap(self, q):
        """The largest gap of a loop [m, rad]."""
        return float(np.abs(self.oracle.loop_errors(q, np.zeros(self.nv))[0]).max(initial=0.0))

    def closed(self, q, held=()):
        """Posture near ``q`` that closes the loops as well as can be; ``held`` speeds stay."""
        free, best = np.setdiff1d(np.arange(self.nv), list(held)), np.inf
        for _ in range(30):
            gap = self.oracle.loop_errors(q, np.zeros(self.nv))[0]
            d = np.zeros(self.nv)
            d[free] = -_inverse(self._slopes(q)[:, free], self.rank) @ gap
            size = np.abs(d).max(initial=0.0)
            if size > 0.5 * best and size < 1e-9:
                break
            best = min(best, size)
            q = self.advanced(q, d / max(1.0, size / 0.2))
            if size < 1e-13:
                break
        return q

    def _slopes(self, q):
        """Rates of the gaps for unit speeds of the tree, (6 loops, nv)."""
        links, (G, S, _), _ = self.oracle.equations(q, np.zeros(self.nv))
        n, nv = G.shape[1], self.nv
        twists = np.linalg.solve(G[:n], S[:n, :nv])
        rows = []
        for k, edge in enumerate(self.oracle.cuts):
            own = slice(n + 6 * k, n + 6 * k + 6)
            J, T = G[own] @ twists, S[own, edge.v]
            J = J - T @ np.linalg.pinv(T) @ J
            rows.append(np.kron(np.eye(2), links[edge.parent].R_WB.T) @ J)
        return np.concatenate([np.zeros((0, nv)), *rows])

    def tangents(self, q):
        """Independent possible speeds (nv, dof), of length one, and the margin."""
        _, (G, S, _), _ = self.oracle.equations(q, np.zeros(self.nv))
        A = np.hstack([G, -S])
        _, sizes, Vh = np.linalg.svd(A)
        rank = A.shape[1] - self.dof
        speeds = Vh[rank:, G.shape[1] : G.shape[1] + self.nv].T
        margin = sizes[rank - 1] / sizes[0] if rank else 1.0
        return np.linalg.qr(speeds)[0] if self.dof else speeds, float(margin)

    def surplus(self, q):
        """Largest singular value that does not count, of the largest: zero in an exact geometry."""
        _, (G, S, _), _ = self.oracle.equations(q, np.zeros(self.nv))
        A = np.hstack([G, -S])
        sizes = np.linalg.svd(A, compute_uv=False)
        return float(sizes[A.shape[1] - self.dof :].max(initial=0.0) / sizes[0])

    def possible(self, q, v):
        """Speeds nearest to ``v`` that keep the loops closed."""
        N = self.tangents(q)[0]
        return N @ (N.T @ v)

    def rate(self, q, v):
        """Rates of the coordinates."""
        dq = np.zeros(self.nq)
        for edge in self.oracle.edges:
            own, speed = q[edge.q], v[edge.v]
            if edge.joint.kind in ("spherical", "floating"):
                x, w, turn = own[-4:-1], own[-1], speed[-3:]
                dq[edge.q][-4:] = 0.5 * np.array([*(w * turn + np.cross(x, turn)), -(x @ turn)])
                if edge.joint.kind == "floating":
                    dq[edge.q][:3] = _turned(own[-4:], speed[:3])
            else:
                assert len(own) == len(speed) != 3
                dq[edge.q] = speed
        return dq

    def advanced(self, q, dv):
        """Posture reached by a small motion, exact to second order."""
        middle = _normalised(self.oracle, q + 0.5 * self.rate(q, dv))
        return _normalised(self.oracle, q + self.rate(middle, dv))

    # ---- dynamics

    def solve(self, q, v, tau, tau_cut=None):
        """Accelerations and wrenches under the forces of joints ``tau``, (nv,)."""
        oracle = self.oracle
        links, (G, S, bias), (mass, loads) = oracle.equations(q, v)
        A = np.hstack([G, -S])
        n, rank = G.shape[1], A.shape[1] - self.dof
        drives = np.zeros(S.shape[1])
        drives[: self.nv] = tau
        U, sizes, Vh = np.linalg.svd(A)
        N, inverse = Vh[rank:].T, Vh[:rank].T / sizes[:rank]
        x = inverse @ (U[:, :rank].T @ bias)
        M = N[:n].T @ mass @ N[:n]
        f = N[:n].T @ (loads - mass @ x[:n]) + N[n:].T @ drives
        if self.dof:
            x = x + N @ np.linalg.solve(M, f)
        F = U[:, :rank] @ (inverse.T @ np.concatenate([mass @ x[:n] - loads, -drives]))
        named = oracle._named(links, x[:n], F, U[:, rank:])
        wrenches = {**named["joint_wrenches"], "base": named["base_wrench"]}
        return State(
            x[n : n + self.nv], wrenches, named["unique"], float(sizes[rank - 1] / sizes[0])
        )

    def motion(self, q, v, tau, duration, steps):
        """The motion under constant forces of joints, by the method of Runge and Kutta."""
        h, states, margin = duration / steps, [(q, v)], np.inf

        def slope(q, v):
            q = _normalised(self.oracle, q)
            return self.rate(q, v), self.solve(q, v, tau)

        for _ in range(steps):
            k1, s1 = slope(q, v)
            k2, s2 = slope(q + 0.5 * h * k1, v + 0.5 * h * s1.a)
            k3, s3 = slope(q + 0.5 * h * k2, v + 0.5 * h * s2.a)
            k4, s4 = slope(q + h * k3, v + h * s3.a)
            q = _normalised(self.oracle, q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
            v = v + h / 6 * (s1.a + 2 * s2.a + 2 * s3.a + s4.a)
            margin = min(margin, s1.margin)
            states.append((q, v))
        times = h * np.arange(steps + 1)
        return Motion(times, *(np.array(x) for x in zip(*states, strict=True)), margin)


def _inverse(K, rank):
    """Pseudo-inverse of a matrix of known rank."""
    U, sizes, Vh = np.linalg.svd(K)
    rank = min(rank, int((sizes > 0.0).sum()))
    return Vh[:rank].T @ (U[:, :rank].T / sizes[:rank, None])


def _turned(quat_xyzw, d):
    x, w = quat_xyzw[:3], quat_xyzw[3]
    return d + 2.0 * np.cross(x, np.cross(x, d) + w * d)


def _normalised(oracle, q):
    q = np.array(q, float)
    for edge in oracle.edges:
        if edge.joint.kind in ("spherical", "floating"):
            own = slice(edge.q.stop - 4, edge.q.stop)
            q[own] /= np.linalg.norm(q[own])
    return q
