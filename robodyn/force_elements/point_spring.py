"""A spring and damper between points of two links [Sayers 12, 13]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from robodyn.arguments import check_fields
from robodyn.force_elements.common.link_element import PointMotion, Vector
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.vector import Vec3


@dataclass(frozen=True)
class PointSpring:
    """A spring and damper between a point of one link and a point of another.

    Pulls them together with ``stiffness (distance - rest_length) + damping d(distance)/dt``.

    Attributes
    ----------
    link1, link2 : str
        ``"world"`` is the ground.
    point1, point2 : (3,) [m]
        In link axes.
    stiffness : float [N/m]
    rest_length : float [m]
    damping : float [N s/m]
    name : str

    Examples
    --------
    >>> import robodyn as rd
    >>> spring = rd.PointSpring("world", (0, 0, -3), "lower", (0, 0, -1), stiffness=10.0)
    >>> robot, free = rd.load("double_pendulum", springs=[spring]), rd.load("double_pendulum")
    >>> stored = robot.potential_energy([0.0, 0.0]) - free.potential_energy([0.0, 0.0])
    >>> round(float(stored), 9)     # 10 / 2 * 1^2: the tip hangs at -2
    5.0
    """

    tag: ClassVar[str] = "spring"

    link1: str
    point1: Vector
    link2: str
    point2: Vector
    stiffness: float = 0.0
    rest_length: float = 0.0
    damping: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def places(self) -> tuple[tuple[str, Vector], ...]:
        """Link and point of each end."""
        return (self.link1, self.point1), (self.link2, self.point2)

    @property
    def dissipates(self) -> bool:
        """Whether it has damping."""
        return bool(self.damping)

    def forces(self, at: Sequence[PointMotion]) -> Sequence[Vec3]:
        """Forces on both ends; empty if both points coincide, where the force has no direction."""
        d, length = _distance(at)
        if isinstance(length, float | int) and length == 0.0:
            return ()
        pull: Number = self.stiffness
        if self.rest_length:
            pull = self.stiffness - self.stiffness * self.rest_length / length
        if self.damping:
            v = [x.velocity for x in at]
            pull = pull + self.damping * d.dot(v[1] - v[0]) / (length * length)
        return d * pull, d * -pull

    def energy(self, at: Sequence[PointMotion]) -> Number:
        """Elastic energy of the spring."""
        stretch = _distance(at)[1] - self.rest_length
        return stretch * stretch * (0.5 * self.stiffness)


def _distance(at: Sequence[PointMotion]) -> tuple[Vec3, Number]:
    """Vector from the first point to the second, in world axes, and its length."""
    one, other = (x.position for x in at)
    d = other - one
    return d, sqrt(d.dot(d))


LINK_ELEMENT = PointSpring
