"""Coriolis matrix in Christoffel form."""

from __future__ import annotations

from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.rotors import Rotor
from robodyn.equations.mechanism.state import JointAtState, State
from robodyn.equations.tree.composite_body import Matrix
from robodyn.equations.tree.newton_euler import twists
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, RigidInertia, Twist, Wrench
from robodyn.symbolic.vector import EX, EY, EZ, ZERO3, Sym3

UNIT_TWISTS = tuple(Twist(v=e) for e in (EX, EY, EZ)) + tuple(Twist(w=e) for e in (EX, EY, EZ))


def _rate_matrix(inertia: RigidInertia, V: Twist) -> list[Wrench]:
    """Columns of ``B = 1/2 ((V x*) I - I (V x) + (I V) x*)``, so that ``B V = V x* I V``."""
    P = inertia.momentum(V)
    return [
        (V.cross_wrench(inertia.momentum(e)) - inertia.momentum(V.cross(e)) + e.cross_wrench(P))
        * 0.5
        for e in UNIT_TWISTS
    ]


def _times(B: list[Wrench], s: Twist) -> Wrench:
    return sum((column * x for column, x in zip(B, s, strict=True)), Wrench())


def coriolis_matrix(state: State) -> Matrix:
    """``C`` (nv, nv) with ``C v`` the Coriolis and centrifugal forces, ``dM/dt = C + C^T``.

    ``C = sum of J^T (I dJ + B J)`` with the composite sums taken at the base
    [Echeandia and Wensing 2021, algorithm 1]; everything here is about the origin of the first body
    of each branch in its axes, where sums over bodies are plain sums, and which the place of that
    body does not enter.
    """
    model = state.model
    X = {BASE: Placement()}
    for body in model:
        above = X[body.parent] @ state[body.index].X if body.parent != BASE else Placement()
        X[body.index] = above
    V = twists(state)
    S: dict[int, list[tuple[int, Twist, Twist]]] = {}
    inertia: dict[int, RigidInertia] = {}
    rate: dict[int, list[Wrench]] = {}
    for body in model:
        i, joint = body.index, state[body.index]
        V_W = X[i].twist_out(V[i])
        S[i] = [
            (k, s_W, V_W.cross(s_W) + X[i].twist_out(ds))
            for (k, s), ds in zip(joint.columns, joint.rates, strict=True)
            for s_W in (X[i].twist_out(s),)
        ]
        inertia[i] = body.lumped.in_parent(X[i])
        rate[i] = _rate_matrix(inertia[i], V_W)

    C: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for rotor in model.lumped_rotors:
        _add_rotor(C, model, S, rotor, X[rotor.carrier], V[rotor.carrier], state[rotor.body])
    for armature in model.lumped_armature:
        joint = state[armature.body]
        for k, freedom, ratio in joint.ratios:
            for (j, other, _), rate_j in zip(joint.ratios, joint.ratio_rates, strict=True):
                C[k][j] += ratio * rate_j * armature.inertia if freedom == other else 0.0
        for j, along, _ in joint.ratios if joint.orientation else ():
            turned = joint.turned([float(n == along) for n in range(6)])
            for k, n, _ in joint.ratios:
                C[k][j] += turned[n] * armature.inertia
    for both in model.coupling_inertias:
        for one, other in ((both.first, both.second), (both.second, both.first)):
            follows = state[other]
            for k, _, ratio in state[one].ratios:
                for (j, *_), rate_j in zip(follows.ratios, follows.ratio_rates, strict=True):
                    C[k][j] += ratio * rate_j * both.inertia
    for body in reversed(model):
        i = body.index
        for j, s, ds in S[i]:
            _fill(C, S, _own_and_ancestors(model, i), j, (s, ds), inertia[i], rate[i])
        if body.parent != BASE:
            inertia[body.parent] += inertia[i]
            rate[body.parent] = [a + b for a, b in zip(rate[body.parent], rate[i], strict=True)]
    return C


def _own_and_ancestors(model: MechanismModel, body: int) -> list[int]:
    return model.path(body)[::-1]


Columns = dict[int, list[tuple[int, Twist, Twist]]]


def _fill(
    C: Matrix,
    S: Columns,
    path: list[int],
    j: int,
    column: tuple[Twist, Twist],
    inertia: RigidInertia,
    rate: list[Wrench],
) -> None:
    """Row and column ``j`` of C against the body's own joint and those on its way to the base."""
    s, ds = column
    F_1 = inertia.momentum(ds) + _times(rate, s)
    F_2 = inertia.momentum(s)
    F_3: list[Number] = [s.dot(b) for b in rate]
    for k, s_k, _ in S[path[0]]:
        C[k][j] += s_k.dot(F_1)
    for ancestor in path[1:]:
        for k, s_k, ds_k in S[ancestor]:
            C[k][j] += s_k.dot(F_1)
            C[j][k] += ds_k.dot(F_2) + sum(x * y for x, y in zip(s_k, F_3, strict=True))


def _add_rotor(
    C: Matrix,
    model: MechanismModel,
    S: Columns,
    rotor: Rotor,
    X: Placement,
    V: Twist,
    joint: JointAtState,
) -> None:
    """A rotor is a leaf on its carrier, whose own inertia it has as long as it does not turn."""
    inertia = rotor.alone.in_parent(X)
    V_carrier, s = X.twist_out(V), X.twist_out(rotor.column)
    V_rotor = V_carrier + s * joint.v[0]
    rate, at_rest = _rate_matrix(inertia, V_rotor), _rate_matrix(inertia, V_carrier)
    leaf = len(model.bodies) + 1
    ds = V_rotor.cross(s)
    path = _own_and_ancestors(model, rotor.carrier)
    # what it does to itself is the armature
    columns = {**S, leaf: []}
    for (j, _, ratio), ratio_rate in zip(joint.ratios, joint.ratio_rates, strict=True):
        column = s * ratio, ds * ratio + s * ratio_rate
        _fill(C, columns, [leaf, *path], j, column, inertia, rate)
    # the carrier counts the rotor with its own motion; the difference is what the spin adds
    change = [a - b for a, b in zip(rate, at_rest, strict=True)]
    none = RigidInertia(0.0, ZERO3, Sym3.zero())
    for depth, ancestor in enumerate(path):
        for j, s_j, ds_j in S[ancestor]:
            _fill(C, S, path[depth:], j, (s_j, ds_j), none, change)
