"""Postures and speeds of closed mechanisms that close their loops, by Newton's method."""

import numpy as np

#: Singular values below this part of the largest belong to redundant constraints.
RANK = 1e-8


def advanced(oracle, q, dv):
    """Posture that is reached from ``q`` by the motion ``dv``, (nv,), exact to second order."""
    q = np.array(q, float)
    for edge in oracle.edges:
        if edge.joint.mimic is not None:
            continue
        own, d = q[edge.q], dv[edge.v]
        if edge.joint.kind == "spherical":
            half = 0.5 * d
            angle = np.linalg.norm(half)
            s = np.sinc(angle / np.pi) * half
            c, x, w = np.cos(angle), own[:3], own[3]
            q[edge.q] = [*(w * s + c * x + np.cross(x, s)), w * c - x @ s]
        else:
            assert len(own) == len(d) != 3, f"joint {edge.joint.name!r} is a {edge.joint.kind} one"
            q[edge.q] = own + d
    return q


def constraint_matrix(oracle, q):
    """Rates of the gaps of all loops for unit speeds of the tree."""
    return np.array([oracle.loop_errors(q, unit)[1] for unit in np.eye(oracle.nv)]).T


def assembled(oracle, q, held=()):
    """Posture near ``q`` with all loops closed, in which the speeds ``held`` have not moved."""
    free = np.setdiff1d(np.arange(oracle.nv), list(held))
    for _ in range(100):
        gap = oracle.loop_errors(q, np.zeros(oracle.nv))[0]
        if np.abs(gap).max(initial=0.0) < 1e-14:
            break
        d = np.zeros(oracle.nv)
        d[free] = -np.linalg.pinv(constraint_matrix(oracle, q)[:, free], RANK) @ gap
        q = advanced(oracle, q, d / max(1.0, np.abs(d).max() / 0.3))
    gap = oracle.loop_errors(q, np.zeros(oracle.nv))[0]
    assert np.abs(gap).max(initial=0.0) < 1e-12, f"no posture found: {np.abs(gap).max()}"
    return q
