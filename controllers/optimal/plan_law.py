"""The control law of the motions that a search for a plan tries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from robodyn import Robot
from robodyn.array_types import FloatArray
from robodyn.simulation import ControllerSample
from robodyn.simulation.control.controller import State
from robodyn.simulation.control.tracing import SymbolicTime
from robodyn.symbolic.scalar import clip

from ..support.linear_feedback import linear_feedback, state_error


class _Tables(NamedTuple):
    """Tables for the forces, one row for each sample."""

    q: FloatArray
    v: FloatArray
    tau: FloatArray
    change: FloatArray
    gains: FloatArray


@dataclass(eq=False, repr=False)
class PlanLaw:
    """Tabulated forces, a fraction of a change of them, and feedback to a motion, within limits.

    The fraction is the state of this controller, which is constant, and may differ between motions.
    Machine code does not depend on the contents of the tables, which `follow` and `lead` set.

    Attributes
    ----------
    times : ndarray, shape (n + 1,) [s]
        Times of samples; forces are zero from the last one on.
    motors : tuple of int
        Indices in v of the m motors.
    most : ndarray, shape (m,) [N m, N]
        Largest forces.
    """

    symbolic: ClassVar[bool] = True

    robot: Robot
    times: FloatArray
    motors: tuple[int, ...]
    most: FloatArray

    def __post_init__(self) -> None:
        self._error = state_error(self.robot)
        self._part = 0.0
        self.follow(np.zeros((len(self.times) - 1, len(self.motors))))

    def follow(self, tau: FloatArray) -> PlanLaw:
        """Set forces, shape (n, m), without feedback, and return the law itself."""
        n, nv = len(tau), self.robot.nv
        q, v = np.tile(self.robot.neutral(), (n, 1)), np.zeros((n, nv))
        return self.lead(q, v, tau, np.zeros(tau.shape), np.zeros((*tau.shape, 2 * nv)))

    def lead(
        self,
        q: FloatArray,
        v: FloatArray,
        tau: FloatArray,
        change: FloatArray,
        gains: FloatArray,
        part: float = 0.0,
    ) -> PlanLaw:
        """Set forces near a motion with feedback, and return the law itself.

        Parameters
        ----------
        q, v : ndarray, shape (n, nq), (n, nv)
            The motion.
        tau, change : ndarray, shape (n, m)
        gains : ndarray, shape (n, m, 2 nv)
        part : float
            Fraction of the change, for motions without one of their own.
        """
        self._tables, self._part = _Tables(q, v, tau, change, gains), part
        return self

    def initial_state(self, sample: ControllerSample) -> State:
        """The fraction of the change."""
        return {"part": np.full((*sample.v.shape[:-1], 1), self._part)}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Torques, shape (..., nv) [N m, N]."""
        t, q, v = sample.t, sample.q, sample.v
        if isinstance(t, SymbolicTime):
            wanted = _Tables(*t.sampled("plan", self._at, (self,), self._at_times))
        else:
            wanted = self._at(t)
        error = self._error(q, v, wanted.q, wanted.v)
        tau = wanted.tau + state["part"] * wanted.change
        forces = linear_feedback(self.motors, self.robot.nv, tau, wanted.gains, error)
        finite = np.flatnonzero(np.isfinite(self.most))
        at = np.array(self.motors, int)[finite]
        forces[..., at] = clip(forces[..., at], -self.most[finite], self.most[finite])
        return forces, state

    def _at(self, t: float) -> _Tables:
        return _Tables(*(x[0] for x in self._at_times(np.array([t]))))

    def _at_times(self, t: FloatArray) -> _Tables:
        k = np.searchsorted(self.times, t, side="right") - 1
        last = len(self.times) - 2
        rows = _Tables(*(x[np.minimum(k, last)] for x in self._tables))
        for x in (rows.tau, rows.change, rows.gains):
            x[k > last] = 0.0
        return rows
