"""A recorded motion: a trajectory as `Trajectory.save` writes it, or a bag of joint states."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import MissingExtraError, RobodynError, ShapeError
from robodyn.robot import Robot
from robodyn.simulation.trajectory import Trajectory

__all__ = ["read_motion"]

Array = NDArray[np.float64]


def read_motion(path: str | os.PathLike[str], robot: Robot) -> Trajectory:
    """Samples of one motion of a robot.

    Parameters
    ----------
    path : path
        ``.npz``, ``.csv``, or a bag (``.mcap``, ``.db3``, a folder; extra ``bag``).
    robot : Robot

    Raises
    ------
    ShapeError
        If the file holds something else, or the motion of another robot.
    MissingExtraError
    """
    source = Path(path)
    if source.suffix == ".npz":
        motion = _read_npz(source)
    elif source.suffix == ".csv":
        motion = _read_csv(source)
    elif source.is_dir() or source.suffix in (".mcap", ".db3", ".bag"):
        motion = _read_bag(source, robot)
    else:
        raise ShapeError(
            f"cannot read a motion from {source.name!r}: expected .npz, .csv or a bag",
            name="path",
            given=source.suffix,
        )
    n = len(motion.t)
    expected = {"t": (n,), "q": (n, robot.nq), **dict.fromkeys(("v", "a", "tau"), (n, robot.nv))}
    for name, shape in expected.items():
        values = getattr(motion, name)
        if values.shape != shape or not n or not np.isfinite(values).all():
            raise ShapeError(
                f"{source.name}: {name} has shape {values.shape}; one motion of {robot.name!r} "
                f"needs {shape}, all of it finite",
                name=name,
                given=values.shape,
                expected=shape,
            )
    if (np.diff(motion.t) < 0.0).any():
        raise ShapeError(f"{source.name}: time runs backwards", name="t")
    return motion


def _read_npz(source: Path) -> Trajectory:
    try:
        with np.load(source, allow_pickle=False) as held:
            fields: dict[str, Any] = {
                name: np.asarray(held[name], float)
                for name in ("t", "q", "v", "a", "tau", "energy", "loop_residual")
            }
            fields["joint_names"] = tuple(str(name) for name in held["joint_names"])
    except (KeyError, ValueError) as error:
        raise ShapeError(f"{source.name} is not a trajectory: {error}", name="path") from error
    return Trajectory(**fields)


def _read_csv(source: Path) -> Trajectory:
    with source.open(newline="") as file:
        rows = list(csv.reader(file))
    try:
        table = np.array(rows[1:], float).reshape(len(rows) - 1, -1)
        heads = dict(zip(rows[0], table.T, strict=True))
        t, energy, residual = heads["t"], heads["energy"], heads["loop_residual"]
    except (IndexError, KeyError, ValueError) as error:
        raise ShapeError(f"{source.name} is not a trajectory: {error}", name="path") from error

    def columns(letter: str) -> Array:
        numbered = [name for name in heads if name.removeprefix(letter).isdecimal()]
        return np.array([heads[name] for name in numbered]).reshape(-1, len(t)).T

    q, v, a, tau = (columns(letter) for letter in ("q", "v", "a", "tau"))
    return Trajectory(t, q, v, a, tau, energy, residual)


def _read_bag(source: Path, robot: Robot) -> Trajectory:
    """All ``sensor_msgs/JointState`` of a bag; joints that it lacks stay where they are."""
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtraError("rosbags", "bag", "reading a bag") from None
    times, states = [], []
    try:
        store = get_typestore(Stores.ROS2_JAZZY)
        with AnyReader([source], default_typestore=store) as reader:
            wanted = [c for c in reader.connections if c.msgtype.endswith("/JointState")]
            for connection, time, data in reader.messages(wanted) if wanted else ():
                times.append(1e-9 * time)
                states.append(_joint_state(robot, reader.deserialize(data, connection.msgtype)))
    except AnyReaderError as error:
        raise RobodynError(f"{source.name}: {error}") from error
    if not states:
        raise ShapeError(f"{source.name} holds no joint states of {robot.name!r}", name="path")
    q, v, tau = (np.array(part) for part in zip(*states, strict=True))
    t = np.array(times) - times[0]
    zero = np.zeros(len(t))
    a = np.gradient(v, t, axis=0) if len(t) > 1 and (np.diff(t) > 0.0).all() else np.zeros_like(v)
    return Trajectory(t, q, v, a, tau, zero, zero, robot.joint_names)


def _joint_state(robot: Robot, message: Any) -> tuple[Array, Array, Array]:
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    for k, name in enumerate(message.name):
        if name not in robot.joint_names:
            continue
        joint = robot.joints[name]
        if joint.q.stop - joint.q.start != 1:
            continue
        for target, part, values in (
            (q, joint.q, message.position), (v, joint.v, message.velocity),
            (tau, joint.v, message.effort),
        ):  # fmt: skip
            if k < len(values):
                target[part] = values[k]
    return q, v, tau
