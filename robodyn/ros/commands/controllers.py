"""The controller of the library that the settings of a simulation name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.controllers import ComputedTorque, GravityCompensation, JointPD
from robodyn.motion.functions import Reference
from robodyn.ros.commands.commanded_joints import CommandedJoints
from robodyn.ros.commands.settings import Settings
from robodyn.simulation.control.controller import ControlFunction


@dataclass(frozen=True, eq=False)
class HeldPosture:
    """A reference that does not move.

    q (nq,) [rad, m]
    """

    q: FloatArray
    nv: int

    symbolic: ClassVar[bool] = True

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity and acceleration at time ``t`` [s]."""
        return self.q, np.zeros(self.nv), np.zeros(self.nv)


def chosen_controller(
    robot: rd.Robot, settings: Settings, joints: CommandedJoints, reference: Reference
) -> ControlFunction | None:
    """The controller ``(t, q, v) -> tau`` of some settings; ``None``: there is no torque.

    joints: Those that gains are for; others have none.
    reference: Time [s] -> position (nq,), velocity (nv,), acceleration (nv,).
    Raises ShapeError: For a number of gains that is neither one nor one a joint.
    """
    if settings.controller == "none" and joints.depend_on_posture:
        return None  # there may be fewer motors than speeds that gains would be for
    moved, (stiffness, damping) = joints.controlled, np.zeros((2, robot.nv))
    stiffness[moved] = settings.spread("stiffness", len(moved))
    damping[moved] = settings.spread("damping", len(moved))
    if settings.controller == "none":
        return None
    if settings.controller == "gravity":
        return GravityCompensation(robot)
    if settings.controller == "pd":
        return JointPD(robot, reference, stiffness, damping)
    return ComputedTorque(robot, reference, stiffness, damping)
