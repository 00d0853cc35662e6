"""`RelayNode`: driven joints in, all joints, poses of links and loads out, by rclpy."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import robodyn as rd
from robodyn.bags.messages import JOINT_STATE
from robodyn.ros.rclpy.access import MESSAGES, message_class, optional, quality
from robodyn.ros.rclpy.node import warn
from robodyn.ros.rclpy.parameters import WITHOUT_TF2, declare_fixed, fixed
from robodyn.ros.rclpy.robot_node import RobotNode, spin
from robodyn.ros.relay.relay_topics import WAITING, RelayOutputs, RelayTopics, summary
from robodyn.ros.states.sizes import check_command
from robodyn.ros.states.throttled_logger import ThrottledLogger


class RelayNode:
    """Answers the joint states of some joints with those of all; see docs/guides/ros/relay.md.

    Parameters
    ----------
    robot : Robot, path or URDF text, optional
        Default: the parameter ``robot_description``.
    name : str
        Of the node.
    topics : RelayTopics, optional
        Names of topics, and defaults of parameters.
    lifecycle : bool
        A managed node: ``configure`` loads the robot, ``activate`` lets messages be answered; those
        that came before are dropped.

    Attributes
    ----------
    node : rclpy.node.Node

    Raises
    ------
    MissingExtraError
        If rclpy is not installed.
    RobodynError
        If ROS does not take the name or a parameter, or both topics are the same.
    """

    def __init__(
        self,
        robot: rd.Robot | str | None = None,
        *,
        name: str = "relay",
        topics: RelayTopics | None = None,
        lifecycle: bool = False,
    ) -> None:
        topics = topics or RelayTopics()
        declare = lambda node: _with_parameters(node, topics)  # noqa: E731
        self._own = RobotNode(robot, name, declare, RelayOnNode, managed=lifecycle)
        self.node: Any = self._own.node

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def relay(self) -> RelayOnNode | None:
        """What answers; of a managed node, from ``configure`` to ``cleanup``."""
        found: RelayOnNode | None = self._own.made
        return found

    @property
    def summary(self) -> str:
        """How many joint states were answered."""
        return self.relay.outputs.summary if self.relay else summary(0, 0)

    def spin(self) -> None:
        """Run until ROS shuts down or Ctrl-C."""
        spin(self.node)

    def close(self) -> None:
        """Stop, and take the node off the network."""
        self._own.close()

    def configure(self) -> bool:
        """Load the robot, and return whether that succeeded."""
        return self._own.configure()

    def forget(self) -> None:
        """Remove everything from the node."""
        self._own.forget()


class RelayOnNode:
    """Adds a relay to a node, which the caller owns."""

    def __init__(self, node: Any, robot: rd.Robot, topics: RelayTopics) -> None:
        self._node, self._topics, self._subscription = node, topics, None
        self._log = ThrottledLogger(partial(warn, node))
        into, out = map(node.resolve_topic_name, (topics.states, topics.answers))
        if into == out:
            raise rd.RobodynError(f"a relay cannot answer on {out}, which it listens to")
        self._writers: list[_Writer] = []
        self.outputs = RelayOutputs(robot, topics, MESSAGES, self._open, self._log)
        node.get_logger().info(
            f"{robot.name}: {into} is answered on {out}; "
            f"measured joints: {', '.join(self.outputs.relay.names.motors) or 'any'}"
        )

    def start(self) -> None:
        """Answer messages that come from now on."""
        kind = message_class(JOINT_STATE)
        self._subscription = self._node.create_subscription(
            kind, self._topics.states, self._received, quality(WAITING), raw=True
        )

    def stop(self) -> None:
        """Answer no messages; topics stay."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def close(self) -> None:
        """Remove everything from the node."""
        self.stop()
        for writer in self._writers:
            self._node.destroy_publisher(writer.publisher)
        self._log.close()

    def _open(self, kind: str, topic: str, latched: bool) -> _Writer:
        qos = quality(1 if latched else 100, latched=latched)
        self._writers.append(_Writer(self._node.create_publisher(message_class(kind), topic, qos)))
        return self._writers[-1]

    def _received(self, data: bytes, info: Mapping[str, int]) -> None:
        from rclpy.serialization import deserialize_message

        came = info["received_timestamp"]
        if came:
            self.outputs.tell_of_delay(1e-9 * (time.time_ns() - came))
        try:
            check_command(data)
            message = deserialize_message(data, message_class(JOINT_STATE))
        except Exception as error:  # whatever the bytes of others do
            self._log("bytes", f"joint state not answered: {error}")
            return
        self.outputs.receive(message)


class _Writer:
    """A publisher, as `RelayOutputs` wants it."""

    def __init__(self, publisher: Any) -> None:
        self.publisher, self.write = publisher, publisher.publish

    @property
    def matched(self) -> int:
        """Number of subscribers."""
        return int(self.publisher.get_subscription_count())


def _with_parameters(node: Any, topics: RelayTopics) -> RelayTopics:
    """Choices of a relay as read-only parameters of a node, which a file may give."""
    there = optional("tf2_msgs")
    defaults = {
        "publish_tf": topics.tf and there,
        "frame_prefix": topics.frame_prefix,
        "wrenches": list(topics.wrenches) or [""],
    }
    for name, value in defaults.items():
        declare_fixed(node, name, value)
    tf = fixed(node, "publish_tf")
    if tf and not there:
        raise rd.RobodynError(WITHOUT_TF2)
    if topics.tf and not there:
        node.get_logger().warning(f"/tf is not published: {WITHOUT_TF2}")
    wrenches = tuple(fixed(node, "wrenches") or ())
    return replace(topics, tf=tf, frame_prefix=fixed(node, "frame_prefix"), wrenches=wrenches)
