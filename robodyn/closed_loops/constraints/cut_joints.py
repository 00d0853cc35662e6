"""Positions of joints that are cut, which follow from those of the others: limits and starts."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import cached_property
from typing import Protocol

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.constraints.constraint_rows import PositionRows
from robodyn.equations.loops.closure_rows import Closure
from robodyn.evaluator import Evaluator
from robodyn.model.joint_info import excess
from robodyn.model.model import Model
from robodyn.parts.joint_positions import position_of_cut
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import AT_LIMIT


@dataclass(frozen=True, eq=False)
class _Cut:
    """A cut joint: its closure, the indices of closure and speed, and its limits."""

    closure: Closure
    index: int
    speed: int
    limits: tuple[float, float] | None


class _CutPositions:
    """Positions of some cut joints of one coordinate, without a compiler."""

    def __init__(self, model: Model, evaluator: Evaluator, names: Container[str]) -> None:
        self._model, self._evaluator, self._names = model, evaluator, names

    @cached_property
    def joints(self) -> list[_Cut]:
        """Those that are cut, in the order of the closures."""
        found, speed = [], 0
        for index, closure in enumerate(self._model.setup.closures):
            if closure.name in self._names and closure.cut.position is not None:
                limits = self._model.joints[closure.name].position_limits
                found.append(_Cut(closure, index, speed, limits))
            speed += closure.kind.nv if closure.kind.in_tree else 0
        return found

    @cached_property
    def _poses(self) -> Callable[[Array], Array]:
        return self._evaluator.interpreted("cut_joint_poses")

    @cached_property
    def _speeds(self) -> Callable[..., Array]:
        return self._evaluator.interpreted("cut_joint_speeds")

    def positions(self, q: Array) -> Array:
        """Shape (n,) [rad, m]."""
        X = self._poses(q)
        return np.array(
            [float(position_of_cut(j.closure, X[j.index], j.limits)) for j in self.joints]
        )

    def slopes(self, q: Array) -> Array:
        """Derivatives of their speeds with respect to those of the tree, shape (n, nv)."""
        nv = self._model.bodies.nv
        v = np.concatenate([np.zeros((1, nv)), np.eye(nv)])  # at rest, time may move them
        speeds = self._speeds(np.broadcast_to(q, (nv + 1, len(q))), v)
        return np.asarray((speeds[1:] - speeds[0])[:, [j.speed for j in self.joints]].T)


class CutRows(Protocol):
    """Rows of a search that are zero if the positions of cut joints are allowed."""

    def residual(self, q: Array) -> Array:
        """Distances from the allowed positions, shape (n,) [rad, m]."""

    def jacobian(self, q: Array) -> Array:
        """Its slopes, shape (n, nv)."""


class UncoordinatedLimits(CutRows, Protocol):
    """Limits of joints that have no coordinate; rows are zero within."""

    @property
    def any(self) -> bool:
        """Whether any of these joints has limits."""

    def beyond(self, q: Array) -> str:
        """A joint that is beyond a limit; empty where none is."""

    def describe(self, q: Array) -> str:
        """Which joints are beyond which limits at a posture, in words."""


class CutLimits:
    """How far cut joints are beyond their limits at a posture; a row for each, zero within."""

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    @cached_property
    def _cuts(self) -> _CutPositions:
        joints = self._model.joints
        limited = {name for name, joint in joints.items() if joint.position_limits is not None}
        return _CutPositions(self._model, self._evaluator, limited)

    @property
    def any(self) -> bool:
        """Whether any cut joint has limits."""
        return bool(self._cuts.joints)

    def residual(self, q: Array) -> Array:
        """How far they are beyond their limits, shape (n,): negative below, positive above."""
        x = self._cuts.positions(q)
        lower, upper = np.array([j.limits for j in self._cuts.joints]).reshape(-1, 2).T
        beyond = excess(x, lower, upper)
        return np.asarray(np.where(np.abs(beyond) > AT_LIMIT, beyond, 0.0))

    def jacobian(self, q: Array) -> Array:
        """Slopes of the residual, shape (n, nv); none of joints within their limits."""
        out = self.residual(q) != 0.0
        return np.where(out[:, None], self._cuts.slopes(q), 0.0)

    def beyond(self, q: Array) -> str:
        """A joint that is beyond a limit; empty where none is."""
        excess = self.residual(q) if self._cuts.joints else np.zeros(0)
        if not excess.any():
            return ""
        return self._cuts.joints[int(np.abs(excess).argmax())].closure.name

    def describe(self, q: Array) -> str:
        """Which joints are beyond which limits at a posture, in words."""
        return "; ".join(
            f"{j.closure.name!r}, which is cut, would be at {x:.6g}, but its limits are "
            f"{j.limits[0]:.6g} to {j.limits[1]:.6g}"
            for j, x, out in zip(
                self._cuts.joints, self._cuts.positions(q), self.residual(q), strict=True
            )
            if out and j.limits is not None
        )


class CutStart:
    """Positions of cut joints in ``near`` of `robodyn.load`; a row for each, zero there."""

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        near = model.settings.near or ()
        self._wanted: dict[str, tuple[float, ...]] = dict(
            entry for entry in near if isinstance(entry, tuple)
        )
        self._cuts = _CutPositions(model, evaluator, self._wanted)

    def __bool__(self) -> bool:
        return bool(self._wanted and self._cuts.joints)

    def residual(self, q: Array) -> Array:
        """How far they are from there, shape (n,) [rad, m]; angles by the shorter way."""
        joints = self._cuts.joints
        off = self._cuts.positions(q) - [self._wanted[j.closure.name][0] for j in joints]
        around = np.remainder(off + np.pi, 2.0 * np.pi) - np.pi
        return np.asarray(np.where([j.closure.kind.is_pin for j in joints], around, off))

    def jacobian(self, q: Array) -> Array:
        """Its slopes, shape (n, nv)."""
        return self._cuts.slopes(q)


class WithCuts:
    """Position rows, and rows of cut joints below them."""

    def __init__(self, rows: PositionRows, cuts: CutRows) -> None:
        self._rows, self._cuts = rows, cuts

    def residual(self, q: Array) -> Array:
        """How far loops are from closed, and cut joints from where they may be [m, rad]."""
        return np.concatenate([self._rows.residual(q), self._cuts.residual(q)])

    def jacobian(self, q: Array) -> Array:
        """Slopes of the residual."""
        return np.concatenate([self._rows.jacobian(q), self._cuts.jacobian(q)])
