"""What all one-step methods have in common.

Coordinates such as quaternions do not add. Within a step the position is therefore written as
``integrate(q, u)`` with a joint twist ``u``, which does add, and a method is applied to ``u`` and
``v`` [Munthe-Kaas 1998]. For coordinates that add, this is the method of the book.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from robodyn.array_types import FloatArray
from robodyn.robot import Robot

__all__ = ["Acceleration", "Coordinates", "Explicit", "coordinates_of"]

#: (t, q, v) -> acceleration.
Acceleration = Callable[[float, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Coordinates:
    """How the coordinates of a robot move.

    Attributes
    ----------
    move : callable
        ``(q, u)`` -> position after moving with ``u``.
    rate : callable
        ``(u, v)`` -> rate of ``u`` when the robot moves with speed ``v``.
    flat : bool
        Coordinates add: ``q + u``, and ``v`` is their rate.
    """

    move: Callable[[FloatArray, FloatArray], FloatArray]
    rate: Callable[[FloatArray, FloatArray], FloatArray]
    flat: bool = False


def coordinates_of(robot: Robot) -> Coordinates:
    """The coordinates of a robot; those that add are added without a call of the robot."""
    if all(robot.joints[name].kind.coordinates.flat for name in robot.joint_names):
        return Coordinates(operator.add, lambda u, v: v, flat=True)
    return Coordinates(robot.integrate, robot.tangent_rate)


class Explicit(Protocol):
    """A method of fixed steps that computes new states from known ones only.

    Its step is sums and products of vectors and calls of what it is given, nothing else, so that
    the same text computes with numbers, with arrays of many motions and with symbols.
    """

    @property
    def order(self) -> int:
        """The error of a motion is of this order in the step."""

    def step(
        self,
        acceleration: Acceleration,
        coordinates: Coordinates,
        t: float,
        q: FloatArray,
        v: FloatArray,
        h: float,
        first: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Position and velocity after a step of ``h`` [s]; ``first``: acceleration at its start."""
