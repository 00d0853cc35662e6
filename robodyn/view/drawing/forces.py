"""Wrenches in joints and torques of motors at a state, which are drawn as arrows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.literals import ArrowKind
from robodyn.robot import Robot
from robodyn.view.drawing.scene import marks_of


@dataclass(frozen=True, eq=False)
class Load:
    """A force or moment of the parent on the child of a joint, or a torque of a motor.

    joint: Its name, or ``"base"``.
    point (3,) [m]: Where a force acts, and about which moments are taken, in the world.
    vector (3,): In world axes.
    unit: ``"N"`` or ``"N m"``; torques of motors at prismatic joints are forces.
    """

    kind: ArrowKind
    joint: str
    point: FloatArray
    vector: FloatArray
    unit: str


def forces(
    robot: Robot,
    places: Mapping[str, FloatArray],
    q: FloatArray,
    v: FloatArray | None = None,
    a: FloatArray | None = None,
    tau: FloatArray | None = None,
) -> list[Load]:
    """Wrenches in all joints, and torques along the axes of those with one degree of freedom.

    Raises `ActuationError` or `SingularError` if the motors cannot hold this state.

    places (4, 4) [1, m]: Poses of the links at q.
    q (nq,)
    v, a (nv,), optional: Default: at rest.
    tau (nv,), optional [N m, N]: Default, and where it is NaN: the forces that the motion needs.
        Speeds that are NaN count as zero.
    """
    v = np.zeros(robot.nv) if v is None else np.nan_to_num(v)
    a = np.zeros(robot.nv) if a is None else np.nan_to_num(a)
    if tau is None or not np.isfinite(tau).all():
        tau = robot.inverse_dynamics(q, v, a)
    marks = {mark.name: mark for mark in marks_of(robot)}
    points = {name: (places[x.successor] @ x.X_successor)[:3, 3] for name, x in marks.items()}
    carried = {joint.child for joint in robot.mechanism.joints}
    root = next((name for name in robot.link_names if name not in carried), robot.link_names[0])
    points["base"] = places[root][:3, 3]
    found: list[Load] = []
    for name, wrench in robot.joint_wrenches(q, v, a).in_frame("world").items():
        if name in points:
            point, force, moment = points[name], wrench[:3], wrench[3:]
            found.append(Load("forces", name, point, force, "N"))
            found.append(Load("moments", name, point, moment - np.cross(point, force), "N m"))
    for name in robot.joint_names:
        joint, mark = robot.joints[name], marks.get(name)
        if mark is not None and mark.axis is not None and len(range(robot.nv)[joint.v]) == 1:
            X = places[mark.predecessor] @ mark.X_predecessor
            torque = X[:3, :3] @ np.array(mark.axis) * tau[joint.v.start]
            unit = "N" if joint.kind.unit(0) == "m" else "N m"
            found.append(Load("torques", name, X[:3, 3], torque, unit))
    return found
