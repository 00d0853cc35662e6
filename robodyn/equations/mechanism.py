"""The mechanism as the sweeps walk it: bodies from root to leaves, with frames and inertias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.description import JOINT_KINDS, Joint
from robodyn.equations.frames import FrameChoice, choose_frames, inverse_pose
from robodyn.equations.joints import JointGeometry
from robodyn.symbolic.spatial import RigidInertia
from robodyn.symbolic.vector import Sym3, Vec3
from robodyn.topology import BodyInertia, SpanningTree

__all__ = ["BASE", "Body", "MechanismModel", "Speed", "build"]

Array = NDArray[np.float64]

#: Index of the base, parent of the first bodies.
BASE = -1

#: Inertia components below this part of a body's largest are rounding noise.
NOISE = 1e-15


@dataclass(frozen=True)
class Speed:
    """A column of a body's motion subspace: which ``v`` drives it, and how fast."""

    index: int
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class Body:
    """A body and the joint that moves it.

    Attributes
    ----------
    index, parent : int
        ``parent < index``; `BASE` for the base.
    description : Joint
    joint : JointGeometry
    q : tuple of (index, factor, offset)
        Own coordinates as ``factor * q[index] + offset`` (not 1, 0 for a mimic joint).
    speeds : tuple of Speed
        One a column of the motion subspace.
    inertia : RigidInertia
        Of the links on this body.
    lumped : RigidInertia
        With what may be counted on the parent moved there: same motion, same joint torques.
    X_LB : ndarray, shape (4, 4)
        Frame of the equations in the body frame of the spanning tree.
    """

    index: int
    parent: int
    description: Joint
    joint: JointGeometry
    q: tuple[tuple[int, float, float], ...]
    speeds: tuple[Speed, ...]
    inertia: RigidInertia
    lumped: RigidInertia
    X_LB: Array


@dataclass(frozen=True, eq=False)
class MechanismModel:
    """Bodies in walking order.

    Attributes
    ----------
    bodies : tuple of Body
    base_inertia : RigidInertia
        Links fixed to the base, in the base frame.
    nq, nv : int
    frames : dict
        Link name -> (body index, pose of the link frame in the body's frame, shape (4, 4)).
    coupled : bool
        Some joints mimic others, so bodies share speeds.
    armature : tuple of float
        Inertia of the motors' rotors as each speed feels it, ``gear_ratio^2 rotor_inertia``.
    """

    bodies: tuple[Body, ...]
    base_inertia: RigidInertia
    nq: int
    nv: int
    frames: dict[str, tuple[int, Array]]
    coupled: bool
    armature: tuple[float, ...]

    def __iter__(self) -> Iterator[Body]:
        return iter(self.bodies)

    def __reversed__(self) -> Iterator[Body]:
        return reversed(self.bodies)

    def path(self, body: int) -> list[int]:
        """Bodies from the base (not included) to a body."""
        path = []
        while body != BASE:
            path.append(body)
            body = self.bodies[body].parent
        return path[::-1]


def build(
    tree: SpanningTree, *, snap: float, armature: Mapping[str, float] | None = None
) -> MechanismModel:
    """Bodies, frames and inertias of a spanning tree.

    Parameters
    ----------
    tree : SpanningTree
    snap : float [rad, m]
        Angles this near to quarter turns, and lengths this near to zero, are taken as such.
    armature : mapping of joint name to float [kg m^2, kg], optional
        Rotor inertia seen from the joint.
    """
    choice = choose_frames(tree, snap)
    q_index, v_index, nq, nv = _coordinates(tree)
    own = [
        _moved(_pseudo_inertia(body), inverse_pose(frame.X_LB))
        for body, frame in zip(tree.inertias, choice, strict=True)
    ]
    lumped = _lump(tree, choice, own)
    bodies = []
    for i, (joint, frame) in enumerate(zip(tree.joints, choice, strict=True)):
        kind_nq, kind_nv = JOINT_KINDS[joint.joint.kind]
        if joint.mimic is None:
            q = tuple((q_index[i] + k, 1.0, 0.0) for k in range(kind_nq))
            speeds = tuple(Speed(v_index[i] + k) for k in range(kind_nv))
        else:
            master, factor, offset = joint.mimic
            q = ((q_index[master], factor, offset),)
            speeds = (Speed(v_index[master], factor),)
        bodies.append(
            Body(
                i,
                joint.parent,
                joint.joint,
                frame.joint,
                q,
                speeds,
                _rigid(own[i]),
                _rigid(lumped[i]),
                frame.X_LB,
            )
        )
    frames = {
        name: (i, X if i == BASE else inverse_pose(choice[i].X_LB) @ X)
        for name, (i, X) in tree.links.items()
    }
    coupled = any(joint.mimic for joint in tree.joints)
    base = _rigid(_pseudo_inertia(tree.base_inertia))
    return MechanismModel(
        tuple(bodies), base, nq, nv, frames, coupled, _armature(bodies, nv, armature or {})
    )


def _armature(bodies: list[Body], nv: int, armature: Mapping[str, float]) -> tuple[float, ...]:
    total = [0.0] * nv
    for body in bodies:
        for speed in body.speeds:
            total[speed.index] += armature.get(body.description.name, 0.0) * speed.factor**2
    return tuple(total)


def _coordinates(tree: SpanningTree) -> tuple[list[int], list[int], int, int]:
    q_index, v_index, nq, nv = [], [], 0, 0
    for joint in tree.joints:
        q_index.append(nq)
        v_index.append(nv)
        if joint.mimic is None:
            kind_nq, kind_nv = JOINT_KINDS[joint.joint.kind]
            nq, nv = nq + kind_nq, nv + kind_nv
    return q_index, v_index, nq, nv


def _pseudo_inertia(body: BodyInertia) -> Array:
    """``integral of [r; 1] [r; 1]^T dm``, shape (4, 4): it moves as ``X P X^T``."""
    P = np.empty((4, 4))
    P[:3, :3] = 0.5 * np.trace(body.I) * np.eye(3) - body.I
    P[:3, 3] = P[3, :3] = body.h
    P[3, 3] = body.mass
    return P


def _moved(P: Array, X: Array) -> Array:
    return np.asarray(X @ P @ X.T)


def _lump(tree: SpanningTree, choice: list[FrameChoice], own: list[Array]) -> list[Array]:
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
        if kind in ("revolute", "continuous"):
            shared[2:, 2:] = P[2:, 2:]
        elif kind == "prismatic":
            shared[:3, :3] = P[:3, :3]
        elif kind in ("spherical", "universal") and not joint.reversed:
            shared[3, 3] = P[3, 3]
        lumped[i] = P - shared
        if joint.parent >= 0:
            X_PB = inverse_pose(choice[joint.parent].X_LB) @ joint.X_PJ @ choice[i].X_LB
            lumped[joint.parent] += _moved(shared, X_PB)
    return lumped


def _rigid(P: Array) -> RigidInertia:
    """Numbers without rounding noise."""
    second = 0.0 if not P.any() else NOISE * max(abs(P[:3, :3]).max(), 1e-300)
    first = NOISE * max(abs(P[:3, 3]).max(), abs(P[3, 3]), 1e-300)
    clean = [0.0 if abs(x) <= first else float(x) for x in P[:3, 3]]
    S = [
        0.0 if abs(P[i, j]) <= second else float(P[i, j])
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    ]
    return RigidInertia(float(P[3, 3]), Vec3(*clean), Sym3(*S))
