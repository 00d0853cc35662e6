"""Transformation of inertial parameters between frames of a body."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.identification.bodies.pseudo_inertia import matrix, moved, ten
from robodyn.model.changes.parameter_changes import inertia_from
from robodyn.robot import Robot

__all__ = ["body_of", "in_body", "inertia_in"]


def body_of(robot: Robot, frame: str) -> str:
    """The body that carries a frame, by name.

    Raises
    ------
    UnknownNameError
        If there is no such frame, or it does not move.
    """
    if frame not in robot.frame_names:
        raise UnknownNameError("frame", frame, robot.frame_names, repr(robot.name))
    body, _ = robot.model.bodies.frames[frame]
    if body >= 0:
        return robot.body_names[body]
    raise SettingsError(f"{frame!r} of {robot.name!r} is fixed to the base: it does not move")


def inertia_in(robot: Robot, parameters: FloatArray, frame: str) -> Inertia:
    """Inertia in a frame, from ten parameters in the frame of the body's link.

    Raises
    ------
    SettingsError
        If there is no mass.
    """
    X = robot.frame_pose(robot.neutral(), body_of(robot, frame), relative_to=frame)
    found = inertia_from(moved(parameters, X))
    if found is None:
        raise SettingsError(f"what moves with {frame!r} of {robot.name!r} has no mass")
    return found


def in_body(robot: Robot, inertia: Inertia, frame: str) -> FloatArray:
    """Ten parameters in the frame of the body's link, from an inertia in another frame."""
    R, c, m = inertia.origin.matrix[:3, :3], np.array(inertia.origin.xyz), inertia.mass
    J = R @ inertia.matrix @ R.T
    P = matrix(np.array([m, *m * c, *np.zeros(6)]))
    P[:3, :3] = 0.5 * np.trace(J) * np.eye(3) - J + m * np.outer(c, c)
    X = robot.frame_pose(robot.neutral(), frame, relative_to=body_of(robot, frame))
    return moved(ten(P), X)
