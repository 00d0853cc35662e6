"""Positions at which joints that are functions of others are within their limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from robodyn.array_types import Array
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.position_limits import limit_excess
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.tolerances import AT_LIMIT


class FollowingPositions:
    """Checks positions for joints that are functions of others, and draws random ones.

    positions: From positions to those of all joints by name.
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        space: ConfigurationSpace,
        positions: Callable[[Array], Mapping[str, Array]],
    ) -> None:
        self._model, self._evaluator, self._space = model, evaluator, space
        self._positions = positions

    def random(self, rng: np.random.Generator) -> Array:
        """A position of a tree that fits, shape (nq,)."""
        if not self._model.bodies.followers:
            return self._space.random(rng)
        where = "joints that follow others do so within their limits"
        return self._space.random_where(self.fit, self._space.zero(), rng, where)

    def fit(self, q: Array) -> bool:
        """Whether all functions are defined, and all joints that follow within their limits."""
        if not self._model.bodies.followers:
            return True
        if not np.isfinite(self._evaluator.call("dependent_places", (q,))).all():
            return False
        bodies = self._model.bodies
        names = {bodies.bodies[i].description.name for i in bodies.following}
        positions = self._positions(q)
        following = {name: x for name, x in positions.items() if name in names}
        beyond = limit_excess(following, self._model.joints).values()
        return all(abs(float(x)) <= AT_LIMIT for x in beyond)
