"""The time-varying linear-quadratic regulator (LQR) along a motion."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ActuationError, Robot, SettingsError, ShapeError, Trajectory
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch
from robodyn.literals import IntegratorName
from robodyn.simulation.control.tracing import SymbolicTime
from robodyn.simulation.loads.driven_joints import PathOfTime
from robodyn.simulation.sensitivity import step_jacobian
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

from ..optimal.quadratic_cost import Expansion
from ..optimal.riccati import Forces, best_forces
from ..support import linear_feedback
from ..support.gains import checked_call, reduce_by_fields, state_of, weights
from ..support.plant import motor_speeds
from ..support.symbols import at_speeds
from .lqr import LQR


@dataclass(frozen=True, eq=False)
class TimeVaryingLQR:
    """``tau = tau_k + K_k x`` at the motors, which keeps a robot on a motion at least cost.

    From each sample of the motion to the next, its forces and gains are held; ``x`` is the motion
    from where it is at that time, and the difference of speeds. Gains are those of the least ``sum
    (x^T state x + u^T effort u) h + x^T final x``, u being the forces beyond those of the motion
    and h a step, in the linear models of its steps.

    Attributes
    ----------
    robot : Robot
    run : Trajectory
        The motion, with one sample for each step: that of a `Plan`, or of `robodyn.simulate` with
        the same integrator.
    state : array_like, shape (), (2 nv,) or (2 nv, 2 nv)
        Weights of ``x``: positions, then velocities.
    effort : array_like, shape (), (m,) or (m, m)
        Weights of the forces of the m speeds with motors, ascending. Positive.
    final : array_like, shape (), (2 nv,) or (2 nv, 2 nv), optional
        Weights at the end. Default: the cost to go of ``then``; without it, ``state``.
    then : LQR, optional
        The controller after the end. Default: the last forces and gains, at the last position.
    integrator : str
        That of the motion.
    controlled : mapping of joint name to path, optional
    locked : tuple of str
        Driven and locked joints, as in the motion. This law does not control their motors.
    gains : ndarray, shape (n, m, 2 nv)
        ``K_k``, made by the class.
    cost_to_go : ndarray, shape (2 nv, 2 nv)
        ``S``: from ``x`` at the start, leaving the motion costs ``x^T S x``; made by the class.

    Raises
    ------
    ShapeError
        For weights of another shape, not symmetric or of the wrong sign, and if ``then`` is no
        `LQR` of a robot with such joints and motors.
    SettingsError
        If samples are not the steps of the integrator, for ``then`` where joints are driven, and as
        `robodyn.trajectory_gradient` does.
    ActuationError
        If forces of the motion act at joints without motors.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation, TimeVaryingLQR
    >>> robot = rd.load("double_pendulum")
    >>> run = rd.simulate(robot, GravityCompensation(robot), v0=[1.0, 0.5], duration=0.2, step=0.01)
    >>> keep = TimeVaryingLQR(robot, run)
    >>> off = rd.simulate(robot, keep, q0=[0.05, 0.0], v0=[1.0, 0.5], duration=0.2, step=0.01)
    >>> bool(abs(off.q[-1] - run.q[-1]).max() < 0.05)
    True
    """

    symbolic: ClassVar[bool] = True

    robot: Robot
    run: Trajectory
    state: ArrayLike = 1.0
    effort: ArrayLike = 1.0
    final: ArrayLike | None = None
    then: LQR | None = None
    integrator: IntegratorName = "rk4"
    controlled: Mapping[str, PathOfTime] | None = None
    locked: tuple[str, ...] = ()
    gains: FloatArray = field(init=False, repr=False)
    cost_to_go: FloatArray = field(init=False, repr=False)
    _motors: tuple[int, ...] = field(init=False, repr=False)
    _error: linear_feedback.StateError = field(init=False, repr=False)
    _slope: linear_feedback.StepSlope | None = field(init=False, repr=False)
    _after: tuple[FloatArray, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        _check(self.robot, self.run)
        driven = self.run.driven
        motors = tuple(k for k in motor_speeds(self.robot) if k not in driven)
        if self.then is not None:
            _check_next(self.robot, self.then, driven)
        object.__setattr__(self, "_motors", motors)
        object.__setattr__(self, "_error", linear_feedback.state_error(self.robot))
        object.__setattr__(self, "_slope", linear_feedback.slope_of_steps(self.robot))
        found = self._forces()
        object.__setattr__(self, "gains", found.gains)
        object.__setattr__(self, "cost_to_go", found.cost_to_go)
        object.__setattr__(self, "_after", self._held())

    __reduce__ = reduce_by_fields

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        q, v = state_of(self.robot, q, v)
        if isinstance(t, SymbolicTime):
            wanted = t.sampled("motion", self._wanted, (self,))
        else:
            wanted = self._wanted(t)
        q_ref, v_ref, tau, K = wanted
        error = self._error(q, v, q_ref, v_ref)
        return linear_feedback.linear_feedback(self._motors, self.robot.nv, tau, K, error)

    def nominal(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position (nq,), speeds and forces (nv,) where it leaves the robot alone, at a time."""
        q, v, tau, _ = self._wanted(t)
        return q, v, at_speeds(self._motors, tau, self.robot.nv)

    def _forces(self) -> Forces:
        """The law of least cost near the motion."""
        robot, run, m = self.robot, self.run, len(self._motors)
        nv, n = robot.nv, len(run.t) - 1
        what = "positions along the speeds, then velocities"
        Q = weights("state", self.state, 2 * nv, what)
        R = weights("effort", self.effort, m, "forces of motors", definite=True)
        Q_end = self._final_weights(Q, what)
        jacobian = step_jacobian.jacobian_of_steps(
            robot, run, self.integrator, self.controlled, self.locked
        )
        F = step_jacobian.steps_along(robot, run, jacobian, 0, n, self.integrator)
        columns = [*range(2 * nv), *(2 * nv + k for k in self._motors)]
        L = np.zeros((2 * nv + m, 2 * nv + m))
        L[: 2 * nv, : 2 * nv], L[2 * nv :, 2 * nv :] = Q, R
        h = np.diff(run.t)
        running = Expansion(np.zeros(n), np.zeros((n, len(L))), h[:, None, None] * L)
        final = Expansion(np.zeros(1), np.zeros((1, 2 * nv)), Q_end[None])
        free = np.full((n, m), np.inf)
        found = best_forces(np.ascontiguousarray(F[..., columns]), running, final, -free, free)
        assert found is not None, "weights of forces are positive"
        return found

    def _final_weights(self, Q: FloatArray, what: str) -> FloatArray:
        if self.final is not None:
            return weights("final", self.final, 2 * self.robot.nv, what)
        if self.then is None:
            return Q
        whole = np.zeros_like(Q)
        whole[np.ix_(self.then.places, self.then.places)] = self.then.cost_to_go
        return whole

    def _held(self) -> tuple[FloatArray, ...]:
        """Position, speeds, forces and gains after the end."""
        nv, motors = self.robot.nv, list(self._motors)
        if self.then is None:
            return self.run.q[-1], np.zeros(nv), self.run.tau[-2, motors], self.gains[-1]
        K = np.zeros((len(motors), 2 * nv))
        B = self.robot.actuation_matrix(self.then.rest)[motors]
        K[:, self.then.places] = -B @ self.then.gains
        q, v, _ = self.then.nominal(0.0)
        return q, v, B @ self.then.holding, K

    def _wanted(self, t: float) -> tuple[FloatArray, ...]:
        """Position, speeds, forces and gains at a time."""
        run, motors = self.run, list(self._motors)
        slack = SAMPLE_TIME_ROUNDING * float(run.t[1] - run.t[0])
        if t >= run.t[-1] - slack:
            return self._after
        k = max(0, bisect_right(run.t, t + slack) - 1)
        h = float(run.t[k + 1] - run.t[k])
        s = min(max((t - float(run.t[k])) / h, 0.0), 1.0)
        q, v = self._between(k, s, h) if s > SAMPLE_TIME_ROUNDING else (run.q[k], run.v[k])
        return q, v, run.tau[k, motors], self.gains[k]

    def _between(self, k: int, s: float, h: float) -> tuple[FloatArray, FloatArray]:
        """The motion at a fraction of a step, by a cubic polynomial."""
        robot, run = self.robot, self.run
        whole, rate = robot.difference(run.q[k], run.q[k + 1]), run.v[k + 1]
        if self._slope is not None:
            rate = np.linalg.solve(self._slope(run.q[k], whole), rate)
        first, last = h * run.v[k], h * rate
        u = s * s * (3.0 - 2.0 * s) * whole + s * (1.0 - s) * ((1.0 - s) * first - s * last)
        du = 6.0 * s * (1.0 - s) * whole
        du += (1.0 - s) * (1.0 - 3.0 * s) * first + s * (3.0 * s - 2.0) * last
        v = du / h if self._slope is None else self._slope(run.q[k], u) @ du / h
        return robot.integrate(run.q[k], u), v


