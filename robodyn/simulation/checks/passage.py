"""A singular posture on the way of a motion, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray

__all__ = ["SOON", "Passage"]

#: A time in which a linkage leaves a singular posture, while its loops stay closed to rounding [s].
SOON = 1e-3


@dataclass(frozen=True, eq=False)
class Passage:
    """A singular posture on the way of a motion.

    name: Of the robot.
    time [s]
    q (nq,)
    distance: The least singular value of the constraints, see `Robot.loop_rank`.
    joint: The joint that moves most in the additional motion that is possible there.
    """

    name: str
    time: float
    q: FloatArray
    distance: float
    joint: str

    def __str__(self) -> str:
        posture = ", ".join(f"{x:.4g}" for x in np.round(self.q, 4) + 0.0)
        return (
            f"the motion of {self.name!r} comes to a singular posture at t = {self.time:.4g} "
            f"s, where ways to assemble its loops meet and it is not determined how joint "
            f"{self.joint!r} goes on: their least singular value is {self.distance:.1g} at q = "
            f"[{posture}]"
        )
