"""Centre of mass, momentum, energies."""

from __future__ import annotations

from collections.abc import Collection

from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.composite_body import Matrix
from robodyn.equations.tree.newton_euler import rotor_momenta, twists
from robodyn.errors import SettingsError
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import RigidInertia, Wrench
from robodyn.symbolic.vector import Rotation, Vec3


def total_mass(model: MechanismModel, base_inertia: RigidInertia | None) -> Number:
    """Mass of everything that moves [kg]; with a moving base, of the base as well."""
    masses = [body.inertia.m for body in model] + ([base_inertia.m] if base_inertia else [])
    return sum(masses, 0.0)


def first_moment(state: State) -> Vec3:
    """Integral of ``p_W dm``."""
    h, m = _subtrees(state)
    return state.base.X_WB.R * h[BASE] + state.base.X_WB.p * m[BASE]


def _subtrees(state: State) -> tuple[dict[int, Vec3], dict[int, Number]]:
    """First moment in its axes, and mass, of each body with all that it carries."""
    h = {body.index: body.inertia.h for body in state.model}
    m = {body.index: body.inertia.m for body in state.model}
    h[BASE] = state.base.inertia.h if state.base.inertia else Vec3(0.0, 0.0, 0.0)
    m[BASE] = state.base.inertia.m if state.base.inertia else 0.0
    for body in reversed(state.model):
        X = state[body.index].X
        h[body.parent] += X.R * h[body.index] + X.p * m[body.index]
        m[body.parent] += m[body.index]
    return h, m


def _inverse(mass: Number) -> Number:
    """One over the mass of all that moves, which has a centre of mass then."""
    if isinstance(mass, float) and mass == 0.0:
        raise SettingsError(
            "nothing of the robot that moves has a mass, so there is no centre of mass, and no "
            "momentum about it: give a link that moves an inertia, or load with a base that moves"
        )
    return 1.0 / mass


@dataclass(frozen=True, eq=False)
class _MassCenter:
    """The centre of mass, seen from what carries all that has mass.

    From there it is near, wherever in the world all of it is: moments about it keep their digits.

    carrier: The only body on a base without mass and rotors, else the base.
    R: Axes of the carrier in the world.
    p: In the carrier.
    """

    carrier: int
    R: Rotation
    p: Vec3

    @classmethod
    def of(cls, state: State) -> _MassCenter:
        """That of a mechanism."""
        h, m = _subtrees(state)
        roots = [body.index for body in state.model if body.parent == BASE]
        of_base = state.base.inertia or any(rotor.carrier == BASE for rotor in state.model.rotors)
        if len(roots) != 1 or of_base:
            return cls(BASE, state.base.X_WB.R, h[BASE] * _inverse(m[BASE]))
        (root,) = roots
        return cls(root, state.base.X_WB.R @ state[root].X.R, h[root] * _inverse(m[root]))

    def about(self, P: Wrench) -> Wrench:
        """A momentum of the carrier about the centre of mass, in world axes."""
        return Wrench(self.R * P.f, self.R * (P.n - self.p.cross(P.f)))


def center_of_mass(state: State) -> Vec3:
    """Centre of mass in the world."""
    h = first_moment(state)
    return h * _inverse(total_mass(state.model, state.base.inertia))


def potential_energy(state: State) -> Number:
    """``- g . integral of p dm``."""
    return -state.base.g_W.dot(first_moment(state))


def kinetic_energy(state: State, chosen: Collection[int] | None = None) -> Number:
    """Sum over bodies of ``1/2 V . I V``, and over rotors.

    chosen, optional: Bodies. Rotors count with the body that carries them, other armatures with the
        one that they move.
    """
    model, V = state.model, twists(state)
    some = {BASE, *range(len(model.bodies))} if chosen is None else chosen
    inertias = [(body.index, body.inertia) for body in model]
    if state.base.inertia:
        inertias.append((BASE, state.base.inertia))
    twice: Number = sum((V[i].dot(I.momentum(V[i])) for i, I in inertias if i in some), 0.0)
    for armature in model.armature:
        counted = _counted(model, some, armature.body, armature.inertia)
        for x in state[armature.body].v:
            twice = twice + x * x * counted
    for both in model.coupling_inertias:
        if both.carrier in some:
            x, y = state[both.first].v[0], state[both.second].v[0]
            twice = twice + 2.0 * x * y * both.inertia
    for i, P in rotor_momenta(model.rotors, state):
        if i in some:
            twice = twice + 2.0 * V[i].dot(P)
    return 0.5 * twice


def _counted(model: MechanismModel, chosen: Collection[int], body: int, armature: Number) -> Number:
    """The part of what a joint feels of rotors that counts with the chosen bodies."""
    rotors = [x for x in model.rotors if x.body == body]
    if all((x.carrier in chosen) == (body in chosen) for x in rotors):
        return armature if body in chosen else 0.0
    spins = [(x.carrier in chosen, x.inertia * (x.ratio * x.ratio)) for x in rotors]
    if body in chosen:  # all but the rotors that other bodies carry
        return armature - sum(x for here, x in spins if not here)
    return sum((x for here, x in spins if here), 0.0)


def momentum(state: State) -> Wrench:
    """Linear and angular momentum about the centre of mass, in world axes."""
    V = twists(state)
    P = {body.index: body.inertia.momentum(V[body.index]) for body in state.model}
    P[BASE] = state.base.inertia.momentum(V[BASE]) if state.base.inertia else Wrench()
    for i, spun in rotor_momenta(state.model.rotors, state):
        P[i] += spun
    for body in reversed(state.model):
        P[body.parent] += state[body.index].X.wrench_out(P[body.index])
    center = _MassCenter.of(state)
    return center.about(P[center.carrier])


def centroidal_matrix(state: State) -> Matrix:
    """``A`` (6, nv): `momentum` is ``A v`` (with the base at rest)."""
    model = state.model
    center = _MassCenter.of(state)
    inertia = {body.index: body.inertia for body in model}
    columns: list[Wrench] = [Wrench() for _ in range(model.nv)]

    def add(k: int, i: int, F: Wrench) -> None:
        while i != center.carrier:
            F, i = state[i].X.wrench_out(F), model.bodies[i].parent
        columns[k] += center.about(F)

    for rotor in model.rotors:
        for k, _, ratio in state[rotor.body].ratios:
            add(k, rotor.carrier, Wrench(n=rotor.g * ratio))
    for body in reversed(model):
        joint = state[body.index]
        for k, s in joint.columns:
            add(k, body.index, inertia[body.index].momentum(s))
        if body.parent != BASE:
            inertia[body.parent] += inertia[body.index].in_parent(joint.X)
    rows = [list(column) for column in columns]
    return [[rows[k][r] for k in range(model.nv)] for r in range(6)]
