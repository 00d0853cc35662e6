"""Loads of joints and motors: joint wrenches, torques and power at motor shafts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import by_name
from robodyn.codegen import CallForm, Memo
from robodyn.errors import ShapeError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.force_elements.common.link_element import WORLD
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.model.virtual_work import generalised, joint_forces, joint_speeds
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
        self._makers: Memo[Callable[..., JointWrenches]] = Memo()

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
        wrenches = by_name("wrenches", wrenches or {})
        links, moving = tuple(wrenches), self._model.settings.base == "moving"
        arrays = 3 + 3 * moving + len(links)
        if a is None:
            roles = assign_roles(self._model, controlled, tau, locked)
            make = self._made_by((asked, links, "hybrid"), self._hybrid_maker)
            form = roles.form and replace(
                roles.form, options={"joints": joints, "locked": locked}, missing=("a",),
                method="joint_wrenches", make=make, made_of=arrays + 1,
            )  # fmt: skip
            values, a, *lam = self._dynamics.hybrid_joint_wrenches(
                (q, v), roles, asked, wrenches, base, form
            )
        else:
            refuse_both(controlled, tau, locked)
            make = self._made_by((asked, links, "given"), self._maker)
            form = CallForm({"joints": joints}, (None, None), (-1, -1), make=make, made_of=arrays)
            values, *lam = self._dynamics.by_motors(
                "joint_wrenches", (q, v, a), wrenches, base, form, joints=asked
            )
        return self._result(asked, (q, v, a), values, tuple(lam), wrenches, _arrays(base))

    def _made_by(
        self, key: tuple[Any, ...], maker: Callable[..., Callable[..., JointWrenches]]
    ) -> Callable[..., JointWrenches]:
        """The callable that makes results for these joints and links, always the same object."""
        asked, links, _ = key
        moving = self._model.settings.base == "moving"
        return self._makers.get(key, lambda: maker(asked, links, moving))

    def _hybrid_maker(
        self, asked: tuple[str, ...], links: tuple[str, ...], moving: bool
    ) -> Callable[..., JointWrenches]:
        """A callable that makes the result of a function that also has accelerations."""
        made = self._maker(asked, links, moving)

        def from_roles(
            found: tuple[Array, ...], q: Array, v: Array, a: None, tau: None, *loads: Array
        ) -> JointWrenches:
            values, moves, *lam = found
            return made((values, *lam), q, v, moves, *loads)

        return from_roles

    def _maker(
        self, asked: tuple[str, ...], links: tuple[str, ...], moving: bool
    ) -> Callable[..., JointWrenches]:
        """A callable that makes the result from the outputs of the function and its inputs."""

        def made(found: Any, q: Array, v: Array, a: Array, *loads: Array) -> JointWrenches:
            values, *lam = found if type(found) is tuple else (found,)
            motion, given = loads[: 3 * moving], loads[3 * moving :]
            wrenches = dict(zip(links, given, strict=True))
            return self._result(asked, (q, v, a), values, tuple(lam), wrenches, motion)

        return made

    def _result(
        self,
        asked: tuple[str, ...],
        arrays: tuple[ArrayLike, ArrayLike, ArrayLike],
        values: Array,
        multipliers: tuple[Array, ...],
        wrenches: Wrenches,
        motion: tuple[Array, ...],
    ) -> JointWrenches:
        """Wrenches by joint, whose parts and other frames are computed on demand.

        Arguments are copied for this, since the caller may change the arrays before.
        """
        arrays = (np.array(arrays[0]), np.array(arrays[1]), np.array(arrays[2]))
        wrenches = {link: np.array(wrench) for link, wrench in wrenches.items()}
        base = BaseMotion(*map(np.array, motion)) if motion else None

        def parts() -> tuple[Array, Array]:
            motor, passive = self._evaluator.results(
                "joint_wrench_parts", arrays, base=base, wrenches=wrenches, extra=multipliers,
                joints=asked,
            )  # fmt: skip
            return motor, passive

        def pose(joint: str | None, frame: str) -> Array:
            link, X_LU = self._frame(joint)
            in_world = link == WORLD and link not in self._model.bodies.frames
            if in_world and frame == "world":
                X = np.eye(4)
            elif in_world:
                X = np.linalg.inv(self._evaluator.call("frame_pose", arrays[:1], frame=frame))
            elif frame == "world":
                X = self._evaluator.call("frame_pose", arrays[:1], base=base, frame=link)
            else:
                X = self._evaluator.call("frame_pose", arrays[:1], frame=link, relative_to=frame)
            return np.asarray(X @ X_LU)

        return JointWrenches(asked, values, parts, pose, self._evaluator.options.unplaced_wrenches)

    def _frame(self, joint: str | None) -> tuple[str, Array]:
        """Link, and frame on it, in which the wrench of a joint (``None``: the base) is given."""
        if joint is None:
            return self._model.tree.root, np.eye(4)
        for loop in self._model.mechanism.loops:
            if loop.name == joint:
                return loop.successor, loop.X_successor.matrix
        for given in self._model.mechanism.constraints:
            if given.name == joint:
                return given.links[1], given.poses[1]
        return self._model.joints[joint].child, np.eye(4)


class MotorLoads:
    """Torques and powers of motors at their own shafts.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    dynamics : Dynamics
    """

    def __init__(self, model: Model, evaluator: Evaluator, dynamics: Dynamics) -> None:
        self._model, self._evaluator, self._dynamics = model, evaluator, dynamics

    def in_tree_form(
        self, q: ArrayLike, tau: Array, tree_form: MotorLoads, positions: Array
    ) -> Array | None:
        """Forces over the speeds of the tree form that its motors exert for generalised forces.

        ``None`` where motors are at the joints that have coordinates: these are the forces there.
        """
        if not self._model.gearing.elsewhere:
            return None
        f = joint_forces(self._model, self._matrix(q), tau)
        joints = self._model.actuated_joints
        return generalised(
            tree_form._evaluator.call("actuation_matrix", (positions,), actuated=joints), f
        )

    def motor_torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> Array:
        """Torque of each motor at its own shaft, shape (..., nv); see `Robot.motor_torques`."""
        gearing = self._model.gearing
        gearing.check()
        form = None if gearing.elsewhere else self._torques
        tau = self._dynamics.inverse(q, v, a, wrenches, base, form=form)
        return gearing.torques(joint_forces(self._model, self._matrix(q), tau))

    @cached_property
    def _torques(self) -> CallForm:
        return CallForm(method="motor_torques", make=self._model.gearing.torques)

    def motor_power(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> Array:
        """Mechanical power of each motor, shape (..., nv); see `Robot.motor_power`."""
        gearing = self._model.gearing
        gearing.refuse_partial()
        form = None if gearing.elsewhere else self._power_form
        tau = self._dynamics.inverse(q, v, a, wrenches, base, form=form)
        matrix, speeds = self._matrix(q), np.asarray(v, tau.dtype)
        forces = joint_forces(self._model, matrix, tau)
        return self._power(forces, q, joint_speeds(self._model, matrix, speeds))

    def _matrix(self, q: ArrayLike) -> Callable[[], Array]:
        return lambda: self._evaluator.call("actuation_matrix", (q,))

    @cached_property
    def _power_form(self) -> CallForm:
        return CallForm(method="motor_power", make=self._power, made_of=2)

    @cached_property
    def _power(self) -> Callable[[Array, ArrayLike, ArrayLike], Array]:
        """The callable from forces at joints, positions and speeds to the power of motors."""
        return self._coupled_power if self._model.gearing.coupled else _power

    def _coupled_power(self, tau: Array, q: ArrayLike, v: ArrayLike) -> Array:
        """Power of each motor; for a motor that moves a single joint, the power at the joint."""
        power, speeds = _power(tau, q, v), self._model.gearing.speeds(np.asarray(v, tau.dtype))
        for x in self._model.gearing.coupled:
            power[..., x.speeds] = x.torques(tau) * speeds[..., x.speeds]
        return power


def _arrays(base: BaseMotion | None) -> tuple[Array, ...]:
    """The arrays of a base motion."""
    return () if base is None else (base.pose, base.twist, base.acceleration)


def _power(tau: Array, q: ArrayLike, v: ArrayLike) -> Array:
    return np.asarray(tau * np.asarray(v, tau.dtype))


def refuse_both(controlled: ByJoint | None, tau: ByJoint | None, locked: Iterable[str]) -> None:
    """Refuse controlled, locked and forces given together with accelerations.

    Raises
    ------
    ShapeError
    """
    if controlled is not None or tau is not None or tuple(locked):
        raise ShapeError(
            "accelerations and roles are both given: a already says how every joint moves",
            name="a",
        )
