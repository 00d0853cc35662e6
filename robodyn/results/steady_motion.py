"""Motions with constant speeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array
from robodyn.state_space import StateSpace

__all__ = ["SteadyMotion"]


@dataclass(frozen=True, eq=False)
class SteadyMotion:
    """A steady motion: one with constant speeds and forces.

    Attributes
    ----------
    q : ndarray, shape (nq,) [rad, m]
        Posture at the start.
    v : ndarray, shape (nv,) [rad/s, m/s]
    tau : ndarray, shape (nv,) [N m, N]
        Forces in all joints: those given, and those that driven joints need.
    model : StateSpace
        Linear, time-invariant model of deviations from it.

    Examples
    --------
    >>> import robodyn as rd
    >>> brick = rd.load("satellite", base="floating", gravity=(0, 0, 0))
    >>> motion = brick.steady_motion(brick.neutral(), [0.0] * brick.nv)
    >>> bool(abs(motion.v).max() < 1e-9)     # at rest is a steady motion, too
    True
    """

    q: Array
    v: Array
    tau: Array
    model: StateSpace

    @property
    def stability(self) -> str:
        """``"stable"``, ``"marginal"`` or ``"unstable"``: see `StateSpace.stability`.

        Without damping, a steady motion is marginal at best. A floating body is marginal too: a
        change of its pose or of its spin neither grows nor decays.
        """
        return self.model.stability

    def __repr__(self) -> str:
        return f"<SteadyMotion: v = {np.array2string(self.v, precision=4)}, {self.stability}>"
