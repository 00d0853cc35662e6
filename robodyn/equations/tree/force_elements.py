"""Springs and dampers between points of two bodies, as wrenches on them [Sayers 12, 13]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.state import BaseState, State
from robodyn.equations.tree.kinematics import placements, twists
from robodyn.symbolic.scalar import Number, sqrt
from robodyn.symbolic.spatial import Placement, Twist, Wrench
from robodyn.symbolic.vector import Vec3

__all__ = ["GROUND", "Spring", "energy", "generalised", "wrenches"]

#: Body index of the world, which is not the base of a robot whose base moves.
GROUND = -2


@dataclass(frozen=True)
class Spring:
    """A spring and damper between two points.

    Attributes
    ----------
    bodies : (int, int)
        Body indices; `GROUND` for the world.
    points : (Vec3, Vec3)
        In the bodies' frames.
    stiffness, rest_length, damping : float
    """

    bodies: tuple[int, int]
    points: tuple[Vec3, Vec3]
    stiffness: float
    rest_length: float
    damping: float


def _stretched(spring: Spring, X: Mapping[int, Placement]) -> tuple[Vec3, Number]:
    """Vector from the first point to the second, in world axes, and its length."""
    ends = [X[i].R * p + X[i].p for i, p in zip(spring.bodies, spring.points, strict=True)]
    d = ends[1] - ends[0]
    return d, sqrt(d.dot(d))


def wrenches(
    model: MechanismModel, state: State, base: BaseState, springs: Sequence[Spring]
) -> dict[int, Wrench]:
    """What the springs exert on each body, about its origin in its axes."""
    if not springs:
        return {}
    X = {**placements(model, state, base), GROUND: Placement()}
    V = {**twists(model, state, base), GROUND: Twist()}
    total: dict[int, Wrench] = {}
    for spring in springs:
        d, length = _stretched(spring, X)
        if isinstance(length, float | int) and length == 0.0:
            continue  # between points that never part, it has no direction and does no work
        pull: Number = spring.stiffness
        if spring.rest_length:
            pull = spring.stiffness - spring.stiffness * spring.rest_length / length
        if spring.damping:
            speeds = [
                X[i].R * (V[i].v + V[i].w.cross(p))
                for i, p in zip(spring.bodies, spring.points, strict=True)
            ]
            pull = pull + spring.damping * d.dot(speeds[1] - speeds[0]) / (length * length)
        for i, p, force in zip(spring.bodies, spring.points, (d * pull, d * -pull), strict=True):
            if i != GROUND:
                f = X[i].R.inverse_times(force)
                total[i] = total.get(i, Wrench()) + Wrench(f, p.cross(f))
    return total


def generalised(model: MechanismModel, state: State, loads: Mapping[int, Wrench]) -> list[Number]:
    """Generalised forces of wrenches on bodies: ``J^T F``, summed from the leaves."""
    tau: list[Number] = [0.0] * model.nv
    F = dict(loads)
    for body in reversed(model):
        if body.index not in F:
            continue
        joint, force = state[body.index], F[body.index]
        for k, s in joint.columns:
            tau[k] += s.dot(force)
        if body.parent != BASE:
            F[body.parent] = F.get(body.parent, Wrench()) + joint.X.wrench_out(force)
    return tau


def energy(
    model: MechanismModel, state: State, base: BaseState, springs: Sequence[Spring]
) -> Number:
    """Potential energy of the springs."""
    total: Number = 0.0
    X = {**placements(model, state, base), GROUND: Placement()} if springs else {}
    for spring in springs:
        _, length = _stretched(spring, X)
        stretch = length - spring.rest_length
        total = total + stretch * stretch * (0.5 * spring.stiffness)
    return total
