"""Bodies, joints and sites of a compiled model as links and joints.

A link is called as its body and has its frame. Joints of one body move it one after the other; the
frames between are links of their own, without mass, as is the frame of a joint whose anchor
is not the origin of its body. Coordinates are MuJoCo's: zero is where ``qpos`` is zero, wherever
``ref`` puts the posture that is drawn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia, Joint, Limits, Link, Pose
from robodyn.joints import continuous, fixed, floating, prismatic, revolute, spherical
from robodyn.motion.base_motion import rotation_from_quaternion
from robodyn.urdf.common.joint_values import UNLIMITED
from robodyn.urdf.mjcf.model import CompiledModel, Passive, vector


class Bodies:
    """Links and joints, in the order of MuJoCo's bodies; sites come last."""

    def __init__(
        self, compiled: CompiledModel, passive: Passive, efforts: dict[int, float]
    ) -> None:
        model, names = compiled.model, compiled.names
        self._compiled, self._kinds = compiled, compiled.mujoco.mjtJoint
        self._model, self._names = model, names
        self._passive, self._efforts = passive, efforts
        self.links = [Link(names.bodies[0])]
        self.joints: list[Joint] = []
        for body in range(1, model.nbody):
            self._add_body(body)
        for site, name in enumerate(names.sites):
            if name:
                X = pose_of(model.site_pos[site], model.site_quat[site])
                carrier = names.bodies[model.site_bodyid[site]]
                self._weld(carrier, name, X)
                self.links.append(Link(name))

    @property
    def start(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """Where joints stand in the posture that is drawn, of those that do not stand at zero."""
        model, kinds = self._model, self._kinds
        found = []
        for j, name in enumerate(self._names.joints):
            at, kind = model.jnt_qposadr[j], int(model.jnt_type[j])
            if kind == kinds.mjJNT_FREE:
                x, y, z, w, *turn = (float(q) for q in model.qpos0[at : at + 7])
                found.append((name, (x, y, z, *turn, w)))
            elif kind != kinds.mjJNT_BALL and model.qpos0[at]:
                found.append((name, (float(model.qpos0[at]),)))
        return tuple(found)

    def _add_body(self, body: int) -> None:
        model, names = self._model, self._names
        name = names.bodies[body]
        first, count = model.body_jntadr[body], model.body_jntnum[body]
        link, anchor = names.bodies[model.body_parentid[body]], np.zeros(3)
        X = pose_of(model.body_pos[body], model.body_quat[body])
        for j in range(first, first + count):
            if int(model.jnt_type[j]) == self._kinds.mjJNT_FREE:
                X = np.eye(4)  # its coordinates are the pose in the world
            last = j == first + count - 1
            at = self._anchor(j, anchor)
            ends = last and not at.any()
            child = name if ends else names.link(f"{names.joints[j]}_frame")
            X = X @ pose_of(at - anchor) @ self._motion_to_zero(j)
            self.joints.append(self._joint(j, link, child, X))
            if not ends:
                self.links.append(Link(child))
            link, anchor, X = child, at, np.eye(4)
        if link != name:
            self._weld(link, name, X @ pose_of(-anchor))
        self.links.append(Link(name, self._inertia(body)))

    def _weld(self, parent: str, child: str, X: FloatArray) -> None:
        name = self._names.joint(f"{child}_fixed")
        self.joints.append(Joint(name, fixed.KIND.name, parent, child, Pose.from_matrix(X)))

    def _anchor(self, j: int, before: FloatArray) -> FloatArray:
        """Where a joint is in the axes of its body; a slide is where one likes."""
        kind = int(self._model.jnt_type[j])
        if kind in (self._kinds.mjJNT_HINGE, self._kinds.mjJNT_BALL):
            return np.array(self._model.jnt_pos[j])
        return before

    def _motion_to_zero(self, j: int) -> FloatArray:
        """Motion of a joint from the posture that is drawn to where its coordinate is zero."""
        model, X = self._model, np.eye(4)
        axis, ref = model.jnt_axis[j], float(model.qpos0[model.jnt_qposadr[j]])
        if int(model.jnt_type[j]) == self._kinds.mjJNT_SLIDE:
            X[:3, 3] = -ref * axis
        elif int(model.jnt_type[j]) == self._kinds.mjJNT_HINGE and ref:
            half = -0.5 * ref
            return pose_of(np.zeros(3), (math.cos(half), *(math.sin(half) * axis)))
        return X

    def _joint(self, j: int, parent: str, child: str, X: FloatArray) -> Joint:
        model, passive = self._model, self._passive
        dof, axis = model.jnt_dofadr[j], model.jnt_axis[j]
        single = self._compiled.is_single(j)
        limits = self._limits(j) if single else None
        kind = {
            int(self._kinds.mjJNT_FREE): floating.KIND,
            int(self._kinds.mjJNT_BALL): spherical.KIND,
            int(self._kinds.mjJNT_SLIDE): prismatic.KIND,
            int(self._kinds.mjJNT_HINGE): revolute.KIND
            if model.jnt_limited[j]
            else continuous.KIND,
        }[int(model.jnt_type[j])]
        stiff = single and passive.stiffness[j] > 0.0
        return Joint(
            self._names.joints[j],
            kind.name,
            parent,
            child,
            Pose.from_matrix(X),
            vector(axis / np.linalg.norm(axis)) if single else (1.0, 0.0, 0.0),
            limits=limits,
            damping=float(passive.damping[dof]),
            friction=float(passive.friction[dof]),
            stiffness=float(passive.stiffness[j]) if stiff else 0.0,
            rest=float(passive.rest[j]) if stiff else 0.0,
            armature=float(passive.armature[dof]),
        )

    def _limits(self, j: int) -> Limits | None:
        lower, upper = -math.inf, math.inf
        if self._model.jnt_limited[j]:
            low, high = map(float, self._model.jnt_range[j])
            lower = low if low > -UNLIMITED else lower
            upper = high if high < UNLIMITED else upper
        limits = Limits(lower, upper, effort=self._efforts.get(j, math.inf))
        return None if limits == Limits() else limits

    def _inertia(self, body: int) -> Inertia | None:
        model = self._model
        mass, moments = float(model.body_mass[body]), np.array(model.body_inertia[body])
        if not (mass or moments.any()):
            return None
        R = pose_of(np.zeros(3), model.body_iquat[body])[:3, :3]
        inertia = R @ np.diag(moments) @ R.T
        return Inertia.from_matrix(mass, model.body_ipos[body], 0.5 * (inertia + inertia.T))


def pose_of(position: Any, quat: Any = (1.0, 0.0, 0.0, 0.0)) -> FloatArray:
    """Pose of a position and MuJoCo's quaternion (w, x, y, z), shape (4, 4)."""
    w, x, y, z = quat
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation_from_quaternion((x, y, z, w)), position
    return X
