"""Whether a posture is far enough from a singular one for its dynamics to be determined.

At a singular posture ways to assemble a linkage meet, and which one it is on decides how it moves.
Near one a state tells less and less of that: with gaps and rates of ``e``, rounding at least, along
the constraint that vanishes there, and a distance ``d`` from there, what it tells is wrong by about
``e / d^2`` of forces at rest, and by ``e / d^3`` of accelerations that speeds make.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.constraints.precision import is_single
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.rank.programs import LoopPrograms
from robodyn.errors import SingularError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.states import listed
from robodyn.tolerances import GAP_ROUNDING, LOST_PART, NEAR_SINGULAR_POSTURE


class Regularity:
    """Refuses states too near to a singular posture."""

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        rows: ConstraintRows,
        mobility: Mobility,
        programs: LoopPrograms,
    ) -> None:
        self._model, self._evaluator, self._programs = model, evaluator, programs
        self._rows, self._mobility = rows, mobility

    def check(self, q: ArrayLike, v: ArrayLike) -> None:
        """Refuse states whose dynamics are not determined to six digits.

        Raises SingularError: ``.rows`` are the states of a batch.
        """
        weak = None if self._conditioning is None else np.asarray(self._conditioning(q))
        if weak is not None and weak.max(initial=0.0) <= 1.0:
            return
        single = is_single(q) or is_single(v)
        q, v = np.asarray(q, float), np.asarray(v, float)
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], self._evaluator.times)
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v))
        near = True if weak is None else ~(np.broadcast_to(weak, batch).reshape(-1) <= 1.0)
        suspect = np.flatnonzero(np.broadcast_to(near, len(q)))
        rows = self._rows.of_states(batch, suspect)
        distance, lost = self._lost(rows, q[suspect], v[suspect], single)
        bad = (distance < NEAR_SINGULAR_POSTURE[single]) & ~(lost <= LOST_PART[single])
        if bad.any():
            states = suspect[bad]
            raise self._error(states if batch else None, distance[bad].min(), len(q))

    @cached_property
    def _conditioning(self) -> Callable[[ArrayLike], Array] | None:
        """A measure of postures that is above 1 near singular ones, by code if there is some."""
        rows = self._programs.forward
        if rows is None:
            return None
        chosen: dict[str, Any] = {**rows, "probe": self._programs.probe}
        return lambda q: self._evaluator.call("loop_conditioning", (q,), **chosen)

    def _lost(self, rows: ConstraintRows, q: Array, v: Array, single: bool) -> tuple[Array, Array]:
        """Distance to a singular posture, and the part of results that may be wrong."""
        rank, setup = self._mobility.analysis.general_rank, self._model.setup
        if not (rank and len(q)):
            return np.full(len(q), np.inf), np.zeros(len(q))
        U, sizes, _ = np.linalg.svd(rows.measured_jacobian(q), full_matrices=False)
        distance, weak = sizes[:, rank - 1], U[:, :, rank - 1]
        units = np.array(setup.row_units)
        gap = np.einsum("ni,ni->n", weak, rows.residual(q) / units)
        rate = rows.violation_rate(q, v, rows.jacobian(q)) / units
        speed = np.sum((v / np.array(setup.speed_units)) ** 2, axis=-1)
        known = np.abs(gap) + np.abs(np.einsum("ni,ni->n", weak, rate)) / np.sqrt(1.0 + speed)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            part = np.maximum(known, GAP_ROUNDING[single]) / distance**2
            return distance, part * (1.0 + np.minimum(speed, 1.0) / distance)

    def _error(self, rows: Array | None, distance: float, count: int) -> SingularError:
        name = self._model.mechanism.name
        where = ""
        if rows is not None:
            where = f", {len(rows)} of {count} states: {listed(rows)}"
        return SingularError(
            f"{name!r} is {distance:.2g} from a singular posture, at which ways to assemble it "
            f"meet{where}: its motion is not determined to six digits; loop_rank(q).distance tells "
            "how far that is, and constrained_dynamics solves the constraints as they stand",
            rows=() if rows is None else tuple(int(k) for k in rows),
        )
