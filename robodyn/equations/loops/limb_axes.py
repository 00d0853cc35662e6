"""Rows of ball joints along the axes of the limbs that they end.

The three rows of a ball are components of one vector, and any axes do. Along a rod, none of its
own speeds moves its end; across it, each does in one direction. So rows along the axes of a rod
have few elements, and may be eliminated together with the speeds of the rod.

Twists of the limb are seen from that end, where they have many zeros. Twists of the other branch
are taken at the last body that both have in common, in its axes: loops of several limbs share what
is computed of these. The motion of one frame less that of the other is what an observer sees whose
axes turn with the other one [Featherstone 2008, 2.10].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field

from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.loops.relative_motion import TIME, Frame
from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.state import JointAtState, State
from robodyn.joints.common.cut import RelativeMotion
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, Scalar
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import ZERO3, Rotation, Vec3


@dataclass(frozen=True, eq=False)
class _Branch:
    """Some bodies, each the parent of the next, seen from one end.

    X: The other end.
    V, A: Of the last body relative to the one before the first; its rate at zero accelerations of
        all joints.
    columns: V a unit of each speed.
    """

    X: Placement
    V: Twist
    A: Twist
    columns: dict[int, Twist]


def motion_along(
    state: State, frame: Frame, reference: Frame, body: int, seen: Placement
) -> RelativeMotion:
    """Motion of a frame, fixed in a body at a placement, seen from another, along other axes.

    These are the axes of a third frame, which is at the same place as one of the two. The pose has
    the position of the frame, but in place of its axes those of the other one of the two.

    body: Of the third frame.
    seen: This body as seen from that frame.
    """
    of_frame, of_reference = state.model.chains(frame[0], reference[0])
    if body == reference[0]:
        home, away = _inward(state, of_reference, seen), _outward(state, of_frame)
        return _seen_from_end(home, away, frame[1])
    home, away = _inward(state, of_frame, seen), _outward(state, of_reference)
    return _opposite(_seen_from_end(home, away, reference[1], at_end=True))


def _seen_from_end(
    home: _Branch, away: _Branch, frame: Placement, at_end: bool = False
) -> RelativeMotion:
    """The motion of a frame at the end of a branch, seen from the end of the other one.

    That of the point which is at that end, if ``at_end``.
    """
    X, R = home.X @ away.X @ frame, home.X.R
    at = ZERO3 if at_end else X.p
    between = home.X.inverse.p if at_end else (away.X @ frame).p

    def own(s: Twist) -> Twist:
        return Twist(s.v + s.w.cross(at), s.w)

    def other(s: Twist) -> Twist:
        return Twist(R * (s.v + s.w.cross(between)), R * s.w)

    V, A = other(away.V) - own(home.V), other(away.A) - own(home.A)
    A = A - own(home.V).cross(other(away.V))
    columns = {k: other(s) for k, s in away.columns.items()}
    _add(columns, [(k, -own(s)) for k, s in home.columns.items()])
    return _motion(X, V, Twist(A.v + V.w.cross(V.v), A.w), columns)


def _motion(X: Placement, V: Twist, A: Twist, columns: dict[int, Twist]) -> RelativeMotion:
    return RelativeMotion(X, V.v, V.w, A.v, A.w, {k: (s.v, s.w) for k, s in columns.items()})


def _opposite(m: RelativeMotion) -> RelativeMotion:
    columns = {k: (-v, -w) for k, (v, w) in m.columns.items()}
    return RelativeMotion(Placement(m.X.R, -m.X.p), -m.v, -m.w, -m.dv, -m.dw, columns)


def _outward(state: State, bodies: Sequence[int]) -> _Branch:
    """A branch seen from the body before its first one."""
    X, columns = Placement(), dict[int, Twist]()
    V, A = Twist(), Twist()
    for body in bodies:
        joint = state[body]
        X = (X @ joint.X).multiplied
        own = _columns(joint, X)
        step = _step(state, own)
        # columns are fixed in the joint's body, which moves with V and, beyond the joint, with it
        V, A = V + step, A + X.twist_out(joint.c) + V.cross(step)
        _add(columns, own)
    return _Branch(X, V, A, columns)


def _inward(state: State, bodies: Sequence[int], last: Placement) -> _Branch:
    """A branch seen from a frame on its last body, which is at a pose there."""
    X, columns = last.multiplied, dict[int, Twist]()
    V, A = Twist(), Twist()
    for body in reversed(bodies):
        joint = state[body]
        own = _columns(joint, X)
        step = _step(state, own)
        # as above: the joint's body moves with all of V but what is beyond the joint
        V, A = V + step, A + X.twist_out(joint.c) - V.cross(step)
        _add(columns, own)
        X = (X @ joint.X.inverse).multiplied
    return _Branch(X, V, A, columns)


def _columns(joint: JointAtState, X: Placement) -> list[tuple[int, Twist]]:
    """What a joint does, whose body is at a pose; what time does is a column whose speed is one."""
    drift = [] if joint.drift is None else [(TIME, joint.drift)]
    return [(k, X.twist_out(s)) for k, s in (*joint.columns, *drift)]


def _step(state: State, own: Sequence[tuple[int, Twist]]) -> Twist:
    return sum((s if k == TIME else s * state.v[k] for k, s in own), Twist())


def _add(columns: dict[int, Twist], own: Sequence[tuple[int, Twist]]) -> None:
    for k, s in own:
        columns[k] = columns[k] + s if k in columns else s


@dataclass
class TurnedRows:
    """Constraint rows, some of them along other axes.

    turns: The first of three rows that are, and what turns their components back.
    motions: Of closures, by number, along these axes.
    """

    rows: list[Row]
    turns: list[tuple[int, Rotation]] = field(default_factory=list)
    motions: dict[int, RelativeMotion] = field(default_factory=dict)

    def back(self, values: Sequence[Number]) -> list[Number]:
        """Numbers of these rows, such as multipliers, as those of the rows that were given."""
        found = list(values)
        for first, R in self.turns:
            found[first : first + 3] = R * Vec3(*found[first : first + 3])
        return found

    def turned(self, values: Sequence[Number]) -> list[Number]:
        """Numbers of the rows that were given as those of these."""
        found = list(values)
        for first, R in self.turns:
            found[first : first + 3] = R.inverse_times(Vec3(*found[first : first + 3]))
        return found


def turned_rows(
    state: State,
    closures: Sequence[Closure],
    rows: Sequence[Row],
    chosen: Sequence[int],
    finished: Callable[[Row], Row],
) -> TurnedRows:
    """Rows, those of balls along the axes of limbs where all three of them are chosen.

    rows: Those that are chosen.
    chosen: Which of all rows the first of them are; those of closures come before others.
    finished: What is done to each row before.
    """
    found = TurnedRows(list(rows))
    ends = _ends(state.model, closures)
    first = 0
    for number, closure in enumerate(closures):
        places = range(first, first + closure.count)
        first = places.stop
        if not closure.cut.vector or any(k not in chosen for k in places):
            continue
        at = [chosen.index(k) for k in places]
        if at == [*range(at[0], at[0] + 3)]:
            m, R = _of_limb(state, closure, ends)
            found.rows[at[0] : at[0] + 3] = map(finished, closure.rows(state, m))
            found.turns.append((at[0], R))
            found.motions[number] = m
    return found


def _ends(model: MechanismModel, closures: Sequence[Closure]) -> dict[int, int]:
    """Number of ends of closures on each body and beyond it."""
    ends = {BASE: 2 * len(closures), **{body.index: 0 for body in model}}
    for closure in closures:
        for body in (closure.predecessor, closure.successor):
            for k in model.path(body):
                ends[k] += 1
    return ends


def _of_limb(
    state: State, closure: Closure, ends: dict[int, int]
) -> tuple[RelativeMotion, Rotation]:
    """Motion along the axes of the limb, and what turns it to those of the predecessor."""
    frame, reference = (closure.successor, closure.X_SG), (closure.predecessor, closure.X_PF)
    limb = frame if ends[frame[0]] < ends[reference[0]] else reference
    seen = _seen_from_tip(limb[1].p)
    m = motion_along(state, frame, reference, limb[0], seen)
    if limb is frame:
        return m, m.X.R.T
    return m, reference[1].R.T @ seen.R.T


def _seen_from_tip(p: Vec3) -> Placement:
    """A body as seen from a point of it, along axes one of which leads to the origin."""
    x, y, z = (c for c in p if not isinstance(c, Scalar))
    if sum(c != 0.0 for c in (x, y, z)) < 2:
        return Placement(p=-p)
    across = math.hypot(x, y)
    R = Rotation.about(2, math.atan2(y, x)) @ Rotation.about(1, math.atan2(across, z))
    return Placement(R.T, Vec3(0.0, 0.0, -math.hypot(across, z)))
