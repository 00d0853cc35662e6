"""What an actuator is made of beside its rotor: an electric motor, its winding, elastic gears."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

from robodyn.arguments import check_fields
from robodyn.arrays import number, numbers
from robodyn.errors import ActuationError


@dataclass(frozen=True)
class Winding:
    """Heat of a motor, by the usual model of two bodies: winding and housing.

    The winding warms the housing through the first resistance, the housing the surroundings through
    the second one. In a duty that lasts, the loss P warms the winding by P times their sum.

    Attributes
    ----------
    resistances : (2,) float [K/W]
        From winding to housing, and from housing to the surroundings.
    time_constants : (2,) float [s]
        Of the winding and of the housing: each the resistance times the heat capacity.
    limit : float [degrees Celsius]
        The largest temperature of the winding.

    Raises
    ------
    ActuationError
        If a resistance or time constant is no positive number, or the limit none.

    Examples
    --------
    >>> import robodyn as rd
    >>> winding = rd.Winding((2.0, 6.0), (15.0, 900.0), 155.0)
    >>> 25.0 + 10.0 * sum(winding.resistances)     # with a loss of 10 W at 25 degrees
    105.0
    """

    resistances: tuple[float, float]
    time_constants: tuple[float, float]
    limit: float

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("resistances", "time_constants"):
            pair = numbers(name, getattr(self, name))
            if pair.shape != (2,) or not (pair > 0.0).all() or not math.isfinite(pair.sum()):
                _refuse("Winding", name, getattr(self, name), "two positive numbers")
            object.__setattr__(self, name, tuple(map(float, pair)))
        if not math.isfinite(number("limit", self.limit)):
            _refuse("Winding", "limit", self.limit, "a number of degrees Celsius")


@dataclass(frozen=True)
class Motor:
    """A DC motor, or one with three phases as its equivalent: torque k i, voltage R i + k w.

    Attributes
    ----------
    torque_constant : float [N m/A, N/A]
        Torque at the shaft per unit of current; in V s/rad it is the back-EMF constant.
    resistance : float [ohm]
        Of the winding.
    inductance : float [H]
    voltage, current : float or None [V], [A]
        Largest ones that the drive gives; ``None``: not limited.
    thermal : Winding or None

    Raises
    ------
    ActuationError
        If a number is not finite, or not positive; resistance and inductance may be zero.

    Examples
    --------
    >>> import robodyn as rd
    >>> motor = rd.Motor(0.05, 0.3, voltage=48.0, current=20.0)
    >>> motor.voltage / motor.torque_constant     # speed at no load [rad/s]
    960.0
    """

    torque_constant: float
    resistance: float
    _: KW_ONLY
    inductance: float = 0.0
    voltage: float | None = None
    current: float | None = None
    thermal: Winding | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("resistance", "inductance"):
            _check("Motor", self, name, positive=False)
        for name in ("torque_constant", "voltage", "current"):
            if getattr(self, name) is not None:
                _check("Motor", self, name, positive=True)
        if self.voltage is not None and not self.resistance:
            _refuse("Motor", "resistance", self.resistance, "a positive one with voltage=")


@dataclass(frozen=True)
class Elastic:
    """A spring and a damper between gear and joint.

    Attributes
    ----------
    stiffness : float [N m/rad, N/m]
        At the joint.
    damping : float [N m s/rad, N s/m]

    Raises
    ------
    ActuationError
        If the stiffness is no positive number, or the damping negative.

    Examples
    --------
    >>> import robodyn as rd
    >>> gear = rd.Elastic(stiffness=2e4, damping=10.0)
    """

    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)
        _check("Elastic", self, "stiffness", positive=True)
        _check("Elastic", self, "damping", positive=False)


@dataclass(frozen=True)
class GearSpring:
    """An elastic gear of a description for the equations: of two joints that turn about one axis.

    motor, joint: The joint of the gear's output, which the motor turns, and the one it drives.
    elastic: Between them.
    backlash: From end to end [rad, m].
    """

    motor: str
    joint: str
    elastic: Elastic
    backlash: float = 0.0


@dataclass(frozen=True)
class WindingCurrent:
    """The winding of a motor as a joint, in a description for the equations.

    winding: The joint whose speed is the current.
    motor: The joint that the motor is described for, which it turns.
    ratio: Speed of the motor over that of this joint.
    constant: Torque at the shaft per unit of current.
    """

    winding: str
    motor: str
    ratio: float
    constant: float


def _check(what: str, item: Any, name: str, *, positive: bool) -> None:
    """Check that a field is a finite number, positive or at least not negative."""
    x = number(name, getattr(item, name))
    if not math.isfinite(x) or x < 0.0 or (positive and x == 0.0):
        wanted = "a positive number" if positive else "a number that is not negative"
        _refuse(what, name, getattr(item, name), wanted)
    object.__setattr__(item, name, x)


def _refuse(what: str, name: str, given: object, wanted: str) -> None:
    raise ActuationError(f"{what} has {name}={given!r}, expected {wanted}", direction=name)
