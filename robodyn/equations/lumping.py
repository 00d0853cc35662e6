"""Inertias regrouped: what may be counted on the parent as well is moved there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn.equations.frames import FrameChoice, inverse_pose
from robodyn.symbolic.spatial import RigidInertia
from robodyn.symbolic.vector import Sym3, Vec3
from robodyn.topology import BodyInertia, SpanningTree

__all__ = ["lump", "moved", "pseudo_inertia", "rigid"]

Array = NDArray[np.float64]

#: Inertia components below this part of a body's largest are rounding noise.
NOISE = 1e-15


def pseudo_inertia(body: BodyInertia) -> Array:
    """``integral of [r; 1] [r; 1]^T dm``, shape (4, 4): it moves as ``X P X^T``."""
    P = np.empty((4, 4))
    P[:3, :3] = 0.5 * np.trace(body.I) * np.eye(3) - body.I
    P[:3, 3] = P[3, :3] = body.h
    P[3, 3] = body.mass
    return P


def moved(P: Array, X: Array) -> Array:
    """A pseudo-inertia of frame B in frame A, where ``X`` is ``X_AB``."""
    return np.asarray(X @ P @ X.T)


def lump(tree: SpanningTree, choice: list[FrameChoice], own: list[Array]) -> list[Array]:
    """Move to each parent what moves with it as well.

    A mass on the axis of a revolute joint belongs to either body (mass, its moment and second
    moment along the axis); so does the rotational inertia beyond a prismatic joint and a mass at
    the centre of a spherical one.
    """
    lumped = [P.copy() for P in own]
    for i in range(len(lumped) - 1, -1, -1):
        joint = tree.joints[i]
        shared = np.zeros((4, 4))
        P = lumped[i]
        kind = joint.joint.kind
        if kind == "fixed":
            shared = P.copy()
        elif kind in ("revolute", "continuous"):
            shared[2:, 2:] = P[2:, 2:]
        elif kind == "prismatic":
            shared[:3, :3] = P[:3, :3]
        elif kind in ("spherical", "universal") and not joint.reversed:
            shared[3, 3] = P[3, 3]
        lumped[i] = P - shared
        if joint.parent >= 0:
            X_PB = inverse_pose(choice[joint.parent].X_LB) @ joint.X_PJ @ choice[i].X_LB
            lumped[joint.parent] += moved(shared, X_PB)
    return lumped


def rigid(P: Array) -> RigidInertia:
    """Numbers without rounding noise."""
    second = 0.0 if not P.any() else NOISE * max(abs(P[:3, :3]).max(), 1e-300)
    first = NOISE * max(abs(P[:3, 3]).max(), abs(P[3, 3]), 1e-300)
    clean = [0.0 if abs(x) <= first else float(x) for x in P[:3, 3]]
    S = [
        0.0 if abs(P[i, j]) <= second else float(P[i, j])
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    ]
    return RigidInertia(float(P[3, 3]), Vec3(*clean), Sym3(*S))
