"""A force that carries the weight of a mass, as MuJoCo's ``gravcomp``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from robodyn.arguments import check_fields
from robodyn.force_elements.common.link_element import PointMotion, Vector
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.vector import Vec3


@dataclass(frozen=True)
class WeightCompensation:
    """A force at a point of a link that is opposite to the weight of a mass, wherever it moves.

    With the mass of the link, at its centre of mass, the link moves as if gravity did not act on
    it. It follows the ``gravity`` of the robot.

    Attributes
    ----------
    link : str
    point : (3,) [m]
        In link axes.
    mass : float [kg]
        Whose weight it carries; the mass of the link stays what it is.
    name : str

    Examples
    --------
    >>> import robodyn as rd
    >>> held = rd.WeightCompensation("lower", (0.0, 0.0, -0.5), mass=1.0)
    >>> robot = rd.load("double_pendulum", springs=[held])
    >>> tau = robot.bias_forces([0.0, 1.0], [0.0, 0.0])  # the lower rod is weightless
    >>> bool(abs(tau).max() < 1e-12)
    True
    """

    tag: ClassVar[str] = "weight_compensation"

    link: str
    point: Vector
    mass: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def places(self) -> tuple[tuple[str, Vector], ...]:
        """Link and point."""
        return ((self.link, self.point),)

    @property
    def dissipates(self) -> bool:
        """It has an energy, and takes none."""
        return False

    def forces(self, at: Sequence[PointMotion]) -> Sequence[Vec3]:
        """The force [N]."""
        return [at[0].gravity * -self.mass]

    def energy(self, at: Sequence[PointMotion]) -> Number:
        """Minus that of the mass."""
        return at[0].gravity.dot(at[0].position) * self.mass


LINK_ELEMENT = WeightCompensation
"""What the files of force elements are written with."""
