"""Samples at instants within the steps of a motion, at which its controller acts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.trajectory.states.samples import Samples


@dataclass(frozen=True, eq=False)
class WithinSteps:
    """Samples between those of a motion, which are those of steps.

    rows (m,): Their indices among all samples together.
    inner, outer: t, q, v, a and tau there, and of the motion that they belong to.
    """

    rows: IntArray
    inner: Sequence[FloatArray]
    outer: Sequence[FloatArray]

    def together(self, motion: Any) -> tuple[Samples, IntArray] | None:
        """All samples in the order of time, and which are those of the motion, (n,).

        ``None`` for another motion, as one of fewer samples.
        """
        own = motion.t, motion.q, motion.v, motion.a, motion.tau
        if any(x is not y for x, y in zip(own, self.outer, strict=True)):
            return None
        places = self.rows - np.arange(len(self.rows))
        t, q, v, a, tau = (
            np.insert(x, places, y, axis=0) for x, y in zip(own, self.inner, strict=True)
        )
        rows = np.delete(np.arange(len(t)), self.rows)
        others = motion.driven, motion.surroundings, motion.friction
        return Samples(motion.robot, t, q, v, a, tau, *others), rows


def separated(arrays: Sequence[FloatArray], rows: IntArray) -> WithinSteps:
    """Samples without those of some rows, which are within steps."""
    outer = [np.delete(x, rows, axis=0) for x in arrays]
    return WithinSteps(rows, [x[rows] for x in arrays], outer)
