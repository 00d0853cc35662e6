"""A spring in a joint of one freedom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn.force_elements.common.joint_element import JointElement
from robodyn.symbolic.scalar import Number


class _Spring:
    numbers: tuple[str, ...] = ("stiffness",)
    beside: tuple[str, ...] = ("rest",)
    passive = True
    keeps_coordinate = True
    elastic = True

    def forces(
        self, joint: Any, q: Sequence[Number], v: Sequence[Number], friction_speed: Number | None
    ) -> Sequence[Number]:
        return [-((q[0] - joint.rest) * joint.stiffness)] if joint.stiffness else ()

    def energy(self, joint: Any, q: Sequence[Number]) -> Number:
        if not joint.stiffness:
            return 0.0
        stretch: Number = q[0] - joint.rest
        k: Number = joint.stiffness
        return stretch * stretch * (0.5 * k)


JOINT_ELEMENT: JointElement = _Spring()
