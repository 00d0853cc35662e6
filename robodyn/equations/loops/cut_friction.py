"""Speeds of joints that were cut, and wrenches along their freedoms, as of friction [W 5.213]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from robodyn.equations.forces.drives import Sliding
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.state import State
from robodyn.equations.tree.composite_body import factorize, solve
from robodyn.equations.tree.reactions import along_axes
from robodyn.force_elements.joint_friction import resistance
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Twist, Wrench


def friction_in_joint(
    state: State, closure: Closure, friction_speed: Number | None, sliding: Sliding | None = None
) -> Wrench:
    """Wrench of friction on the successor, about the origin of G in its axes."""
    if not (closure.damping or closure.friction):
        return Wrench()
    axes, speeds = _along(state, closure)
    forces: list[Number] = [
        resistance(x, closure.damping, closure.friction, friction_speed) for x in speeds
    ]
    if sliding is not None:
        name = closure.name
        forces = [f + sliding.force((name, k), speeds[k]) for k, f in enumerate(forces)]
    return along_axes(axes, forces) if axes else Wrench()


def cut_joint_speeds(state: State, closure: Closure) -> list[Number]:
    """Speed along each freedom of the joint; the nearest ones where the loop does not close."""
    return _along(state, closure)[1]


def _along(state: State, closure: Closure) -> tuple[list[Twist], list[Number]]:
    """Motion subspace of the joint in G, and the speeds along it that G has, seen from F."""
    motion = closure.motion(state)
    axes = closure.cut.axes(motion.X, closure.geometry)
    if not axes:
        return [], []
    R = motion.X.R
    gram = [[a.v.dot(b.v) + a.w.dot(b.w) for b in axes] for a in axes]
    v, w = R.inverse_times(motion.v), R.inverse_times(motion.w)
    return axes, solve(factorize(gram), [a.v.dot(v) + a.w.dot(w) for a in axes])


class Pushed(NamedTuple):
    """A unit of force along one freedom of a joint that was cut.

    joint: On the successor, about the origin of the user's frame there, in its axes.
    successor, predecessor: On the bodies, about their origins in their axes.
    forces: Generalised; also what the speed of the joint along this freedom is of all speeds.
    """

    joint: Wrench
    successor: Wrench
    predecessor: Wrench
    forces: list[Number]


def cut_joint_pushes(state: State, closure: Closure) -> list[Pushed]:
    """A unit of force along each freedom of a joint that was cut."""
    motion = closure.motion(state)
    axes = closure.cut.axes(motion.X, closure.geometry)
    found = []
    for k in range(len(axes)):
        in_G = along_axes(axes, [1.0 if i == k else 0.0 for i in range(len(axes))])
        in_F = motion.X.wrench_out(in_G)
        f, n = (motion.X.R * x for x in (in_G.f, in_G.n))
        forces: list[Number] = [0.0] * state.model.nv
        for i, (v, w) in motion.columns.items():
            if i >= 0:
                forces[i] = f.dot(v) + n.dot(w)
        on_bodies = closure.X_SG.wrench_out(in_G), -closure.X_PF.wrench_out(in_F)
        found.append(Pushed(closure.X_UG.wrench_out(in_G), *on_bodies, forces))
    return found


def friction_wrenches(
    state: State,
    closures: Sequence[Closure],
    friction_speed: Number | None,
    sliding: Sliding | None = None,
) -> Iterator[tuple[int, Wrench]]:
    """Wrenches on bodies, about their origins in their axes."""
    for closure in closures:
        in_G = friction_in_joint(state, closure, friction_speed, sliding)
        in_F = closure.motion(state).X.wrench_out(in_G)
        yield closure.successor, closure.X_SG.wrench_out(in_G)
        yield closure.predecessor, -closure.X_PF.wrench_out(in_F)
