"""Readings of the sensors of a linkage in minimal coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.minimal.coordinates import Expansion
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.dynamics import Dynamics
from robodyn.parts.joint_loads import MotorLoads
from robodyn.parts.measurements import Measurements, SensorReadings

__all__ = ["MinimalMeasurements"]


class MinimalMeasurements:
    """Readings; those of wrenches in joints by the tree form at the same state.

    Parameters
    ----------
    model : Model
        In minimal coordinates.
    evaluator : Evaluator
    dynamics : Dynamics
        Of that model.
    motors : tuple of MotorLoads
        Of that model and of the same robot in tree coordinates.
    expansion : Expansion
    tree_form : Measurements
        Of the same robot in tree coordinates.
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        dynamics: Dynamics,
        motors: tuple[MotorLoads, MotorLoads],
        expansion: Expansion,
        tree_form: Measurements,
    ) -> None:
        self._model, self._evaluator, self._dynamics = model, evaluator, dynamics
        self._motors = motors
        self._expansion, self._tree_form = expansion, tree_form
        self._own = SensorReadings(model, evaluator, dynamics)

    def at(
        self,
        q: ArrayLike,
        v: ArrayLike | None,
        a: ArrayLike | None,
        tau: ByJoint | None,
        sensors: Iterable[str] | None,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> dict[str, Array]:
        """Readings in a state, or in many."""
        read = self._evaluator.options.sensors(sensors)
        loads = any(x.kind == "wrench" for x in read)
        if not loads or v is None or (a is None) == (tau is None):
            return self._own.at(q, v, a, tau, sensors, wrenches, base)
        constrained = self._model.setup.closed  # then accelerations do not determine all forces
        if a is None:
            roles = assign_roles(self._model, None, tau, ())
            a, force, _ = self._dynamics.hybrid(q, v, roles, wrenches, base, None)
        elif constrained:
            force = self._dynamics.inverse(q, v, a, wrenches, base)
        expansion = self._expansion
        state = expansion.positions(q), expansion.velocity(q, v)
        if constrained:
            own, of_tree = self._motors
            given = own.in_tree_form(q, force, of_tree, state[0])
            given = expansion.forces(force) if given is None else given
            return self._tree_form.at(*state, None, given, sensors, wrenches, base)
        a = expansion.acceleration(q, v, a)
        return self._tree_form.at(*state, a, None, sensors, wrenches, base)

    def over_symbols(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Readings as symbols; sensors of wrenches are not available, as in functions."""
        return self._own.over_symbols(given)
