"""Momentum-based disturbance observer: generalised forces that the model does not explain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import BasePath, Robot
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State

from ..support.gains import gain, reduce_by_fields, state_of
from ..support.motor_torques import joint_space, motor_space
from ..support.plant import Base, base_path, motor_mask, motor_speeds
from ..support.symbols import base_at, times
from ..wrappers import wrapping


class _Momentum:
    """``p = M v`` changes by ``C^T v - g + passive`` and forces [De Luca and Mattone 2003].

    Of a model from one sample to the next; forces are computed along the ``speeds`` of these
    indices.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self.speeds = robot, [*range(robot.nv)]

    def at(self, q: FloatArray, v: FloatArray, base: Any, t: float) -> dict[str, FloatArray]:
        """Terms at a sample: momentum, and its rate of change without forces, shape (..., nv).

        Parameters
        ----------
        base : BaseMotion or None
            From `symbols.base_at`.
        """
        robot = self._robot.at(t)
        M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, v)
        rest = robot.passive_forces(q, v) - robot.gravity_forces(q)
        return {"momentum": times(M, v), "rest": times(np.swapaxes(C, -1, -2), v) + rest}

    def impulse(
        self, before: Mapping[str, FloatArray], now: Mapping[str, FloatArray], h: Any
    ) -> FloatArray:
        """Impulse of forces of motors and from outside over a time ``h`` [s], shape (..., n).

        It is the change of momentum that neither gravity nor the motion itself explains.
        """
        known = 0.5 * h * (before["rest"] + now["rest"])
        return np.asarray(now["momentum"] - before["momentum"] - known)


class _Inertia:
    """``M w' + h`` is force, with the inertia at the motors of a linkage; as `_Momentum`."""

    def __init__(self, robot: Robot) -> None:
        self.speeds = [*motor_speeds(robot)] if robot.nc else [*range(robot.nv)]
        self._space = motor_space(robot) if robot.nc else joint_space(robot)

    def at(self, q: FloatArray, v: FloatArray, base: Any, t: float) -> dict[str, FloatArray]:
        """Inertia (..., n, n), bias forces and speeds (..., n)."""
        known = self._space(q, v, base, t)
        inertia = known.inertia + np.zeros((*v.shape[:-1], 1, 1))
        return {"inertia": inertia, "bias": known.bias, "speeds": v[..., self.speeds]}

    def impulse(
        self, before: Mapping[str, FloatArray], now: Mapping[str, FloatArray], h: Any
    ) -> FloatArray:
        """Mean inertia times the change of speeds, and bias forces."""
        inertia = 0.5 * (before["inertia"] + now["inertia"])
        change = times(inertia, now["speeds"] - before["speeds"])
        return np.asarray(change + 0.5 * h * (before["bias"] + now["bias"]))


def balance(robot: Robot) -> _Momentum | _Inertia:
    """The balance of a robot: of the momentum of trees, else of the inertia at the motors.

    Both interpolate terms that depend on the state linearly between samples. The balance of
    momentum is about five times more accurate, but needs the Coriolis matrix of a tree that
    depends on nothing but its state.

    Raises
    ------
    ActuationError
        If there are loops and no motors, or more of these than motions.
    """
    state_alone = robot.base != "moving" and not robot.depends_on_time
    if not robot.nc and state_alone and robot.coordinates != "minimal":
        return _Momentum(robot)
    return _Inertia(robot)


