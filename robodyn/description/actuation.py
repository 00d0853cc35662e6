"""What drives a mechanism beside its joints: motors and free rotors."""

from __future__ import annotations

import math
from dataclasses import dataclass

from robodyn.arguments import check_fields
from robodyn.arrays import number, vector
from robodyn.description.pose import Vector
from robodyn.symbolic.symbol import with_name


@dataclass(frozen=True)
class Rotor:
    """A rotor that spins freely on a link: a reaction wheel, a gyroscope, a fan.

    It is a joint of its own (continuous), called by its name. The inertia of the link counts it as
    if it did not turn.

    Attributes
    ----------
    name, link : str
    axis : (3,)
        Unit vector in link axes.
    inertia : float [kg m^2]
        About the axis.
    damping, friction : float [N m s/rad], [N m]
        Viscous and dry, of its bearing.

    Examples
    --------
    >>> import robodyn as rd
    >>> wheel = rd.Rotor("wheel", "lower", axis=(0, 1, 0), inertia=0.01)
    >>> robot = rd.load("double_pendulum", rotors=[wheel])
    >>> robot.nv     # shoulder, elbow, and the spin of the wheel
    3
    """

    name: str
    link: str
    axis: Vector
    inertia: float
    damping: float = 0.0
    friction: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Actuator:
    """A motor that drives a joint.

    Attributes
    ----------
    gear_ratio : float
        Motor speed over joint speed; in a `Transmission`, over the speed of its shaft. Of a sliding
        joint in rad/m: ``2 pi / lead`` for a spindle; 1 is a linear motor.
    rotor_inertia : float [kg m^2]
        About the rotor axis.
    axis : (3,) or None
        Rotor axis in the axes of ``mounted_on``; ``None``: the joint axis.
    mounted_on : str or None
        Link that carries the stator; ``None``: the joint's parent link.
    viscous, coulomb : float [N m s/rad], [N m]
        Friction on the motor side.
    torque_limit : float [N m]
        On the motor side.
    name : str
        As in the file.

    Raises
    ------
    ShapeError
        If a value is not the number, or the axis not the three numbers, that it should be.

    Examples
    --------
    >>> import robodyn as rd
    >>> motor = rd.Actuator(gear_ratio=100, rotor_inertia=2e-4, torque_limit=3.0)
    >>> arm = rd.load("double_pendulum", actuators={"shoulder": motor}, rotor_model="armature")
    >>> added = arm.mass_matrix([0, 0]) - rd.load("double_pendulum").mass_matrix([0, 0])
    >>> round(float(added[0, 0]), 9)     # 100^2 * 2e-4
    2.0
    """

    gear_ratio: float = 1.0
    rotor_inertia: float = 0.0
    axis: Vector | None = None
    mounted_on: str | None = None
    viscous: float = 0.0
    coulomb: float = 0.0
    torque_limit: float = math.inf
    name: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("gear_ratio", "rotor_inertia", "viscous", "coulomb", "torque_limit"):
            given = getattr(self, name)
            object.__setattr__(self, name, with_name(given, number(name, given)))
        if self.axis is not None:
            object.__setattr__(self, "axis", vector("axis", self.axis))
