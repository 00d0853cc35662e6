"""Rotors of motors: bodies that spin about an axis of the link that carries them.

A rotor turns with ``ratio`` times the speed of the joint it drives. The inertia of the link that
carries it counts it as if it did not turn. Its spin adds an angular momentum ``g v`` with
``g = ratio * inertia * axis``, constant in the axes of the carrier::

    carrier:  moment + g a + w x g v
    joint:    force  + g . dw + ratio^2 inertia a

The last term, the inertia that the joint feels, is an `Armature`. The joint may have the speed and
the acceleration of a coordinate, of one that it mimics, or follow several by a closed loop: ``v``
and ``a`` are those of the joint, and its force does work at all that move it.

A rotor that several joints turn together, by a differential or a belt, spins with the sum of
``ratio v``. Its angular momentum is a sum too, so it is one `Rotor` and one `Armature` for each of
these joints; what is left of ``1/2 inertia (sum of ratio v)^2`` is a `CouplingInertia` for each
two.
"""

from __future__ import annotations

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.spatial import RigidInertia, Twist
from robodyn.symbolic.vector import ZERO3, Sym3, Vec3


@dataclass(frozen=True)
class Armature:
    """Inertia of a rotor at each speed of a body's joint, ``ratio^2 inertia``."""

    body: int
    inertia: float


@dataclass(frozen=True)
class CouplingInertia:
    """Inertia between two joints: force at one per unit acceleration of the other.

    first, second: Bodies, whose joints have one degree of freedom.
    inertia: ``ratio_1 ratio_2 inertia`` of a rotor that both joints turn.
    carrier: The body that its energy is counted with: the one that carries the rotor, or, where
        none feels it, one that it turns with.
    """

    first: int
    second: int
    inertia: float
    carrier: int


@dataclass(frozen=True, eq=False)
class Rotor:
    """A rotor and the joint that drives it, which has one degree of freedom.

    Attributes
    ----------
    body : int
        The body whose joint it is.
    ratio : float
        Angle of the rotor over the coordinate of the joint [rad/rad, rad/m].
    inertia : float [kg m^2]
        About the axis.
    carrier : int
        Body that carries the rotor; the base too.
    axis : Vec3
        Unit vector in the carrier's frame.
    """

    body: int
    ratio: float
    inertia: float
    carrier: int
    axis: Vec3

    @property
    def g(self) -> Vec3:
        """Angular momentum per unit of the joint's speed."""
        return self.axis * (self.ratio * self.inertia)

    @property
    def column(self) -> Twist:
        """Twist of the rotor relative to the carrier per unit of the joint's speed."""
        return Twist(w=self.axis * self.ratio)

    @property
    def alone(self) -> RigidInertia:
        """Inertia about the axis, as a body of its own."""
        J = Sym3.of(self.axis.outer(self.axis * self.inertia))
        half = Sym3.diagonal(0.5 * self.inertia)
        return RigidInertia(0.0, ZERO3, Sym3(*(a - b for a, b in zip(half, J, strict=True))))


@dataclass(frozen=True, eq=False)
class Motor:
    """A motor: the inertia of its rotor, and its effects per unit on joints and the carrier.

    joint: The joint that it is described for.
    inertia [kg m^2]: About the rotor's axis.
    armature: Of a rotor of 1 kg m^2, one for each joint that turns it.
    rotors: Of 1 kg m^2, alike; none where the carrier does not feel it.
    couplings: Of 1 kg m^2, one for each two joints that turn it.
    """

    joint: str
    inertia: float
    armature: tuple[Armature, ...]
    rotors: tuple[Rotor, ...] = ()
    couplings: tuple[CouplingInertia, ...] = ()
