"""The topics on which a simulated robot's state is published."""

from __future__ import annotations

from typing import Any

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.bags.sensors import form_of, sensor_content, topic_name
from robodyn.literals import DescriptionForm
from robodyn.ros.engine.engine import Engine
from robodyn.ros.engine.frames import description, multi_joint, sensor_frames, transforms
from robodyn.ros.engine.messages import Stamp, split_stamp, wrench_content
from robodyn.ros.rclpy.access import message, quality
from robodyn.ros.rclpy.conversion import (
    joint_state_message,
    multi_joint_message,
    sensor_message,
    sensor_message_class,
    transform_message,
    wrench_message,
)
from robodyn.ros.rclpy.parameters import Parameters
from robodyn.urdf.extensions import refused_by_others


class Publishing:
    """Publishers of a simulation node.

    Wrenches, motor torques and sensors are computed only while somebody listens.
    """

    def __init__(self, node: Any, engine: Engine, parameters: Parameters) -> None:
        self._node, self._engine = node, engine
        self._all: list[Any] = []
        self._prefix = str(parameters.fixed("frame_prefix"))
        numbers, text, count = message("std_msgs", "Float64MultiArray", "String", "UInt64")
        (state,) = message("sensor_msgs", "JointState")
        self._numbers, self._count = numbers, count
        self._state = self._publisher(state, "joint_states")
        self._torques = self._publisher(numbers, "~/motor_torques")
        self._overruns = self._publisher(count, "~/overruns", latched=True)
        self._description = self._publisher(text, "robot_description", latched=True)
        self._multi = self._moving = self._clock = None
        if engine.names.multi:
            (wide,) = message("sensor_msgs", "MultiDOFJointState")
            self._multi = self._publisher(wide, "multi_dof_joint_states")
        if parameters.fixed("publish_clock"):
            (self._time,) = message("rosgraph_msgs", "Clock")
            self._clock = self._publisher(self._time, "/clock")
        self._wrenches = self._wrench_publishers(parameters.fixed("wrenches"))
        self._sensors = {x.name: x for x in engine.robot.sensors}
        self._readings = {
            x.name: self._publisher(sensor_message_class(form_of(x)), _sensor_topic(x.name))
            for x in engine.robot.sensors
        }
        self._describe(text, parameters.fixed("description"))
        if parameters.fixed("publish_tf"):
            self._start_tf()
        self.overruns(0)

    def publish(self, now: int) -> None:
        """Publish the state with a time stamp [ns]."""
        engine, stamp = self._engine, split_stamp(now)
        q, v, a, tau = engine.observe()
        if self._clock is not None:
            clock = self._time()
            clock.clock.sec, clock.clock.nanosec = stamp
            self._clock.publish(clock)
        self._state.publish(joint_state_message(engine.names.content(q, v, tau, now)))
        if self._multi is not None:
            joints = [(n, *multi_joint(engine.robot, n, q, v)) for n in engine.names.multi]
            self._multi.publish(multi_joint_message(joints, stamp))
        if self._moving is not None:
            self._moving.publish(
                transform_message(transforms(engine.robot, q), stamp, self._prefix)
            )
        if self._torques.get_subscription_count():
            self._torques.publish(self._numbers(data=engine.motor_torques(tau).tolist()))
        wanted = [n for n, p in self._wrenches.items() if p.get_subscription_count()]
        if wanted:
            wrenches = engine.wrenches(a, tau, wanted)
            for name in wanted:
                content = wrench_content(engine.robot, name, wrenches[name], stamp)
                self._wrenches[name].publish(wrench_message(content, self._prefix))

        self._publish_sensors(a, tau, stamp)

    def _publish_sensors(self, a: FloatArray, tau: FloatArray, stamp: Stamp) -> None:
        wanted = [n for n, p in self._readings.items() if p.get_subscription_count()]
        if not wanted:
            return
        shown = self._engine.measurements(a, tau, wanted)
        for name in wanted:
            content = sensor_content(self._engine.robot, self._sensors[name], shown[name], stamp)
            self._readings[name].publish(sensor_message(content, self._prefix))

    def overruns(self, count: int) -> None:
        """Publish how many publications came late so far."""
        self._overruns.publish(self._count(data=count))

    def close(self) -> None:
        """Remove the publishers from the node."""
        for publisher in self._all:
            self._node.destroy_publisher(publisher)
        self._all.clear()

    def _publisher(self, kind: Any, topic: str, *, latched: bool = False) -> Any:
        qos = quality(1 if latched else 10, latched=latched)
        self._all.append(self._node.create_publisher(kind, topic, qos))
        return self._all[-1]

    def _wrench_publishers(self, joints: list[str] | None) -> dict[str, Any]:
        robot = self._engine.robot
        for name in joints or ():
            if name != "base":
                _ = robot.joints[name]
        names = joints or [n for n, x in robot.joints.items() if x.kind.nv and not x.kind.is_free]
        (kind,) = message("geometry_msgs", "WrenchStamped")
        return {n: self._publisher(kind, f"~/joint_wrenches/{topic_name(n)}") for n in names}

    def _describe(self, text: Any, form: DescriptionForm) -> None:
        robot = self._engine.robot
        try:
            urdf = description(robot, form)
        except rd.TopologyError as error:
            self._engine.log("description", str(error))
            urdf = description(robot, "source")
        for line in refused_by_others(robot.mechanism, strict_tree=form == "tree"):
            self._engine.log("description", f"robot_description: {line}")
        self._description.publish(text(data=urdf))

    def _start_tf(self) -> None:
        (kind,) = message("tf2_msgs", "TFMessage")
        engine = self._engine
        self._moving = self._publisher(kind, "/tf")
        wide = self._publisher(kind, "/tf_static", latched=True)
        fixed = transforms(engine.robot, engine.q, fixed=True) + sensor_frames(engine.robot)
        wide.publish(transform_message(fixed, (0, 0), self._prefix))


def _sensor_topic(name: str) -> str:
    return f"~/sensors/{topic_name(name)}"
