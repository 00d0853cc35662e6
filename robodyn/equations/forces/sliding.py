"""Dry friction of joints and motors that slide one way: smooth functions of their speeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robodyn.symbolic.scalar import Number, exp

#: A joint and the number of its freedom; a `motor_key` for a motor that several joints turn.
Key = tuple[str, int]


def motor_key(joint: str) -> Key:
    """The key of the motor that is described for a joint."""
    return f"motor of {joint}", 0


@dataclass(frozen=True, eq=False)
class Sliding:
    """Friction ``f (1 + x exp(-w s^2))`` at the speed ``s``, by what has it.

    laws: f [N m, N], which is against the motion, x, and w [s^2/rad^2, s^2/m^2].
    """

    laws: Mapping[Key, tuple[Number, Number, Number]]

    def force(self, key: Key, speed: Number) -> Number:
        """At a speed; zero of what has none."""
        f, x, w = self.laws.get(key, (0.0, 0.0, 0.0))
        fall: Number = exp(-(w * speed * speed))
        return f * (1.0 + x * fall)
