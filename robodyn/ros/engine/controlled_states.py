"""A controller that is sampled whenever a state of the robot comes in."""

from __future__ import annotations

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.simulation import Controller
from robodyn.simulation.control.running_controller import RunningController


class ControlledStates:
    """The forces of a controller at one state after the other.

    A controller with a state of its own goes on from sample to sample, and starts anew where the
    time goes back, as that of a simulation does that is restarted.

    Raises ShapeError: If it is no controller.
    """

    def __init__(self, robot: rd.Robot, controller: Controller) -> None:
        self._made = robot, controller
        self._running, self._t = RunningController(robot, controller), -float("inf")

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces at time ``t`` [s], shape (nv,) [N m, N]."""
        if t < self._t:
            self._running = RunningController(*self._made)
        self._t = t
        return self._running(t, q, v)

    def notify_applied(self, tau: FloatArray) -> None:
        """Say which forces, shape (nv,), act since the latest state."""
        self._running.notify_applied(tau)