@dataclass(frozen=True, eq=False)
class DisturbanceObserver:
    """Another controller whose forces are corrected by an estimated disturbance.

    The momentum ``p = M(q) v`` of the model changes by ``p' = C(q, v)^T v - g(q) + passive(q, v) +
    tau + disturbance``. The residual ``r`` of this balance is a filtered disturbance, ``r' = gain
    (disturbance - r)``: external forces, a payload, friction that the model does not have [De Luca
    and Mattone 2003]. No acceleration is needed. The forces are ``controller - r``.

    The forces that acted since the sample before are known, also where wrappers around this one and
    limits of the simulation cut them. Terms that depend on the state are integrated by the
    trapezoidal rule, the filter exactly for a disturbance that is constant between samples. Of
    trees all speeds are observed, also those without a motor; of closed linkages those of the
    motors, on which the disturbances of all joints act. Of these, of robots on a moving base and of
    those that depend on time, the change of ``p - M' v`` is computed with the mean of ``M``. The
    residual is ``run.controller_state["disturbance"]``.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    gain : float or array_like, shape (nv,) [1/s]
        Of the filter, ``1 / gain`` its time constant.
    compensate : bool
        Subtract the residual from the forces; if false, it is only observed.
    robot : Robot, optional
        The model. Default: that of the controller.
    base : BaseMotion or callable, optional
        Of a robot with a moving base: time [s] -> `BaseMotion`, or one motion for all times.

    Raises
    ------
    SettingsError
        Without a robot.
    ShapeError
        For gains of another shape, negative or not finite, and if the controller is no function;
        for a moving base without ``base``, and for ``base`` without a moving base.
    ActuationError
        For a linkage without motors, and with more of them than motions.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import ComputedTorque, DisturbanceObserver, PointToPoint
    >>> robot = rd.load("arm7")
    >>> q0 = robot.neutral()
    >>> still = ComputedTorque(robot, PointToPoint(q0, q0, 1.0))
    >>> push = {"link7": [0, 5, 0, 0, 0, 0]}                  # 5 N on the last link
    >>> run = rd.simulate(robot, DisturbanceObserver(still, 40.0), duration=2.0, wrenches=push)
    >>> felt = run.controller_state["disturbance"][-1]
    >>> J = robot.frame_jacobian(run.q[-1], "link7")
    >>> bool(np.allclose(felt, J.T @ push["link7"], atol=1e-3))
    True
    >>> bool(np.abs(run.q[-1] - q0).max() < 1e-5)              # pushed, and not moved
    True
    """

    recorded: ClassVar[tuple[str, ...]] = ("disturbance",)

    controller: Controller
    gain: ArrayLike
    compensate: bool = True
    robot: Robot | None = None
    base: Base | None = None
    _gain: FloatArray = field(init=False, repr=False)
    _motors: FloatArray = field(init=False, repr=False)
    _path: BasePath | None = field(init=False, repr=False)
    _balance: _Momentum | _Inertia = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.controller, self.robot))
        robot = wrapping.robot_of(self)
        object.__setattr__(self, "_balance", balance(robot))
        each = gain("gain", self.gain, robot.nv)
        object.__setattr__(self, "_gain", each[self._balance.speeds])
        object.__setattr__(self, "_motors", motor_mask(robot) * bool(self.compensate))
        object.__setattr__(self, "_path", base_path(robot, self.base))

    __reduce__ = reduce_by_fields

    symbolic = wrapping.inner_symbolic
    __call__ = wrapping.first_forces

    def initial_state(self, sample: ControllerSample) -> State:
        """No disturbance, and the present momentum of the robot."""
        q, v = state_of(wrapping.robot_of(self), sample.q, sample.v)
        inner = wrapping.initial_state_of(self.controller, sample._replace(q=q, v=v))
        known = self._balance.at(q, v, base_at(self._path, sample.t), sample.t)
        return {"disturbance": np.zeros(v.shape, v.dtype), **known, INNER: inner}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces; the residual, and the terms of the momentum balance."""
        q, v = state_of(wrapping.robot_of(self), sample.q, sample.v)
        base = base_at(self._path, sample.t)
        at, known = self._balance.speeds, self._balance.at(q, v, base, sample.t)
        part, gain = sample.function_of_dt(lambda h: _forgotten(h, self._gain))
        found = np.zeros(v.shape, v.dtype)
        impulse = self._balance.impulse(state, known, sample.h) - sample.impulse[..., at]
        found[..., at] = (1.0 - part) * state["disturbance"][..., at] + gain * impulse
        own, inner = wrapping.update_of(self.controller, sample._replace(q=q, v=v), state[INNER])
        return own - self._motors * found, {"disturbance": found, **known, INNER: inner}


def _forgotten(h: FloatArray, gain: FloatArray) -> FloatArray:
    """``1 - exp(-gain h)`` for times ``h`` [s], and the same over ``h``, shape (n, 2, nv)."""
    time = h[:, None]
    part = -np.expm1(-gain * time)
    rate = np.where(time > 0.0, part / np.where(time > 0.0, time, 1.0), gain)
    return np.stack([part, rate], axis=1)
