"""Speeds of joints that were cut, and their damping and dry friction as wrenches [W 5.213]."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.loops.closure_rows import Closure, loop_motion
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.factorization import factorize, solve
from robodyn.equations.tree.reactions import along_axes
from robodyn.force_elements.joint_friction import resistance
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Twist, Wrench

__all__ = ["cut_joint_speeds", "friction_in_joint", "friction_wrenches"]


def friction_in_joint(
    model: MechanismModel, state: State, closure: Closure, friction_speed: float
) -> Wrench:
    """What friction exerts on the successor, about the origin of G in its axes."""
    if not (closure.damping or closure.friction):
        return Wrench()
    axes, speeds = _along(model, state, closure)
    forces: list[Number] = [
        resistance(x, closure.damping, closure.friction, friction_speed) for x in speeds
    ]
    return along_axes(axes, forces) if axes else Wrench()


def cut_joint_speeds(model: MechanismModel, state: State, closure: Closure) -> list[Number]:
    """Speed along each freedom of the joint; the nearest ones where the loop does not close."""
    return _along(model, state, closure)[1]


def _along(
    model: MechanismModel, state: State, closure: Closure
) -> tuple[list[Twist], list[Number]]:
    """Motion subspace of the joint in G, and the speeds along it that G has, seen from F."""
    motion = loop_motion(model, state, closure)
    axes = closure.cut.axes(motion.X, closure.geometry)
    if not axes:
        return [], []
    R = motion.X.R
    gram = [[a.v.dot(b.v) + a.w.dot(b.w) for b in axes] for a in axes]
    v, w = R.inverse_times(motion.v), R.inverse_times(motion.w)
    return axes, solve(factorize(gram), [a.v.dot(v) + a.w.dot(w) for a in axes])


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
