"""Results of hybrid dynamics and of forward dynamics with constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.array_types import Array

__all__ = ["ConstrainedDynamics", "HybridDerivatives", "HybridDynamics"]


def _shapes(result: Any) -> str:
    """Names and shapes of the arrays in a result: ``a (7,), tau (7,)``."""
    arrays = ((name, np.shape(value)) for name, value in result._asdict().items())
    return ", ".join(f"{name} {shape}" for name, shape in arrays)


class HybridDynamics(NamedTuple):
    """Accelerations and generalised forces of all joints.

    Attributes
    ----------
    a : ndarray, shape (..., nv) [rad/s^2, m/s^2]
    tau : ndarray, shape (..., nv) [N m, N]
    multipliers : ndarray, shape (..., nc) [N, N m]
        Of closed loops.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> result = robot.hybrid_dynamics([0.2, 0.3], [0, 0], controlled={"elbow": 1.0})
    >>> float(result.a[1]), float(result.tau[0])     # prescribed, and free
    (1.0, 0.0)
    """

    a: Array
    tau: Array
    multipliers: Array

    def __repr__(self) -> str:
        return f"<HybridDynamics: {_shapes(self)}>"


class HybridDerivatives(NamedTuple):
    """Accelerations and generalised forces of hybrid dynamics, or their derivatives by one input.

    Attributes
    ----------
    a, tau : ndarray, shape (..., nv), or (..., nv, nv) for a derivative
    """

    a: Array
    tau: Array

    def __repr__(self) -> str:
        return f"<HybridDerivatives: {_shapes(self)}>"


class ConstrainedDynamics(NamedTuple):
    """Forward dynamics of a closed linkage.

    Attributes
    ----------
    a : ndarray, shape (..., nv) [rad/s^2, m/s^2]
    multipliers : ndarray, shape (..., nc) [N, N m]
    rank : ndarray of int, shape (...)
        Of the constraints.
    residual : ndarray, shape (...)
        How far the accelerations are from satisfying the constraints, relative to their terms.
    method : str
        The solver that found them.
    """

    a: Array
    multipliers: Array
    rank: Array
    residual: Array
    method: str

    def __repr__(self) -> str:
        batch = np.shape(self.rank)
        of = f" of each of {batch} states" if batch else f", rank {self.rank}"
        return (
            f"<ConstrainedDynamics{of}: a {np.shape(self.a)}, "
            f"multipliers {np.shape(self.multipliers)}, by {self.method!r}>"
        )
