"""Wrenches in joints of a linkage in minimal coordinates, and readings of sensors of them.

Both are those of the tree form at the same state. Wrenches of joints that close loops, and of
constraints of users, follow from the forces of motors at joints that follow others, or of the
independent joints where there are none, of least norm where redundant constraints leave a choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.evaluator import Evaluator
from robodyn.minimal.coordinates import Expansion
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, Roles
from robodyn.parts.joint_loads import JointForces, MotorLoads, roles_without
from robodyn.parts.measurements import SensorReadings
from robodyn.results import JointWrenches


class TreeState:
    """The state of the tree form, and how it moves.

    model: In minimal coordinates.
    evaluator: Of that model.
    motors: Of that model and of the same robot in tree coordinates.
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        motors: tuple[MotorLoads, MotorLoads],
        expansion: Expansion,
    ) -> None:
        self.model, self.evaluator = model, evaluator
        self._motors, self._expansion = motors, expansion

    def at(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None, roles: Roles | None, **loads: Any
    ) -> tuple[ArrayLike, ArrayLike, ArrayLike | None, Array | None]:
        """Positions and speeds, and accelerations or, with constraints, forces that determine all.

        ``a`` or ``roles`` are given.
        """
        constrained = self.model.setup.closed  # then accelerations do not determine all forces
        if roles is not None:
            a, force, _ = self.evaluator.answer(
                "hybrid_dynamics", roles.beside(q, v), **loads, controlled=roles.controlled
            )
        elif a is not None and (constrained or self._motors[0].without):
            force = self.evaluator.call("inverse_dynamics", (q, v, a), **loads)
            self._motors[0].refuse_other_forces(force)
        expansion = self._expansion
        positions, speeds = expansion.positions(q), expansion.velocity(q, v)
        if not constrained:
            assert a is not None
            return positions, speeds, expansion.acceleration(q, v, a), None
        own, of_tree = self._motors
        given = own.in_tree_form(q, force, of_tree, positions)
        return positions, speeds, None, expansion.forces(force) if given is None else given


class MinimalJointForces:
    """Joint wrenches.

    tree_form: Of the same robot in tree coordinates.
    """

    def __init__(self, state: TreeState, tree_form: JointForces) -> None:
        self._state, self._tree_form = state, tree_form

    def at(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None, joints: Iterable[str] | None,
        roles: Roles | None, **loads: Any,
    ) -> JointWrenches:  # fmt: skip
        """Force and moment in every joint, those that close loops included."""
        q, v, a, force = self._state.at(q, v, a, roles, **loads)
        roles = roles_without(self._tree_form.model, a, None, force)
        return self._tree_form.at(q, v, a, joints, roles, **loads)


class MinimalMeasurements:
    """Readings; those of wrenches in joints by the tree form at the same state.

    tree_form: Of the same robot in tree coordinates.
    """

    def __init__(self, state: TreeState, tree_form: SensorReadings) -> None:
        self._state, self._tree_form = state, tree_form
        self._own = SensorReadings(state.model, state.evaluator)

    def at(
        self, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None, tau: ByJoint | None,
        sensors: Iterable[str] | None, **loads: Any,
    ) -> dict[str, Array]:  # fmt: skip
        """Readings in a state, or in many."""
        read = self._state.evaluator.options.sensors(sensors)
        in_joints = any(x.kind == "wrench" for x in read)
        if not in_joints or v is None or (a is None) == (tau is None):
            return self._own.at(q, v, a, tau, sensors, **loads)
        roles = roles_without(self._state.model, a, None, tau)
        q, v, a, force = self._state.at(q, v, a, roles, **loads)
        return self._tree_form.at(q, v, a, force, sensors, **loads)

    def over_symbols(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Readings as symbols; sensors of wrenches are not available, as in functions."""
        return self._own.over_symbols(given)
