"""Limits of dependent and of cut joints, over independent coordinates."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.constraints.cut_joints import CutLimits
from robodyn.minimal.coordinates import MinimalExpansion
from robodyn.model.joint_info import excess, nearest_turn
from robodyn.model.model import Model
from robodyn.tolerances import AT_LIMIT


class FollowingLimits:
    """How far joints that have no coordinate are beyond limits; a row for each, zero within.

    nv: Number of independent speeds.
    tree_model: The robot in tree coordinates.
    cut_limits: Of that robot.
    """

    def __init__(
        self, nv: int, tree_model: Model, cut_limits: CutLimits, expansion: MinimalExpansion
    ) -> None:
        self._nv, self._cuts, self._expansion = nv, cut_limits, expansion
        limited = ((name, tree_model.joints[name]) for name in expansion.dependent_joints)
        self._joints = [
            (name, joint.q.start, joint.v.start, limits, joint.kind.is_pin)
            for name, joint in limited
            if (limits := joint.position_limits) is not None
        ]

    @property
    def any(self) -> bool:
        """Whether any of these joints has limits."""
        return bool(self._joints or self._cuts.any)

    def _positions(self, full: Array) -> Array:
        """Positions of dependent joints that have limits, shape (n,) [rad, m]."""
        return np.array([
            float(nearest_turn(full[k], limits) if turns else full[k])
            for _, k, _, limits, turns in self._joints
        ])  # fmt: skip

    def residual(self, q: Array) -> Array:
        """How far they are beyond their limits, shape (n,): negative below, positive above."""
        full = self._expansion.positions(q)
        lower, upper = np.array([joint[3] for joint in self._joints]).reshape(-1, 2).T
        beyond = excess(self._positions(full), lower, upper)
        beyond = np.where(np.abs(beyond) > AT_LIMIT, beyond, 0.0)
        return np.concatenate([beyond, self._cuts.residual(full)])

    def jacobian(self, q: Array) -> Array:
        """Slopes of the residual, shape (n, nv); none of joints within their limits."""
        full, residual = self._expansion.positions(q), self.residual(q)
        if not np.isfinite(full).all():
            return np.full((len(residual), self._nv), np.nan)
        B = self._expansion.speed_map(q)
        out = residual[: len(self._joints)] != 0.0
        slopes = np.where(out[:, None], B[[joint[2] for joint in self._joints]], 0.0)
        return np.concatenate([slopes, self._cuts.jacobian(full) @ B])

    def beyond(self, q: Array) -> str:
        """A joint that is beyond a limit; empty where none is."""
        if not self.any:
            return ""
        full, own = self._expansion.positions(q), self.residual(q)[: len(self._joints)]
        if own.any():
            return self._joints[int(np.abs(own).argmax())][0]
        return self._cuts.beyond(full)

    def describe(self, q: Array) -> str:
        """Which joints are beyond which limits at a posture, in words."""
        full = self._expansion.positions(q)
        own = [
            f"{name!r}, which follows others, would be at {x:.6g}, but its limits are "
            f"{limits[0]:.6g} to {limits[1]:.6g}"
            for (name, _, _, limits, _), x, out in zip(
                self._joints, self._positions(full), self.residual(q), strict=False
            )
            if out
        ]
        return "; ".join(filter(None, [*own, self._cuts.describe(full)]))
