"""Equality constraints of a compiled model: closed loops, joints that follow others, locked joints.

MuJoCo holds them softly; here they are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Loop, Pose
from robodyn.description.curve import Polynomial
from robodyn.description.explicit_loop import TracedExplicitLoop
from robodyn.joints import fixed, spherical
from robodyn.urdf.mjcf.bodies import pose_of
from robodyn.urdf.mjcf.names import Names
from robodyn.urdf.mjcf.passive import coefficients, switched_off
from robodyn.urdf.mjcf.related_joints import RelatedJoints

__all__ = ["Equalities"]

IN_SPACE = "tendons in space whose length is held have no counterpart"


class Equalities:
    """What equality constraints become.

    Attributes
    ----------
    loops : list of Loop
    joints : tuple of Joint
        All joints, with those that follow or are locked.
    inactive : list of str
        Constraints that are switched off at the start.
    refused : dict of str to str
        Constraints that have no counterpart, and why.
    """

    def __init__(self, mujoco: Any, model: Any, names: Names, joints: Sequence[Joint]) -> None:
        self._mujoco, self._model, self._names = mujoco, model, names
        self._related = RelatedJoints(joints)
        self.loops: list[Loop] = []
        self.inactive: list[str] = []
        self.refused: dict[str, str] = {}
        kinds = mujoco.mjtEq
        off = switched_off(mujoco, model, "EQUALITY")
        for k, name in enumerate(names.equalities):
            if off or not model.eq_active0[k]:
                self.inactive.append(name)
            elif int(model.eq_type[k]) in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
                self._add_loop(k, name)
            elif int(model.eq_type[k]) == kinds.mjEQ_JOINT:
                self._relate_joints(k, name)
            elif int(model.eq_type[k]) == kinds.mjEQ_TENDON:
                self._refuse(name, self._related_tendons(k))
            else:
                word = kinds(int(model.eq_type[k])).name.removeprefix("mjEQ_").lower()
                self.refused[name] = f"equality constraints of kind {word!r} have no counterpart"

    @property
    def followers(self) -> tuple[TracedExplicitLoop, ...]:
        """Joints that follow others by polynomials, or several others."""
        return self._related.followers

    @property
    def held(self) -> dict[str, float]:
        """Where joints are held."""
        return self._related.held

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, in the order in which they were given."""
        return self._related.joints

    def _add_loop(self, k: int, name: str) -> None:
        model, data = self._model, np.array(self._model.eq_data[k])
        weld = int(model.eq_type[k]) == self._mujoco.mjtEq.mjEQ_WELD
        ends = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
        if int(model.eq_objtype[k]) == self._mujoco.mjtObj.mjOBJ_SITE:
            poses = [pose_of(model.site_pos[site], model.site_quat[site]) for site in ends]
            ends = [int(model.site_bodyid[site]) for site in ends]
        elif weld:
            poses = [pose_of(data[3:6], data[6:10]), _shifted(data[:3])]
        else:
            poses = [_shifted(data[:3]), _shifted(data[3:6])]
        if model.body_weldid[ends[0]] == model.body_weldid[ends[1]]:
            return  # they never move relative to each other
        turns = weld and data[10] != 0.0  # a torquescale of zero lets it turn
        self.loops.append(
            Loop(
                name,
                fixed.KIND.name if turns else spherical.KIND.name,
                self._names.bodies[ends[0]],
                self._names.bodies[ends[1]],
                Pose.from_matrix(poses[0]),
                Pose.from_matrix(poses[1]),
            )
        )

    def _relate_joints(self, k: int, name: str) -> None:
        """``q - q_ref = polynomial(q' - q'_ref)`` of one joint or two."""
        model = self._model
        one, other = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        a0, a1, *higher = (float(x) for x in model.eq_data[k, :5])
        ref = float(model.qpos0[model.jnt_qposadr[one]])
        if other < 0 or not (a1 or any(higher)):
            self._refuse(name, self._related.hold(self._names.joints[one], ref + a0))
            return
        start = float(model.qpos0[model.jnt_qposadr[other]])
        if any(higher):
            way = np.polynomial.Polynomial([-start, 1.0])
            found = np.polynomial.Polynomial([ref + a0, a1, *higher])(way)
            curve = Polynomial(tuple(map(float, found.trim().coef)))
            joints = self._names.joints
            self._refuse(name, self._related.follow(joints[one], joints[other], curve))
        else:
            self._relate(name, one, other, a1, ref + a0 - a1 * start)

    def _related_tendons(self, k: int) -> str | None:
        """``L - L_0 = polynomial(L' - L'_0)`` of one fixed tendon or two; why it cannot be."""
        model = self._model
        one, other = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        a0, a1, *higher = (float(x) for x in model.eq_data[k, :5])
        sums = coefficients(self._mujoco, model, one)
        total = float(model.tendon_length0[one]) + a0
        if other >= 0 and (a1 or any(higher)):
            second = coefficients(self._mujoco, model, other)
            if any(higher):
                return "tendons that follow others by a polynomial have no counterpart"
            if not second:
                return IN_SPACE
            for j, c in second.items():
                sums[j] = sums.get(j, 0.0) - a1 * c
            total -= a1 * float(model.tendon_length0[other])
        if not sums:
            return IN_SPACE
        return self._related.sum({self._names.joints[j]: c for j, c in sums.items()}, total)

    def _relate(self, name: str, one: int, other: int, ratio: float, offset: float) -> None:
        joints = self._names.joints
        self._refuse(name, self._related.relate(joints[one], joints[other], ratio, offset))

    def _refuse(self, name: str, reason: str | None) -> None:
        if reason is not None:
            self.refused[name] = reason


def _shifted(position: FloatArray) -> FloatArray:
    return pose_of(position, (1.0, 0.0, 0.0, 0.0))
