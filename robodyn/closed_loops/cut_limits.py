"""Limits of joints that are cut, whose positions follow from those of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.constraint_rows import PositionRows
from robodyn.equations.loops.closure_rows import Closure
from robodyn.evaluator import Evaluator
from robodyn.joint_positions import position_of_cut
from robodyn.model.model import Model
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Program

__all__ = ["CutLimits", "WithinLimits"]

#: How far beyond its limit [rad, m] a joint may be and count as at it.
AT_LIMIT = 1e-9


@dataclass(frozen=True, eq=False)
class _Limited:
    """A cut joint with limits: its closure, where it stands among all, and its speed likewise."""

    closure: Closure
    index: int
    speed: int
    limits: tuple[float, float]


class CutLimits:
    """How far cut joints are beyond their limits at a posture, without a compiler.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    """

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    @cached_property
    def _joints(self) -> list[_Limited]:
        found, speed = [], 0
        for index, closure in enumerate(self._model.setup.closures):
            limits = self._model.joints[closure.name].position_limits
            if limits is not None and closure.cut.position is not None:
                found.append(_Limited(closure, index, speed, limits))
            speed += closure.kind.nv if closure.kind.in_tree else 0
        return found

    @cached_property
    def _poses(self) -> Callable[[Array], Array]:
        return self._evaluator.interpreted("cut_joint_poses")

    @cached_property
    def _speeds(self) -> Program:
        return self._evaluator.program("cut_joint_speeds", {})

    def positions(self, q: Array) -> Array:
        """Of the cut joints that have limits, shape (n,) [rad, m]."""
        X = self._poses(q)
        return np.array(
            [float(position_of_cut(j.closure, X[j.index], j.limits)[0]) for j in self._joints]
        )

    def excess(self, q: Array) -> Array:
        """How far they are beyond their limits, shape (n,): negative below, positive above."""
        x = self.positions(q)
        lower, upper = np.array([j.limits for j in self._joints]).reshape(-1, 2).T
        beyond = np.maximum(x - upper, 0.0) + np.minimum(x - lower, 0.0)
        return np.asarray(np.where(np.abs(beyond) > AT_LIMIT, beyond, 0.0))

    def slopes(self, q: Array) -> Array:
        """Their speeds a unit of each speed of the tree, shape (n, nv)."""
        nv = self._model.bodies.nv
        speeds = evaluate(self._speeds, np.broadcast_to(q, (nv, len(q))), np.eye(nv))[0]
        return np.asarray(speeds[:, [j.speed for j in self._joints]].T)

    def beyond(self, q: Array) -> str:
        """A joint that is beyond a limit; empty where none is."""
        excess = self.excess(q) if self._joints else np.zeros(0)
        if not excess.any():
            return ""
        return self._joints[int(np.abs(excess).argmax())].closure.name

    def told(self, q: Array) -> str:
        """Which joints are beyond which limits at a posture, in words."""
        return "; ".join(
            f"{j.closure.name!r}, which is cut, would be at {x:.6g}, but its limits are "
            f"{j.limits[0]:.6g} to {j.limits[1]:.6g}"
            for j, x, out in zip(self._joints, self.positions(q), self.excess(q), strict=True)
            if out
        )


class WithinLimits:
    """Position rows, and a row for each cut joint that is zero within its limits.

    Parameters
    ----------
    rows : PositionRows
    limits : CutLimits
    """

    def __init__(self, rows: PositionRows, limits: CutLimits) -> None:
        self._rows, self._limits = rows, limits

    def residual(self, q: Array) -> Array:
        """How far loops are from closed, and cut joints from within their limits [m, rad]."""
        return np.concatenate([self._rows.residual(q), self._limits.excess(q)])

    def jacobian(self, q: Array) -> Array:
        """Slopes of the residual; none of joints within their limits."""
        out = self._limits.excess(q) != 0.0
        slopes = np.where(out[:, None], self._limits.slopes(q), 0.0)
        return np.concatenate([self._rows.jacobian(q), slopes])
