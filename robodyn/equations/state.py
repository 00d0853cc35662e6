"""A mechanism at a state: every joint evaluated once, and the motion of the base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from robodyn.equations.joints import cosine_and_sine, evaluate, placed
from robodyn.equations.linkage import JointMotion, Linkage, motions
from robodyn.equations.mechanism import Body, MechanismModel
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import BodyMotion, Placement, Twist
from robodyn.symbolic.vector import ZERO3, Vec3

__all__ = ["BaseState", "JointAtState", "State", "evaluate_joints"]


@dataclass(frozen=True, eq=False)
class JointAtState:
    """A joint of the tree at a state.

    Attributes
    ----------
    X : Placement
        ``X_PB``, body in parent.
    columns : tuple of (v index, Twist)
        Motion subspace: twist of the body relative to its parent a unit of ``v[index]``, in B.
    rates : tuple of Twist
        Rate of each column in B.
    V, c : Twist
        ``S v`` and ``dS v``.
    q, v : tuple of numbers
        Its own coordinates and speeds; no coordinate where only cosine and sine are known.
    own : tuple of Twist
        Motion subspace, a column a freedom of its own.
    ratios : tuple of (v index, freedom, Number)
        Speed of each freedom of its own a unit of ``v[index]``, one a column.
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

    def times(self, a: Sequence[Number]) -> Twist:
        """``S a``."""
        return sum((s * a[k] for k, s in self.columns), Twist())


@dataclass(frozen=True, eq=False)
class State:
    """All joints of a mechanism, by body index, and its speeds.

    Attributes
    ----------
    joints : list of JointAtState
    v : sequence of nv numbers
    dependent : dict of body index to JointMotion
        Joints that follow others by a closed loop.
    """

    joints: list[JointAtState]
    v: Sequence[Number]
    dependent: dict[int, JointMotion] = field(default_factory=dict)

    def __getitem__(self, body: int) -> JointAtState:
        return self.joints[body]


@dataclass(frozen=True, eq=False)
class BaseState:
    """Pose, twist and acceleration (derivative of the body twist) of the base; gravity.

    Attributes
    ----------
    X_WB : Placement
    V, A : Twist
        In base axes.
    g_W : Vec3
        Gravity in the world.
    """

    X_WB: Placement
    V: Twist
    A: Twist
    g_W: Vec3

    @classmethod
    def at_rest(cls, g_W: Vec3) -> BaseState:
        """The base is the world."""
        return cls(Placement(Rotation(), ZERO3), Twist(), Twist(), g_W)

    @property
    def motion(self) -> BodyMotion:
        """What the base passes on: gravity enters as an acceleration of the base against it."""
        a = self.A.v + self.V.w.cross(self.V.v) - self.X_WB.R.inverse_times(self.g_W)
        return BodyMotion(self.V.w, self.A.w, a)


def _joint(body: Body, q: Sequence[Number], v: Sequence[Number]) -> JointAtState:
    own_q = [q[k] * factor + offset for k, factor, offset in body.q]
    own_v = [v[speed.index] * speed.factor for speed in body.speeds]
    joint = evaluate(body.joint, own_q, own_v)
    V, c = Twist(), Twist()
    for s, ds, x in zip(joint.S, joint.dS, own_v, strict=True):
        V, c = V + s * x, c + ds * x
    columns = tuple(
        (speed.index, s * speed.factor) for speed, s in zip(body.speeds, joint.S, strict=True)
    )
    rates = tuple(ds * speed.factor for speed, ds in zip(body.speeds, joint.dS, strict=True))
    ratios = tuple((speed.index, n, speed.factor) for n, speed in enumerate(body.speeds))
    own = tuple(joint.S)
    return JointAtState(joint.X, columns, rates, V, c, tuple(own_q), tuple(own_v), own, ratios)


def _following(body: Body, motion: JointMotion) -> JointAtState:
    """A joint that follows others by a closed loop."""
    joint = placed(body.joint, motion.place)
    S = joint.S[0]
    return JointAtState(
        joint.X,
        tuple((k, S * x) for k, x in motion.columns.items()),
        tuple(S * x for x in motion.rates.values()),
        S * motion.v,
        S * motion.c,
        (motion.place.x,) if body.joint.kind == "prismatic" else (),
        (motion.v,),
        (S,),
        tuple((k, 0, x) for k, x in motion.columns.items()),
    )


def _leading(body: Body, q: Sequence[Number], v: Sequence[Number]) -> JointMotion:
    """Motion of a joint of a loop with a coordinate of its own, or that of a joint it mimics."""
    ((k, factor, offset),), (speed,) = body.q, body.speeds
    own = q[k] * factor + offset
    if body.joint.kind == "prismatic":
        place = Planar(own)
    else:
        place = Planar(*cosine_and_sine(own, body.joint.offset))
    return JointMotion(place, v[speed.index] * speed.factor, 0.0, {speed.index: speed.factor})


def _dependent(
    model: MechanismModel, linkage: Linkage, q: Sequence[Number], v: Sequence[Number],
    solved: dict[int, JointMotion],
) -> dict[int, JointMotion]:  # fmt: skip
    known = {}
    for i in linkage.bodies:
        if i not in linkage.dependent:
            known[i] = solved[i] if i in solved else _leading(model.bodies[i], q, v)
    return motions(linkage, known, v)


def evaluate_joints(model: MechanismModel, q: Sequence[Number], v: Sequence[Number]) -> State:
    """All joints at coordinates ``q`` (nq) and speeds ``v`` (nv; zeros where not wanted)."""
    dependent: dict[int, JointMotion] = {}
    for linkage in model.linkages:
        dependent |= _dependent(model, linkage, q, v, dependent)
    joints = [
        _following(body, dependent[body.index]) if body.index in dependent else _joint(body, q, v)
        for body in model
    ]
    return State(joints, v, dependent)
