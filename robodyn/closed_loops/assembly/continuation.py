"""Following one branch of a closed linkage from posture to posture.

With its independent joints at the same place, a linkage can be assembled in several ways. Two ways
meet only at singular postures; elsewhere small steps with loops closed stay on one branch. A step
that ends elsewhere than its tangent predicts has jumped to another branch and is not taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.closing import LoopCloser
from robodyn.closed_loops.assembly.long_searches import going_on
from robodyn.closed_loops.assembly.projection import Projection
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.errors import AssemblyError
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import PREDICTED_GAP

#: Longest step of a motion [rad, m], shortest step worth trying, most steps of one motion.
LONGEST, SHORTEST, MAX_STEPS = 0.1, 1e-4, 2000

#: A step may differ from its prediction by this part of the prediction.
SURPRISE = 0.3


@dataclass(frozen=True, eq=False)
class ContinuationResult:
    """End of a motion along a branch: closed, and what keeps it from its goal.

    That is "" if it came there, ``"branch"`` where the branch ends, else the joint that is at its
    limit.
    """

    q: Array
    end: str


class Continuation:
    """Moves some joints of a closed linkage; the others follow on their branch."""

    def __init__(
        self,
        model: Model,
        rows: ConstraintRows,
        space: ConfigurationSpace,
        closer: LoopCloser,
        projection: Projection,
    ) -> None:
        self._model, self._rows, self._space = model, rows, space
        self._closer, self._projection = closer, projection

    def follow(self, q: Array, goal: Array, held: Sequence[int]) -> ContinuationResult:
        """Move joints with these speeds from a closed posture to where they are at a goal (nq,)."""
        speeds = list(held)
        longest, now, end = LONGEST, np.array(q, float), "branch"
        for number in range(MAX_STEPS):
            going_on(f"step {number + 1} of {MAX_STEPS} at most")
            way = self._space.difference(now, goal)[speeds]
            size = float(np.abs(way).max(initial=0.0))
            if size < 1e-12:
                return ContinuationResult(now, "")
            new, end = self._step(now, speeds, way * min(1.0, longest / size))
            if new is not None:
                now, longest = new, min(2.0 * longest, LONGEST)
            elif longest > SHORTEST:
                longest = 0.5 * min(longest, size)
            else:
                break
        return ContinuationResult(now, end)

    def _step(self, q: Array, held: list[int], step: Array) -> tuple[Array | None, str]:
        """A closed posture one step on, or what is in the way."""
        nv = self._space.nv
        K = self._rows.jacobian(q)
        rest = [k for k in range(nv) if k not in held]
        predicted = np.zeros(nv)
        predicted[held] = step
        predicted[rest] = -np.linalg.pinv(K[:, rest], rcond=1e-9) @ (K[:, held] @ step)
        free = np.isin(np.arange(nv), rest)
        near, _ = self._projection.state(self._space.integrate(q, predicted), np.zeros(nv), free)
        if not np.abs(self._rows.position_rows().residual(near)).max(initial=0.0) < PREDICTED_GAP:
            return None, "branch"  # assembling from here would search far away
        limited = self._beyond_limits(q, near)
        if limited:
            return None, limited
        try:
            new = self._closer.near(near, free, beyond=True)
        except AssemblyError:
            return None, "branch"
        limited = self._closer.cut_limits.beyond(new)
        if limited:
            return None, limited
        surprise = np.abs(self._space.difference(q, new) - predicted).max()
        if not surprise <= SURPRISE * np.abs(predicted).max():
            return None, "branch"
        return new, ""

    def _beyond_limits(self, q: Array, new: Array) -> str:
        """A joint that goes (farther) beyond a limit."""
        low, high = self._model.lower - 1e-9, self._model.upper + 1e-9
        out = ((new < low) & (new < q)) | ((new > high) & (new > q))
        names = self._model.joint_names
        return next((n for n in names if out[self._model.joints[n].q].any()), "")
