"""Saturation of forces."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ActuationError, Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State
from robodyn.simulation.limits.bounds import (
    limited_motors,
    limits_depend_on_motors,
    motor_bounds,
    own_effort_bounds,
    within_motors,
)
from robodyn.symbolic.scalar import clip

from ..support.symbols import is_symbolic
from .wrapping import (
    first_forces,
    fitting,
    inner_state,
    inner_symbolic,
    robot_of,
    update_of,
    wrapped,
)


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

    Raises
    ------
    SettingsError
        Without ``limits``: if there is no robot, or it has no limits of efforts.
    ShapeError
        For limits that are negative or no numbers, or of another number than speeds.

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
    _limits: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapped(self.controller, self.robot))
        limits = self._of_the_robot() if self.limits is None else _checked(self.limits)
        limits.flags.writeable = False
        object.__setattr__(self, "_limits", limits)

    def _of_the_robot(self) -> FloatArray:
        robot = robot_of(self)
        limits = own_effort_bounds(robot)
        if not limits_depend_on_motors(robot) and not np.isfinite(limits).any():
            raise SettingsError(
                f"no joint of {robot.name!r} has a limit of effort: give limits= [N m, N]"
            )
        return limits

    symbolic = inner_symbolic
    __call__ = first_forces
    initial_state = inner_state

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces within the limits."""
        tau, inner = update_of(self.controller, sample, state[INNER])
        nv = tau.shape[-1:]
        limits = np.broadcast_to(fitting("limits", self._limits, *nv), nv)
        tau[..., limits == 0.0] = 0.0
        at = np.flatnonzero(np.isfinite(limits) & (limits > 0.0))
        tau[..., at] = clip(tau[..., at], -limits[at], limits[at])
        if self.limits is None:
            tau = self._within_motors(tau, sample.t, sample.q)
        return tau, {INNER: inner}

    def _within_motors(self, tau: FloatArray, t: float, q: FloatArray) -> FloatArray:
        """Efforts whose motors, where limits are not those of joints, stay within their limits."""
        robot = robot_of(self)
        if robot.model.gearing.elsewhere:
            if is_symbolic(tau):
                raise ActuationError(f"torques of the motors of {robot.name!r} are solved for")
            return within_motors(robot.at(t), tau, q)
        for x in limited_motors(robot):
            wanted, top = x.torques(tau), motor_bounds(x)
            torques, at = wanted.copy(), np.flatnonzero(np.isfinite(top))
            torques[..., at] = clip(wanted[..., at], -top[at], top[at])
            tau[..., x.speeds] = tau[..., x.speeds] + x.forces(torques - wanted)
        return tau


def _checked(value: ArrayLike) -> FloatArray:
    try:
        given = np.array(value, float)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.ndim > 1 or not np.all(given >= 0.0):
        raise ShapeError(
            f"limits is {value!r}, expected a number >= 0, or one for each speed",
            name="limits",
            given=value,
        )
    return given
