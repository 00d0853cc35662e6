"""The same way in more time: until limits hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn import PathError, Robot, SettingsError
from robodyn.array_types import FloatArray
from robodyn.arrays import number
from robodyn.controllers.profile import limit

__all__ = ["Stretched"]

Reference = Callable[[float], tuple[FloatArray, FloatArray, FloatArray]]

#: Times at which limits are looked at.
LOOKS = 1001
#: Part of the factor to which torque limits are met, and the longest that is tried.
PRECISION, LONGEST = 1e-6, 1e6


@dataclass(frozen=True, eq=False)
class Stretched:
    """Another reference, all of it slower by one factor.

    Attributes
    ----------
    reference : callable
        Time [s] -> position, velocity, acceleration, for joints whose coordinates add.
    factor : float
        By which it takes longer; less than one: faster.

    Raises
    ------
    SettingsError
        For a factor that is not positive.
    """

    reference: Reference
    factor: float

    def __post_init__(self) -> None:
        factor = number("factor", self.factor)
        if not 0.0 < factor < np.inf:
            raise SettingsError(f"factor is {factor!r}, expected a positive number")
        object.__setattr__(self, "factor", factor)

    @property
    def symbolic(self) -> bool:
        """It is arithmetic only if what it stretches is."""
        return bool(getattr(self.reference, "symbolic", False))

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (n,), at time ``t`` [s]."""
        k = 1.0 / self.factor
        q, v, a = self.reference(t * k)
        return q, v * k, a * (k * k)

    @classmethod
    def within(
        cls,
        reference: Reference,
        duration: float,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        robot: Robot | None = None,
        torque: ArrayLike | None = None,
    ) -> Stretched:
        """As fast as limits allow, at a thousand instants evenly spread.

        Parameters
        ----------
        reference : callable
        duration : float [s]
            Of the reference.
        velocity, acceleration : float or array_like, shape (n,), optional
            Largest of each joint.
        robot : Robot, optional
            That has to follow, with a fixed base and no loops.
        torque : float or array_like, shape (nv,), optional [N m, N]
            Largest of each joint of the robot. Default: its `effort_limits`, if ``robot`` is given.

        Raises
        ------
        SettingsError
            Without limits, and for a reference that stands still.
        PathError
            Where no slowness lets torques hold: gravity alone is too much.
        """
        times = np.linspace(0.0, float(duration), LOOKS)
        q, v, a = (np.array(x) for x in zip(*map(reference, times.tolist()), strict=True))
        count, needed = v.shape[1], [0.0]
        if velocity is not None:
            needed.append(float((np.abs(v) / limit("velocity", velocity, count)).max()))
        if acceleration is not None:
            most = (np.abs(a) / limit("acceleration", acceleration, count)).max()
            needed.append(float(np.sqrt(most)))
        factor = max(needed)
        if robot is not None:
            effort = robot.effort_limits if torque is None else limit("torque", torque, robot.nv)
            factor = _for_torques(robot, (times, q, v, a), effort, factor)
        if not factor > 0.0:
            raise SettingsError(
                "nothing bounds how fast the reference may be: it stands still, or no limit is "
                "given; give velocity=, acceleration= or robot="
            )
        return cls(reference, factor)


def _for_torques(
    robot: Robot, motion: tuple[FloatArray, ...], effort: FloatArray, least: float
) -> float:
    """The smallest factor, and not below another one, with which torques hold."""
    times, q, v, a = motion

    def over(factor: float) -> FloatArray:
        tau = robot.inverse_dynamics(q, v / factor, a / factor**2)
        return np.asarray((np.abs(tau) - effort).max(axis=1))

    high = least or 1.0
    while (over(high) > 0.0).any():
        high *= 2.0
        if high > LONGEST:
            worst = int(over(high).argmax())
            tau = np.abs(robot.inverse_dynamics(q[worst], 0.0 * v[worst], 0.0 * a[worst]))
            at = int((tau - effort).argmax())
            raise PathError(
                f"at t = {times[worst]:.6g} s of the reference speed {at} takes {tau[at]:.4g} N m "
                f"or N at rest, and may have {effort[at]:.4g}: no slowness helps",
                time=float(times[worst]),
            )
    low = least or 1.0 / LONGEST
    if least and not (over(least) > 0.0).any():
        return least
    while high > low * (1.0 + PRECISION):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if (over(middle) > 0.0).any() else (low, middle)
    return high
