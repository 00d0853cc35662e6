"""Reading the motion of a robot from a bag of ROS 2 (extra ``bag``), without ROS installed."""

from __future__ import annotations

import os
from typing import Any

from robodyn.array_types import FloatArray
from robodyn.bags.columns import Columns
from robodyn.bags.files import open_bag
from robodyn.bags.messages import JOINT_STATE, MULTI_DOF, NUMBERS, TEXT
from robodyn.bags.samples import BagSamples, completed
from robodyn.errors import BagError
from robodyn.files import as_path
from robodyn.robot import Robot


def read_motion(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    topic: str = "/joint_states",
    ignore_unknown: bool = False,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Read the samples of a robot from a bag: t, q, v, a, tau, one row for each sample.

    Parameters, what is completed and what is raised are those of `robodyn.ros.bag.read_bag`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import robodyn as rd
    >>> from robodyn.bags import read_motion
    >>> robot = rd.load("double_pendulum")
    >>> run = rd.simulate(robot, q0=[0.5, 0.2], duration=0.05)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.mcap"
    >>> run.save(path)
    >>> t, q, v, a, tau = read_motion(path, robot)
    >>> t.shape, bool(abs(q - run.q).max() < 1e-12)
    ((51,), True)
    """
    wanted = {
        topic: JOINT_STATE,
        f"{topic}/multi_dof": MULTI_DOF,
        f"{topic}/accelerations": NUMBERS,
    }
    samples = BagSamples(robot, Columns.of_robot(robot), ignore_unknown)
    with open_bag(as_path("path", path)) as (reader, tools):
        connections = [c for c in reader.connections if c.topic in wanted]
        _check_topics(path, topic, reader.connections, wanted)
        for connection, stamp, raw in reader.messages(connections):
            message = tools.types.deserialize_cdr(raw, connection.msgtype)
            samples.take(connection.msgtype, message, stamp)
    return completed(samples, str(path))


def read_about(path: str | os.PathLike[str], *, topic: str = "/joint_states") -> str:
    """What `write_motion` was to say of a motion; empty if it was nothing, or is not its bag."""
    with open_bag(as_path("path", path)) as (reader, tools):
        about = [c for c in reader.connections if (c.topic, c.msgtype) == (f"{topic}/about", TEXT)]
        for connection, _, raw in reader.messages(about) if about else ():
            return str(tools.types.deserialize_cdr(raw, connection.msgtype).data)
    return ""


def _check_topics(path: Any, topic: str, connections: Any, wanted: dict[str, str]) -> None:
    there = {c.topic: c.msgtype for c in connections}
    if topic not in there:
        like = sorted(name for name, kind in there.items() if kind == JOINT_STATE)
        present = f"joint states are on {like}" if like else f"it has {sorted(there)}"
        raise BagError(f"the bag {str(path)!r} has no topic {topic!r}; {present}")
    for name, kind in wanted.items():
        if there.get(name, kind) != kind:
            raise BagError(f"topic {name!r} of {str(path)!r} holds {there[name]}, expected {kind}")
