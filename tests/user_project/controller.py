"""A controller of one's own, which becomes machine code together with the robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import robodyn as rd


@dataclass(frozen=True, eq=False)
class SoftHold:
    """Holds a posture softly, with the weight of the robot carried."""

    symbolic: ClassVar[bool] = True

    robot: rd.Robot
    posture: NDArray[np.float64]
    stiffness: float
    damping: float

    def __call__(
        self, t: float, q: NDArray[np.float64], v: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        tau: NDArray[np.float64] = self.robot.gravity_forces(q)
        tau = tau + self.stiffness * (self.posture - q) - self.damping * v
        return tau
