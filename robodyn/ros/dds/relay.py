"""A relay of joint states on ROS 2 topics over DDS, without ROS (extra ``dds``)."""

from __future__ import annotations

import math
import time

import robodyn as rd
from robodyn.bags.messages import JOINT_STATE
from robodyn.ros.dds.node import DdsNode, Writer
from robodyn.ros.relay.relay_topics import WAITING, RelayOutputs, RelayTopics
from robodyn.ros.states.throttled_logger import ThrottledLogger

#: Longest wait for a message [s]; then it is looked whether time is up.
WAIT = 0.1


class DdsRelay:
    """Answers the joint states of some joints with those of all.

    Raises RobodynError: If it would listen to its own answers.
    """

    def __init__(
        self, robot: rd.Robot, node: DdsNode, log: ThrottledLogger, topics: RelayTopics
    ) -> None:
        self._node, self._log = node, log
        into, out = map(node.resolved, (topics.states, topics.answers))
        if into == out:
            raise rd.RobodynError(f"a relay cannot answer on {out}, which it listens to")
        self.outputs = RelayOutputs(robot, topics, node.messages, self._open, log)
        self._reader = node.reader(JOINT_STATE.split("/")[-1], topics.states, depth=WAITING)
        self._malformed = 0

    @property
    def summary(self) -> str:
        """How many joint states were answered."""
        return self.outputs.summary

    def run(self, duration: float = math.inf) -> None:
        """Answer messages for a duration [s], or until interrupted."""
        end = time.monotonic() + duration
        while (left := end - time.monotonic()) > 0.0:
            if self._reader.wait(min(WAIT, left)):
                self.receive()

    def receive(self) -> None:
        """Answer the messages that wait."""
        taken = self._reader.take(WAITING)
        start = time.monotonic()
        for message in taken:
            self.outputs.receive(message)
        self.outputs.tell_of_delay(time.monotonic() - start)
        for problem in self._reader.unread:
            self._log("bytes", f"joint state not answered: {problem}")
        if self._reader.malformed > self._malformed:
            self._malformed = self._reader.malformed
            self._log("malformed", "a message that is not of its topic's type is ignored")

    def _open(self, kind: str, topic: str, latched: bool) -> Writer:
        depth = 1 if latched else 100
        return self._node.writer(kind.split("/")[-1], topic, depth=depth, latched=latched)
