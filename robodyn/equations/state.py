"""A mechanism at a state: every joint evaluated once, and the motion of the base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn.equations.joints import evaluate
from robodyn.equations.mechanism import Body, MechanismModel
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
        Its own coordinates and speeds.
    """

    X: Placement
    columns: tuple[tuple[int, Twist], ...]
    rates: tuple[Twist, ...]
    V: Twist
    c: Twist
    q: tuple[Number, ...]
    v: tuple[Number, ...]

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
    """

    joints: list[JointAtState]
    v: Sequence[Number]

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
    return JointAtState(joint.X, columns, rates, V, c, tuple(own_q), tuple(own_v))


def evaluate_joints(model: MechanismModel, q: Sequence[Number], v: Sequence[Number]) -> State:
    """All joints at coordinates ``q`` (nq) and speeds ``v`` (nv; zeros where not wanted)."""
    return State([_joint(body, q, v) for body in model], v)
