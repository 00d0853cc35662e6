"""Settings of a running simulation, and their checks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import robodyn as rd
from robodyn.arrays import mismatch
from robodyn.literals import CommandInterface, IdleController, IntegratorName
from robodyn.simulation.integrators import EXPLICIT

#: Controllers of joints without a recent command.
CONTROLLERS = get_args(IdleController)
#: Meanings of the numbers in commands.
INTERFACES = get_args(CommandInterface)

#: Largest number of steps between two publications; the node is blocked while they are computed.
MOST_STEPS = 10_000

#: Description of each setting.
NOTES = {
    "rate": "publications a second [Hz]",
    "real_time_factor": "simulated seconds in a second",
    "step": "of integration [s]",
    "integrator": "one of " + ", ".join(EXPLICIT),
    "controller": "what acts while no command is fresh: one of " + ", ".join(CONTROLLERS),
    "stiffness": "of pd [N m/rad, N/m] or computed_torque [1/s^2]: one, or one a motor",
    "damping": "of pd [N m s/rad, N s/m] or computed_torque [1/s]: one, or one a motor",
    "command_timeout": "simulated seconds after which a command is stale [s]",
    "bandwidth": "with which position and velocity commands are followed [1/s]",
    "interfaces": "what commands mean: one, or one a joint, of " + ", ".join(INTERFACES),
}


@dataclass(frozen=True)
class Settings:
    """Choices that may change while a simulation runs.

    Attributes
    ----------
    rate : float [Hz]
        Publications a second.
    real_time_factor : float
    step : float [s]
    integrator : str
        An explicit method, of steps that take the same time: a key of
        `robodyn.simulation.integrators.EXPLICIT`.
    controller : {"none", "gravity", "pd", "computed_torque"}
        What acts while no command is fresh: the safe torque.
    stiffness, damping : tuple of float
    command_timeout : float [s]
    bandwidth : float [1/s]
        Position and velocity commands are followed like a critically damped spring of this
        frequency.
    interfaces : tuple of str
        One for all commanded joints, or one for each.

    Raises
    ------
    ShapeError
        For values that make no sense; the message says which and what is expected.

    Examples
    --------
    >>> from robodyn.ros import Settings
    >>> settings = Settings(rate=100.0, controller="gravity")
    >>> settings.rate, settings.step
    (100.0, 0.001)
    """

    rate: float = 200.0
    real_time_factor: float = 1.0
    step: float = 1e-3
    integrator: IntegratorName = "semi_implicit"
    controller: IdleController = "none"
    stiffness: tuple[float, ...] = (100.0,)
    damping: tuple[float, ...] = (20.0,)
    command_timeout: float = 0.5
    bandwidth: float = 50.0
    interfaces: tuple[CommandInterface, ...] = ("effort",)

    def __post_init__(self) -> None:
        for name, low, high in (
            ("rate", 0.1, 2000.0),
            ("real_time_factor", 1e-3, 1e3),
            ("step", 1e-6, 0.1),
            ("command_timeout", 1e-3, 1e6),
            ("bandwidth", 1e-3, 1e4),
        ):
            value = getattr(self, name)
            if not (_is_number(value) and low <= value <= high):
                raise _wrong(name, value, f"a number from {low:g} to {high:g}")
        for name in ("stiffness", "damping"):
            value = getattr(self, name)
            if not value or not all(_is_number(x) and 0.0 <= x < math.inf for x in value):
                raise _wrong(name, value, "numbers that are finite and not negative")
        for name, known in (("integrator", EXPLICIT), ("controller", CONTROLLERS)):
            if getattr(self, name) not in known:
                raise _wrong(name, getattr(self, name), "one of " + ", ".join(known))
        if not self.interfaces or not {*self.interfaces} <= {*INTERFACES}:
            raise _wrong("interfaces", self.interfaces, "of " + ", ".join(INTERFACES))
        steps = self.real_time_factor / (self.rate * self.step)
        if steps > MOST_STEPS * (1.0 + 1e-9):
            raise _wrong(
                "real_time_factor", self.real_time_factor,
                f"at most {MOST_STEPS * self.rate * self.step:g} with this rate and step: "
                f"{MOST_STEPS} steps between two publications",
            )  # fmt: skip
        if self.bandwidth * self.step > 0.5:
            raise _wrong("bandwidth", self.bandwidth, f"at most {0.5 / self.step:g} at this step")

    def replaced(self, values: Mapping[str, Any]) -> Settings:
        """With other values; lists become tuples, whole numbers become floats where one is meant.

        Raises
        ------
        UnknownNameError, ShapeError
        """
        known = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name, value in values.items():
            if name not in known:
                raise rd.UnknownNameError("setting", name, known)
            known[name] = _like(known[name], value)
        return Settings(**known)

    @property
    def drives_along_trajectories(self) -> bool:
        """Whether joints are driven along trajectories, instead of by a controller's torques."""
        return self.controller not in ("pd", "computed_torque")

    def spread(self, name: str, size: int) -> tuple[Any, ...]:
        """A setting with one value, or one for each, as ``size`` values.

        Raises
        ------
        ShapeError
        """
        values: tuple[Any, ...] = getattr(self, name)
        if len(values) not in (1, size):
            raise _wrong(name, values, f"1 or {size} values")
        return values * size if len(values) == 1 else values


def _like(old: Any, value: Any) -> Any:
    if isinstance(old, tuple):
        single = isinstance(value, str) or not isinstance(value, Iterable)
        return (value,) if single else tuple(value)
    return float(value) if isinstance(old, float) and _is_number(value) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _wrong(name: str, value: Any, expected: str) -> rd.ShapeError:
    return mismatch(name, value, f"{expected}")
