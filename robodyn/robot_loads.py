"""Methods of a robot about driven joints: hybrid dynamics, wrenches in the joints, motors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.description import Actuator
from robodyn.errors import ActuationError, ShapeError
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import HybridDynamics, JointWrenches
from robodyn.robot_closed import ClosedMethods
from robodyn.robot_core import Wrenches

__all__ = ["LoadMethods"]

Array = NDArray[Any]


class LoadMethods(ClosedMethods):
    """What drives and what holds; see `robodyn.Robot`."""

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        controlled: ByJoint | None = None,
        tau: ByJoint | None = None,
        locked: Iterable[str] = (),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: Any = None,
    ) -> HybridDynamics:
        """Dynamics with some joints driven along given accelerations.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        controlled : mapping of joint name to array_like, or array_like, shape (..., nv)
            Accelerations [rad/s^2, m/s^2] of the driven joints, shape (...) for a joint with one
            freedom, (..., n) for one with n. ``"joint[k]"`` names one axis of a joint; a floating
            base is called ``"floating_base"``. An array has NaN for what is free.
        tau : mapping of joint name to array_like, or array_like, shape (..., nv)
            Generalised forces of the others [N m, N]; zero where none is given.
        locked : names of joints
            Driven with acceleration zero.
        wrenches, base
            As in `inverse_dynamics`.
        stabilization : optional
            For closed linkages; a tree has no constraint to stabilise.

        Returns
        -------
        result : HybridDynamics
            ``a`` and ``tau`` of all joints, shape (..., nv): the driven ones need these ``tau``,
            the others get these ``a``.

        Raises
        ------
        UnknownNameError, ShapeError
        ActuationError
            A joint both driven and given a force.
        SingularError
            A joint that moves no mass is free.

        Notes
        -----
        [W 5.100, 5.101]; articulated bodies [Featherstone 2008, table 9.2] or rows of the mass
        matrix, whichever takes fewer operations. `inverse_dynamics` and `forward_dynamics` are the
        ends where all, or none, are driven.
        """
        roles = assign_roles(self._model, controlled, tau, locked)
        if self.nc:
            return self._closed_hybrid(q, v, roles, wrenches, base, stabilization)
        given = roles.beside(np.result_type(np.asarray(q), np.asarray(v)))
        a, forces = self.driven_dynamics(
            q, v, *given, roles.controlled, base=base, wrenches=wrenches
        )
        return HybridDynamics(a, forces, np.zeros((*a.shape[:-1], 0), a.dtype))

    def driven_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a_controlled: ArrayLike,
        tau_free: ArrayLike,
        controlled: tuple[int, ...],
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> tuple[Array, Array]:
        """`hybrid_dynamics` for roles that are known as indices, for loops.

        Parameters
        ----------
        a_controlled : array_like, shape (..., nc)
        tau_free : array_like, shape (..., nv - nc)
        controlled : tuple of int
            Driven speeds, in the order of ``a_controlled``.

        Returns
        -------
        a, tau : ndarray, shape (..., nv)
        """
        if self.nc:
            return self._closed_driven((q, v, a_controlled, tau_free), controlled, wrenches, base)
        a, tau = self._call(
            "hybrid_dynamics",
            (q, v, a_controlled, tau_free),
            base,
            None,
            wrenches,
            controlled=controlled,
        )
        return a, tau

    def joint_wrenches(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        *,
        joints: Iterable[str] | None = None,
        controlled: ByJoint | None = None,
        tau: ByJoint | None = None,
        locked: Iterable[str] = (),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> JointWrenches:
        """Force and moment in every joint: what the parent exerts on the child.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v : array_like, shape (..., nv) [rad/s, m/s]
        a : array_like, shape (..., nv), optional [rad/s^2, m/s^2]
            Left out, it follows from ``controlled``, ``tau`` and ``locked`` as in
            `hybrid_dynamics`.
        joints : names of joints, optional
            Default: all that move. Fixed joints may be named, too.
        controlled, tau, locked, wrenches, base
            As in `hybrid_dynamics`.

        Returns
        -------
        wrenches : JointWrenches
            By joint name, shape (..., 6) [N, N m], about the child link frame's origin in child
            axes; ``"base"``: what the ground or the carrier of the base exerts on the root link, in
            its frame. ``.motor``, ``.passive`` and ``.bearing`` split it, ``.in_frame`` turns it.

        Raises
        ------
        ShapeError
            If both ``a`` and roles are given.
        UnknownNameError, ActuationError, SingularError

        Notes
        -----
        [W 5.180]. External wrenches on the root link are carried by the base.
        """
        asked = self._wrench_joints(joints)
        multipliers: tuple[Array, ...] = ()
        if a is None:
            found = self.hybrid_dynamics(
                q, v, controlled=controlled, tau=tau, locked=locked, wrenches=wrenches, base=base
            )
            a, multipliers = found.a, (found.multipliers,)
        elif controlled is not None or tau is not None or tuple(locked):
            raise ShapeError(
                "accelerations and roles are both given: a already says how every joint moves",
                name="a",
            )
        else:
            multipliers = self._loop_multipliers(q, v, a, wrenches, base)
        extra = multipliers if self.nc else ()

        def parts() -> tuple[Array, Array]:
            motor, passive = self._call(
                "joint_wrench_parts", (q, v, a), base, None, wrenches, extra, joints=asked
            )
            return motor, passive

        def pose(joint: str | None, frame: str) -> Array:
            link, X_LU = self._wrench_frame(joint)
            reference = {"base": base} if frame == "world" else {"relative_to": frame}
            return np.asarray(self.frame_pose(q, link, **reference) @ X_LU)

        values = self._call("joint_wrenches", (q, v, a), base, None, wrenches, extra, joints=asked)
        return JointWrenches(asked, values, parts, pose)

    def _wrench_frame(self, joint: str | None) -> tuple[str, Array]:
        """Link, and frame on it, in which the wrench of a joint (``None``: the base) is given."""
        if joint is None:
            return self._model.tree.root, np.eye(4)
        for loop in self.mechanism.loops:
            if loop.name == joint:
                return loop.successor, loop.X_successor.matrix
        return self.joints[joint].child, np.eye(4)

    # -- motors -------------------------------------------------------------------------------

    @property
    def actuators(self) -> Mapping[str, Actuator]:
        """Motors by joint name, as given or read from the file."""
        return dict(self._model.mechanism.actuators)

    @property
    def gear_ratios(self) -> Array:
        """Motor speed over joint speed, shape (nv,); 1 where no motor is described."""
        return self._by_speed("gear_ratio", 1.0)

    @property
    def motor_torque_limits(self) -> Array:
        """Largest torque of each motor's shaft, shape (nv,) [N m, N]; infinite where unknown."""
        return self._by_speed("torque_limit", np.inf)

    def _by_speed(self, attribute: str, default: float) -> Array:
        values = np.full(self.nv, default)
        for name, motor in self._model.mechanism.actuators:
            values[self.joints[name].v] = getattr(motor, attribute)
        return values

    def motor_torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> Array:
        """Torque that each motor has to make, at its own shaft, shape (..., nv) [N m, N].

        Raises `ActuationError` where a gear ratio is zero.

        Parameters
        ----------
        q : array_like, shape (..., nq) [rad, m]
        v, a : array_like, shape (..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
        wrenches, base
            As in `inverse_dynamics`.

        Notes
        -----
        The generalised force over the gear ratio: it accelerates the rotor, overcomes the friction
        on both sides of the gear, and drives the joint.
        """
        ratios = self.gear_ratios
        if not ratios.all():
            idle = [name for name, motor in self.actuators.items() if not motor.gear_ratio]
            raise ActuationError(
                f"the gear ratio of {', '.join(idle)} is zero: the motor does not move the joint",
                direction=tuple(idle),
            )
        tau = self._motor_forces(q, v, a, wrenches, base)
        return np.asarray(tau / ratios.astype(tau.dtype))

    def motor_power(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> Array:
        """Mechanical power of each motor, shape (..., nv) [W]; arguments as in `motor_torques`."""
        tau = self._motor_forces(q, v, a, wrenches, base)
        return np.asarray(tau * np.asarray(v, tau.dtype))

    def _motor_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> Array:
        if self.nc:
            return self._closed_inverse(q, v, a, wrenches, base, None)
        return self._call("inverse_dynamics", (q, v, a), base, None, wrenches)  # type: ignore
