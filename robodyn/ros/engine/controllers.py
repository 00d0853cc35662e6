"""The controller of the library that the settings of a simulation name."""

from __future__ import annotations

import numpy as np

import robodyn as rd
from robodyn.controllers import ComputedTorque, GravityCompensation, JointPD
from robodyn.motion.reference import Reference
from robodyn.ros.engine.commanded_joints import CommandedJoints
from robodyn.ros.engine.settings import Settings
from robodyn.simulation.control.controller import ControlFunction

__all__ = ["chosen_controller"]


def chosen_controller(
    robot: rd.Robot, settings: Settings, joints: CommandedJoints, reference: Reference
) -> ControlFunction:
    """The controller ``(t, q, v) -> tau`` of some settings.

    Parameters
    ----------
    robot : Robot
    settings : Settings
    joints : CommandedJoints
        Those that gains are for; others have none.
    reference : callable
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,).

    Raises
    ------
    ShapeError
        For a number of gains that is neither one nor one a joint.
    """
    stiffness, damping = np.zeros((2, robot.nv))
    stiffness[joints.speeds] = settings.spread("stiffness", len(joints))
    damping[joints.speeds] = settings.spread("damping", len(joints))
    if settings.controller == "gravity":
        return GravityCompensation(robot)
    if settings.controller == "pd":
        return JointPD(robot, reference, stiffness, damping)
    if settings.controller == "computed_torque":
        return ComputedTorque(robot, reference, stiffness, damping)
    return lambda t, q, v: np.zeros(robot.nv)
