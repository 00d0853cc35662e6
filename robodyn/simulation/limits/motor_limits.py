"""Limits of efforts that depend on speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError


@dataclass(frozen=True)
class MotorLimits:
    """Limits of efforts that depend on speed, as those of motors do; for ``limits=`` of a motion.

    An effort is cut to its limit, as ``"enforce"`` does, and one that drives a joint the way it is
    moving falls from there linearly to zero at the limit of its speed, beyond which nothing drives
    the joint on. Braking has the whole limit at all speeds. What an effort may be follows from the
    speed at the start of a step.

    Attributes
    ----------
    knee : float
        Part of the limit of speed, 0 to 1, up to which the whole effort is there. 0: a straight
        line from standstill on, as of a motor at constant voltage; 1: all of it up to the limit.

    Raises
    ------
    SettingsError

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("puma560")
    >>> limits = rd.MotorLimits(knee=0.5)     # full torque up to half of the speed limit
    >>> run = rd.simulate(robot, lambda t, q, v: 1e4 + 0 * q, duration=0.02, limits=limits)
    >>> bool((abs(run.tau) <= robot.effort_limits + 1e-9).all())
    True
    """

    knee: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0.0 <= self.knee <= 1.0:
            raise SettingsError(
                f"knee is {self.knee!r}, expected a part of the speed limit, 0 to 1"
            )

    def share(self, v: FloatArray, speeds: FloatArray) -> FloatArray:
        """Fraction of the largest effort that is available to accelerate, 0 to 1.

        Parameters
        ----------
        v : ndarray, shape (..., nv) [rad/s, m/s]
        speeds : ndarray, shape (nv,)
            Limits; infinite where there is none.
        """
        left = 1.0 - np.abs(v) / speeds
        if self.knee == 1.0:
            return np.asarray(left > 0.0, float)
        return np.clip(left / (1.0 - self.knee), 0.0, 1.0)
