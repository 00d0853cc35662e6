"""The impulse of a contact that slides, with Coulomb's law for the impulses as wholes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robodyn.symbolic.scalar import minimum, sqrt, where
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import SLIP_ENDED


class Sliding:
    """An impulse ``p_n (n - part s)`` against a slip that goes on, ends, or turns back.

    Whichever agrees with it [Whittaker 1904; Keller 1986]; Newton's restitution holds along the
    normal. Of numbers, symbols or arrays of numbers.

    u [m/s]: Velocity of the point as seen from the other body.
    n, s: Unit normal, and unit direction of the slip.
    jump: From an impulse to the jump of that velocity.
    ended, ends: The slip would end with the approach, without friction; it ends in the impact.
    parting [1/kg]: Jump of the speed of parting over the normal impulse.
    excess, scale: By how much friction can do more than to end the slip, and the size of its terms.
    """

    def __init__(
        self,
        u: Vec3,
        n: Vec3,
        s: Vec3,
        jump: Callable[[Vec3], Vec3],
        restitution: Any,
        friction: Any,
    ) -> None:
        Wn, Ws = jump(n), jump(s)
        self.nn, ns, ss = n.dot(Wn), n.dot(Ws), s.dot(Ws)
        asked_n, asked_s = -(1.0 + restitution) * minimum(u.dot(n), 0.0), -u.dot(s)
        self.above: Any = ns * asked_n - self.nn * asked_s
        below, self.scale = (
            ss * asked_n - ns * asked_s,
            sqrt((ns * asked_n) ** 2 + (self.nn * asked_s) ** 2),
        )
        size: Any = abs(self.above)
        self.excess = friction * below - size
        self.ended: Any = size <= self.scale * SLIP_ENDED
        self.ends = self.ended | (below > 0.0) & (self.excess >= 0.0)
        going_on = where(self.above >= 0.0, friction, -friction)
        self.part = where(self.ended, 0.0, where(self.ends, self.above / below, going_on))
        self.parting = self.nn - self.part * ns
        self.impulse = (n - s * self.part) * (asked_n / self.parting)
