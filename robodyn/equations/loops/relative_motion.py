"""Motion of one frame seen from another, along the chain of bodies between them.

The chain leads from the reference F down its branch to where the branches part, and up to the frame
G. An observer in F sees each joint turn what lies beyond it: a joint of the branch of G moves its
body, one of the branch of F moves its parent, the other way round. All twists are taken at the
origin of F in its axes, where they simply add up. Where chains are long, and many loops have most
of them in common, the motion is the difference of those of the two bodies, which all loops share.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.state import BaseState, State
from robodyn.equations.tree.newton_euler import accelerations, twists
from robodyn.joints.common.cut import RelativeMotion
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Vec3

Frame = tuple[int, Placement]

#: Number of joints beyond which a chain is long.
LONG = 24

#: In place of the index of a speed: the column of what moves with time, which has no speed.
TIME = -1


def relative_motion(state: State, frame: Frame, reference: Frame) -> RelativeMotion:
    """Motion of a frame, fixed in a body at a placement, seen from another."""
    chain = [*_chain(state, frame[0], reference[0])]
    if len(chain) > LONG and all(state[i].drift is None for i, _ in chain):
        return _difference(state, frame, reference, chain)
    columns: dict[int, Twist] = {}
    V, A = Twist(), Twist()
    X = reference[1].inverse.multiplied
    for i, forward in chain:
        joint = state[i]
        sign = 1.0 if forward else -1.0
        if forward:
            X = (X @ joint.X).multiplied
        own = [(k, X.twist_out(s)) for k, s in joint.columns]
        step = sum((s * state.v[k] for k, s in own), Twist())
        if joint.drift is not None:  # as a column whose speed is one
            drift = X.twist_out(joint.drift)
            own, step = [*own, (TIME, drift)], step + drift
        # columns are fixed in the joint's body, which moves with V and, beyond the joint, with it
        rate = X.twist_out(joint.c) + V.cross(step)
        for k, s in own:
            columns[k] = columns.get(k, Twist()) + s * sign
        V, A = V + step * sign, A + rate * sign
        if not forward:
            X = (X @ joint.X.inverse).multiplied
    X = X @ frame[1]

    def at_G(s: Twist) -> Vec3:
        return s.v + s.w.cross(X.p)

    v = at_G(V)
    at_unit_speeds = {k: (at_G(s), s.w) for k, s in columns.items()}
    return RelativeMotion(X, v, V.w, at_G(A) + V.w.cross(v), A.w, at_unit_speeds, state.t)


def _chain(state: State, body: int, reference: int) -> Iterator[tuple[int, bool]]:
    """Joints from the reference to the body; whether a joint is passed from parent to child."""
    up, down = state.model.chains(body, reference)
    yield from ((i, False) for i in reversed(down))
    yield from ((i, True) for i in up)


# -- long chains ----------------------------------------------------------------------------------


def _difference(
    state: State, frame: Frame, reference: Frame, chain: Sequence[tuple[int, bool]]
) -> RelativeMotion:
    """The same by the motions of both bodies.

    With the twists of F and G, componentwise derivatives of them, and ``X = X_FG``::

        w  = R w_G - w_F            dw = R dw_G - dw_F + w x R w_G
        v  = R v_G - v_F - w_F x p  dv = R dv_G - dv_F - dw_F x p - w_F x v + w x R v_G
    """
    X_WG, V_G, A_G = _moving(state, frame)
    X_WF, V_F, A_F = _moving(state, reference)
    X_FW = X_WF.inverse.multiplied
    X = (X_FW @ X_WG).multiplied
    v_G, w_G = X.R * V_G.v, X.R * V_G.w
    w = w_G - V_F.w
    v = v_G - V_F.v - V_F.w.cross(X.p)
    dw = X.R * A_G.w - A_F.w + w.cross(w_G)
    dv = X.R * A_G.v - A_F.v - A_F.w.cross(X.p) - V_F.w.cross(v) + w.cross(v_G)
    return RelativeMotion(X, v, w, dv, dw, _Columns(state, X_FW, X.p, chain), state.t)


def _moving(state: State, frame: Frame) -> tuple[Placement, Twist, Twist]:
    """Pose in the base, twist and its derivative of a frame, in its axes, the base at rest."""
    poses, V, A = _motions(state)
    body, X = frame
    return (poses[body] @ X).multiplied, X.twist_in(V[body]), X.twist_in(A[body])


def _motions(state: State) -> tuple[dict[int, Placement], dict[int, Twist], dict[int, Twist]]:
    if "motions" not in state.kept:
        still = dataclasses.replace(state, base=BaseState.at_rest(), kept={})
        poses = {BASE: Placement()}
        for body in state.model:
            poses[body.index] = (poses[body.parent] @ state[body.index].X).multiplied
        nothing = [0.0] * state.model.nv
        state.kept["motions"] = poses, twists(still), accelerations(still, nothing)
    found: tuple[dict[int, Placement], dict[int, Twist], dict[int, Twist]] = state.kept["motions"]
    return found


class _Columns(Mapping[int, tuple[Vec3, Vec3]]):
    """Velocities of the origin of G and angular ones a unit of each speed, where asked for."""

    def __init__(
        self, state: State, X_FW: Placement, p: Vec3, chain: Sequence[tuple[int, bool]]
    ) -> None:
        self._state, self._X_FW, self._p = state, X_FW, p
        self._twists: dict[int, list[tuple[int, Twist, float]]] = {}
        for i, forward in chain:
            for k, s in state[i].columns:
                self._twists.setdefault(k, []).append((i, s, 1.0 if forward else -1.0))
        self._known: dict[int, tuple[Vec3, Vec3]] = {}

    def __getitem__(self, speed: int) -> tuple[Vec3, Vec3]:
        if speed not in self._known:
            poses, total = _motions(self._state)[0], Twist()
            for i, s, sign in self._twists[speed]:
                total = total + (self._X_FW @ poses[i]).twist_out(s) * sign
            self._known[speed] = total.v + total.w.cross(self._p), total.w
        return self._known[speed]

    def __iter__(self) -> Iterator[int]:
        return iter(self._twists)

    def __len__(self) -> int:
        return len(self._twists)
