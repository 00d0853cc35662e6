"""Trajectories to and from bags of ROS 2 (extra ``bag``), without ROS installed.

A bag holds, for each sample, a ``sensor_msgs/JointState``; what that cannot say stands beside it:

======================================= ================================= ========================
topic                                   type                              content
======================================= ================================= ========================
``/joint_states``                       sensor_msgs/JointState            position, velocity, effort
``/joint_states/multi_dof``             sensor_msgs/MultiDOFJointState    floating, spherical joints
``/joint_states/accelerations``         std_msgs/Float64MultiArray        a, as in the trajectory
``/robot_description``                  std_msgs/String                   URDF, once, latched
======================================= ================================= ========================
"""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import BagError, ShapeError
from robodyn.robot import Robot
from robodyn.ros.bag.columns import Columns
from robodyn.ros.bag.files import new_bag, open_bag
from robodyn.ros.bag.motion import motion
from robodyn.ros.bag.samples import Samples
from robodyn.simulation.trajectory import Trajectory
from robodyn.urdf import write

__all__ = ["read_bag", "write_bag"]

Array = NDArray[np.float64]

JOINT_STATE = "sensor_msgs/msg/JointState"
MULTI_DOF = "sensor_msgs/msg/MultiDOFJointState"
NUMBERS = "std_msgs/msg/Float64MultiArray"
TEXT = "std_msgs/msg/String"


def write_bag(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    topic: str = "/joint_states",
    description: str | None = None,
    storage: str = "mcap",
    start: float = 0.0,
) -> None:
    """Write a trajectory as a bag that is complete or not there at all.

    Parameters
    ----------
    trajectory : Trajectory
        Of one motion.
    path : path
        ``.mcap`` or ``.db3``: a single file, replaced if it is there. Any other name: a folder, as
        ``ros2 bag record`` makes it, which must not be there yet.
    topic : str
        Of the joint states.
    description : str, optional
        Text latched on ``/robot_description``. Default: the URDF of ``trajectory.robot``, its loops
        as ``<loop>``; ``""``: none.
    storage : {"mcap", "sqlite3"}
        Of a folder.
    start : float [s]
        Time of ``t = 0`` on the clock of the bag, since the epoch.

    Raises
    ------
    MissingExtraError
        Without the extra ``bag``.
    BagError, ShapeError
    """
    if trajectory.q.ndim != 2:
        raise ShapeError(
            f"a bag holds one motion; q has shape {trajectory.q.shape}",
            name="q",
            given=trajectory.q.shape,
        )
    if description is None:
        robot = trajectory.robot
        description = write(robot.mechanism, strict_tree=True) if robot is not None else ""
    columns, stamps = Columns.of_trajectory(trajectory), _stamps(trajectory.t, start)
    with new_bag(Path(path), storage) as (writer, tools):
        if description:
            _latch(writer, tools, description, int(stamps[0]) if len(stamps) else 0)
        _write_samples(writer, tools, trajectory, columns, stamps, topic)


def _stamps(t: Array, start: float) -> NDArray[np.int64]:
    """Times in nanoseconds, which bags count from zero on and stamps hold in 32 bits of seconds."""
    times = t + start
    if not (np.isfinite(times).all() and (times >= 0.0).all() and (times < 2.0**31).all()):
        raise ShapeError("a bag holds times from 0 to 2^31 s", name="t", given=times)
    # the fraction by itself: seconds since the epoch leave it too few digits
    whole = np.floor(t)
    return (round(start * 1e9) + (whole * 1e9).astype(np.int64)) + np.rint(
        (t - whole) * 1e9
    ).astype(np.int64)


def _latch(writer: Any, tools: SimpleNamespace, description: str, stamp: int) -> None:
    q, never = tools.qos, tools.qos.QosTime(9223372036, 854775807)
    latched = q.Qos(
        q.QosHistory.KEEP_LAST,
        1,
        q.QosReliability.RELIABLE,
        q.QosDurability.TRANSIENT_LOCAL,
        never,
        never,
        q.QosLiveliness.AUTOMATIC,
        never,
        False,
    )
    connection = writer.add_connection(
        "/robot_description", TEXT, typestore=tools.types, offered_qos_profiles=[latched]
    )
    message = tools.types.types[TEXT](description)
    writer.write(connection, stamp, tools.types.serialize_cdr(message, TEXT))


