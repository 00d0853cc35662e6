"""A motion that was planned."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn import Trajectory
from robodyn.array_types import FloatArray

__all__ = ["Plan"]


@dataclass(frozen=True, eq=False)
class Plan:
    """A motion and the forces that make it.

    Attributes
    ----------
    run : Trajectory
        The motion, as `robodyn.simulate` makes it of these forces: a sample a step.
    gains : ndarray, shape (n, m, 2 nv)
        By how much the forces of the m motors change, in the best law near the motion, with the
        motion away from a sample's position and with the speeds; zero where a limit holds them.
    costs : ndarray, shape (iterations + 1,)
        Of the motions that were found one after the other.
    converged : bool
        The gradient of the cost by the forces is small, but for forces at their limits.
    reason : str
        Why the search ended.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import QuadraticCost, iterative_lqr
    >>> robot = rd.load("double_pendulum")
    >>> cost = QuadraticCost(robot, goal=[0.5, 0.0])
    >>> plan = iterative_lqr(robot, cost, q0=[0.0, 0.0], duration=0.5, step=0.05)
    >>> plan.converged, bool(plan.costs[-1] <= plan.costs[0])
    (True, True)
    """

    run: Trajectory
    gains: FloatArray
    costs: FloatArray
    converged: bool
    reason: str

    def __repr__(self) -> str:
        return (
            f"<Plan of {self.run.t[-1]:g} s: cost {self.costs[-1]:.6g} after "
            f"{len(self.costs) - 1} iterations, {self.reason}>"
        )
