"""Constraints of closed linkages, and the joints that follow others by loops in closed form."""

from __future__ import annotations

from robodyn.equations.closed_form.linkage import JointMotion
from robodyn.equations.loops import cut_friction
from robodyn.equations.loops.closure_rows import loop_motion
from robodyn.equations.quantities.frames import pose_rows
from robodyn.equations.quantities.tracer import Results, Tracer
from robodyn.symbolic.scalar import sqrt

__all__ = [
    "accelerations_of_following",
    "cut_joint_poses",
    "cut_joint_speeds",
    "jacobian",
    "openness",
    "places_of_following",
    "speed_map_of_following",
    "speeds_of_following",
]


def jacobian(t: Tracer) -> Results:
    """Slopes of all constraint rows over all speeds."""
    nv = range(t.model.nv)
    return {"K": [[row.jacobian.get(k, 0.0) for k in nv] for row in t.gaps]}


def openness(t: Tracer) -> Results:
    """What a state is open by."""
    above, below = t.openness
    return {"openness": sqrt(above / below)}


def cut_joint_poses(t: Tracer) -> Results:
    """Homogeneous matrix of each closure: its frame on the successor seen from the other."""
    poses = [loop_motion(t.model, t.state, c).X for c in t.setup.closures]
    return {"X": [pose_rows(X) for X in poses]}


def cut_joint_speeds(t: Tracer) -> Results:
    """Speeds of the joints that were cut, one after the other."""
    speeds = [cut_friction.cut_joint_speeds(t.model, t.state, c) for c in t.setup.closures]
    return {"speeds": speeds}


def _following(t: Tracer) -> list[JointMotion]:
    """Joints that follow by a closed loop, in order."""
    return [motion for _, motion in sorted(t.state.dependent.items())]


def places_of_following(t: Tracer) -> Results:
    """Cosine and sine, or displacement and zero, along each axis of a joint that follows."""
    return {"places": [(x.x, x.y) for motion in _following(t) for x in motion.places]}


def speeds_of_following(t: Tracer) -> Results:
    """Speeds along each axis of the joints that follow."""
    return {"speeds": [motion.v for motion in _following(t)]}


def speed_map_of_following(t: Tracer) -> Results:
    """Speeds that follow a unit of each independent one."""
    rows = [
        [motion.columns[k][n] if k in motion.columns else 0.0 for k in range(t.model.nv)]
        for motion in _following(t)
        for n in range(len(motion.v))
    ]
    return {"B": rows}


def accelerations_of_following(t: Tracer) -> Results:
    """Accelerations along each axis of the joints that follow."""
    values = [
        sum((column[n] * t.a[k] for k, column in motion.columns.items()), c)
        for motion in _following(t)
        for n, c in enumerate(motion.c)
    ]
    return {"accelerations": values}
