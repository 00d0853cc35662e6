"""Whole steps of a motion with events, by machine code: what they were, before anyone has looked.

Machine code goes some steps ahead. Where something may have happened in one of them, what came
before it counts, and the rest is thrown away.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.step.compiled_motion import CompiledMotion

__all__ = ["MOST", "SpeculativeSteps"]

#: Most steps at a time, and how many they are where something has happened lately.
MOST, FEW = 1024, 4

#: Steps at a time are so many times those before, while nothing happens.
GROWTH = 4


class _Stuck(Exception):
    """A step cannot be done here."""


class SpeculativeSteps:
    """Steps from a state, and samples at their starts; the state at the end of the last one too.

    Parameters
    ----------
    motion : CompiledMotion
        Of one robot.
    known : bool
        Its controller is machine code, or there is none: several steps can be done at a time.

    Attributes
    ----------
    q, v, a, tau : ndarray, shape (steps + 1, ...)
        Samples: the first one is the start of the first step.
    """

    def __init__(self, motion: CompiledMotion, known: bool) -> None:
        self._motion, self.known = motion, known
        self._count, self._again = FEW, 0
        rows = (MOST if known else 1) + 1
        sizes = (motion.q.shape[1], *[motion.v.shape[1]] * 3)
        self.q, self.v, self.a, self.tau = arrays = [np.zeros((rows, n)) for n in sizes]
        motion.samples(arrays)

    def go(
        self, k: int, stop: int, q: FloatArray, v: FloatArray, tau: FloatArray | None, final: bool
    ) -> int:
        """Do steps; how many it were.

        Parameters
        ----------
        k, stop : int
            Instants: where the motion is, and to which it may go.
        q, v : ndarray, shape (nq,), (nv,)
        tau : ndarray, shape (nv,), optional
            Forces of a controller that Python calls.
        final : bool
            Accelerations and forces are wanted at the last instant too.
        """
        m, count = self._motion, min(stop - k, self._count if self.known else 1)
        if k < self._again:
            return 0
        m.q[0], m.v[0] = q, v
        if tau is not None:
            m.tau[0] = tau
        try:
            asked = m.ask(k)
        except Exception:
            # of a path at instants that the motion may never come to: Python asks it in time
            self._again = k + MOST
            return 0
        count = min(count, m.tell(asked) - k)
        m.begin_samples(k)
        try:
            m.advance(k, k + count, final, _refuse)
        except _Stuck as stuck:
            count = stuck.args[0] - k
        self.q[count], self.v[count] = m.q[0], m.v[0]
        return count

    def went(self, all_of_them: bool) -> None:
        """Take note of whether all steps counted."""
        self._count = min(GROWTH * self._count, MOST) if all_of_them else FEW


def _refuse(k: int, r: int) -> NoReturn:
    raise _Stuck(k)
