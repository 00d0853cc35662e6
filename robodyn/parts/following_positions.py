"""Positions at which joints that follow others by functions can do so, within their limits."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import AssemblyError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.position_limits import limit_excess
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.parts.joint_positions import JointPositions
from robodyn.tolerances import AT_LIMIT

__all__ = ["FollowingPositions"]


class FollowingPositions:
    """Random positions of a robot with joints that follow others by functions.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    space : ConfigurationSpace
    joint_positions : JointPositions
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        space: ConfigurationSpace,
        joint_positions: JointPositions,
    ) -> None:
        self._model, self._evaluator, self._space = model, evaluator, space
        self._joint_positions = joint_positions

    def random(self, rng: np.random.Generator) -> Array:
        """A position at which all functions are defined, shape (nq,)."""
        q = self._space.random_where(self._fit, self._space.zero(), rng)
        if q is None:
            raise AssemblyError(
                f"no other position of {self._model.mechanism.name!r} found at which joints that "
                "follow others do so within their limits",
                residual=np.zeros(0),
                q=self._space.zero(),
            )
        return q

    def _fit(self, q: Array) -> bool:
        if not np.isfinite(self._evaluator.call("dependent_places", (q,))).all():
            return False
        bodies = self._model.bodies
        names = {bodies.bodies[i].description.name for i in bodies.following}
        positions = self._joint_positions.positions(q)
        following = {name: x for name, x in positions.items() if name in names}
        beyond = limit_excess(following, self._model.joints).values()
        return all(abs(float(x)) <= AT_LIMIT for x in beyond)
