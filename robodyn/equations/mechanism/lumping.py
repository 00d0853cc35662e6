"""Regrouped inertias: parts that may be counted on the parent are moved there."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.description.pose import inverse_pose
from robodyn.joints.common.kind import JointGeometry, JointKind
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.spatial import RigidInertia
from robodyn.symbolic.vector import Sym3, Vec3
from robodyn.tolerances import LUMPED_INERTIA, SYMMETRIC_INERTIA
from robodyn.topology.body_inertia import BodyInertia
from robodyn.topology.spanning_tree import SpanningTree


class Framed(Protocol):
    """Protocol of objects with a joint and a frame, such as bodies."""

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


@dataclass(frozen=True, eq=False)
class Regrouping:
    """Inertias of bodies, and how they were regrouped.

    own, lumped (4, 4) or (robots, 4, 4): Pseudo-inertia of each body, and what is left of it with
        that of its children.
    given: What each of them gives to its parent, in the parent's frame.
    spinning (robots,) [kg m^2]: Inertia about the axis of the bodies that are rotors.
    frames (4, 4): Of each body in that of its parent, with all joints at zero.
    """

    own: tuple[FloatArray, ...]
    lumped: tuple[FloatArray, ...]
    given: tuple[FloatArray, ...]
    spinning: Mapping[int, Any]
    frames: tuple[FloatArray, ...]


def lump(
    tree: SpanningTree,
    choice: Sequence[Framed],
    own: Sequence[FloatArray],
    before: Regrouping | None = None,
    changed: Collection[int] = (),
) -> Regrouping:
    """Move to each parent the parts of inertias that may be counted on it.

    A mass on the axis of a revolute joint belongs to either body (mass, its moment and second
    moment along the axis); so does the rotational inertia beyond a prismatic joint and a mass at
    the centre of a spherical one. A last body that is symmetric about its axis is a rotor: the
    parent has all of it but the spin [Sayers 19].

    Where there are rows of several robots, a last body is a rotor if it is one in all of them.

    before, optional: Of a robot with the same geometry.
    changed: Bodies that are not as before, or carry some that are not.
    """
    frames = before.frames if before else _frames(tree, choice)
    lumped, given = list(own), [np.zeros((4, 4))] * len(own)
    spinning = {}
    parents = {joint.parent for joint in tree.joints}
    for i in range(len(lumped) - 1, -1, -1):
        joint = tree.joints[i]
        if before is not None and i not in changed:
            lumped[i], given[i] = before.lumped[i], before.given[i]
            if i in before.spinning:
                spinning[i] = before.spinning[i]
        else:
            may_spin = i not in parents and not joint.follows
            lumped[i], shared, spin = parted(choice[i].joint.kind, lumped[i], may_spin)
            if joint.parent >= 0:
                given[i] = moved(shared, frames[i])
            if spin is not None and np.any(spin):
                spinning[i] = spin
        if joint.parent >= 0 and (before is None or joint.parent in changed):
            lumped[joint.parent] = lumped[joint.parent] + given[i]
    return Regrouping(tuple(own), tuple(lumped), tuple(given), spinning, frames)


def _frames(tree: SpanningTree, choice: Sequence[Framed]) -> tuple[FloatArray, ...]:
    """Frame of each body in that of its parent."""
    found = []
    for joint, own in zip(tree.joints, choice, strict=True):
        X = np.eye(4) if joint.parent < 0 else inverse_pose(choice[joint.parent].X_LB)
        found.append(X @ joint.X_PJ @ own.X_LB)
    return tuple(found)


@functools.cache
def _unmoved(kind: JointKind) -> Array:
    """Elements of a pseudo-inertia that may be counted on the parent."""
    mask = np.zeros((4, 4), bool)
    mask[np.ix_(kind.unmoved, kind.unmoved)] = True
    return mask


def parted(kind: JointKind, P: FloatArray, may_spin: bool) -> tuple[FloatArray, FloatArray, Any]:
    """Parts of an inertia: that of the body, that for its parent, and the spinning one."""
    shared = np.where(_unmoved(kind), P, 0.0)
    if may_spin and kind.is_pin and _symmetric(P):
        half = 0.5 * (P[..., 0, 0] + P[..., 1, 1])
        shared[..., 0, 0] = shared[..., 1, 1] = half
        return np.zeros(P.shape), shared, 2.0 * (half if half.ndim else float(half))
    return P - shared, shared, None


def _symmetric(P: FloatArray) -> bool:
    """Whether the inertia is symmetric about z; of rows of several robots, each one."""
    P = np.moveaxis(P, (-2, -1), (0, 1))
    least = SYMMETRIC_INERTIA * np.abs(P).max(axis=(0, 1))
    beside = P[0, 1], P[0, 2], P[1, 2], P[0, 3], P[1, 3], P[0, 0] - P[1, 1]
    return all(bool((np.abs(x) <= least).all()) for x in beside)


def is_there(x: Any) -> bool:
    """Whether a number is not zero; of rows, one of them."""
    return bool(x) if isinstance(x, float) else bool(np.any(x))


def rigid(P: FloatArray) -> RigidInertia:
    """Numbers without rounding noise; arrays of numbers where there are rows of several robots."""
    if P.ndim > 2:
        return _rigid_rows(P)
    (xx, xy, xz, hx), (yx, yy, yz, hy), (zx, zy, zz, hz), (*_, m) = P.tolist()
    h, S = (hx, hy, hz), (xx, xy, xz, yy, yz, zz)
    second = LUMPED_INERTIA * max(*map(abs, (*S, yx, zx, zy)), 1e-300)
    first = LUMPED_INERTIA * max(*map(abs, h), abs(m), 1e-300)
    return RigidInertia(
        m,
        Vec3(*[0.0 if -first <= x <= first else x for x in h]),
        Sym3(*[0.0 if -second <= x <= second else x for x in S]),
    )


#: Indices of second moments in a pseudo-inertia.
_SECOND = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
_ALL_SECOND = (*_SECOND, (1, 0), (2, 0), (2, 1))


def _rigid_rows(P: FloatArray) -> RigidInertia:
    size = np.abs(P)
    # numpy goes through short axes slowly
    second, first = (
        LUMPED_INERTIA * functools.reduce(np.maximum, [size[:, i, j] for i, j in places])
        for places in (_ALL_SECOND, [(k, 3) for k in range(4)])
    )

    def clean(i: int, j: int, least: FloatArray) -> Any:
        x = np.where(size[:, i, j] <= least, 0.0, P[:, i, j])
        return x if x.any() else 0.0

    h = (clean(k, 3, first) for k in range(3))
    S = (clean(i, j, second) for i, j in _SECOND)
    return RigidInertia(clean(3, 3, np.zeros(len(P))), Vec3(*h), Sym3(*S))
