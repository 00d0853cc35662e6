"""Inertias regrouped: what may be counted on the parent as well is moved there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.pose import inverse_pose
from robodyn.joints.common.kind import JointGeometry
from robodyn.symbolic.spatial import RigidInertia
from robodyn.symbolic.vector import Sym3, Vec3
from robodyn.tolerances import LUMPED_INERTIA, SYMMETRIC_INERTIA
from robodyn.topology.body_inertia import BodyInertia
from robodyn.topology.spanning_tree import SpanningTree

__all__ = ["lump", "moved", "pseudo_inertia", "rigid"]


class Framed(Protocol):
    """What has a joint and a frame, as a body has."""

    @property
    def joint(self) -> JointGeometry:
        """The joint that moves it."""

    @property
    def X_LB(self) -> FloatArray:
        """Frame of the equations in that of the spanning tree."""


def pseudo_inertia(body: BodyInertia) -> FloatArray:
    """``integral of [r; 1] [r; 1]^T dm``, shape (4, 4): it moves as ``X P X^T``."""
    P = np.empty((4, 4))
    P[:3, :3] = 0.5 * np.trace(body.I) * np.eye(3) - body.I
    P[:3, 3] = P[3, :3] = body.h
    P[3, 3] = body.mass
    return P


def moved(P: FloatArray, X: FloatArray) -> FloatArray:
    """A pseudo-inertia of frame B in frame A, where ``X`` is ``X_AB``."""
    return np.asarray(X @ P @ X.T)


def lump(
    tree: SpanningTree, choice: Sequence[Framed], own: Sequence[FloatArray]
) -> tuple[list[FloatArray], dict[int, Any]]:
    """Move to each parent what moves with it as well.

    A mass on the axis of a revolute joint belongs to either body (mass, its moment and second
    moment along the axis); so does the rotational inertia beyond a prismatic joint and a mass at
    the centre of a spherical one. A last body that is symmetric about its axis is a rotor: the
    parent has all of it but the spin [Sayers 19].

    Where there are rows of several robots, a last body is a rotor if it is one in all of them.

    Returns
    -------
    lumped : list of ndarray, shape (4, 4) or (robots, 4, 4)
        Pseudo-inertia of each body.
    spinning : dict of int to float or ndarray, shape (robots,) [kg m^2]
        Inertia about the axis of the bodies that are rotors.
    """
    lumped = list(own)
    spinning: dict[int, Any] = {}
    parents = {joint.parent for joint in tree.joints}
    for i in range(len(lumped) - 1, -1, -1):
        joint = tree.joints[i]
        P = lumped[i]
        shared = np.zeros(P.shape)
        kind = choice[i].joint.kind
        unmoved: Any = (..., *np.ix_(kind.unmoved, kind.unmoved))
        shared[unmoved] = P[unmoved]
        if kind.is_pin and i not in parents and not joint.follows and _symmetric(P):
            half = 0.5 * (P[..., 0, 0] + P[..., 1, 1])
            shared[..., 0, 0] = shared[..., 1, 1] = half
            spinning[i] = 2.0 * (half if half.ndim else float(half))
            P = shared
        lumped[i] = P - shared
        if joint.parent >= 0:
            X_PB = inverse_pose(choice[joint.parent].X_LB) @ joint.X_PJ @ choice[i].X_LB
            lumped[joint.parent] = lumped[joint.parent] + moved(shared, X_PB)
    return lumped, {i: inertia for i, inertia in spinning.items() if np.any(inertia)}


def _symmetric(P: FloatArray) -> bool:
    """Nothing of the body turns with its angle about z."""
    if P.ndim > 2:
        return all(map(_symmetric, P))
    beside = (P[0, 0] - P[1, 1], P[0, 1], P[0, 2], P[1, 2])
    size = np.abs(P).max()
    return bool(max(map(abs, (*beside, P[0, 3], P[1, 3]))) <= SYMMETRIC_INERTIA * size)


def rigid(P: FloatArray) -> RigidInertia:
    """Numbers without rounding noise; arrays of numbers where there are rows of several robots."""
    if P.ndim > 2:
        return _rigid_rows(P)
    second = 0.0 if not P.any() else LUMPED_INERTIA * max(abs(P[:3, :3]).max(), 1e-300)
    first = LUMPED_INERTIA * max(abs(P[:3, 3]).max(), abs(P[3, 3]), 1e-300)
    clean = [0.0 if abs(x) <= first else float(x) for x in P[:3, 3]]
    S = [0.0 if abs(P[i, j]) <= second else float(P[i, j]) for i, j in _SECOND]
    return RigidInertia(float(P[3, 3]), Vec3(*clean), Sym3(*S))


#: Where second moments stand in a pseudo-inertia.
_SECOND = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def _rigid_rows(P: FloatArray) -> RigidInertia:
    size = np.abs(P)
    second = LUMPED_INERTIA * size[:, :3, :3].max(axis=(1, 2))
    first = LUMPED_INERTIA * np.maximum(size[:, :3, 3].max(axis=1), size[:, 3, 3])

    def clean(i: int, j: int, least: FloatArray) -> Any:
        x = np.where(size[:, i, j] <= least, 0.0, P[:, i, j])
        return x if x.any() else 0.0

    h = (clean(k, 3, first) for k in range(3))
    S = (clean(i, j, second) for i, j in _SECOND)
    return RigidInertia(clean(3, 3, np.zeros(len(P))), Vec3(*h), Sym3(*S))
