"""The motion of one joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import UnknownNameError
from robodyn.model.joint_info import JointInfo, followed, part_names, part_of
from robodyn.robot import Robot
from robodyn.simulation.trajectory.states.samples import Samples

#: Largest change of the state in finite differences for accelerations of cut joints [rad, m].
NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Position, speed, acceleration and force of one joint, or of one axis of it.

    Attributes
    ----------
    name : str
    t : ndarray, shape (n,) [s]
    q : ndarray, shape (n, ...) or (n, ..., nq) [rad, m]
        Coordinates of its kind; ``None`` for an axis without a coordinate, such as that of a
        spherical joint.
    v, a : ndarray, shape (n, ...) or (n, ..., nv) [rad/s, m/s], [rad/s^2, m/s^2]
    tau : ndarray, shape (n, ...) or (n, ..., nv) [N m, N]
        Applied force; zero in a joint that is cut or follows another one.

    Examples
    --------
    >>> import robodyn as rd
    >>> run = rd.simulate(rd.load("double_pendulum"), q0=[0.5, 0.0], duration=0.1)
    >>> elbow = run["elbow"]
    >>> elbow.name, elbow.q.shape
    ('elbow', (101,))
    """

    name: str
    t: FloatArray
    q: FloatArray | None
    v: FloatArray
    a: FloatArray
    tau: FloatArray

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, index: Any) -> JointMotion:
        q = None if self.q is None else self.q[index]
        rest = (x[index] for x in (self.v, self.a, self.tau))
        return JointMotion(self.name, self.t[index], q, *rest)

    def __repr__(self) -> str:
        count = f"{len(self)} samples" if self.t.ndim else f"at {self.t:g} s"
        return f"<JointMotion {self.name!r}: {count}, v of shape {self.v.shape}>"


def joint_column(names: tuple[str, ...], name: str, columns: tuple[FloatArray, ...]) -> JointMotion:
    """The motion of a joint of an unknown robot, by the names of the speeds."""
    if name not in names:
        raise UnknownNameError("joint", name, names)
    t, q, *speeds = columns
    k = names.index(name)
    place = q[..., k] if q.shape[-1] == len(names) else None
    return JointMotion(name, t, place, *(x[..., k] for x in speeds))


def joint_motion(samples: Samples, name: str) -> JointMotion:
    """The motion of a joint by its name, ``"joint[k]"`` for one axis of it."""
    joints = samples.robot.joints
    if axis := part_of(name, joints):
        return _axis(samples, axis[0], name, axis[1])
    joint = joints[name]
    if joint.v.stop > joint.v.start:
        columns = (samples.q[..., joint.q], *(x[..., joint.v] for x in _speeds(samples)))
        return JointMotion(name, samples.t, *(_alone(x) for x in columns))
    return _without_coordinates(samples, joint)


def _axis(samples: Samples, joint: JointInfo, name: str, k: int) -> JointMotion:
    """One axis of a joint."""
    whole = joint_motion(samples, joint.name)
    width = joint.kind.nv
    if k >= width or width == 1:
        known = part_names(joint.name, width, samples.robot.joints)
        raise UnknownNameError("axis", name, known, repr(samples.robot.name))
    place = joint.kind.coordinates.integral(k)
    q = None if place is None or whole.q is None else whole.q[..., place]
    return JointMotion(name, samples.t, q, *(x[..., k] for x in (whole.v, whole.a, whole.tau)))


def _speeds(samples: Samples) -> tuple[FloatArray, FloatArray, FloatArray]:
    return samples.v, samples.a, samples.tau


def _alone(x: FloatArray) -> FloatArray:
    """The array without its last axis, if that has one element."""
    return x[..., 0] if x.shape[-1] == 1 else x


def _without_coordinates(samples: Samples, joint: JointInfo) -> JointMotion:
    """The motion of a joint without coordinates, which is cut or follows others."""
    robot, name = samples.robot, joint.name
    positions = robot.at(samples.time).joint_positions(samples.q)
    if name not in positions:
        moving = [joint for joint in robot.joints if joint in positions]
        raise UnknownNameError("moving joint", name, moving, repr(robot.name))

    def speed(robot: Robot, q: FloatArray, v: FloatArray, t: FloatArray) -> FloatArray:
        return np.asarray(robot.at(t).joint_velocities(q, v)[name])

    v = speed(robot, samples.q, samples.v, samples.time)
    q = followed(positions[name], joint)
    return JointMotion(name, samples.t, q, v, _rate(samples, speed), np.zeros_like(v))


def _rate(samples: Samples, speed: Callable[..., FloatArray]) -> FloatArray:
    """Rate of a speed along the motion by a central difference of fourth order, to about 1e-9."""
    robot, q, v, a, time = samples.robot, samples.q, samples.v, samples.a, samples.time
    fastest = max(1.0, np.abs(v).max(initial=0.0), np.sqrt(np.abs(a).max(initial=0.0)))
    h = NEAR / float(fastest)

    def along(s: float) -> FloatArray:
        moved = robot.integrate(q, s * v)
        return speed(robot, moved, v + s * a, time + s)

    near, far = along(h) - along(-h), along(2.0 * h) - along(-2.0 * h)
    return np.asarray((8.0 * near - far) / (12.0 * h))
