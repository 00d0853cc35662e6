"""Motion of one frame seen from another, along the chain of bodies between them.

The chain leads from the reference F down its branch to where the branches part, and up to the frame
G. An observer in F sees each joint turn what lies beyond it: a joint of the branch of G moves its
body, one of the branch of F moves its parent, the other way round. All twists are taken at the
origin of F in its axes, where they simply add up.
"""

from __future__ import annotations

from collections.abc import Iterator

from robodyn.equations.mechanism.state import JointAtState, State
from robodyn.joints.common.cut import RelativeMotion
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Vec3

Frame = tuple[int, Placement]

#: In place of the index of a speed: the column of what moves with time, which has no speed.
TIME = -1


def relative_motion(state: State, frame: Frame, reference: Frame) -> RelativeMotion:
    """Motion of a frame, fixed in a body at a placement, seen from another."""
    columns: dict[int, Twist] = {}
    V, A = Twist(), Twist()
    X = reference[1].inverse.multiplied
    for joint, forward in _chain(state, frame[0], reference[0]):
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


def _chain(state: State, body: int, reference: int) -> Iterator[tuple[JointAtState, bool]]:
    """Joints from the reference to the body; whether a joint is passed from parent to child."""
    up, down = state.model.chains(body, reference)
    yield from ((state[i], False) for i in reversed(down))
    yield from ((state[i], True) for i in up)
