"""Results of hybrid dynamics, of forward dynamics with constraints, and steady motions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robodyn.array_types import Array

if TYPE_CHECKING:
    from robodyn.state_space import StateSpace


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
