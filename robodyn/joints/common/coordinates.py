"""Spaces of joint coordinates: rates, steps and differences.

Most coordinates are the integrals of their speeds and simply add: `FLAT`. Where they are not, as
with quaternions, the kind of joint has a space of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number

Numbers = Sequence[Number]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """How the coordinates of a joint follow from its speeds.

    rates: ``q, v -> dq/dt``, over numbers of equations.
    step: ``q, d -> q`` after moving with the constant joint twist ``d`` for unit time.
    bracket: ``x, y -> [x, y]``, the commutator of two joint twists.
    difference: ``q0, q1 -> d``, the inverse of ``step``.
    flat: The coordinates are the integrals of the speeds, one by one.
    quaternion: The last four coordinates are a unit quaternion x, y, z, w, and what is before them
        is a position.
    integrals: Where not all coordinates are: those that are the integral of one speed, whatever the
        others do.
    """

    rates: Callable[[Numbers, Numbers], list[Number]]
    step: Callable[[Numbers, Numbers], list[Number]]
    bracket: Callable[[Numbers, Numbers], list[Number]]
    difference: Callable[[Numbers, Numbers], list[Number]]
    flat: bool = False
    quaternion: bool = False
    integrals: Mapping[int, int] = field(default_factory=dict)

    def integral(self, speed: int) -> int | None:
        """The coordinate that is the integral of one speed, if there is one."""
        return speed if self.flat else self.integrals.get(speed)


#: Coordinates that add.
FLAT = Coordinates(
    rates=lambda q, v: list(v),
    step=lambda q, d: [x + dx for x, dx in zip(q, d, strict=True)],
    bracket=lambda x, y: [0.0] * len(x),
    difference=lambda q0, q1: [y - x for x, y in zip(q0, q1, strict=True)],
    flat=True,
)
