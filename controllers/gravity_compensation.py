"""The robot floats: gravity is held and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn import Robot

__all__ = ["GravityCompensation"]


@dataclass(frozen=True, eq=False)
class GravityCompensation:
    """``tau = gravity_forces(q)``.

    Attributes
    ----------
    robot : Robot
        The model, which may differ from the robot that is driven.
    """

    robot: Robot

    def __call__(
        self, t: float, q: NDArray[np.float64], v: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Torques, shape (..., nv) [N m, N]."""
        return self.robot.gravity_forces(q)
