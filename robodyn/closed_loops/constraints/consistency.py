"""Whether the loops of a linkage are closed in a state, and stay so at its speeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import finite, together
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.constraints.open_loops import gap_of
from robodyn.closed_loops.constraints.precision import is_single
from robodyn.errors import InconsistentStateError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.states import listed
from robodyn.tolerances import SINGLE_PRECISION_CLOSURE

#: Number of loops named in a message.
SHOWN = 5


class Consistency:
    """Refuses states in which loops are open or come open.

    tolerance: For states in double and in single precision, in the measure of
        `equations.loops.constraint_violation`.
    """

    def __init__(self, model: Model, evaluator: Evaluator, rows: ConstraintRows) -> None:
        self._model, self._evaluator, self._rows = model, evaluator, rows
        given = model.settings.closure_tolerance
        self.tolerance = given, max(given, SINGLE_PRECISION_CLOSURE)

    def check(self, q: ArrayLike, v: ArrayLike) -> None:
        """Refuse states that are open by more than the tolerance.

        Raises ShapeError: Also for numbers that are not finite.
        """
        if not self._rows.names:
            return
        tolerance = self.tolerance[is_single(q) or is_single(v)]
        open_by = self._evaluator.call("loop_violation", (q, v))
        worst = open_by.max(initial=0.0) if open_by.ndim else open_by
        if not worst <= tolerance:
            finite(q=q, v=v)
            together(q=q, v=v)
            raise self._error(np.asarray(q, float), np.asarray(v, float), open_by, tolerance)

    def check_position(self, q: ArrayLike) -> None:
        """Refuse postures that are open by more than the tolerance."""
        tolerance = self.tolerance[is_single(q)]
        gap = self._rows.residual(q)
        open_by = np.linalg.norm(gap / self._model.setup.row_units, axis=-1)
        if not open_by.max(initial=0.0) <= tolerance:
            finite(q=q)
            raise self._error(
                np.asarray(q, float), np.zeros(self._model.bodies.nv), open_by, tolerance
            )

    def _error(self, q: Array, v: Array, open_by: Array, tolerance: float) -> Exception:
        """The error about the state that is farthest from being closed."""
        batch = np.shape(open_by)
        if np.isnan(open_by).any():
            self._rows.refuse_open_linkages(np.broadcast_to(q, (*batch, q.shape[-1])))
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, v))
        size = np.ravel(open_by)
        rows = np.flatnonzero(~(size <= tolerance))
        worst = int(rows[np.argmax(np.nan_to_num(size[rows], nan=np.inf))])
        q, v = q[worst].copy(), v[worst].copy()
        there = self._rows.of_states(batch, worst)
        gap, rate = there.residual(q), there.violation_rate(q, v, there.jacobian(q))
        units = np.array(self._model.setup.row_units)
        still = bool(np.linalg.norm(gap / units) > tolerance)
        loops = self._open(np.abs((gap if still else rate) / units))
        text = (self._of_posture if still else self._of_speeds)(loops, gap if still else rate)
        if batch:
            text += f"; so it is with {len(rows)} of {size.size} states: {listed(rows)}"
        return InconsistentStateError(
            f"{text} ({self._measured(size[worst], tolerance)})",
            residual=gap,
            rate=rate,
            q=q,
            v=v,
            loops=loops,
            rows=tuple(int(k) for k in rows) if batch else (),
        )

    def _measured(self, size: float, tolerance: float) -> str:
        """All gaps and rates of a state together, beside what is allowed in the same units."""
        length = self._model.setup.longest_link
        allowed = f"{tolerance:.3g}"
        if tolerance != self.tolerance[0]:
            allowed += " in single precision"
        return (
            f"in rad and parts of the longest link, {length:.3g} m, together {size:.3g}; "
            f"closure_tolerance is {allowed}"
        )

    def _open(self, size: Array) -> tuple[str, ...]:
        """Names of loops, the worst first; without almost closed ones."""
        found: dict[str, None] = {}
        for row in np.argsort(-size, kind="stable"):
            if size[row] > 1e-3 * size.max():
                found.setdefault(self._rows.names[row].rpartition("[")[0])
        return tuple(found)

    def _of_posture(self, loops: tuple[str, ...], gap: Array) -> str:
        return (
            f"the loops of {self._model.mechanism.name!r} are open: {self._told(loops, gap, '')}; "
            "assemble(q) closes them, closed_state(q, v) those that drifted apart a little"
        )

    def _of_speeds(self, loops: tuple[str, ...], rate: Array) -> str:
        return (
            f"these speeds open the loops of {self._model.mechanism.name!r}: "
            f"{self._told(loops, rate, '/s')}; consistent_velocity(q, v) makes them fit"
        )

    def _told(self, loops: tuple[str, ...], size: Array, per: str) -> str:
        sizes = dict(enumerate(size.tolist()))
        return ", ".join(
            f"{name!r} by {gap_of(self._model, name, sizes, per)}" for name in loops[:SHOWN]
        )
