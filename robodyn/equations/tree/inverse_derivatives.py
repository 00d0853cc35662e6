"""Derivatives of inverse dynamics by position and speed, along the tree.

With ``V_p``, ``A_p`` the twist of a joint's parent and its rate (less gravity), all in the axes of
the child, a column ``s`` of the joint moves as

    psi  = V_p x s                    phi  = A_p x s + V_p x psi
    rate = V_p x s + V x s

A change of the joint's position changes the twists beyond it by ``psi``, one of its speed by ``s``.
Composite sums over everything beyond the joint, of inertias ``I``, forces ``F`` and the matrices
``B`` of Coriolis forces, then give for a joint i and each joint j on its way to the base [Singh,
Russell and Wensing 2022, table 1; the recursions they shorten are in Carpentier and Mansard 2018]::

    d tau_j / d q_i = s_j . (2 B psi_i + I phi_i + s_i x* F)
    d tau_i / d q_j = 2 s_i B psi_j + I s_i . phi_j
    d tau_j / d v_i = s_j . (2 B s_i + I rate_i)
    d tau_i / d v_j = 2 s_i B s_j + I s_i . rate_j

Along the freedoms of one joint ``s_i x* F`` is left out: they turn with the body. For joints whose
columns are fixed in the body, and coordinates that are moved along the speeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.composite_body import Matrix
from robodyn.equations.tree.newton_euler import accelerations, body_motions, twists
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, RigidInertia, Twist, Wrench
from robodyn.symbolic.vector import Mat3, Vec3


def covered(state: State) -> bool:
    """Whether columns are fixed in their bodies, no carrier feels a rotor, no armature turns."""
    joints = [state[body.index] for body in state.model]
    turned = any(state[x.body].orientation for x in state.model.armature)
    return not (state.model.rotors or state.dependent or turned) and all(
        joint.drift is None
        and all(isinstance(x, float) for _, s in joint.columns for x in s)
        and all(isinstance(x, float) and not x for ds in joint.rates for x in ds)
        for joint in joints
    )


class Flow:
    """How a body's mass moves: ``p``, the integral of ``dr/dt dm``, and ``D``, of ``dr/dt r^T dm``.

    The matrix of Coriolis forces is ``B (v, w) = (w x p, tr(D) w - D w)``: only turning counts.
    """

    __slots__ = ("D", "p")

    def __init__(self, p: Vec3, D: Mat3) -> None:
        self.p, self.D = p, D

    @classmethod
    def of(cls, body: RigidInertia, V: Twist) -> Flow:
        """Of one rigid body."""
        p = V.v * body.m + V.w.cross(body.h)
        return cls(p, V.v.outer(body.h) + Mat3.skew(V.w) @ body.S.full)

    def __add__(self, other: Flow) -> Flow:
        return Flow(self.p + other.p, self.D + other.D)

    def in_parent(self, X: Placement) -> Flow:
        """The same seen from A, where ``X`` is ``X_AB``."""
        p = X.R * self.p
        return Flow(p, X.R.turn(self.D) + p.outer(X.p))

    def times(self, V: Twist) -> Wrench:
        """``B V``."""
        return Wrench(V.w.cross(self.p), V.w * self._trace - self.D * V.w)

    def times_transposed(self, s: Twist) -> Wrench:
        """``B^T s``, a couple."""
        return Wrench(n=s.w * self._trace - self.D.T * s.w + self.p.cross(s.v))

    @property
    def _trace(self) -> Number:
        return self.D.xx + self.D.yy + self.D.zz


class Column:
    """A column of a joint, and how it moves."""

    __slots__ = ("k", "phi", "psi", "rate", "s")

    def __init__(self, k: int, s: Twist, V_p: Twist, A_p: Twist, V: Twist) -> None:
        self.k, self.s = k, s
        self.psi = V_p.cross(s)
        self.phi = A_p.cross(s) + V_p.cross(self.psi)
        self.rate = self.psi + V.cross(s)


def inverse_dynamics_derivatives(
    state: State, a: Sequence[Number], wrenches: Mapping[int, Wrench]
) -> tuple[Matrix, Matrix]:
    """Derivatives by position and by speed, each (nv, nv); arguments as for inverse dynamics.

    The wrenches turn with their bodies.
    """
    model = state.model
    inertia = {b.index: b.inertia if model.lumped_rotors else b.lumped for b in model}
    V = twists(state)
    F, columns = _forces(state, a, wrenches, inertia), _columns(state, a)
    # twice the flow, of twice the mass
    flow = {i: Flow.of(I + I, V[i]) for i, I in inertia.items()}
    dq: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    dv: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for body in reversed(model):
        i, X = body.index, state[body.index].X
        I, B, own = inertia[i], flow[i], columns[i]
        for c in own:
            by_q = B.times(c.psi) + I.momentum(c.phi)
            by_v = B.times(c.s) + I.momentum(c.rate)
            for other in own:
                dq[other.k][c.k] += other.s.dot(by_q)
                dv[other.k][c.k] += other.s.dot(by_v)
            on_path = (
                by_q + c.s.cross_wrench(F[i]),
                by_v,
                I.momentum(c.s),
                B.times_transposed(c.s),
            )
            _to_the_base(state, columns, i, c.k, on_path, dq, dv)
        if body.parent != BASE:
            inertia[body.parent] += I.in_parent(X)
            flow[body.parent] += B.in_parent(X)
            F[body.parent] += X.wrench_out(F[i])
    return dq, dv


def _to_the_base(
    state: State,
    columns: Mapping[int, Sequence[Column]],
    body: int,
    k: int,
    given: tuple[Wrench, Wrench, Wrench, Wrench],
    dq: Matrix,
    dv: Matrix,
) -> None:
    """Row and column ``k`` against the joints on the way from a body to the base."""
    by_q, by_v, momentum, turning = given
    while state.model.bodies[body].parent != BASE:
        X, body = state[body].X, state.model.bodies[body].parent
        by_q, by_v = X.wrench_out(by_q), X.wrench_out(by_v)
        momentum, turning = X.wrench_out(momentum), X.wrench_out(turning)
        for c in columns[body]:
            dq[c.k][k] += c.s.dot(by_q)
            dv[c.k][k] += c.s.dot(by_v)
            dq[k][c.k] += c.psi.dot(turning) + c.phi.dot(momentum)
            dv[k][c.k] += c.s.dot(turning) + c.rate.dot(momentum)


def _columns(state: State, a: Sequence[Number]) -> dict[int, list[Column]]:
    """Columns of all joints; gravity is an acceleration of the base against it."""
    base, V = state.base, twists(state)
    fallen = Twist(base.A.v - base.X_WB.R.inverse_times(base.g_W), base.A.w)
    A = accelerations(replace(state, base=replace(base, A=fallen)), a)
    found = {}
    for body in state.model:
        joint, i = state[body.index], body.index
        V_p, A_p = joint.X.twist_in(V[body.parent]), joint.X.twist_in(A[body.parent])
        found[i] = [Column(k, s, V_p, A_p, V[i]) for k, s in joint.columns]
    return found


def _forces(
    state: State,
    a: Sequence[Number],
    wrenches: Mapping[int, Wrench],
    inertia: Mapping[int, RigidInertia],
) -> dict[int, Wrench]:
    """What moves each body, less the wrenches."""
    motion = body_motions(state, a)
    F = {i: I.wrench(motion[i]) for i, I in inertia.items()}
    return {i: f - wrenches[i] if i in wrenches else f for i, f in F.items()}
