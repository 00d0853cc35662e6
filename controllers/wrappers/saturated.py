"""Limits of forces, and of the rate at which they change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ActuationError, Robot, SettingsError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State
from robodyn.simulation.limits import bounds
from robodyn.symbolic.scalar import clip

from ..support.gains import quanta, real, rounded
from ..support.symbols import is_symbolic
from ..wrappers import wrapping


@dataclass(frozen=True, eq=False)
class Saturated:
    """Another controller whose forces are cut to ``-limits <= tau <= limits``.

    Without ``limits=``, motors that a transmission couples, and those at joints that follow others,
    are cut at their own torques, after the limits of joints.

    Forces within the limits stay as they are, to the last bit. Around a symbolic controller it is
    part of the compiled step.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    limits : float or array_like, shape (nv,), optional [N m, N]
        Infinite: none. Default: the efforts of the robot's joints and of their motors, through
        their gears; joints without a limit are not cut.
    robot : Robot, optional
        Whose limits they are. Default: that of the controller.
    quantum : float or array_like, shape (nv,) [N m, N]
        What forces are rounded to a multiple of at last, as a converter with so many bits does.
        Zero: not at all.

    Raises
    ------
    SettingsError
        Without ``limits``: if there is no robot, or it has no limits of efforts.
    ShapeError
        For limits or quanta that are negative or no numbers, or of another number than speeds.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import JointPD, PointToPoint, Saturated
    >>> robot = rd.load("puma560")
    >>> far = PointToPoint(np.ones(6), np.ones(6), 1.0)
    >>> controller = Saturated(JointPD(robot, far, stiffness=1e4, damping=100.0))
    >>> tau = controller(0.0, robot.neutral(), np.zeros(6))
    >>> bool(np.allclose(tau, robot.effort_limits, rtol=1e-15))
    True
    """

    controller: Controller
    limits: ArrayLike | None = None
    robot: Robot | None = None
    quantum: ArrayLike = 0.0
    _limits: FloatArray = field(init=False, repr=False)
    _quantum: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.controller, self.robot))
        object.__setattr__(self, "_quantum", quanta(self.quantum))
        if self.limits is None:
            robot = wrapping.robot_of(self)
            limits = bounds.own_effort_bounds(robot)
            if not bounds.limits_depend_on_motors(robot) and not np.isfinite(limits).any():
                raise SettingsError(
                    f"no joint of {robot.name!r} has a limit of effort: give limits= [N m, N]"
                )
        else:
            expected = "a number >= 0, or one for each speed"
            limits = real("limits", self.limits, expected, lambda x: (x >= 0.0) & (x.ndim < 2))
        object.__setattr__(self, "_limits", limits)

    symbolic = wrapping.inner_symbolic
    __call__ = wrapping.first_forces
    initial_state = wrapping.inner_state

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces within the limits."""
        tau, inner = wrapping.update_of(self.controller, sample, state[INNER])
        nv = tau.shape[-1:]
        limits = np.broadcast_to(wrapping.fitting("limits", self._limits, *nv), nv)
        tau[..., limits == 0.0] = 0.0
        at = np.flatnonzero(np.isfinite(limits) & (limits > 0.0))
        tau[..., at] = clip(tau[..., at], -limits[at], limits[at])
        if self.limits is None:
            tau = self._within_motors(tau, sample.t, sample.q)
        return rounded(tau, self._quantum), {INNER: inner}

    @cached_property
    def exact(self) -> Saturated:
        """The same without rounding, whose slope is none: for linear models."""
        return replace(self, quantum=0.0) if self._quantum.any() else self

    def _within_motors(self, tau: FloatArray, t: float, q: FloatArray) -> FloatArray:
        """Efforts whose motors, where limits are not those of joints, stay within their limits."""
        robot = wrapping.robot_of(self)
        if robot.model.gearing.elsewhere:
            if is_symbolic(tau):
                raise ActuationError(f"torques of the motors of {robot.name!r} are solved for")
            return bounds.within_motors(robot.at(t), tau, q)
        for x in bounds.limited_motors(robot):
            wanted, top = x.torques(tau), bounds.motor_bounds(x)
            torques, at = wanted.copy(), np.flatnonzero(np.isfinite(top))
            torques[..., at] = clip(wanted[..., at], -top[at], top[at])
            tau[..., x.speeds] = tau[..., x.speeds] + x.forces(torques - wanted)
        return tau


@dataclass(frozen=True, eq=False)
class RateLimited:
    """Another controller whose forces change by no more than ``rate`` per second.

    Its state is the latest forces, ``run.controller_state["torque"]``.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    rate : float or array_like, shape (nv,) [N m/s, N/s]
    start : float or array_like, shape (nv,), optional [N m, N]
        Forces at the first sample. Default: those of the controller.
    robot : Robot, optional
        Default: that of the controller. Only wrappers around this one use it.

    Raises
    ------
    ShapeError
        For rates that are not positive and finite, or of another number than speeds, and for
        ``start`` that is not finite.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation, RateLimited
    >>> robot = rd.load("double_pendulum")
    >>> slow = RateLimited(GravityCompensation(robot), rate=10.0, start=[0.0, 0.0], robot=robot)
    >>> run = rd.simulate(robot, slow, q0=[1.0, 0.0], duration=0.1)
    >>> bool(abs(run.tau[1:] - run.tau[:-1]).max() <= 0.01 + 1e-9)     # 10 N m/s for 1 ms
    True
    """

    recorded: ClassVar[tuple[str, ...]] = ("torque",)

    controller: Controller
    rate: ArrayLike
    start: ArrayLike | None = None
    robot: Any = None
    _rate: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.controller, self.robot))
        object.__setattr__(self, "_rate", wrapping.positive("rate", self.rate))
        if self.start is not None:
            real("start", self.start, "forces that are finite", np.isfinite)

    symbolic = wrapping.inner_symbolic
    __call__ = wrapping.first_forces

    def initial_state(self, sample: ControllerSample) -> State:
        """The initial forces."""
        inner = wrapping.initial_state_of(self.controller, sample)
        if self.start is None:
            tau, _ = wrapping.update_of(self.controller, sample, inner)
        else:
            start = wrapping.fitting("start", np.array(self.start, float), sample.v.shape[-1])
            tau = start + np.zeros(sample.v.shape)
        return {"torque": tau, INNER: inner}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces as near to those of the controller as the rate allows."""
        tau, inner = wrapping.update_of(self.controller, sample, state[INNER])
        rate = wrapping.fitting("rate", self._rate, tau.shape[-1])
        last, change = state["torque"], rate * sample.h
        tau = clip(tau, last - change, last + change)
        return tau, {"torque": tau, INNER: inner}
