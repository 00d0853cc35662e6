"""Motions with constant speeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array
from robodyn.state_space import StateSpace

__all__ = ["SteadyMotion"]


@dataclass(frozen=True, eq=False)
class SteadyMotion:
    """A motion with constant speeds that stays as it is.

    Attributes
    ----------
    q : ndarray, shape (nq,) [rad, m]
        Where it starts.
    v : ndarray, shape (nv,) [rad/s, m/s]
    tau : ndarray, shape (nv,) [N m, N]
        Forces in all joints: those given, and what driven joints take.
    model : StateSpace
        Linear model of motions beside it. Its matrices do not depend on time.
    """

    q: Array
    v: Array
    tau: Array
    model: StateSpace

    @property
    def stability(self) -> str:
        """``"stable"``, ``"marginal"`` or ``"unstable"``: see `StateSpace.stability`.

        Without damping motions are marginal at best, and where and how fast a body that floats
        turns may always be changed a little for good.
        """
        return self.model.stability

    def __repr__(self) -> str:
        return f"<SteadyMotion: v = {np.array2string(self.v, precision=4)}, {self.stability}>"
