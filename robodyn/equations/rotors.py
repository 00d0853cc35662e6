"""Rotors of motors: bodies that spin about an axis of the link that carries them.

A rotor turns with ``ratio`` times the speed of the joint it drives. The inertia of the link that
carries it counts it as if it did not turn. Its spin adds an angular momentum ``g v`` with
``g = ratio * inertia * axis``, constant in the axes of the carrier::

    carrier:  moment + g a + w x g v
    joint:    force  + g . dw + ratio^2 inertia a

The last term, the inertia that the joint feels, is the model's ``armature``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import BodyMotion, RigidInertia, Twist, Wrench
from robodyn.symbolic.vector import ZERO3, Sym3, Vec3

__all__ = ["Rotor", "react", "spin"]


@dataclass(frozen=True, eq=False)
class Rotor:
    """A rotor and the speed that drives it.

    Attributes
    ----------
    speed : int
        Index in v.
    ratio : float
        Angle of the rotor over the coordinate behind that speed [rad/rad, rad/m].
    inertia : float [kg m^2]
        About the axis.
    carrier : int
        Body that carries the rotor; the base too.
    axis : Vec3
        Unit vector in the carrier's frame.
    """

    speed: int
    ratio: float
    inertia: float
    carrier: int
    axis: Vec3

    @property
    def g(self) -> Vec3:
        """Angular momentum a unit of the speed."""
        return self.axis * (self.ratio * self.inertia)

    @property
    def column(self) -> Twist:
        """Twist of the rotor relative to the carrier a unit of the speed."""
        return Twist(w=self.axis * self.ratio)

    @property
    def alone(self) -> RigidInertia:
        """Inertia about the axis, as a body of its own."""
        J = Sym3.of(self.axis.outer(self.axis * self.inertia))
        half = Sym3.diagonal(0.5 * self.inertia)
        return RigidInertia(0.0, ZERO3, Sym3(*(a - b for a, b in zip(half, J, strict=True))))


def react(
    rotors: Sequence[Rotor],
    v: Sequence[Number],
    a: Sequence[Number],
    motion: Mapping[int, BodyMotion],
    F: dict[int, Wrench],
) -> dict[int, Number]:
    """Add to ``F`` what the carriers feel; returns the forces ``g . dw`` by index of speed."""
    forces: dict[int, Number] = {}
    for rotor in rotors:
        g, k, i = rotor.g, rotor.speed, rotor.carrier
        moment = g * a[k] + motion[i].w.cross(g) * v[k]
        F[i] = F.get(i, Wrench()) + Wrench(n=moment)
        forces[k] = forces.get(k, 0.0) + g.dot(motion[i].dw)
    return forces


def spin(rotors: Sequence[Rotor], v: Sequence[Number]) -> list[tuple[int, Wrench]]:
    """Momentum that each rotor's spin adds to its carrier."""
    return [(rotor.carrier, Wrench(n=rotor.g * v[rotor.speed])) for rotor in rotors]
