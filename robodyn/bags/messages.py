"""Messages of ROS, which bags, rclpy and DDS have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.sensor import DescribedSensor, Frame
from robodyn.equations.sensors.kinds import KINDS
from robodyn.equations.sensors.kinds.common.kind import Form
from robodyn.errors import RobodynError, ShapeError
from robodyn.model.joint_info import part_names
from robodyn.robot import Robot

#: Seconds and nanoseconds.
Stamp = tuple[int, int]

JOINT_STATE = "sensor_msgs/msg/JointState"
MULTI_DOF = "sensor_msgs/msg/MultiDOFJointState"
NUMBERS = "std_msgs/msg/Float64MultiArray"
TEXT = "std_msgs/msg/String"
WRENCH = "geometry_msgs/msg/WrenchStamped"

#: Message of each form of a sensor.
SENSOR_MESSAGES = {
    Form.NUMBERS: NUMBERS,
    Form.POINT: "geometry_msgs/msg/PointStamped",
    Form.VECTOR: "geometry_msgs/msg/Vector3Stamped",
    Form.WRENCH: WRENCH,
    Form.IMU: "sensor_msgs/msg/Imu",
}


@dataclass(frozen=True, eq=False)
class Messages:
    """Makes messages of ROS, as objects of the classes of rosbags, rclpy or DDS.

    class_of: The class of a type of messages, such as ``"std_msgs/msg/String"``.
    array: Makes of an array of numbers what these classes want.
    """

    class_of: Callable[[str], Any]
    array: Callable[[FloatArray], Any]

    def header(self, stamp: Stamp, frame_id: str = "") -> Any:
        """A ``std_msgs/Header``."""
        time = self.class_of("builtin_interfaces/msg/Time")(sec=stamp[0], nanosec=stamp[1])
        return self.class_of("std_msgs/msg/Header")(stamp=time, frame_id=frame_id)

    def text(self, text: str) -> Any:
        """A ``std_msgs/String``."""
        return self.class_of(TEXT)(data=text)

    def numbers(self, x: FloatArray) -> Any:
        """A ``std_msgs/Float64MultiArray``."""
        layout = self.class_of("std_msgs/msg/MultiArrayLayout")(dim=[], data_offset=0)
        return self.class_of(NUMBERS)(layout=layout, data=self.array(x))

    def joint_state(
        self, stamp: Stamp, names: Iterable[str], q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> Any:
        """A ``sensor_msgs/JointState``."""
        q, v, tau = self.array(q), self.array(v), self.array(tau)
        return self.class_of(JOINT_STATE)(
            header=self.header(stamp), name=list(names), position=q, velocity=v, effort=tau
        )

    def multi_dof_joint_state(
        self,
        stamp: Stamp,
        names: Iterable[str],
        poses: Iterable[FloatArray],
        twists: Iterable[FloatArray],
        wrenches: Iterable[FloatArray] = (),
    ) -> Any:
        """A ``sensor_msgs/MultiDOFJointState``.

        poses (7,) [m, 1]: Translation, and rotation x, y, z, w.
        twists, wrenches (6,): Linear and angular part.
        """
        twist = self.class_of("geometry_msgs/msg/Twist")
        return self.class_of(MULTI_DOF)(
            header=self.header(stamp),
            joint_names=list(names),
            transforms=[self._pose(x) for x in poses],
            twist=[twist(linear=self._vector(x), angular=self._vector(x[3:])) for x in twists],
            wrench=[self._wrench(x) for x in wrenches],
        )

    def wrench(self, stamp: Stamp, frame_id: str, x: FloatArray) -> Any:
        """A ``geometry_msgs/WrenchStamped`` of force and moment, shape (6,)."""
        return self.class_of(WRENCH)(header=self.header(stamp, frame_id), wrench=self._wrench(x))

    def transform(self, stamp: Stamp, parent: str, child: str, pose: FloatArray) -> Any:
        """A ``geometry_msgs/TransformStamped`` of a pose, shape (7,), as of a joint."""
        return self.class_of("geometry_msgs/msg/TransformStamped")(
            header=self.header(stamp, parent), child_frame_id=child, transform=self._pose(pose)
        )

    def sensor(
        self, robot: Robot, sensor: DescribedSensor, x: FloatArray, stamp: Stamp, prefix: str = ""
    ) -> Any:
        """What a sensor shows, of the numbers that `Robot.measure` gives.

        prefix: Of the name of the frame along whose axes vectors are given.
        """
        x, form = np.array(x, float), form_of(sensor)
        frame = prefix + _frame_id(robot, sensor)
        if form is Form.NUMBERS:
            return self.numbers(x)
        if form is Form.WRENCH:
            return self.wrench(stamp, frame, x)
        kind, head = self.class_of(SENSOR_MESSAGES[form]), self.header(stamp, frame)
        if form is Form.POINT:
            return kind(header=head, point=self._vector(x, "Point"))
        if form is Form.VECTOR:
            return kind(header=head, vector=self._vector(x))
        unknown = self.array(np.zeros(9))
        return kind(
            header=head,
            orientation=self._quaternion(np.array([0.0, 0.0, 0.0, 1.0])),
            orientation_covariance=self.array(np.array([-1.0, *np.zeros(8)])),  # it has none
            angular_velocity=self._vector(x[3:]),
            angular_velocity_covariance=unknown,
            linear_acceleration=self._vector(x),
            linear_acceleration_covariance=unknown,
        )

    def _vector(self, xyz: FloatArray, kind: str = "Vector3") -> Any:
        x, y, z = xyz[:3].tolist()
        return self.class_of(f"geometry_msgs/msg/{kind}")(x=x, y=y, z=z)

    def _quaternion(self, xyzw: FloatArray) -> Any:
        x, y, z, w = xyzw.tolist()
        return self.class_of("geometry_msgs/msg/Quaternion")(x=x, y=y, z=z, w=w)

    def _pose(self, x: FloatArray) -> Any:
        kind = self.class_of("geometry_msgs/msg/Transform")
        return kind(translation=self._vector(x), rotation=self._quaternion(x[3:]))

    def _wrench(self, x: FloatArray) -> Any:
        kind = self.class_of("geometry_msgs/msg/Wrench")
        return kind(force=self._vector(x), torque=self._vector(x[3:]))


def topic_name(name: str) -> str:
    """A joint's name as part of a topic's: letters, digits and single underscores."""
    plain = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "_", name)).strip("_") or "joint"
    return f"joint_{plain}" if plain[0].isdigit() else plain


def form_of(sensor: DescribedSensor) -> Form:
    """Which message a sensor has; a point along axes of a third frame is a vector."""
    form = KINDS[sensor.kind].form
    return Form.VECTOR if form is Form.POINT and sensor.axes is not None else form


def own_frame(robot: Robot, sensor: DescribedSensor) -> tuple[str, str, FloatArray] | None:
    """The frame of its messages, if that is none of a link: link, name, and pose in the link."""
    frame = _frame(sensor)
    if frame is None or _is_link(frame):
        return None
    return _link(robot, frame[0]), f"{sensor.name}_frame", frame[1]


def _frame(sensor: DescribedSensor) -> Frame | None:
    """The frame along whose axes a sensor shows vectors, where it is not that of a joint."""
    form = KINDS[sensor.kind].form
    if form in (Form.IMU, Form.WRENCH):
        return sensor.at
    return sensor.axes or sensor.relative_to or ("world", np.eye(4))


def _frame_id(robot: Robot, sensor: DescribedSensor) -> str:
    frame = _frame(sensor)
    if frame is None:  # a wrench where joint_wrenches gives it
        (joint,) = sensor.joints
        return robot.link_names[0] if joint == "base" else robot.joints[joint].child
    return _link(robot, frame[0]) if _is_link(frame) else f"{sensor.name}_frame"


def _is_link(frame: Frame) -> bool:
    return bool((frame[1] == np.eye(4)).all())


def _link(robot: Robot, link: str) -> str:
    """A link as transforms call it: the world is the base, where that does not move."""
    if link == "world" and link not in robot.link_names and robot.base == "fixed":
        return robot.link_names[0]
    return link


@dataclass(frozen=True)
class Columns:
    """Names of joints in messages, and their indices in q and v.

    names: Of JointState: a joint with one speed has its name, others have ``"name[k]"``.
    q, v: Index of the coordinate and of the speed of each name.
    poses: Floating and spherical joints: their coordinates and speeds.
    """

    names: tuple[str, ...]
    q: tuple[int, ...]
    v: tuple[int, ...]
    poses: Mapping[str, tuple[slice, slice]]

    @classmethod
    def of_robot(cls, robot: Robot) -> Columns:
        """All joints of a robot's tree that do not mimic others."""
        names: list[str] = []
        q: list[int] = []
        v: list[int] = []
        poses = {}
        for name in robot.joint_names:
            joint = robot.joints[name]
            if joint.kind.coordinates.quaternion:
                poses[name] = (joint.q, joint.v)
                continue
            width = joint.v.stop - joint.v.start
            names += part_names(name, width, robot.joints)
            q += range(joint.q.start, joint.q.stop)
            v += range(joint.v.start, joint.v.stop)
        return cls(tuple(names), tuple(q), tuple(v), poses)

    @classmethod
    def named(cls, robot: Robot | None, joint_names: Sequence[str], nq: int, nv: int) -> Columns:
        """Those of the robot that moved; or of the names, if each speed has one coordinate."""
        if robot is not None:
            return cls.of_robot(robot)
        if nq != nv:
            raise ShapeError(
                f"q has {nq} columns and v {nv}: which joint they belong to is known only with "
                "trajectory.robot",
                name="q",
                given=(nq, nv),
            )
        if len(joint_names) != nv or len({*joint_names}) != nv:
            raise RobodynError(f"{nv} different joint names are needed, not {list(joint_names)}")
        return cls(tuple(joint_names), tuple(range(nv)), tuple(range(nv)), {})