def _check(robot: Robot, run: Trajectory) -> None:
    own = step_jacobian.robot_of_steps(run)
    if (own.nq, own.nv) != (robot.nq, robot.nv) or run.q.ndim != 2 or len(run.t) < 2:
        raise mismatch("run", run, f"one motion of {robot.name!r}, of a step or more")
    acting = [*motor_speeds(robot), *run.driven]
    others = np.abs(np.delete(run.tau[:-1], acting, axis=-1))
    if others.any():
        raise ActuationError(
            f"forces of the motion act at joints of {robot.name!r} without motors, up to "
            f"{others.max():.3g}"
        )


def _check_next(robot: Robot, then: LQR, driven: tuple[int, ...]) -> None:
    if driven:
        raise SettingsError(
            f"then= is a law for all motors of {robot.name!r}, and in the motion joints were driven"
        )
    own = then.robot
    if (own.nq, own.nv, motor_speeds(own)) != (robot.nq, robot.nv, motor_speeds(robot)):
        raise ShapeError(
            f"then is a law for {own.name!r} with {own.nv} speeds and motors at "
            f"{', '.join(own.actuated_joints) or 'none'}, expected one for {robot.name!r} with "
            f"{robot.nv} and motors at {', '.join(robot.actuated_joints) or 'none'}",
            name="then",
            given=then,
        )
