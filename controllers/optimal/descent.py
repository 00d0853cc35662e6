"""One search for a motion of least cost: its damping, and its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from robodyn import Trajectory
from robodyn.array_types import FloatArray

from .forward_pass import Samples
from .quadratic_cost import Expansion
from .riccati import Forces

#: Damping: at the start, smallest before it is set to zero, largest, and factor of its changes.
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING, DAMPING_FACTOR = 1e-3, 1e-8, 1e10, 5.0


@dataclass(frozen=True, eq=False)
class MotionCost:
    """A motion with its cost.

    Attributes
    ----------
    run : Samples or Trajectory
    running, final : Expansion
        Cost of its steps and of its end.
    """

    run: Samples | Trajectory
    running: Expansion
    final: Expansion

    @cached_property
    def cost(self) -> float:
        """Cost of the whole motion."""
        return float(self.running.value.sum() + self.final.value.sum())


class Descent:
    """An iterative search for a motion of least cost.

    Parameters
    ----------
    motion : MotionCost
        The first one.
    forces : callable
        ``(motion, derivatives, damping)`` -> the best change of its forces, or ``None`` where the
        cost is not convex in them.
    iterations : int
        Largest number of iterations.
    tolerance : float
        It has converged if a step of Newton's method would reduce the cost by less than this
        fraction.

    Attributes
    ----------
    motion : MotionCost
        The best motion so far.
    derivatives : ndarray, shape (n, 2 nv, 2 nv + m)
        Derivatives of its steps, which have to be set before `change` is called.
    costs : list of float
        Costs of the successive motions.
    reason : str
        Why the search ended.
    """

    derivatives: FloatArray

    def __init__(
        self,
        motion: MotionCost,
        forces: Callable[[MotionCost, FloatArray, float], Forces | None],
        iterations: int,
        tolerance: float,
    ) -> None:
        self.motion, self._forces = motion, forces
        self._left, self._tolerance = iterations, tolerance
        self._damping = FIRST_DAMPING
        self._undamped: MotionCost | None = None
        self.costs, self.converged = [motion.cost], False
        self.reason = f"not converged in {iterations} iterations"

    def change(self) -> Forces | None:
        """The next change of forces to try; ``None`` if the search has ended."""
        while self._left > 0:
            self._left -= 1
            forces = self._forces(self.motion, self.derivatives, self._damping)
            if forces is None:
                self._damp()
            elif not self._is_small(forces):
                return forces
            else:
                self._judge(forces)
        return None

    def take(self, better: MotionCost | None) -> bool:
        """Continue from a better motion, if there is one, and return whether there is."""
        if better is None:
            self._damp()
            return False
        self.motion, self._damping = better, _less(self._damping)
        self.costs.append(better.cost)
        return True

    @property
    def gains(self) -> FloatArray:
        """Gains of the optimal feedback near the motion, shape (n, m, 2 nv)."""
        found = (self._forces(self.motion, self.derivatives, x) for x in (0.0, MAX_DAMPING))
        best = next((x for x in found if x is not None), None)
        assert best is not None
        return best.gains

    def _is_small(self, forces: Forces) -> bool:
        return -sum(forces.gain) <= self._tolerance * abs(self.motion.cost)

    def _judge(self, forces: Forces) -> None:
        """Whether the search has converged, as a change would reduce the cost by little.

        It is judged without damping, which would hide directions in which the cost is flat.
        """
        exact = forces
        if self._damping != 0.0:
            undamped = self._forces(self.motion, self.derivatives, 0.0)
            exact = forces if undamped is None else undamped
        small = self._is_small(exact)
        if small and self._damping <= FIRST_DAMPING:
            self.converged = True
            self._end("converged")
        elif not small and self.motion is self._undamped:
            self._end("no change of forces makes it cheaper")
        else:
            self._undamped = self.motion
            self._damping = _less(self._damping) if small else 0.0

    def _damp(self) -> None:
        self._damping = max(self._damping * DAMPING_FACTOR, FIRST_DAMPING)
        if self._damping > MAX_DAMPING:
            self._end("no change of forces makes it cheaper")

    def _end(self, reason: str) -> None:
        self._left, self.reason = 0, reason


def _less(damping: float) -> float:
    return damping / DAMPING_FACTOR if damping > MIN_DAMPING else 0.0
