"""The wrench in every joint of a linkage in minimal coordinates."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from robodyn.evaluator import Wrenches
from robodyn.minimal.coordinates import Expansion
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.dynamics import Dynamics
from robodyn.parts.joint_loads import JointForces, MotorLoads, refuse_both
from robodyn.results import JointWrenches

__all__ = ["MinimalJointForces"]


class MinimalJointForces:
    """Joint wrenches, by `JointForces` of the tree form at the same state.

    Wrenches of joints that close loops, and of constraints of users, follow from the forces of
    motors at joints that follow others, or of the independent joints where there are none, of least
    norm where redundant constraints leave a choice.

    Parameters
    ----------
    model : Model
        In minimal coordinates.
    dynamics : Dynamics
        Of that model.
    motors : tuple of MotorLoads
        Of that model and of the same robot in tree coordinates.
    expansion : Expansion
    tree_form : JointForces
        Of the same robot in tree coordinates.
    """

    def __init__(
        self,
        model: Model,
        dynamics: Dynamics,
        motors: tuple[MotorLoads, MotorLoads],
        expansion: Expansion,
        tree_form: JointForces,
    ) -> None:
        self._model, self._dynamics, self._motors = model, dynamics, motors
        self._expansion, self._tree_form = expansion, tree_form

    def at(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None,
        joints: Iterable[str] | None,
        controlled: ByJoint | None,
        tau: ByJoint | None,
        locked: Iterable[str],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> JointWrenches:
        """Force and moment in every joint, those that close loops included."""
        constrained = self._model.setup.closed  # then accelerations do not determine all forces
        if a is None:
            roles = assign_roles(self._model, controlled, tau, locked)
            a, force, _ = self._dynamics.hybrid(q, v, roles, wrenches, base, None)
        else:
            refuse_both(controlled, tau, locked)
            if constrained:
                force = self._dynamics.inverse(q, v, a, wrenches, base)
        expansion = self._expansion
        state = expansion.positions(q), expansion.velocity(q, v)
        if constrained:
            own, of_tree = self._motors
            given = own.in_tree_form(q, force, of_tree, state[0])
            given = expansion.forces(force) if given is None else given
            return self._tree_form.at(*state, None, joints, None, given, (), wrenches, base)
        a = expansion.acceleration(q, v, a)
        return self._tree_form.at(*state, a, joints, None, None, (), wrenches, base)
