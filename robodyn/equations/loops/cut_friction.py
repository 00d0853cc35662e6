"""Damping and dry friction of joints that were cut, as wrenches on the two bodies [W 5.213]."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.loops.closure_rows import Closure, loop_motion
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.factorization import factorize, solve
from robodyn.equations.tree.passive import resistance
from robodyn.equations.tree.reactions import along_axes
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Twist, Wrench
from robodyn.symbolic.vector import EX, EY, EZ, Vec3

__all__ = ["friction_in_joint", "friction_wrenches"]


def _axes(closure: Closure, z_F: Vec3) -> list[Twist]:
    """Freedoms of the joint, in G; ``z_F`` is the first axis of a universal joint there."""
    turns = [Twist(w=e) for e in (EX, EY, EZ)]
    return {
        "revolute": turns[2:],
        "continuous": turns[2:],
        "prismatic": [Twist(v=EZ)],
        "helical": [Twist(EZ * closure.pitch, EZ)],
        "cylindrical": [Twist(v=EZ), turns[2]],
        "universal": [Twist(w=z_F), Twist(w=closure.axis2)],
        "planar": [Twist(v=EX), Twist(v=EY), turns[2]],
        "spherical": turns,
    }.get(closure.kind, [])


def friction_in_joint(
    model: MechanismModel, state: State, closure: Closure, friction_speed: float
) -> Wrench:
    """What friction exerts on the successor, about the origin of G in its axes."""
    if not (closure.damping or closure.friction):
        return Wrench()
    motion = loop_motion(model, state, closure)
    R = motion.X.R
    axes = _axes(closure, R.inverse_times(EZ))
    if not axes:
        return Wrench()
    gram = [[a.v.dot(b.v) + a.w.dot(b.w) for b in axes] for a in axes]
    v, w = R.inverse_times(motion.v), R.inverse_times(motion.w)
    along = [a.v.dot(v) + a.w.dot(w) for a in axes]
    forces: list[Number] = [
        resistance(x, closure.damping, closure.friction, friction_speed)
        for x in solve(factorize(gram), along)
    ]
    return along_axes(axes, forces)


def friction_wrenches(
    model: MechanismModel, state: State, closures: Sequence[Closure], friction_speed: float
) -> dict[int, Wrench]:
    """Wrenches on the bodies, about their origins in their axes."""
    total: dict[int, Wrench] = {}
    for closure in closures:
        in_G = friction_in_joint(model, state, closure, friction_speed)
        in_F = loop_motion(model, state, closure).X.wrench_out(in_G)
        for body, F in (
            (closure.successor, closure.X_SG.wrench_out(in_G)),
            (closure.predecessor, -closure.X_PF.wrench_out(in_F)),
        ):
            total[body] = total[body] + F if body in total else F
    return total
