"""The topics on which a simulated robot's state is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.bags import messages
from robodyn.bags.messages import Stamp, topic_name
from robodyn.literals import DescriptionForm
from robodyn.ros.engine.engine import Engine
from robodyn.ros.rclpy.access import MESSAGES, message_class, quality
from robodyn.ros.rclpy.parameters import Parameters
from robodyn.ros.states.frames import (
    LinkTransforms,
    Transform,
    description,
    multi_joint,
    sensor_frames,
    transforms,
)
from robodyn.ros.states.messages import wrench_content
from robodyn.urdf.extensions import refused_by_others


class Publishing:
    """Publishers of a simulation node.

    Wrenches, motor torques and sensors are computed only while somebody listens.
    """

    def __init__(self, node: Any, engine: Engine, parameters: Parameters) -> None:
        self._node, self._engine, robot = node, engine, engine.robot
        self._publishers: dict[str, Any] = {}
        self._prefix = str(parameters.fixed("frame_prefix"))
        self._open("joint_states", messages.JOINT_STATE)
        self._open("~/motor_torques", messages.NUMBERS)
        self._open("~/overruns", "std_msgs/msg/UInt64", latched=True)
        if engine.names.multi:
            self._open("multi_dof_joint_states", messages.MULTI_DOF)
        if parameters.fixed("publish_clock"):
            self._open("/clock", "rosgraph_msgs/msg/Clock")
        joints = parameters.fixed("wrenches") or [
            n for n, x in robot.joints.items() if x.kind.nv and not x.kind.is_free
        ]
        for name in joints:
            if name != "base":
                _ = robot.joints[name]
            self._open(_wrench_topic(name), messages.WRENCH)
        self._wrenches = {name: _wrench_topic(name) for name in joints}
        self._sensors = {x.name: f"~/sensors/{topic_name(x.name)}" for x in robot.sensors}
        for sensor in robot.sensors:
            kind = messages.SENSOR_MESSAGES[messages.form_of(sensor)]
            self._open(self._sensors[sensor.name], kind)
        self._describe(parameters.fixed("description"))
        if parameters.fixed("publish_tf"):
            self._open("/tf", "tf2_msgs/msg/TFMessage")
            self._open("/tf_static", "tf2_msgs/msg/TFMessage", latched=True)
            fixed = transforms(robot, engine.q, fixed=True) + sensor_frames(robot)
            self._send("/tf_static", self._transforms(fixed, (0, 0)))
            self._moving = LinkTransforms(robot)
        self.overruns(0)

    def publish(self, now: int) -> None:
        """Publish the state with a time stamp [ns]."""
        engine, robot, stamp = self._engine, self._engine.robot, divmod(now, 10**9)
        q, v, a, tau = engine.observe()
        if "/clock" in self._publishers:
            clock = message_class("rosgraph_msgs/msg/Clock")
            self._send("/clock", clock(clock=MESSAGES.header(stamp).stamp))
        state = engine.names.content(q, v, tau, now)
        columns = state.position, state.velocity, state.effort
        self._send("joint_states", MESSAGES.joint_state(stamp, state.name, *columns))
        if engine.names.multi:
            places, twists = zip(
                *(multi_joint(robot, n, q, v) for n in engine.names.multi), strict=True
            )
            poses = [_pose(place) for place in places]
            wide = MESSAGES.multi_dof_joint_state(stamp, engine.names.multi, poses, twists)
            self._send("multi_dof_joint_states", wide)
        if "/tf" in self._publishers:
            self._send("/tf", self._transforms(self._moving.transforms(q), stamp))
        if self._heard({"motors": "~/motor_torques"}):
            self._send("~/motor_torques", MESSAGES.numbers(engine.motor_torques(tau)))
        if wanted := self._heard(self._wrenches):
            wrenches = engine.wrenches(a, tau, wanted)
            for name in wanted:
                content = wrench_content(robot, name, wrenches[name], stamp)
                x = np.append(content.force, content.torque)
                wrench = MESSAGES.wrench(stamp, self._prefix + content.frame_id, x)
                self._send(self._wrenches[name], wrench)
        if wanted := self._heard(self._sensors):
            shown = engine.measurements(a, tau, wanted)
            for sensor in robot.sensors:
                if sensor.name in wanted:
                    reading = shown[sensor.name], stamp, self._prefix
                    found = MESSAGES.sensor(robot, sensor, *reading)
                    self._send(self._sensors[sensor.name], found)

    def overruns(self, count: int) -> None:
        """Publish how many publications came late so far."""
        self._send("~/overruns", message_class("std_msgs/msg/UInt64")(data=count))

    def close(self) -> None:
        """Remove the publishers from the node."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)
        self._publishers.clear()

    def _open(self, topic: str, kind: str, *, latched: bool = False) -> None:
        qos = quality(1 if latched else 10, latched=latched)
        self._publishers[topic] = self._node.create_publisher(message_class(kind), topic, qos)

    def _send(self, topic: str, message: Any) -> None:
        self._publishers[topic].publish(message)

    def _heard(self, topics: Mapping[str, str]) -> list[str]:
        """Names of those topics that somebody listens to."""
        return [n for n, x in topics.items() if self._publishers[x].get_subscription_count()]

    def _transforms(self, places: list[Transform], stamp: Stamp) -> Any:
        own = self._prefix
        found = [MESSAGES.transform(stamp, own + x.parent, own + x.child, _pose(x)) for x in places]
        return message_class("tf2_msgs/msg/TFMessage")(transforms=found)

    def _describe(self, form: DescriptionForm) -> None:
        robot, log = self._engine.robot, self._engine.log
        try:
            urdf = description(robot, form)
        except rd.TopologyError as error:
            log("description", str(error))
            urdf = description(robot, "source")
        for line in refused_by_others(robot.mechanism, strict_tree=form == "tree"):
            log("description", f"robot_description: {line}")
        self._open("robot_description", messages.TEXT, latched=True)
        self._send("robot_description", MESSAGES.text(urdf))


def _pose(place: Transform) -> Any:
    return np.append(place.translation, place.rotation)


def _wrench_topic(joint: str) -> str:
    return f"~/joint_wrenches/{topic_name(joint)}"
