"""Friction compensation: motors cancel the damping and friction of the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn import Robot, SettingsError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.model.winding_motors import refuse_voltages
from robodyn.motion.functions import Reference
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State

from ..support.gains import state_of
from ..support.plant import at_motors, motor_mask
from ..support.symbols import reference_at
from ..wrappers import wrapping


@dataclass(frozen=True, eq=False)
class FrictionCompensation:
    """Another controller, plus the damping and dry friction of the joints with motors.

    The friction is that of the model, ``d v + f v / sqrt(v^2 + s^2)``, and as smooth: ``s`` is the
    ``friction_speed`` the robot was loaded with. `ComputedTorque` has the friction of its own model
    in it already: this is for controllers that have not. Around a symbolic controller it is part
    of the compiled step.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    robot : Robot, optional
        The model. Default: that of the controller.
    reference : callable, optional
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,). The friction is computed at
        its velocities, which feeds no measurement noise back and does not make a sticking joint
        chatter. Default: at the measured velocities.
    share : float
        Part of the friction that is compensated, 0 to 1: overcompensation is unstable.

    Raises
    ------
    SettingsError
        Without a robot, if its model has no friction at joints with motors, and for another share.
    ShapeError
        If the controller or the reference is no function.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import FrictionCompensation, GravityCompensation
    >>> robot = rd.load("scara")
    >>> both = FrictionCompensation(GravityCompensation(robot), robot)
    >>> q, v = robot.neutral(), [0.5] * robot.nv
    >>> needed = robot.gravity_forces(q) - robot.passive_forces(q, v)
    >>> bool(abs(both(0.0, q, v) - needed).max() < 1e-9)
    True
    """

    controller: Controller
    robot: Robot | None = None
    reference: Reference | None = None
    share: float = 1.0
    _motors: FloatArray = field(init=False, repr=False)
    _model: Robot = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.controller, self.robot))
        robot = wrapping.robot_of(self)
        refuse_voltages(robot.model, "this law commands")
        if not 0.0 <= self.share <= 1.0:
            raise SettingsError(f"share is {self.share!r}, expected a part of the friction, 0 to 1")
        object.__setattr__(self, "_motors", motor_mask(robot))
        object.__setattr__(self, "_model", _of_joints_alone(robot))
        rest = self._model.at(0.0).neutral()
        if not self._compensation(0.0, rest, np.ones(robot.nv)).any():
            raise SettingsError(
                f"joints with motors of {robot.name!r} have neither damping nor friction: its "
                "description gives none, or it was loaded with passive=False"
            )

    symbolic = wrapping.inner_symbolic
    __call__ = wrapping.first_forces
    initial_state = wrapping.inner_state

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces of the controller, plus the friction."""
        robot, t = wrapping.robot_of(self), sample.t
        q, v = state_of(robot, sample.q, sample.v)
        speeds = v
        if self.reference is not None:
            _, wanted, _ = reference_at(robot, self.reference, t)
            speeds = at_motors(self._motors, wanted, v)
        own, inner = wrapping.update_of(self.controller, sample._replace(q=q, v=v), state[INNER])
        return np.asarray(own + self.share * self._compensation(t, q, speeds)), {INNER: inner}

    def _compensation(self, t: Any, q: FloatArray, v: FloatArray) -> FloatArray:
        moving, still = (self._passive(t, q, x) for x in (v, np.zeros(np.shape(v))))
        return np.asarray(self._motors * (still - moving))

    def _passive(self, t: Any, q: FloatArray, v: FloatArray) -> FloatArray:
        """Damping, friction and springs; springs are the same at all speeds."""
        return self._model.at(t).passive_forces(q, v)


def _of_joints_alone(robot: Robot) -> Robot:
    """The same robot without contacts with the ground, on a base at rest."""
    if robot.base == "moving":
        robot = robot.with_(base="fixed")
    return robot.with_(ground=()) if robot.ground else robot
