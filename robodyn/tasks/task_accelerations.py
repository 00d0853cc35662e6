"""Whole-body inverse dynamics: accelerations, motor forces and contact forces for tasks.

Accelerations that keep loops and contacts are ``a = a0 + T z``, with one column of ``T`` for each
independent speed. With motor forces ``f``, and contact wrenches and multipliers of loops ``y``,

    M (a0 + T z) + h = B f + A y.

A task with the error ``e`` asks for ``J a + dJ/dt v = gain (stiffness e - damping J v)``. The
weighted sum of squares of the residuals of these equations is minimised, subject to the limits of
motors and the wrench cones of contacts [Del Prete, Mansard 2016].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import checked, number, truth
from robodyn.closed_loops.dynamics.postures import Postures
from robodyn.codegen import Function, Memo
from robodyn.description.contact import CARRIED
from robodyn.description.task import Task, Tasks
from robodyn.errors import ActuationError, SettingsError, ShapeError
from robodyn.evaluator import Evaluator
from robodyn.model.losses import refuse_losses
from robodyn.model.model import Model
from robodyn.tasks.contact_forces import ContactForces, ContactWrenches, cones_of
from robodyn.tasks.quadratic_program import FAR, least
from robodyn.tasks.task_velocities import TaskVelocities, levels
from robodyn.tolerances import WEIGHT_OF_FORCES, WEIGHT_OF_MOTION


@dataclass(frozen=True, eq=False)
class TaskDynamics:
    """Accelerations and forces for tasks, of `Robot.acceleration_for`.

    Attributes
    ----------
    a : ndarray, shape (nv,) [rad/s^2, m/s^2]
    tau : ndarray, shape (nv,) [N m, N]
        The argument of `Robot.forward_dynamics` with which it has these accelerations.
    motor_forces : ndarray, shape (m,) [N m, N]
        Of the joints of `Robot.actuated_joints`.
    contact_forces : ContactForces
        By link, as `Robot.contact_forces` has them; empty without contacts.
    residuals : tuple of ndarray [m/s^2, rad/s^2]
        Of each task, ``J a + dJ/dt v`` less what it asks for.
    """

    a: FloatArray
    tau: FloatArray
    motor_forces: FloatArray
    contact_forces: ContactForces
    residuals: tuple[FloatArray, ...]


class TaskAccelerations:
    """Whole-body inverse dynamics of one robot."""

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        postures: Postures,
        velocities: TaskVelocities,
        wrenches: ContactWrenches,
    ) -> None:
        self._model, self._evaluator, self._postures = model, evaluator, postures
        self._velocities, self._wrenches = velocities, wrenches
        self._biases: Memo[Function] = Memo()

    def solve(
        self,
        tasks: Tasks,
        q: ArrayLike,
        v: ArrayLike,
        limits: bool,
        stiffness: float,
        damping: float | None,
    ) -> TaskDynamics:
        """Accelerations and forces; arguments as of `Robot.acceleration_for`."""
        name, bodies = self._model.mechanism.name, self._model.bodies
        q, v = checked("q", q, bodies.nq, of=name), checked("v", v, bodies.nv, of=name)
        if q.ndim != 1 or v.ndim != 1:
            raise ShapeError(f"q has shape {q.shape}, expected one state", name="q")
        if not 0.0 <= number("stiffness", stiffness) < math.inf:
            raise SettingsError(f"stiffness is {stiffness!r}, expected a number, zero or above")
        damping = 2.0 * math.sqrt(stiffness) if damping is None else number("damping", damping)
        refuse_losses(self._model, "acceleration_for is")
        ordered = levels(tasks)
        if len(ordered) > 1:
            raise SettingsError("tasks is a list of levels: accelerations take weights alone")
        (level,) = ordered
        J, rates = self._rates(level, q.astype(float), v.astype(float), stiffness, damping)
        return self._optimal(level, q, v, J, rates, truth("limits", limits))

    def _rates(
        self, level: Sequence[Task], q: FloatArray, v: FloatArray, stiffness: float, damping: float
    ) -> tuple[FloatArray, FloatArray]:
        """Jacobian of tasks, and the ``J a`` that they ask for."""
        made = self._velocities.level(level)
        error, J = made.errors(q, level)
        bias = self._biases.get(
            made.equations, lambda: self._evaluator.function("task_bias", tasks=made.equations)
        )(q, v)
        rate, gains = J @ v, np.repeat([task.gain for task in level], made.counts)
        momenta = made.momenta > 0.0  # whose error is the target
        own = np.where(momenta, math.sqrt(stiffness) * (error - rate), stiffness * error)
        return J, gains * (own - np.where(momenta, 0.0, damping * rate)) - bias

    def _optimal(
        self,
        level: Sequence[Task],
        q: FloatArray,
        v: FloatArray,
        J: FloatArray,
        rates: FloatArray,
        limits: bool,
    ) -> TaskDynamics:
        made = self._velocities.level(level)
        a0, T = self._accelerations(q, v)
        M = self._evaluator.call("mass_matrix", (q,))
        h = self._evaluator.call("bias_forces", (q, v))
        B = self._evaluator.call("actuation_matrix", (q,))
        A = self._wrenches.columns(q)
        n, m, k = T.shape[1], B.shape[1], A.shape[1]
        E, e = np.hstack([M @ T, -B, -A]), -(M @ a0 + h)
        W = made.root_weights[:, None] * (J @ T)
        H = np.diag(np.repeat([WEIGHT_OF_MOTION, WEIGHT_OF_FORCES], [n, m + k]))
        H[:n, :n] += W.T @ W
        f = np.zeros(n + m + k)
        f[:n] = -((made.root_weights * (rates - J @ a0)) @ W)
        C = self._cones
        sums = np.zeros((len(E) + len(C), n + m + k))
        sums[: len(E)] = E
        sums[len(E) :, n + m : n + m + C.shape[1]] = C
        most = self._efforts if limits else np.full(m, FAR)
        free = np.full(n, FAR), np.full(k, FAR)
        upper = np.concatenate([free[0], most, free[1], e, np.zeros(len(C))])
        lower = np.concatenate([-free[0], -most, -free[1], e, np.full(len(C), -FAR)])
        x = least(H, f, sums, lower, upper)
        if x is None:
            raise ActuationError(
                f"no motor forces of {self._model.mechanism.name!r} within their limits, and no "
                "forces in its contacts within their cones, hold it: give it motors, contacts or "
                "limits=False"
            )
        z, forces = x[:n], x[n:]
        a = a0 + T @ z
        own = E[:, n:]  # what the solver leaves of the equations is taken back
        square = own @ own.T
        square.flat[:: len(square) + 1] += WEIGHT_OF_FORCES
        for _ in range(2):
            forces = forces - own.T @ np.linalg.solve(square, M @ a + h + own @ forces)
        residuals = np.split(J @ a - rates, made.ends)
        wrenches = self._wrenches.by_link(forces[m:])
        return TaskDynamics(a, B @ forces[:m], forces[:m], wrenches, tuple(residuals))

    def _accelerations(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The ``a0`` and ``T`` of the accelerations ``a0 + T z`` that keep loops and contacts."""
        nv = self._model.bodies.nv
        _, T = self._velocities.motions(q)
        if T is None:
            return np.zeros(nv), np.eye(nv)
        held = tuple(self._postures.independent_joints)
        return self._postures.consistent_acceleration(q, v, np.zeros(nv), held), T

    @cached_property
    def _cones(self) -> FloatArray:
        contacts = self._wrenches.contacts
        return cones_of(contacts, sum(len(CARRIED[x.kind]) for x in contacts.values()))

    @cached_property
    def _efforts(self) -> FloatArray:
        return np.array([*self._each_effort()])

    def _each_effort(self) -> Iterator[float]:
        """Limit of each motor force: the effort limit of the joint, or of the motor if less."""
        motors: Any = dict(self._model.motors)
        for name in self._model.actuated_joints:
            joint, motor = self._model.joints[name], motors.get(name)
            most = FAR if joint.limits is None else min(joint.limits.effort, FAR)
            if motor is not None and motor.gear_ratio:
                most = min(most, abs(motor.gear_ratio) * motor.torque_limit)
            yield from [most] * joint.kind.nv
