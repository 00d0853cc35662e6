"""Loads of joints and motors: joint wrenches, torques and power at motor shafts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import by_name, shaped
from robodyn.errors import ShapeError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.force_elements.common.link_element import WORLD
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, Roles, assign_roles
from robodyn.model.virtual_work import (
    generalised,
    joint_forces,
    joint_speeds,
    refuse_other_forces,
    speeds_without_motors,
)
from robodyn.model.winding_motors import winding_speeds, winding_torques
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import JointWrenches


class JointForces:
    """The wrench in every joint."""

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self.model, self._evaluator = model, evaluator

    def at(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None, joints: Iterable[str] | None,
        roles: Roles | None, *, wrenches: Wrenches | None = None, base: BaseMotion | None = None,
    ) -> JointWrenches:  # fmt: skip
        """Force and moment in every joint; see `Robot.joint_wrenches`. ``a`` or roles are given."""
        asked = self._evaluator.options.wrench_joints(joints)
        wrenches = by_name("wrenches", wrenches or {})
        links, moving = tuple(wrenches), self.model.settings.base == "moving"
        known = a is not None

        def made(found: Any, q: Array, v: Array, *given: Any) -> JointWrenches:
            """The result, of the arrays that there are and of the inputs."""
            values, *lam = found if type(found) is tuple else (found,)
            moves, loads = (given[0], given[1:]) if known else (lam.pop(0), given[2:])
            motion, pushes = loads[: 3 * moving], loads[3 * moving :]
            acting = dict(zip(links, pushes, strict=True))
            return self._result(
                asked, (q, v, moves), values, lam[0] if lam else None, acting, motion
            )

        shared: dict[str, Any] = {
            "method": "joint_wrenches", "wrenches": wrenches, "base": base, "make": made,
            "of_inputs": True, "joints": asked,
        }  # fmt: skip
        found: JointWrenches
        if roles is None:
            assert a is not None
            found = self._evaluator.answer("joint_wrenches", (q, v, a), **shared)
        else:
            found = self._evaluator.answer(
                "hybrid_joint_wrenches", roles.beside(q, v), **shared, controlled=roles.controlled
            )
        return found

    def _result(
        self,
        asked: tuple[str, ...],
        arrays: tuple[ArrayLike, ArrayLike, ArrayLike],
        values: Array,
        multipliers: Array | None,
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
                "joint_wrench_parts", arrays, base=base, wrenches=wrenches,
                multipliers=multipliers, joints=asked,
            )  # fmt: skip
            return motor, passive

        def pose(joint: str | None, frame: str) -> Array:
            link, X_LU = self._frame(joint)
            in_world = link == WORLD and link not in self.model.bodies.frames
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
            return self.model.tree.root, np.eye(4)
        for loop in self.model.mechanism.loops:
            if loop.name == joint:
                return loop.successor, loop.X_successor.matrix
        for given in self.model.mechanism.constraints:
            if given.name == joint:
                return given.links[1], given.poses[1]
        return self.model.joints[joint].child, np.eye(4)


class MotorLoads:
    """Torques and powers of motors at their own shafts.

    without: Speeds of a linkage in minimal coordinates that no motor drives.
    """

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator
        self.without = speeds_without_motors(model)

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

    def motor_torques(self, *motion: ArrayLike, **loads: Any) -> Array:
        """Torque of each motor at its own shaft, shape (..., nv); see `Robot.motor_torques`."""
        gearing = self._model.gearing
        gearing.check()

        windings = self._model.setup.windings

        def turned(tau: Array, q: Array, v: ArrayLike, *_: Any) -> Array:
            found = gearing.torques(self._forces(tau, self._matrix(q)))
            return winding_torques(self._model, found, np.asarray(v)) if windings else found

        other = gearing.elsewhere or bool(self.without or windings)
        return self._evaluator.call(
            "inverse_dynamics", motion, **loads, method="motor_torques",
            make=turned if other else gearing.torques, of_inputs=other,
        )  # fmt: skip

    def motor_currents(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Currents of electric motors for generalised forces; see `Robot.motor_currents`."""
        gearing, motors = self._model.gearing, self._model.motors
        windings = {x.winding for x in self._model.setup.windings}
        gearing.check()
        constants = np.full(len(gearing.ratios), np.nan)
        for name, motor in motors.items():
            if motor.motor is not None and name not in windings:
                constants[gearing.places[name]] = motor.motor.torque_constant
        force = np.asarray(tau, float) if np.asarray(tau).dtype != np.float32 else np.asarray(tau)
        force = shaped("tau", force, self._model.bodies.nv, of=self._model.mechanism.name)
        return np.asarray(gearing.torques(self._forces(force, self._matrix(q))) / constants)

    def motor_power(self, *motion: ArrayLike, **loads: Any) -> Array:
        """Mechanical power of each motor, shape (..., nv); see `Robot.motor_power`."""
        gearing = self._model.gearing
        gearing.refuse_partial()
        windings = self._model.setup.windings

        def power(forces: Array, _q: Array, v: ArrayLike, *_: Any) -> Array:
            speeds = np.asarray(v, forces.dtype)
            found = np.asarray(forces * speeds)
            if gearing.coupled:
                turning = gearing.speeds(speeds)
                for x in gearing.coupled:
                    found[..., x.speeds] = x.torques(forces) * turning[..., x.speeds]
            return found

        def of_currents(tau: Array, q: Array, v: ArrayLike, *_: Any) -> Array:
            """Of motors that are commanded by voltage too, whose speeds are those of shafts."""
            matrix, speeds = self._matrix(q), np.asarray(v, tau.dtype)
            found = gearing.torques(self._forces(tau, matrix))
            turning = gearing.speeds(joint_speeds(self._model, matrix, speeds))
            torques = winding_torques(self._model, found, speeds)
            return np.asarray(torques * winding_speeds(self._model, turning, speeds))

        def at_joints(tau: Array, q: Array, v: ArrayLike, *_: Any) -> Array:
            matrix = self._matrix(q)
            forces = self._forces(tau, matrix)
            return power(forces, q, joint_speeds(self._model, matrix, np.asarray(v, tau.dtype)))

        return self._evaluator.call(
            "inverse_dynamics", motion, **loads, method="motor_power",
            make=of_currents if windings
            else at_joints if gearing.elsewhere or self.without
            else power,
            of_inputs=True,
        )  # fmt: skip

    def refuse_other_forces(self, tau: Array) -> None:
        """Check that a linkage in minimal coordinates needs no forces where it has no motors."""
        refuse_other_forces(self._model, tau)

    def _forces(self, tau: Array, matrix: Callable[[], Array]) -> Array:
        """Of the joints of motors, which have to produce generalised forces."""
        self.refuse_other_forces(tau)
        return joint_forces(self._model, matrix, tau)

    def _matrix(self, q: ArrayLike) -> Callable[[], Array]:
        return lambda: self._evaluator.call("actuation_matrix", (q,))


def roles_without(
    model: Model,
    a: ArrayLike | None,
    controlled: ByJoint | None,
    tau: ByJoint | None,
    locked: Iterable[str] = (),
) -> Roles | None:
    """Roles of all speeds; ``None`` where accelerations are given, and nothing else may be."""
    if a is None:
        return assign_roles(model, controlled, tau, locked)
    if controlled is not None or tau is not None or tuple(locked):
        raise ShapeError(
            "accelerations and roles are both given: a already says how every joint moves",
            name="a",
        )
    return None
