"""What drives a mechanism beside its joints: motors and free rotors."""

from __future__ import annotations

import math
from dataclasses import dataclass

from robodyn.arguments import check_fields
from robodyn.arrays import number, vector
from robodyn.description.drive import Elastic, Motor
from robodyn.description.pose import Vector
from robodyn.literals import MotorCommand
from robodyn.symbolic.symbol import with_name

#: Fields of an `Actuator` that are finite numbers.
NUMBERS = ("gear_ratio", "rotor_inertia", "viscous", "coulomb")


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
    motor : Motor or None
        The electric motor: its constants, and the limits of its drive.
    efficiency : float
        Share of the power into the gear that leaves it while the motor drives, above 0 to 1.
    backward_efficiency : float or None
        The same while the joint drives the motor, 0 to 1; 0: a worm, which no load turns. ``None``:
        ``2 - 1 / efficiency``, as of the same friction in the gear, and never below 0.
    backlash : float [rad, m]
        Play between gear and joint, at the joint, from end to end; it needs ``elastic``.
    command : {"torque", "voltage"}
        What a controller gives the motor. With ``"voltage"`` the winding of its ``motor`` is a
        state: a joint ``"joint_winding"``, whose speed is the current [A] and whose force is the
        voltage at the terminals [V], stands for the motor; it needs an inductance.
    elastic : Elastic or None
        Spring and damper between gear and joint: the motor becomes a joint of its own, see
        docs/guides/robots/drives.md.

    Raises
    ------
    ShapeError
        If a value is not the number, or the axis not the three numbers, that it should be.

    Notes
    -----
    What a gear loses is friction in proportion to the torque it carries: the torque of the motor
    that goes into it, without what its rotor and its own friction take. Below ``friction_speed`` of
    the joint it falls linearly to zero, as nothing says which way a gear at rest is loaded.

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
    motor: Motor | None = None
    efficiency: float = 1.0
    backward_efficiency: float | None = None
    backlash: float = 0.0
    elastic: Elastic | None = None
    command: MotorCommand = "torque"

    def __post_init__(self) -> None:
        check_fields(self)
        for name in (*NUMBERS, "torque_limit", "efficiency", "backlash"):
            given = getattr(self, name)
            object.__setattr__(self, name, with_name(given, number(name, given)))
        if self.axis is not None:
            object.__setattr__(self, "axis", vector("axis", self.axis))
        if self.backward_efficiency is not None:
            backward = number("backward_efficiency", self.backward_efficiency)
            object.__setattr__(self, "backward_efficiency", backward)

    @property
    def driven_efficiency(self) -> float:
        """`backward_efficiency`, or what it is by default."""
        if self.backward_efficiency is not None:
            return self.backward_efficiency
        return max(0.0, 2.0 - 1.0 / self.efficiency)

    @property
    def largest_torque(self) -> float:
        """The lesser of `torque_limit` and the torque of the largest current, at the shaft."""
        if self.motor is None or self.motor.current is None:
            return self.torque_limit
        by_current = self.motor.torque_constant * self.motor.current
        return min(self.torque_limit or math.inf, by_current)

    @property
    def lossless(self) -> bool:
        """Whether the gear loses nothing either way."""
        return self.efficiency == 1.0 == self.driven_efficiency
