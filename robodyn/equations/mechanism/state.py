"""A mechanism at a state: every joint evaluated once, and the motion of the base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from robodyn.equations.closed_form.linkage import JointMotion, Linkage, motions
from robodyn.equations.mechanism.bodies import Body, MechanismModel
from robodyn.joints.common.evaluate import evaluate, places_of
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import BodyMotion, Placement, RigidInertia, Twist, Wrench
from robodyn.symbolic.vector import ZERO3, Rotation, Vec3


@dataclass(frozen=True, eq=False)
class JointAtState:
    """A joint of the tree at a state.

    X: ``X_PB``, body in parent.
    columns: Motion subspace: twist of the body relative to its parent a unit of ``v[index]``, in B.
    rates: Rate of each column in B.
    V, c: ``S v`` and ``dS v``, with what time adds to them.
    q, v: Its own coordinates and speeds; no coordinate where only cosine and sine are known.
    own: Motion subspace, a column a freedom of its own.
    ratios: Speed of each freedom of its own a unit of ``v[index]``.
    ratio_rates: Rate of each of these.
    own_c: Acceleration of each freedom of its own when those of ``v`` are zero.
    drift: What `V` is when all speeds are zero, of a joint that depends on time.
    orientation: Of the body in the axes of the joint's frame, where its speeds are the twist of the
        body.
    """

    X: Placement
    columns: tuple[tuple[int, Twist], ...]
    rates: tuple[Twist, ...]
    V: Twist
    c: Twist
    q: tuple[Number, ...]
    v: tuple[Number, ...]
    own: tuple[Twist, ...]
    ratios: tuple[tuple[int, int, Number], ...]
    ratio_rates: tuple[Number, ...]
    own_c: tuple[Number, ...]
    drift: Twist | None = None
    orientation: Rotation | None = None

    def times(self, a: Sequence[Number]) -> Twist:
        """``S a``."""
        own: list[Number] = [0.0] * len(self.own)
        for k, n, ratio in self.ratios:
            own[n] = own[n] + ratio * a[k]
        return sum((s * x for s, x in zip(self.own, own, strict=True)), Twist())

    def forces(self, F: Wrench) -> list[tuple[int, Number]]:
        """Forces of a wrench on the body along each speed, by index; an index may come twice."""
        own = [s.dot(F) for s in self.own]
        return [(k, own[n] * ratio) for k, n, ratio in self.ratios]

    def acceleration(self, a: Sequence[Number]) -> list[Number]:
        """Acceleration of each of its own freedoms."""
        total = list(self.own_c)
        for k, n, ratio in self.ratios:
            total[n] = total[n] + ratio * a[k]
        return total

    def turned(self, v: Sequence[Number]) -> list[Number]:
        """What turning adds to accelerations along axes that turn with the body: ``w x v``."""
        if self.orientation is None:
            return [0.0] * len(self.v)
        return [*Vec3(*self.v[3:]).cross(Vec3(*v[:3])), 0.0, 0.0, 0.0]


@dataclass(frozen=True, eq=False)
class State:
    """A mechanism at a state: all of its joints, by body index, and its base.

    dependent: Joints that follow others by a closed loop or a function, by body index.
    t [s]: Time, where anything depends on it.
    kept: What was found of it, for others that need it.
    """

    model: MechanismModel
    joints: list[JointAtState]
    q: Sequence[Number]
    v: Sequence[Number]
    base: BaseState
    dependent: dict[int, JointMotion]
    t: Number
    kept: dict[object, Any] = field(default_factory=dict)

    def __getitem__(self, body: int) -> JointAtState:
        return self.joints[body]


@dataclass(frozen=True, eq=False)
class BaseState:
    """Pose, twist and acceleration (derivative of the body twist) of the base; gravity.

    V, A: In base axes.
    g_W: Gravity in the world.
    inertia: Of a base that moves.
    """

    X_WB: Placement
    V: Twist
    A: Twist
    g_W: Vec3
    inertia: RigidInertia | None = None

    @classmethod
    def at_rest(cls, g_W: Vec3 = ZERO3, inertia: RigidInertia | None = None) -> BaseState:
        """The base is the world."""
        return cls(Placement(Rotation(), ZERO3), Twist(), Twist(), g_W, inertia)

    @property
    def motion(self) -> BodyMotion:
        """Motion of the base for the bodies: gravity is an acceleration of the base against it."""
        a = self.A.v + self.V.w.cross(self.V.v) - self.X_WB.R.inverse_times(self.g_W)
        return BodyMotion(self.V.w, self.A.w, a)


def _joint(body: Body, q: Sequence[Number], v: Sequence[Number], t: Number) -> JointAtState:
    own_q = [q[k] * factor + offset for k, factor, offset in body.q]
    own_v = [v[speed.index] * speed.factor for speed in body.speeds]
    joint = evaluate(body.joint, own_q, own_v, t)
    drift = joint.drift
    V, c = (drift.V, drift.rate) if drift else (Twist(), Twist())
    for s, ds, x in zip(joint.S, joint.dS, own_v, strict=True):
        V, c = V + s * x, c + ds * x
    columns = tuple(
        (speed.index, s * speed.factor) for speed, s in zip(body.speeds, joint.S, strict=True)
    )
    rates = tuple(ds * speed.factor for speed, ds in zip(body.speeds, joint.dS, strict=True))
    ratios = tuple((speed.index, n, speed.factor) for n, speed in enumerate(body.speeds))
    still = (0.0,) * len(ratios)
    orientation = body.joint.kind.orientation
    return JointAtState(
        joint.X,
        columns,
        rates,
        V,
        c,
        tuple(own_q),
        tuple(own_v),
        tuple(joint.S),
        ratios,
        still,
        still,
        drift.V if drift else None,
        orientation(own_q) if orientation else None,
    )


def _following(body: Body, motion: JointMotion) -> JointAtState:
    """A joint that follows others, by a closed loop or a function."""
    S, dS = motion.joint.S, motion.joint.dS

    def twist(speeds: Sequence[Number]) -> Twist:
        return sum((s * x for s, x in zip(S, speeds, strict=True)), Twist())

    def turned(speeds: Sequence[Number]) -> Twist:
        return sum((ds * x for ds, x in zip(dS, speeds, strict=True)), Twist())

    return JointAtState(
        motion.joint.X,
        tuple((k, twist(column)) for k, column in motion.columns.items()),
        tuple(twist(motion.rates[k]) + turned(column) for k, column in motion.columns.items()),
        twist(motion.v),
        twist(motion.c) + turned(motion.v),
        motion.q,
        motion.v,
        tuple(S),
        tuple((k, n, x) for k, column in motion.columns.items() for n, x in enumerate(column)),
        tuple(x for k in motion.columns for x in motion.rates[k]),
        motion.c,
        twist(motion.drift) if motion.drift else None,
    )


def _leading(body: Body, q: Sequence[Number], v: Sequence[Number], t: Number) -> JointMotion:
    """Motion of a joint of a loop with coordinates of its own, or that of a joint it mimics."""
    own_q = [q[k] * factor + offset for k, factor, offset in body.q]
    own_v = tuple(v[speed.index] * speed.factor for speed in body.speeds)
    columns: dict[int, tuple[Number, ...]] = {
        speed.index: tuple(speed.factor if m == n else 0.0 for m in range(len(body.speeds)))
        for n, speed in enumerate(body.speeds)
    }
    return JointMotion(
        places_of(body.joint, own_q),
        evaluate(body.joint, own_q, own_v, t),
        own_v,
        (0.0,) * len(own_v),
        columns,
        q=tuple(own_q),
    )


def _dependent(
    model: MechanismModel, linkage: Linkage, q: Sequence[Number], v: Sequence[Number], t: Number,
    solved: dict[int, JointMotion],
) -> dict[int, JointMotion]:  # fmt: skip
    known = {}
    for i in linkage.bodies:
        if i not in linkage.dependent:
            known[i] = solved[i] if i in solved else _leading(model.bodies[i], q, v, t)
    return motions(linkage, known, v, {i: model.bodies[i].joint for i in linkage.dependent})


def evaluate_joints(
    model: MechanismModel,
    q: Sequence[Number],
    v: Sequence[Number],
    t: Number = 0.0,
    base: BaseState | None = None,
) -> State:
    """All joints at coordinates ``q`` (nq) and speeds ``v`` (nv; zeros where not wanted).

    t [s]: Of mechanisms that depend on it.
    base, optional: Default: at rest, without gravity.
    """
    dependent: dict[int, JointMotion] = {}
    for linkage in (*model.followers, *model.linkages):
        dependent |= _dependent(model, linkage, q, v, t, dependent)
    joints = [
        _following(body, dependent[body.index])
        if body.index in dependent
        else _joint(body, q, v, t)
        for body in model
    ]
    return State(model, joints, q, v, base or BaseState.at_rest(), dependent, t)
