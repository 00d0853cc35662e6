"""The dynamics of a frame in operational space, and torques that accelerate it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import BasePath, Robot, SettingsError
from robodyn.array_types import FloatArray
from robodyn.arrays import number, of_one_state
from robodyn.caller import warn
from robodyn.equations.tree.composite_body import factorize, inverse, solve
from robodyn.errors import SingularWarning
from robodyn.motion.functions import Reference
from robodyn.simulation.control.tracing import SymbolicTime
from robodyn.symbolic.scalar import if_not_negative
from robodyn.tolerances import MOVING_FRAME, QUOTIENT_FLOOR

from .frames import components as rows_of, mobility, rotation_error
from .gains import gain, state_of
from .motor_torques import MotorSpace, motor_space
from .plant import base_path, motor_error, motor_speeds
from .symbols import at_speeds, base_at, is_symbolic, reference_at, times

__all__ = ["COMPONENTS", "Reference", "Shift", "Task", "TaskState"]

#: Displacement of a reference, its velocity and its acceleration.
Shift = tuple[FloatArray, FloatArray, FloatArray]

#: Linear x, y, z and angular x, y, z.
COMPONENTS = (0, 1, 2, 3, 4, 5)

#: Number of postures in which the Jacobian is checked when a task is made.
POSTURES = 5


@dataclass(frozen=True, eq=False)
class TaskState:
    """Errors of a frame, and its dynamics with respect to the motors, at a state of the robot.

    Attributes
    ----------
    error, rate : ndarray, shape (..., m)
        Reference minus frame, in world axes, and its rate.
    turn : ndarray, shape (..., 3, 3)
        Rotation of the frame.
    wanted : ndarray, shape (..., m)
        Acceleration of the reference.
    drift : ndarray, shape (..., m)
        Acceleration of the frame for zero accelerations of motors.
    jacobian : ndarray, shape (..., m, n)
        Jacobian from speeds of motors to the frame's velocity.
    whole : ndarray, shape (..., 6, n)
        Jacobian of all components, whether they are controlled or not.
    posture : ndarray, shape (..., n), or None
        Accelerations of motors towards the posture.
    """

    error: FloatArray
    rate: FloatArray
    turn: FloatArray
    wanted: FloatArray
    drift: FloatArray
    jacobian: FloatArray
    whole: FloatArray
    motors: MotorSpace
    posture: FloatArray | None


class Task:
    """A frame that follows a reference, with a posture of the joints in its null space.

    Parameters
    ----------
    law : OperationalSpace or Impedance
        Whose fields say which frame, along what and how.
    """

    def __init__(self, law: Any) -> None:
        robot: Robot = law.robot
        self._robot, self._frame, self._reference = robot, law.frame, law.reference
        self._rows = rows_of(law.components)
        self._motors = list(motor_speeds(robot))
        self._space = motor_space(robot)
        self._path: BasePath | None = base_path(robot, law.base)
        self._posture = _fixed(robot, law.posture)
        k = gain("posture_stiffness", law.posture_stiffness, robot.nv)
        d = 2.0 * np.sqrt(k) if law.posture_damping is None else law.posture_damping
        self._k, self._d = k, gain("posture_damping", d, robot.nv)
        self._difference = motor_error(robot)
        self._least = number("least", law.least)
        if not 0.0 < self._least < np.inf:
            raise SettingsError(f"least is {law.least!r}, expected a positive number")
        self._given_warnings: dict[str | tuple[str, type[Warning], int], int] = {}
        self._refuse_impossible()

    @property
    def size(self) -> int:
        """Number of controlled components."""
        return len(self._rows)

    @property
    def rows(self) -> list[int]:
        """Indices of the controlled components."""
        return self._rows

    def at(self, t: float, q: FloatArray, v: FloatArray, shift: Shift | None = None) -> TaskState:
        """The task at a state.

        Parameters
        ----------
        t : float [s]
        q, v : ndarray, shape (..., nq), (..., nv)
        shift : three ndarray, shape (m,), optional
            Displacement of the reference in world axes, its velocity and its acceleration.
        """
        robot, rows = self._robot, self._rows
        q, v = state_of(robot, q, v)
        base = base_at(self._path, t)
        motors = self._space(q, v, base, t)
        now, frame = robot.at(t), self._frame
        X = now.frame_pose(q, frame, base=base)
        twist = now.frame_twist(q, v, frame, axes="world", base=base)
        J = now.frame_jacobian(q, frame, axes="world", base=base)
        drift = now.frame_acceleration(
            q, v, motors.rest + 0.0 * v, frame, axes="world", classical=True, base=base
        )
        goal, speed, wanted, q_ref, v_ref, a_ref = self._target(t, base)
        error = np.concatenate([
            *np.broadcast_arrays(goal[..., :3, 3] - X[..., :3, 3], rotation_error(X, goal)),
        ], axis=-1)[..., rows]  # fmt: skip
        rate, wanted = (speed - twist)[..., rows], wanted[..., rows]
        if shift is not None:
            error, rate, wanted = error + shift[0], rate + shift[1], wanted + shift[2]
        whole = J @ motors.follow
        jacobian = whole[..., rows, :]
        posture = None
        if self.size < len(self._motors) or not is_symbolic(q):
            full = a_ref + self._d * (v_ref - v) + self._k * self._difference(q, q_ref)
            posture = full[..., self._motors]
        turn = X[..., :3, :3]
        drift = drift[..., rows]
        return TaskState(error, rate, turn, wanted, drift, jacobian, whole, motors, posture)

    def torques(
        self,
        state: TaskState,
        acceleration: FloatArray,
        force: FloatArray | None = None,
        wrench: FloatArray | None = None,
    ) -> FloatArray:
        """Torques of motors for an acceleration of the frame and an additional force, (..., nv).

        With the operational-space inertia ``L = (J M^-1 J^T)^-1`` and accelerations ``p`` of the
        posture, they are ``J^T (L (acceleration - drift - J p) + force) + M p + bias``, and torques
        that compensate a ``wrench`` on the frame, shape (..., 6), in world axes, as its other
        components accelerate the controlled ones through the inertia of the robot.
        """
        J, motors = state.jacobian, state.motors
        missing = acceleration - state.drift
        own = motors.bias
        if state.posture is not None:
            missing = missing - times(J, state.posture)
            own = own + times(motors.inertia, state.posture)
        if is_symbolic(J):
            push = self._in_symbols(J, motors.inertia, missing)
        else:
            push = self._in_numbers(J, motors.inertia, missing)
        push = push if force is None else push + force
        found = own + times(np.swapaxes(J, -1, -2), push)
        if wrench is not None:
            found = found - times(np.swapaxes(state.whole, -1, -2), wrench)
        return at_speeds(self._motors, found, self._robot.nv)

    def damping(self, state: TaskState) -> FloatArray:
        """Damping of accelerations over the largest one; zero away from singular postures."""
        return np.maximum(1.0 - (mobility(state.jacobian) / self._least) ** 2, 0.0)

    # -- parts ------------------------------------------------------------------------------------

    def _target(self, t: float, base: Any) -> tuple[FloatArray, ...]:
        """Pose, velocity and acceleration of the reference's frame, and the posture's state."""
        reference = self._reference
        if isinstance(t, SymbolicTime) and not getattr(reference, "symbolic", False):
            path = self._path
            return t.sampled(
                "task", lambda at: self._wanted(at, None if path is None else path(at)), (self,)
            )
        return self._wanted(t, base)

    def _wanted(self, t: float, base: Any) -> tuple[FloatArray, ...]:
        robot = self._robot
        q, v, a = reference_at(robot, self._reference, t, joints=())
        v, a = v + np.zeros(robot.nv), a + np.zeros(robot.nv)
        now, frame = robot.at(t), self._frame
        X = now.frame_pose(q, frame, base=base)
        twist = now.frame_twist(q, v, frame, axes="world", base=base)
        acceleration = now.frame_acceleration(
            q, v, a, frame, axes="world", classical=True, base=base
        )
        if self._posture is not None:
            q, v, a = self._posture, np.zeros(robot.nv), np.zeros(robot.nv)
        return X, twist, acceleration, q, v, a

    def _in_symbols(self, J: FloatArray, M: FloatArray, x: FloatArray) -> FloatArray:
        """``L x``; NaN where it has to be damped, which needs numbers."""
        light = dict.fromkeys(range(self.size), 1.0)
        factors = factorize(_lists(M))
        columns = [solve(factors, list(row)) for row in J]
        felt = [[row @ np.array(column, object) for column in columns] for row in J]
        push = solve(factorize(felt, light), list(x))
        stiff = inverse(factorize(_lists(J @ J.T), light))
        trace = sum((stiff[k][k] for k in range(self.size)), 0.0)
        return np.array(if_not_negative(push, 1.0 - trace * self._least**2), object)

    def _in_numbers(self, J: FloatArray, M: FloatArray, x: FloatArray) -> FloatArray:
        """``L x``, damped [Nakamura, Hanafusa 1986] and with a warning where J is singular."""
        G = J @ np.swapaxes(J, -1, -2)
        felt = J @ np.linalg.solve(M, np.swapaxes(J, -1, -2))
        lost = 1.0 - mobility(J) / self._least
        if (lost > 0.0).any():
            self._warn()
            size = (np.trace(felt, axis1=-2, axis2=-1) + QUOTIENT_FLOOR) / (
                np.trace(G, axis1=-2, axis2=-1) + QUOTIENT_FLOOR
            )
            damping = size * (self._least * np.maximum(lost, 0.0)) ** 2
            felt = felt + damping[..., None, None] * np.eye(self.size)
        return np.asarray(np.linalg.solve(felt, x[..., None])[..., 0])

    def _warn(self) -> None:
        """Give a warning, by default once for each controller."""
        message = SingularWarning(
            f"frame {self._frame!r} of {self._robot.name!r} can hardly move in all of components "
            f"{self._rows} in its posture: the controller damps accelerations there and follows "
            "less well; damped(t, q, v) says where"
        )
        warn(message, registry=self._given_warnings)

    def _refuse_impossible(self) -> None:
        """Check that the frame can move in all controlled components."""
        robot, n = self._robot, len(self._motors)
        best = 0.0
        for seed in range(POSTURES):
            q = robot.at(0.0).random(seed)
            base = None if self._path is None else self._path(0.0)
            motors = self._space(q, np.zeros(robot.nv), base, 0.0)
            J = robot.at(0.0).frame_jacobian(q, self._frame, axes="world", base=base)
            best = max(best, float(mobility(J[self._rows] @ motors.follow)))
        if not best > MOVING_FRAME:
            raise SettingsError(
                f"the {n} motors of {robot.name!r} cannot move frame {self._frame!r} in all of "
                f"components {self._rows} at once: choose components= in which they can (linear "
                "x, y, z: 0, 1, 2, angular x, y, z: 3, 4, 5)"
            )


def _lists(A: FloatArray) -> list[list[Any]]:
    return [list(row) for row in A]


def _fixed(robot: Robot, posture: ArrayLike | None) -> FloatArray | None:
    if posture is None:
        return None
    return of_one_state("posture", posture, robot.nq, of=robot.name)
