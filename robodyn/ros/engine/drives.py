"""Joints that a command or a trajectory moves along prescribed accelerations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn.ros.engine.trajectories import Motion

__all__ = ["Drives"]

Array = NDArray[np.float64]


class Drives:
    """The driven joints of a simulation and the law that each follows.

    Commanded joints move like critically damped springs toward a position, or at a speed, below
    their top speed; joints of a trajectory move along it, without drift.

    Parameters
    ----------
    coordinates, speeds : ndarray of int, shape (n,)
        Where the joints stand in q and v; speeds ascend.
    top : ndarray, shape (n,) [rad/s, m/s]
    nv : int
        Of the robot.

    Attributes
    ----------
    position : ndarray, shape (n,) [rad, m]
        Sought; NaN where a speed is.
    speed : ndarray, shape (n,) [rad/s, m/s]
    free : ndarray of int
        Speeds that are not driven.
    key : tuple of int
        ``speeds``.
    """

    def __init__(self, coordinates: Array, speeds: Array, top: Array, nv: int) -> None:
        self.coordinates, self.speeds, self.top = coordinates, speeds, top
        self.free = np.setdiff1d(np.arange(nv), speeds)
        self.key: tuple[int, ...] = tuple(speeds.tolist())
        self.position, self.speed = np.full(len(speeds), np.nan), np.zeros(len(speeds))
        self._motion: Motion | None = None
        self._rows, self._start = np.zeros(0, int), 0.0

    def __len__(self) -> int:
        return len(self.key)

    def along(self, motion: Motion, speeds: Array, start: float) -> None:
        """Move some joints along a motion that begins at ``start`` [s].

        Parameters
        ----------
        motion : Motion
        speeds : ndarray of int
            Where the joints of the motion stand in v.
        start : float [s]
        """
        self._motion, self._rows, self._start = motion, np.searchsorted(self.speeds, speeds), start

    def accelerations(self, t: float, q: Array, v: Array, bandwidth: float) -> Array:
        """Accelerations of the driven speeds, shape (n,), with a bandwidth [1/s]."""
        w = bandwidth
        x, dx = q[self.coordinates], v[self.speeds]
        wish = np.where(np.isnan(self.position), self.speed, 0.5 * w * (self.position - x))
        a = 2.0 * w * (np.minimum(np.maximum(wish, -self.top), self.top) - dx)
        if self._motion is not None:
            to, speed, acceleration = self._motion.at(t - self._start)
            k = self._rows
            a[k] = acceleration + 2.0 * w * (speed - dx[k]) + w * w * (to - x[k])
        return np.asarray(a)
