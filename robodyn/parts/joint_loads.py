"""Loads of joints and motors: joint wrenches, torques and power at motor shafts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.errors import ActuationError, ShapeError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.dynamics import Dynamics
from robodyn.results import JointWrenches

__all__ = ["JointForces", "MotorLoads", "refuse_both"]


class JointForces:
    """The wrench in every joint.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    dynamics : Dynamics
    """

    def __init__(self, model: Model, evaluator: Evaluator, dynamics: Dynamics) -> None:
        self._model, self._evaluator, self._dynamics = model, evaluator, dynamics

    def at(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None,
        joints: Iterable[str] | None,
        controlled: ByJoint | None,
        tau: ByJoint | None,
        locked: Iterable[str],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> JointWrenches:
        """Force and moment in every joint; see `Robot.joint_wrenches`."""
        asked = self._evaluator.options.wrench_joints(joints)
        lam: tuple[Array, ...] = ()
        if a is None:
            roles = assign_roles(self._model, controlled, tau, locked)
            found = self._dynamics.hybrid(q, v, roles, wrenches, base, None)
            a, lam = found.a, (found.multipliers,) if self._model.setup.closed else ()
        else:
            refuse_both(controlled, tau, locked)
            lam = self._dynamics.multipliers(q, v, a, wrenches, base)
        arrays = (q, v, a)

        def parts() -> tuple[Array, Array]:
            motor, passive = self._evaluator.results(
                "joint_wrench_parts", arrays, base=base, wrenches=wrenches, extra=lam, joints=asked
            )
            return motor, passive

        def pose(joint: str | None, frame: str) -> Array:
            link, X_LU = self._frame(joint)
            if frame == "world":
                X = self._evaluator.call("frame_pose", (q,), base=base, frame=link)
            else:
                X = self._evaluator.call("frame_pose", (q,), frame=link, relative_to=frame)
            return np.asarray(X @ X_LU)

        values = self._evaluator.results(
            "joint_wrenches", arrays, base=base, wrenches=wrenches, extra=lam, joints=asked
        )
        return JointWrenches(asked, values, parts, pose, self._evaluator.options.unplaced_wrenches)

    def _frame(self, joint: str | None) -> tuple[str, Array]:
        """Link, and frame on it, in which the wrench of a joint (``None``: the base) is given."""
        if joint is None:
            return self._model.tree.root, np.eye(4)
        for loop in self._model.mechanism.loops:
            if loop.name == joint:
                return loop.successor, loop.X_successor.matrix
        return self._model.joints[joint].child, np.eye(4)


class MotorLoads:
    """What motors give at their own shafts.

    Parameters
    ----------
    model : Model
    dynamics : Dynamics
    """

    def __init__(self, model: Model, dynamics: Dynamics) -> None:
        self._model, self._dynamics = model, dynamics

    def by_speed(self, attribute: str, default: float) -> Array:
        """A number of each motor, shape (nv,); the default where no motor is described."""
        values = np.full(self._model.bodies.nv, default)
        for name, motor in self._model.mechanism.actuators:
            values[self._model.joints[name].v] = getattr(motor, attribute)
        return values

    def motor_torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> Array:
        """Torque of each motor at its own shaft, shape (..., nv); see `Robot.motor_torques`."""
        ratios = self.by_speed("gear_ratio", 1.0)
        if not ratios.all():
            idle = [name for name, m in self._model.mechanism.actuators if not m.gear_ratio]
            raise ActuationError(
                f"the gear ratio of {', '.join(idle)} is zero: the motor does not move the joint",
                direction=tuple(idle),
            )
        tau = self._dynamics.inverse(q, v, a, wrenches, base)
        return np.asarray(tau / ratios.astype(tau.dtype))

    def motor_power(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> Array:
        """Mechanical power of each motor, shape (..., nv); see `Robot.motor_power`."""
        tau = self._dynamics.inverse(q, v, a, wrenches, base)
        return np.asarray(tau * np.asarray(v, tau.dtype))


def refuse_both(controlled: ByJoint | None, tau: ByJoint | None, locked: Iterable[str]) -> None:
    """Refuse roles of joints beside accelerations.

    Raises
    ------
    ShapeError
    """
    if controlled is not None or tau is not None or tuple(locked):
        raise ShapeError(
            "accelerations and roles are both given: a already says how every joint moves",
            name="a",
        )
