"""Positions and speeds of all joints of a linkage in minimal coordinates."""

from __future__ import annotations

from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.minimal.coordinates import MinimalExpansion
from robodyn.parts.joint_positions import TreeJointPositions


class MinimalJointPositions:
    """Positions and speeds, by `TreeJointPositions` of the tree form at the same state.

    tree_form: Of the same robot in tree coordinates.
    """

    def __init__(self, expansion: MinimalExpansion, tree_form: TreeJointPositions) -> None:
        self._expansion, self._tree_form = expansion, tree_form

    def positions(self, q: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n) [rad, m]."""
        return self._tree_form.positions(self._expansion.closed_positions(q))

    def velocities(self, q: ArrayLike, v: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n) [rad/s, m/s]."""
        expansion = self._expansion
        return self._tree_form.velocities(expansion.closed_positions(q), expansion.velocity(q, v))
