"""Forces of elements along joints: damping, dry friction, springs, stops; and their energies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robodyn.equations.mechanism.bodies import Body
from robodyn.equations.mechanism.state import JointAtState, State
from robodyn.force_elements import JOINT_ELEMENTS
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.vector import Vec3


def joint_forces(
    body: Body, joint: JointAtState, friction_speed: Number | None, passive: bool = True
) -> list[Number]:
    """Forces of the elements along each freedom of one joint."""
    elements = [element for element in JOINT_ELEMENTS if passive or not element.passive]

    def own(v: Sequence[Number]) -> list[Number]:
        total: list[Number] = [0.0] * len(v)
        for element in elements:
            for k, force in enumerate(element.forces(body.description, joint.q, v, friction_speed)):
                total[k] = total[k] + force
        return total

    return _along_own_axes(joint, own) if body.description.friction else own(joint.v)


def _along_own_axes(
    joint: JointAtState, law: Callable[[Sequence[Number]], list[Number]]
) -> list[Number]:
    """Forces along the freedoms of a joint, by a law along the axes of the joint's frame.

    Where they turn with the body, as those of a floating joint.
    """
    R = joint.orientation
    if R is None:
        return law(joint.v)
    forces = law([*(R * Vec3(*joint.v[:3])), *joint.v[3:]])
    return [*R.inverse_times(Vec3(*forces[:3])), *forces[3:]]


def joint_energy(state: State, passive: bool) -> Number:
    """Potential energy of the elements along joints that are ``passive``, or of the others."""
    total: Number = 0.0
    for element in JOINT_ELEMENTS:
        if element.passive == passive:
            for body in state.model:
                total = total + element.energy(body.description, state[body.index].q)
    return total
