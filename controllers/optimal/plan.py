"""A motion that was planned."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn import Trajectory
from robodyn.array_types import FloatArray


@dataclass(frozen=True, eq=False)
class Plan:
    """A motion and the forces that make it.

    Attributes
    ----------
    run : Trajectory
        The motion, as `robodyn.simulate` computes it from these forces, one sample for each step.
    gains : ndarray, shape (n, m, 2 nv)
        Gains of the optimal feedback near the motion, from deviations of positions and speeds to
        changes of the forces of the m motors; zero for forces at a limit.
    costs : ndarray, shape (iterations + 1,)
        Costs of the successive motions.
    converged : bool
        The gradient of the cost with respect to forces is small, except for forces at limits.
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
