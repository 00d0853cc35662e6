"""How the bodies move: the sweeps from root to leaves."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import BodyMotion, Placement, Twist


def placements(state: State) -> dict[int, Placement]:
    """``X_WB`` of the base and of every body."""
    X_WB = {BASE: state.base.X_WB}
    for body in state.model:
        X_WB[body.index] = X_WB[body.parent] @ state[body.index].X
    return X_WB


def twists(state: State) -> dict[int, Twist]:
    """Twist of the base and of every body, in its own axes."""
    V = {BASE: state.base.V}
    for body in state.model:
        joint = state[body.index]
        V[body.index] = joint.X.twist_in(V[body.parent]) + joint.V
    return V


def accelerations(state: State, a: Sequence[Number]) -> dict[int, Twist]:
    """Derivative of each body's twist, in its own axes."""
    V = twists(state)
    A = {BASE: state.base.A}
    for body in state.model:
        joint = state[body.index]
        A[body.index] = (
            joint.X.twist_in(A[body.parent])
            + joint.times(a)
            + joint.c
            + V[body.index].cross(joint.V)
        )
    return A


def body_motions(state: State, a: Sequence[Number]) -> dict[int, BodyMotion]:
    """Angular motion of each body and the acceleration of its origin.

    With ``w`` of the parent seen from the body, ``V`` the twist of the joint and ``D = S a + dS v``
    its rate::

        w_B  = w + V.w
        dw_B = dw + D.w + w x V.w
        a_B  = a_P + U_P p + D.v + (2 w + V.w) x V.v

    A body's own linear velocity does not appear, so it is never computed.
    """
    motion = {BASE: state.base.motion}
    for body in state.model:
        joint, parent = state[body.index], motion[body.parent]
        R, V = joint.X.R, joint.V
        D = joint.times(a) + joint.c
        w = R.inverse_times(parent.w)
        motion[body.index] = BodyMotion(
            w + V.w,
            R.inverse_times(parent.dw) + D.w + w.cross(V.w),
            R.inverse_times(parent.a + parent.U * joint.X.p) + D.v + (w + w + V.w).cross(V.v),
        )
    return motion
