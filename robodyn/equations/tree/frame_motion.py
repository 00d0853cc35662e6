"""Pose, twist, acceleration and Jacobians of a frame, seen from the world or from another link."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.mechanism.state import BaseState, JointAtState, State
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Rotation


@dataclass(eq=False)
class FrameMotion:
    """Motion of a frame F seen from a reference frame A.

    X: ``X_AF``.
    V, A: Twist and its componentwise derivative, in F.
    columns, rates: Jacobian (``V = sum of columns * v`` with the reference at rest) and its rate,
        in F.
    """

    X: Placement
    V: Twist
    A: Twist
    columns: dict[int, Twist]
    rates: dict[int, Twist]

    def onto(self, X: Placement) -> FrameMotion:
        """Motion of a frame that is fixed in F at ``X``."""
        return FrameMotion(
            self.X @ X,
            X.twist_in(self.V),
            X.twist_in(self.A),
            {k: X.twist_in(s) for k, s in self.columns.items()},
            {k: X.twist_in(s) for k, s in self.rates.items()},
        )


def _walk(
    state: State, path: Sequence[int], a: Sequence[Number], start: FrameMotion
) -> FrameMotion:
    """Motion of the last body of a path whose first body's parent moves as ``start``."""
    motion = start
    for i in path:
        motion = beyond(motion, state[i], a)
    return motion


def beyond(parent: FrameMotion, joint: JointAtState, a: Sequence[Number]) -> FrameMotion:
    """Motion of the body that a joint moves, from that of its parent."""
    motion = parent.onto(joint.X)
    V = motion.V + joint.V
    motion.A = motion.A + joint.times(a) + joint.c + V.cross(joint.V)
    motion.V = V
    for k, s in motion.columns.items():
        motion.rates[k] = motion.rates[k] + s.cross(joint.V)
    for (k, s), ds in zip(joint.columns, joint.rates, strict=True):
        motion.columns[k] = motion.columns.get(k, Twist()) + s
        motion.rates[k] = motion.rates.get(k, Twist()) + ds
    return motion


def of_base(base: BaseState) -> FrameMotion:
    """Motion of the base in the world."""
    return FrameMotion(base.X_WB, base.V, base.A, {}, {})


def absolute(state: State, a: Sequence[Number], body: int, X_BF: Placement) -> FrameMotion:
    """Motion in the world of a frame fixed in a body at ``X_BF``."""
    return _walk(state, state.model.path(body), a, of_base(state.base)).onto(X_BF)


def relative_pose(
    state: State, frame: tuple[int, Placement], reference: tuple[int, Placement]
) -> Placement:
    """Pose of one frame in another; what moves both does not enter."""
    (X_F, X_A) = (Placement(), Placement())
    path_F, path_A = state.model.chains(frame[0], reference[0])
    for i in path_F:
        X_F = X_F @ state[i].X
    for i in path_A:
        X_A = X_A @ state[i].X
    return (X_A @ reference[1]).inverse @ (X_F @ frame[1])


def relative(
    state: State,
    a: Sequence[Number],
    frame: tuple[int, Placement],
    reference: tuple[int, Placement],
) -> FrameMotion:
    """Motion of one frame seen from another; what moves both does not enter."""
    path_F, path_A = state.model.chains(frame[0], reference[0])
    still = Twist()
    F = _walk(state, path_F, a, FrameMotion(Placement(), still, still, {}, {})).onto(frame[1])
    A = _walk(state, path_A, a, FrameMotion(Placement(), still, still, {}, {})).onto(reference[1])
    return seen_from(F, A)


def seen_from(F: FrameMotion, A: FrameMotion) -> FrameMotion:
    """Motion of F seen from A, of two frames whose motions are seen from a third."""
    X_AF = A.X.inverse @ F.X
    V_A = X_AF.twist_in(A.V)
    V = F.V - V_A
    acceleration = F.A - X_AF.twist_in(A.A) + V.cross(V_A)
    columns, rates = dict(F.columns), dict(F.rates)
    for k, s in A.columns.items():
        carried = X_AF.twist_in(s)
        columns[k] = columns.get(k, Twist()) - carried
        rates[k] = rates.get(k, Twist()) - X_AF.twist_in(A.rates[k]) + V.cross(carried)
    return FrameMotion(X_AF, V, acceleration, columns, rates)


def classical(V: Twist, A: Twist) -> Twist:
    """Acceleration of the origin, and angular acceleration, from the twist's derivative."""
    return Twist(A.v + V.w.cross(V.v), A.w)


def in_axes(R: Rotation, V: Twist) -> Twist:
    """The same twist in other axes."""
    return Twist(R * V.v, R * V.w)
