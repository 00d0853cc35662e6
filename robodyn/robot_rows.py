"""Methods of a robot about its constraint rows: those of loops, couplings, and given ones."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import finite
from robodyn.closed_loops.solvers import RankAnalysis, rank_analysis
from robodyn.errors import ShapeError
from robodyn.robot_frames import FrameMethods

__all__ = ["RowMethods"]

Array = NDArray[Any]


class RowMethods(FrameMethods):
    """Constraint rows; see `robodyn.Robot`."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Name of each constraint row, ``"loop[k]"``: nc of them."""
        return self._model.setup.row_names

    def loop_residual(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """How far the loops are from closing, shape (..., nc) [m, rad]."""
        return self._call("loop_residual", (q,), None, out)  # type: ignore[no-any-return]

    def loop_jacobian(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Constraint Jacobian K, shape (..., nc, nv): the rate of `loop_residual` is K v."""
        return self._call("loop_jacobian", (q,), None, out)  # type: ignore[no-any-return]

    def loop_bias(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """``dK/dt v``, shape (..., nc): accelerations that keep loops closed have K a = -bias."""
        return self._call("loop_bias", (q, v), None, out)  # type: ignore[no-any-return]

    def loop_velocity_offset(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Offset psi, shape (..., nc): possible velocities have K v = -psi; zero for loops."""
        return self._call("loop_velocity_offset", (q,), None, out)  # type: ignore[no-any-return]

    @cached_property
    def _has_offset(self) -> bool:
        return not all(c.given.steady for c in self._model.setup.constraints)

    def _gap_rate(self, q: ArrayLike, v: ArrayLike, K: Array) -> Array:
        """How fast constraints are being broken, shape (..., nc): ``K v + psi``."""
        rate = np.einsum("...ij,...j->...i", K, np.asarray(v))
        return np.asarray(rate + self.loop_velocity_offset(q) if self._has_offset else rate)

    @cached_property
    def _position_rows(self) -> slice | list[int]:
        """Rows that positions have to satisfy."""
        rows = self._model.setup.position_rows
        return slice(None) if len(rows) == self.nc else list(rows)

    def _gap(self, q: ArrayLike) -> Array:
        return self.loop_residual(q)[..., self._position_rows]

    def _gap_slope(self, q: ArrayLike) -> Array:
        return self.loop_jacobian(q)[..., self._position_rows, :]

    def loop_rank(self, q: ArrayLike) -> RankAnalysis:
        """Rank of the constraints at postures, redundant rows, and how far singular ones are.

        Parameters
        ----------
        q : array_like, shape (..., nq)

        Returns
        -------
        analysis : robodyn.closed_loops.solvers.RankAnalysis
            ``rank``; ``redundant()``, by index of `constraint_names`; ``distance``: the smallest
            singular value of the constraints that is not zero, rows scaled to length 1. It is
            small near a singular posture.
        """
        x = self._array("q", q, self.nq)
        finite(q=x)
        return rank_analysis(self.loop_jacobian(x))

    def mobility(self, q: ArrayLike) -> int:
        """Degrees of freedom at a posture: nv less the rank of `loop_jacobian`."""
        if not self.nc:
            return int(self.nv)
        x = self._array("q", q, self.nq)
        finite(q=x)
        K = self.loop_jacobian(x)
        if K.ndim != 2:
            raise ShapeError("mobility takes one posture at a time", name="q", given=np.shape(q))
        return int(self.nv) - int(rank_analysis(K).rank)
