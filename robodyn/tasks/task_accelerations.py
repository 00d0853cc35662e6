"""Whole-body inverse dynamics: accelerations, motor forces and contact forces for tasks.

Accelerations that keep loops and contacts are ``a = a0 + T z``, with one column of ``T`` for each
independent speed. With motor forces ``f``, and contact wrenches and multipliers of loops ``y``,

    M (a0 + T z) + h = B f + A y.

Motor forces are eliminated by the pseudo-inverse of ``B``; what is left are ``z``, ``y`` and the
rows of these equations in which no motor acts.

A task with the error ``e`` asks for ``J a + dJ/dt v = gain (stiffness e - damping J v)``. The
weighted sum of squares of the residuals of these equations is minimised, subject to the limits of
motors and the wrench cones of contacts [Del Prete, Mansard 2016].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

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
from robodyn.model.winding_motors import refuse_voltages
from robodyn.tasks.contact_forces import ContactForces, ContactWrenches, cones_of
from robodyn.tasks.quadratic_program import FAR, least
from robodyn.tasks.task_velocities import TaskVelocities, levels
from robodyn.tolerances import JACOBIAN_RANK, WEIGHT_OF_FORCES, WEIGHT_OF_MOTION


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


@dataclass(frozen=True, eq=False)
class _Motors:
    """How motor forces act: of ``B f = g`` the least forces are ``inverse g``.

    matrix (nv, m): The actuation matrix ``B``.
    inverse (m, nv): Its pseudo-inverse.
    others: Basis, as rows, of the directions in which no motor acts.
    spare: Basis, as rows, of motor forces that cancel each other.
    """

    matrix: FloatArray
    inverse: FloatArray
    others: FloatArray
    spare: FloatArray


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
        self._last_motors: _Motors | None = None

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
        refuse_voltages(self._model, "acceleration_for finds")
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
        bias, rate = self._biases.get(
            made.equations, lambda: self._evaluator.function("task_bias", tasks=made.equations)
        )(q, v, *self._evaluator.environment("task_bias", None))
        momenta = made.momenta  # whose error is the target
        own = np.where(momenta, math.sqrt(stiffness) * (error - rate), stiffness * error)
        return J, made.gains * (own - np.where(momenta, 0.0, damping * rate)) - bias

    def _optimal(
        self,
        level: Sequence[Task],
        q: FloatArray,
        v: FloatArray,
        J: FloatArray,
        rates: FloatArray,
        limits: bool,
    ) -> TaskDynamics:
        made, motors = self._velocities.level(level), self._motors(q)
        a0, T = self._accelerations(q, v)
        M, A = self._mass_matrix(q), self._wrenches.columns(q)
        g, n, k = M @ a0 + self._bias_forces(q, v), T.shape[1], A.shape[1]
        G = np.concatenate([M @ T, -A, np.zeros((len(M), len(motors.spare)))], axis=1)
        F, f0 = motors.inverse @ G, motors.inverse @ g
        F[:, n + k :] = motors.spare.T
        E, e = motors.others @ G, -(motors.others @ g)
        JT = J @ T
        W = made.root_weights[:, None] * JT
        H = F.T @ (WEIGHT_OF_FORCES * F)
        H[:n, :n] += W.T @ W
        H.flat[:: len(H) + 1] += np.repeat([WEIGHT_OF_MOTION, WEIGHT_OF_FORCES], [n, len(H) - n])
        f = WEIGHT_OF_FORCES * (f0 @ F)
        f[:n] -= (made.root_weights * (rates - J @ a0)) @ W
        B, most = self._efforts if limits else (np.zeros((0, len(F))), np.zeros(0))
        C, count = self._cones, len(E) + len(B)
        sums = np.zeros((count + len(C), len(H)))
        sums[: len(E)], sums[len(E) : count], sums[count:, n : n + C.shape[1]] = E, B @ F, C
        upper = np.concatenate([e, most - B @ f0, np.zeros(len(C))])
        lower = np.concatenate([e, -most - B @ f0, np.full(len(C), -FAR)])
        x = least(H, f, sums, lower, upper)
        if x is None:
            raise ActuationError(
                f"no motor forces of {self._model.mechanism.name!r} within their limits, and no "
                "forces in its contacts within their cones, hold it: give it motors, contacts or "
                "limits=False"
            )
        forces, a = f0 + F @ x, a0 + T @ x[:n]
        residuals = np.split(JT @ x[:n] + J @ a0 - rates, made.ends)
        wrenches = self._wrenches.by_link(x[n : n + k])
        return TaskDynamics(a, motors.matrix @ forces, forces, wrenches, tuple(residuals))

    def _motors(self, q: FloatArray) -> _Motors:
        """How motors act, which is the same at all postures of most robots."""
        B, last = self._actuation_matrix(q), self._last_motors
        if last is None or not (B == last.matrix).all():
            left, values, right = np.linalg.svd(B)
            rank = int((values > JACOBIAN_RANK * values.max(initial=0.0)).sum())
            inverse = (right[:rank].T / values[:rank]) @ left[:, :rank].T
            self._last_motors = last = _Motors(B, inverse, left[:, rank:].T, right[rank:])
        return last

    def _accelerations(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The ``a0`` and ``T`` of the accelerations ``a0 + T z`` that keep loops and contacts."""
        _, T = self._velocities.motions(q)
        rest = np.zeros(self._model.bodies.nv)
        return (rest, np.eye(len(rest))) if T is None else (self._consistent(q, v, rest), T)

    @cached_property
    def _consistent(self) -> Callable[..., FloatArray]:
        """`Postures.consistent_acceleration`, the independent speeds held."""
        postures, held = self._postures, tuple(self._postures.independent_joints)
        return self._evaluator.caller(
            "consistent_acceleration",
            lambda q, v, a: postures.consistent_acceleration(q, v, a, held),
            controlled=tuple(sorted(postures.independent_speeds)),
        )

    @cached_property
    def _mass_matrix(self) -> Callable[..., FloatArray]:
        return self._evaluator.caller("mass_matrix")

    @cached_property
    def _bias_forces(self) -> Callable[..., FloatArray]:
        return self._evaluator.caller("bias_forces")

    @cached_property
    def _actuation_matrix(self) -> Callable[..., FloatArray]:
        return self._evaluator.caller("actuation_matrix")

    @cached_property
    def _cones(self) -> FloatArray:
        contacts = self._wrenches.contacts
        return cones_of(contacts, sum(len(CARRIED[x.kind]) for x in contacts.values()))

    @cached_property
    def _efforts(self) -> tuple[FloatArray, FloatArray]:
        """Rows whose products with motor forces have limits, and these.

        They are forces of joints, and torques of motors that a transmission couples. A limit of
        zero counts as not given.
        """
        gearing, model = self._model.gearing, self._model
        count = len(gearing.ratios)
        motors = _given(np.abs(gearing.ratios)) * _given(gearing.torque_limits)
        rows, tops = [np.eye(count)], [motors]
        for x in gearing.coupled:
            top = _given(x.torque_limits)
            motors[x.speeds] = np.inf
            if len(x.speeds) == 1:
                factors = np.abs(x.matrix[:, 0])
                motors[x.speeds] = factors @ np.where(factors > 0.0, top, 0.0)
            elif np.isfinite(top).any():
                gearing.refuse_partial()
                assert x.inverse is not None
                rows.append(np.zeros((len(top), count)))
                rows[-1][:, x.speeds] = x.inverse.T
                tops.append(top)
        places: list[int] = []
        for name in model.actuated_joints:
            own, limits = gearing.places[name], model.joints[name].limits
            places += range(count)[own]
            motors[own] = np.minimum(motors[own], (limits and limits.effort) or np.inf)
        most = np.concatenate(tops)
        limited = most < FAR
        return np.concatenate(rows)[limited][:, places], most[limited]


def _given(limits: FloatArray) -> FloatArray:
    return np.where(limits > 0.0, limits, np.inf)