def _write_samples(
    writer: Any,
    tools: SimpleNamespace,
    run: Trajectory,
    columns: Columns,
    stamps: NDArray[np.int64],
    topic: str,
) -> None:
    kinds, serialize = tools.types.types, tools.types.serialize_cdr
    time, header = kinds["builtin_interfaces/msg/Time"], kinds["std_msgs/msg/Header"]
    layout = kinds["std_msgs/msg/MultiArrayLayout"]([], 0)
    topics = {JOINT_STATE: topic, NUMBERS: f"{topic}/accelerations"}
    if columns.poses:
        topics[MULTI_DOF] = f"{topic}/multi_dof"
    open_topics = {
        kind: writer.add_connection(name, kind, typestore=tools.types)
        for kind, name in topics.items()
    }
    pairs = ((run.q, columns.q), (run.v, columns.v), (run.tau, columns.v))
    q, v, tau = (_rows(x, at) for x, at in pairs)
    for k, stamp in enumerate(stamps.tolist()):
        head = header(time(*divmod(stamp, 10**9)), "")
        messages = {NUMBERS: kinds[NUMBERS](layout, np.ascontiguousarray(run.a[k]))}
        if columns.poses:
            messages[MULTI_DOF] = _poses(kinds, head, run, columns, k)
        messages[JOINT_STATE] = kinds[JOINT_STATE](
            head, list(columns.names), q[k], v[k], _known(tau[k])
        )  # last: with it, the sample is complete
        for kind, message in messages.items():
            writer.write(open_topics[kind], stamp, serialize(message, kind))


def _rows(x: Array, columns: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(x[:, columns], dtype=np.float64)


def _known(x: Array) -> Array:
    """Nothing, if a number is not known: readers of ROS take NaN for a number."""
    return x if np.isfinite(x).all() else x[:0]


def _poses(kinds: Any, head: Any, run: Trajectory, columns: Columns, k: int) -> Any:
    vector = kinds["geometry_msgs/msg/Vector3"]

    def two(x: Array) -> tuple[Any, Any]:
        """Linear and angular part; a spherical joint has no linear one."""
        x = np.concatenate([np.zeros(6 - len(x)), x])
        return vector(*x[:3].tolist()), vector(*x[3:].tolist())

    transforms, twists, wrenches = [], [], []
    for at_q, at_v in columns.poses.values():
        q = np.concatenate([np.zeros(7 - (at_q.stop - at_q.start)), run.q[k, at_q]]).tolist()
        quaternion = kinds["geometry_msgs/msg/Quaternion"](*q[3:])
        transforms.append(kinds["geometry_msgs/msg/Transform"](vector(*q[:3]), quaternion))
        twists.append(kinds["geometry_msgs/msg/Twist"](*two(run.v[k, at_v])))
        if np.isfinite(run.tau[k]).all():
            wrenches.append(kinds["geometry_msgs/msg/Wrench"](*two(run.tau[k, at_v])))
    return kinds[MULTI_DOF](head, list(columns.poses), transforms, twists, wrenches)


def read_bag(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    topic: str = "/joint_states",
    ignore_unknown: bool = False,
) -> Trajectory:
    """The motion of a robot from a bag of ROS 2, one of `write_bag` or a recorded one.

    Joints are matched by name. Where several nodes publish parts of the robot, a joint keeps its
    value until it is heard of again; samples begin when all joints have been heard of. Joints of
    closed linkages that the bag does not have follow from the others. ``t`` counts from the first
    sample, by the stamps of the messages, or by the time of recording where there are none.

    Parameters
    ----------
    path : path
        A folder, or a single ``.mcap`` or ``.db3`` file.
    robot : Robot
    topic : str
        Of the joint states.
    ignore_unknown : bool
        Pass over joints that the robot does not have (a gripper, wheels).

    Returns
    -------
    trajectory : Trajectory
        Velocities and accelerations that the bag does not have are differences of positions;
        torques that it does not have are NaN. Energy is that of a base at rest.

    Raises
    ------
    MissingExtraError
        Without the extra ``bag``.
    FileNotFoundError
    BagError
        If the file is no bag, is damaged, or does not have the topic or all joints.
    UnknownNameError
        If the bag has joints that the robot does not have.
    """
    wanted = {
        topic: JOINT_STATE,
        f"{topic}/multi_dof": MULTI_DOF,
        f"{topic}/accelerations": NUMBERS,
    }
    samples = Samples(robot, Columns.of_robot(robot), ignore_unknown)
    with open_bag(Path(path)) as (reader, tools):
        found = [c for c in reader.connections if c.topic in wanted]
        _check_topics(path, topic, reader.connections, wanted)
        for connection, stamp, raw in reader.messages(found):
            message = tools.types.deserialize_cdr(raw, connection.msgtype)
            samples.take(connection.msgtype, message, stamp)
    return motion(samples, str(path))


def _check_topics(path: Any, topic: str, connections: Any, wanted: dict[str, str]) -> None:
    there = {c.topic: c.msgtype for c in connections}
    if topic not in there:
        like = sorted(name for name, kind in there.items() if kind == JOINT_STATE)
        told = f"joint states are on {like}" if like else f"it has {sorted(there)}"
        raise BagError(f"the bag {str(path)!r} has no topic {topic!r}; {told}")
    for name, kind in wanted.items():
        if there.get(name, kind) != kind:
            raise BagError(f"topic {name!r} of {str(path)!r} holds {there[name]}, expected {kind}")
