"""Mass matrix: composite rigid bodies."""

from __future__ import annotations

from robodyn.equations.mechanism import BASE, MechanismModel
from robodyn.equations.state import State
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Wrench

__all__ = ["Matrix", "mass_matrix"]

Matrix = list[list[Number]]


def mass_matrix(model: MechanismModel, state: State) -> Matrix:
    """``M`` (nv, nv), symmetric [Featherstone, table 6.2].

    The momentum of everything beyond a joint, for a unit speed of that joint, is projected on the
    joints on its way to the base.
    """
    inertia = {body.index: body.lumped for body in model}
    M: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for armature in model.lumped_armature:
        ratios = state[armature.body].ratios
        for k, _, x in ratios:
            for j, _, y in ratios:
                M[k][j] += x * y * armature.inertia
    for body in reversed(model):
        joint = state[body.index]
        momenta = [(k, inertia[body.index].momentum(s)) for k, s in joint.columns]
        for k, s in joint.columns:
            for j, F in momenta:
                M[k][j] += s.dot(F)
        _project_on_ancestors(model, state, M, body.index, momenta)
        if body.parent != BASE:
            inertia[body.parent] += inertia[body.index].in_parent(joint.X)
    for rotor in model.lumped_rotors:
        spun = [(k, Wrench(n=rotor.g * x)) for k, _, x in state[rotor.body].ratios]
        _project(model, state, M, rotor.carrier, spun)
    return M


def _project_on_ancestors(
    model: MechanismModel, state: State, M: Matrix, body: int, momenta: list[tuple[int, Wrench]]
) -> None:
    parent = model.bodies[body].parent
    if parent != BASE:
        X = state[body].X
        _project(model, state, M, parent, [(j, X.wrench_out(F)) for j, F in momenta])


def _project(
    model: MechanismModel, state: State, M: Matrix, body: int, momenta: list[tuple[int, Wrench]]
) -> None:
    """Momenta of a body, by the speed that makes them, on the joints that move the body."""
    while body != BASE:
        for k, s in state[body].columns:
            for j, F in momenta:
                projected = s.dot(F)
                M[k][j] += projected
                M[j][k] += projected
        X, body = state[body].X, model.bodies[body].parent
        momenta = [(j, X.wrench_out(F)) for j, F in momenta]
