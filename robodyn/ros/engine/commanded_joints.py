"""The joints that commands move: where they stand in the state, and their limits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.ros.engine.messages import StateNames
from robodyn.simulation.limits.bounds import own_effort_bounds

__all__ = ["CommandedJoints"]


class CommandedJoints:
    """Scalar coordinates of a robot in the order of commands.

    Parameters
    ----------
    names : StateNames
    joints : names, optional
        Default: those with motors.

    Attributes
    ----------
    names : tuple of str
    nv : int
        Speeds of the robot.
    coordinates, speeds : ndarray of int, shape (n,)
        Where they stand in q and v.
    lower, upper : ndarray, shape (n,) [rad, m]
        Limits of position, of the joint and of those that follow it by ``<mimic>``.
    top_speed : ndarray, shape (n,) [rad/s, m/s]
        The same of speed; infinite where the file says none.
    effort : ndarray, shape (n,) [N m, N]
        Limits of the joint and its motor, infinite where the file says none.

    Raises
    ------
    UnknownNameError, ShapeError
        For joints that the robot does not have, or named twice.
    """

    def __init__(self, names: StateNames, joints: Iterable[str] | None = None) -> None:
        robot = names.robot
        self.nv = robot.nv
        self.names = names.motors if joints is None else tuple(joints)
        if len({*self.names}) < len(self.names):
            raise rd.ShapeError(f"joints named twice: {', '.join(self.names)}", name="joints")
        self.coordinates = np.array([names.coordinate(n) for n in self.names], int)
        self.speeds = np.array([names.speed(n) for n in self.names], int)
        limits = [names.limits(n) for n in self.names]
        self.lower, self.upper, self.top_speed = np.array(limits).reshape(-1, 3).T
        self.effort = own_effort_bounds(robot)[self.speeds]

    def __len__(self) -> int:
        return len(self.names)

    def row(self, name: str) -> int:
        """Where a joint stands in a command.

        Raises
        ------
        UnknownNameError
        """
        if name not in self.names:
            raise rd.UnknownNameError("commanded joint", name, self.names)
        return self.names.index(name)

    def values(self, command: ArrayLike) -> FloatArray:
        """A command as an array, one finite number a joint.

        Raises
        ------
        ShapeError
        """
        given = np.asarray(command, float)
        if given.shape != (len(self),):
            raise rd.ShapeError(
                f"a command has {given.size} numbers, expected {len(self)}: "
                + ", ".join(self.names),
                name="command",
                given=given.shape,
                expected=(len(self),),
            )
        if not np.isfinite(given).all():
            raise rd.ShapeError("a command holds numbers that are not finite", name="command")
        return given
