"""The law of dry friction: Coulomb's, with static friction and Stribeck's fall."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError, UnknownNameError


@dataclass(frozen=True)
class DryFriction:
    """How joints stick, for ``friction=`` of a simulation.

    A joint at rest sticks while a force of at most ``static`` times its friction holds it. Where it
    slides at the speed ``s`` friction has the size ``f (1 + (static - 1) exp(-(s / w)^2))``: it
    falls from static friction to the friction ``f`` of the joint within the Stribeck speed ``w``.

    Attributes
    ----------
    static : float, or mapping of joint name to float
        Static friction over kinetic friction, 1 or more. Joints that are not named: 1.
    stribeck_speed : float, or mapping of joint name to float [rad/s, m/s]
        0: static friction is gone as soon as the joint slides. Joints that are not named: 0.

    Raises
    ------
    SettingsError

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("arm7")
    >>> law = rd.DryFriction(static={"elbow_pitch": 1.4}, stribeck_speed=0.05)
    >>> run = rd.simulate(robot, q0=robot.neutral(), duration=0.05, friction=law)
    """

    static: float | Mapping[str, float] = 1.0
    stribeck_speed: float | Mapping[str, float] = 0.0

    def __post_init__(self) -> None:
        check_fields(self)
        for name, least, what in (
            ("static", 1.0, "static over kinetic friction, 1 or more"),
            ("stribeck_speed", 0.0, "a speed of 0 or more [rad/s, m/s]"),
        ):
            given = getattr(self, name)
            if given == {}:
                raise SettingsError(f"{name} is {{}}, expected one number, or some by joint")
            for joint, x in given.items() if isinstance(given, Mapping) else [("", given)]:
                if not least <= x < math.inf:
                    of = f"[{joint!r}]" if joint else ""
                    raise SettingsError(f"{name}{of} is {x!r}, expected {what}")
            if isinstance(given, Mapping):
                object.__setattr__(self, name, dict(given))

    def of(self, joints: tuple[str, ...], robot: str) -> tuple[FloatArray, FloatArray]:
        """Excess of static friction, and 1 over the square of the Stribeck speed, of each joint.

        Joints whose friction falls at once have none of either.

        Raises UnknownNameError: If a joint is named that has no dry friction.
        """
        static, speed = (
            _each(name, x, default, joints, robot)
            for name, x, default in (
                ("static friction", self.static, 1.0), ("Stribeck speed", self.stribeck_speed, 0.0),
            )
        )  # fmt: skip
        return static - 1.0, np.divide(1.0, speed**2, out=np.zeros(len(joints)), where=speed > 0.0)

    def falling(self, joints: tuple[str, ...], robot: str, s: FloatArray) -> FloatArray:
        """Excess over kinetic friction at some speeds, as a part of it, shape (..., n)."""
        excess, fall = self.of(joints, robot)
        return np.asarray(np.where(fall > 0.0, excess, 0.0) * np.exp(-fall * s * s))


def _each(
    what: str, given: float | Mapping[str, float], default: float, names: tuple[str, ...], of: str
) -> FloatArray:
    if not isinstance(given, Mapping):
        return np.full(len(names), float(given))
    for name in given:
        if name not in names:
            raise UnknownNameError(f"joint with dry friction, to have a {what}", name, names, of)
    return np.array([float(given.get(name, default)) for name in names])
