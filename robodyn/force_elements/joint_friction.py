"""Viscous damping and dry friction along every freedom of a joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn.force_elements.common.joint_element import JointElement
from robodyn.symbolic.scalar import Number, sqrt


def resistance(x: Number, damping: float, friction: float, friction_speed: Number | None) -> Number:
    """``- d x - f x / sqrt(x^2 + s^2)`` against a speed ``x``.

    Dry friction is smooth, and reaches 70 % at the speed ``s``; without one it is left out.
    """
    force = x * damping
    if friction and friction_speed is not None:
        force = force + x * friction / sqrt(x * x + friction_speed**2)
    return -force


class _Friction:
    numbers: tuple[str, ...] = ("damping", "friction")
    beside: tuple[str, ...] = ()
    passive = True
    keeps_coordinate = False  # it acts in joints that are cut, too
    elastic = False

    def forces(
        self, joint: Any, q: Sequence[Number], v: Sequence[Number], friction_speed: Number | None
    ) -> Sequence[Number]:
        return [resistance(x, joint.damping, joint.friction, friction_speed) for x in v]

    def energy(self, joint: Any, q: Sequence[Number]) -> Number:
        return 0.0


JOINT_ELEMENT: JointElement = _Friction()
