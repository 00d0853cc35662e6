"""Wrenches in joints and torques of motors at a state, which are drawn as arrows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.description.stick_figure import JointMark
from robodyn.robot import Robot
from robodyn.view.drawing.scene import marks_of


@dataclass(frozen=True, eq=False)
class Forces:
    """Wrenches and torques in the joints, in world axes.

    Attributes
    ----------
    names : tuple of str
        Joints; ``"base"`` last.
    points : ndarray, shape (n, 3) [m]
        Where each wrench acts.
    force, moment : ndarray, shape (n, 3) [N], [N m]
        Of the parent on the child, about that point.
    motor_names : tuple of str
        Joints with one degree of freedom that have a generalised force.
    motor_points, motor_axes : ndarray, shape (m, 3) [m], [1]
    torque : ndarray, shape (m,) [N m, N]
    sliding : ndarray of bool, shape (m,)
        Which of them are forces [N], at prismatic joints.
    """

    names: tuple[str, ...]
    points: FloatArray
    force: FloatArray
    moment: FloatArray
    motor_names: tuple[str, ...]
    motor_points: FloatArray
    motor_axes: FloatArray
    torque: FloatArray
    sliding: Array


def forces(
    robot: Robot,
    places: Mapping[str, FloatArray],
    q: FloatArray,
    v: FloatArray | None = None,
    a: FloatArray | None = None,
    tau: FloatArray | None = None,
) -> Forces:
    """Wrenches in all joints, and torques along their axes.

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
    wrenches = robot.joint_wrenches(q, v, a)
    about_world = wrenches.in_frame("world")
    names = tuple(name for name in wrenches if name in marks or name == "base")
    points = np.array([_point(robot, places, marks.get(name)) for name in names])
    values = np.array([about_world[name] for name in names])
    force, moment = values[:, :3], values[:, 3:]
    driven = [
        name
        for name in robot.joint_names
        if name in marks and marks[name].axis is not None and _coordinates_of(robot, name) == 1
    ]
    frames = [places[marks[n].predecessor] @ marks[n].X_predecessor for n in driven]
    return Forces(
        names,
        points,
        force,
        moment - np.cross(points, force),
        tuple(driven),
        np.array([X[:3, 3] for X in frames]).reshape(-1, 3),
        np.array(
            [X[:3, :3] @ np.array(marks[n].axis) for X, n in zip(frames, driven, strict=True)]
        ).reshape(-1, 3),
        np.array([tau[robot.joints[n].v.start] for n in driven]),
        np.array([robot.joints[n].kind.unit(0) == "m" for n in driven], bool),
    )


def _point(robot: Robot, places: Mapping[str, FloatArray], mark: JointMark | None) -> FloatArray:
    """Point at which the wrench of a joint (``None``: the base) acts."""
    if mark is None:
        carried = {joint.child for joint in robot.mechanism.joints}
        root = next((name for name in robot.link_names if name not in carried), None)
        return places[root or robot.link_names[0]][:3, 3]
    return (places[mark.successor] @ mark.X_successor)[:3, 3]


def _coordinates_of(robot: Robot, name: str) -> int:
    part = robot.joints[name].v
    return int(part.stop - part.start)
