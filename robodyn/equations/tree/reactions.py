"""Joint reactions: the wrench between parent and child, and the part of it that motors give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robodyn.equations.mechanism.bodies import BASE, Body, MechanismModel
from robodyn.equations.mechanism.frames import placement
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.composite_body import factorize, solve
from robodyn.equations.tree.newton_euler import body_motions, rotor_reactions
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist, Wrench
from robodyn.tolerances import FRAME_ROUNDING


def body_wrenches(
    state: State, a: Sequence[Number], wrenches: Mapping[int, Wrench]
) -> dict[int, Wrench]:
    """What each body gets through the joint that moves it; what the base gets from outside.

    About the body's origin in its axes. It makes the body, and all that hangs on it, move as they
    do [W 5.180]: here every body has its own inertia, none is counted on its parent.
    """
    model = state.model
    motion = body_motions(state, a)
    inertias = {BASE: model.base_inertia} | {body.index: body.inertia for body in model}
    F = {i: inertia.wrench(motion[i]) for i, inertia in inertias.items()}
    for i, wrench in wrenches.items():
        F[i] -= wrench
    rotor_reactions(model.rotors, state, a, motion, F)
    for body in reversed(model):
        F[body.parent] += state[body.index].X.wrench_out(F[body.index])
    return F


def _outwards(model: MechanismModel, body: Body) -> bool:
    """Whether the tree goes from the joint's parent to its child, as the description does."""
    return model.frames[body.description.child][0] == body.index


def _child_frame(model: MechanismModel, body: Body) -> Placement:
    """The child link of the joint, on the body that carries it."""
    return placement(model.frames[body.description.child][1], FRAME_ROUNDING)


def joint_wrench(state: State, body: Body, F: Wrench) -> Wrench:
    """The wrench ``F`` on a body as parent link on child link, in the child link's frame."""
    X = _child_frame(state.model, body)
    if _outwards(state.model, body):
        return X.wrench_in(F)
    return -X.wrench_in(state[body.index].X.wrench_out(F))


def joint_axes(state: State, body: Body) -> list[Twist]:
    """Motion subspace of the joint in the child link's frame, a column a freedom of its own."""
    X, joint = _child_frame(state.model, body), state[body.index]
    if _outwards(state.model, body):
        return [X.twist_in(s) for s in joint.own]
    return [-X.twist_in(joint.X.twist_out(s)) for s in joint.own]


def along_axes(axes: Sequence[Twist], forces: Sequence[Number]) -> Wrench:
    """The wrench in the span of the axes that does the work of given forces.

    ``S (S^T S)^-1 tau``: it projects to ``tau``, and has nothing that the bearings could carry.
    """
    if not axes:
        return Wrench()
    gram = [[a.v.dot(b.v) + a.w.dot(b.w) for b in axes] for a in axes]
    weights = solve(factorize(gram), list(forces))
    total = Twist()
    for s, x in zip(axes, weights, strict=True):
        total = total + s * x
    return Wrench(total.v, total.w)
