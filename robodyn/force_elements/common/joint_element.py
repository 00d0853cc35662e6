"""Interface of force elements along joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from robodyn.symbolic.scalar import Number


class JointElement(Protocol):
    """A force along the freedoms of a joint, whose numbers are fields of its description.

    numbers: Fields of `Joint` that are zero where it does not act.
    beside: Further fields that its force and energy are computed with.
    passive: It is left out of a robot that was loaded with ``passive=False``.
    keeps_coordinate: A joint with it is not cut to open a loop: its force needs the coordinate.
    elastic: Its force depends on the position.
    """

    numbers: tuple[str, ...]
    beside: tuple[str, ...]
    passive: bool
    keeps_coordinate: bool
    elastic: bool

    def forces(
        self, joint: Any, q: Sequence[Number], v: Sequence[Number], friction_speed: Number | None
    ) -> Sequence[Number]:
        """Force along each freedom, or along the first ones [N m, N].

        q, v [rad, m]
        friction_speed [rad/s, m/s]: Where dry friction reaches 70 %.
        """

    def energy(self, joint: Any, q: Sequence[Number]) -> Number:
        """Potential energy [J]."""
