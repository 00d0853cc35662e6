"""Writing the motion of a robot as a bag of ROS 2 (extra ``bag``), without ROS installed.

A bag holds, for each sample, a ``sensor_msgs/JointState``; what that cannot say stands beside it:

======================================= ================================= ========================
topic                                   type                              content
======================================= ================================= ========================
``/joint_states``                       sensor_msgs/JointState            position, velocity, effort
``/joint_states/multi_dof``             sensor_msgs/MultiDOFJointState    floating, spherical joints
``/joint_states/accelerations``         std_msgs/Float64MultiArray        a, as in the trajectory
``/sensors/<name>``                     as the sensor is                  what a sensor shows
``/robot_description``                  std_msgs/String                   URDF, once, latched
``/joint_states/about``                 std_msgs/String                   what is not in the bag
======================================= ================================= ========================
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.bags.files import new_bag
from robodyn.bags.messages import (
    JOINT_STATE,
    MULTI_DOF,
    NUMBERS,
    SENSOR_MESSAGES,
    TEXT,
    Columns,
    form_of,
    topic_name,
)
from robodyn.description.sensor import DescribedSensor
from robodyn.errors import ShapeError
from robodyn.files import as_path
from robodyn.literals import BagStorage
from robodyn.robot import Robot
from robodyn.urdf import write

#: q, v, a and tau, one row a sample.
Motion = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def write_motion(
    path: str | os.PathLike[str],
    robot: Robot | None,
    joint_names: Sequence[str],
    t: FloatArray,
    motion: Motion,
    shown: Mapping[str, FloatArray] = MappingProxyType({}),
    *,
    topic: str = "/joint_states",
    description: str | None = None,
    storage: BagStorage = "mcap",
    start: float = 0.0,
    about: str = "",
) -> None:
    """Write samples of a motion as a bag. If writing fails, no bag is left.

    Parameters
    ----------
    path, topic, description, storage, start
        As of `robodyn.ros.bag.write_bag`.
    robot : Robot or None
        What moved; where that is not known, each speed has one coordinate and a name.
    joint_names : sequence of str
        Of the speeds; not used where the robot is known.
    t : ndarray, shape (n,) [s]
    motion : tuple of ndarray
        q, v, a, tau, shape (n, nq), (n, nv), (n, nv), (n, nv).
    shown : mapping of sensor name to ndarray, shape (n, k)
        What sensors of the robot show.
    about : str
        What else there is to say of the motion, which `read_about` returns.

    Raises
    ------
    MissingExtraError
        Without the extra ``bag``.
    BagError, ShapeError

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
    >>> bool(abs(q - run.q).max() < 1e-12)
    True
    """
    q, v = motion[:2]
    if q.ndim != 2:
        raise ShapeError(f"a bag holds one motion; q has shape {q.shape}", name="q", given=q.shape)
    if description is None:
        description = write(robot.mechanism, strict_tree=True) if robot is not None else ""
    columns = Columns.named(robot, joint_names, q.shape[-1], v.shape[-1])
    stamps = _stamps(t, start)
    with new_bag(as_path("path", path), storage) as (writer, tools):
        for name, text in (("/robot_description", description), (f"{topic}/about", about)):
            if text:
                _write_latched(writer, tools, name, text, int(stamps[0]) if len(stamps) else 0)
        if robot is not None and shown:
            for sensor in robot.sensors:
                _write_sensor(writer, tools, robot, sensor, stamps, shown[sensor.name])
        _write_samples(writer, tools, columns, stamps, motion, topic)


def _stamps(t: FloatArray, start: float) -> NDArray[np.int64]:
    """Times in nanoseconds, which bags count from zero on and stamps hold in 32 bits of seconds."""
    times = t + start
    if not (np.isfinite(times).all() and (times >= 0.0).all() and (times < 2.0**31).all()):
        raise ShapeError("a bag holds times from 0 to 2^31 s", name="t", given=times)
    # the fraction by itself: seconds since the epoch leave it too few digits
    whole = np.floor(t)
    stamps = (round(start * 1e9) + (whole * 1e9).astype(np.int64)) + np.rint(
        (t - whole) * 1e9
    ).astype(np.int64)
    count = np.arange(len(t))  # two samples of one instant, as at an impact, are a nanosecond apart
    return np.asarray(np.maximum.accumulate(stamps - count) + count)


def _write_latched(writer: Any, tools: SimpleNamespace, topic: str, text: str, stamp: int) -> None:
    q, never = tools.qos, tools.qos.QosTime(9223372036, 854775807)
    kinds = q.QosHistory.KEEP_LAST, q.QosReliability.RELIABLE, q.QosDurability.TRANSIENT_LOCAL
    history, reliability, durability = kinds
    own = history, 1, reliability, durability, never, never, q.QosLiveliness.AUTOMATIC, never
    connection = writer.add_connection(
        topic, TEXT, typestore=tools.types, offered_qos_profiles=[q.Qos(*own, False)]
    )
    writer.write(connection, stamp, tools.serialized(tools.messages.text(text)))


def _write_sensor(
    writer: Any,
    tools: SimpleNamespace,
    robot: Robot,
    sensor: DescribedSensor,
    stamps: NDArray[np.int64],
    shown: FloatArray,
) -> None:
    """What a sensor shows at all samples, on a topic of its own."""
    kind = SENSOR_MESSAGES[form_of(sensor)]
    topic = f"/sensors/{topic_name(sensor.name)}"
    connection = writer.add_connection(topic, kind, typestore=tools.types)
    for stamp, numbers in zip(stamps.tolist(), shown, strict=True):
        message = tools.messages.sensor(robot, sensor, numbers, divmod(stamp, 10**9))
        writer.write(connection, stamp, tools.serialized(message))


def _write_samples(
    writer: Any,
    tools: SimpleNamespace,
    columns: Columns,
    stamps: NDArray[np.int64],
    motion: Motion,
    topic: str,
) -> None:
    topics = {NUMBERS: f"{topic}/accelerations", MULTI_DOF: f"{topic}/multi_dof"}
    if not columns.poses:
        del topics[MULTI_DOF]
    topics[JOINT_STATE] = topic
    open_topics = {
        kind: writer.add_connection(name, kind, typestore=tools.types)
        for kind, name in topics.items()
    }
    make, names = tools.messages, list(columns.names)
    all_q, all_v, all_a, all_tau = motion
    q, v, tau = all_q[:, columns.q], all_v[:, columns.v], all_tau[:, columns.v]
    places = columns.poses.values()
    poses = [_padded(all_q[:, at_q], 7) for at_q, _ in places]
    twists, wrenches = ([_padded(x[:, at_v], 6) for _, at_v in places] for x in (all_v, all_tau))
    for k, stamp in enumerate(stamps.tolist()):
        at = divmod(stamp, 10**9)
        messages = {NUMBERS: make.numbers(all_a[k])}
        if columns.poses:
            parts = [x[k] for x in poses], [x[k] for x in twists]
            known = [x[k] for x in wrenches] if np.isfinite(all_tau[k]).all() else []
            messages[MULTI_DOF] = make.multi_dof_joint_state(at, columns.poses, *parts, known)
        efforts = _finite_or_empty(tau[k])
        # last: with it, the sample is complete
        messages[JOINT_STATE] = make.joint_state(at, names, q[k], v[k], efforts)
        for kind, message in messages.items():
            writer.write(open_topics[kind], stamp, tools.serialized(message))


def _finite_or_empty(x: FloatArray) -> FloatArray:
    """The numbers; an empty list if one is not known, since readers of ROS do not expect NaN."""
    return x if np.isfinite(x).all() else x[:0]


def _padded(x: FloatArray, size: int) -> FloatArray:
    """Poses or speeds, shape (n, k), with zeros in front: a spherical joint has no linear part."""
    return np.hstack([np.zeros((len(x), size - x.shape[1])), x])
