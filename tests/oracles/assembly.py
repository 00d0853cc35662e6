"""Postures and speeds of closed mechanisms that close their loops, by Newton's method."""

import numpy as np


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
