"""The topics of a relay, by rclpy or DDS alike; nothing here needs ROS."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import robodyn as rd
from robodyn.bags import messages as kinds
from robodyn.bags.messages import Messages, Stamp, topic_name
from robodyn.ros.relay.relay import Relay, RelayedState
from robodyn.ros.states.frames import LinkTransforms, Transform, multi_joint, sensor_frames
from robodyn.ros.states.messages import JointStateContent, wrench_content
from robodyn.ros.states.throttled_logger import ThrottledLogger

TF = "tf2_msgs/msg/TFMessage"
#: Most reasons that are counted each by itself.
MOST_REASONS = 50
#: Seconds after which it is looked again who listens.
LOOK = 0.1
#: Seconds that an answer may be late without a word.
LATE = 0.5
#: Messages that wait to be answered; more than this are lost, the oldest first.
WAITING = 1000


class Writer(Protocol):
    """A publisher of rclpy or DDS."""

    @property
    def matched(self) -> int:
        """Number of subscribers."""

    def write(self, message: Any) -> None:
        """Send a message."""


@dataclass(frozen=True)
class RelayTopics:
    """Names and choices of a relay.

    Attributes
    ----------
    states, answers : str
        Topics of the joint states that come in, and of all joints.
    tf : bool
        Publish ``/tf`` and ``/tf_static``.
    frame_prefix : str
        Stands before names of links in ``frame_id`` and ``/tf``.
    wrenches : tuple of str
        Joints of which loads are offered; none: all that move.

    Examples
    --------
    >>> from robodyn.ros import RelayTopics
    >>> RelayTopics(states="driven").answers
    '~/joint_states'
    """

    states: str = "joint_states"
    answers: str = "~/joint_states"
    tf: bool = True
    frame_prefix: str = ""
    wrenches: tuple[str, ...] = ()


class RelayOutputs:
    """Answers joint states on the topics of a relay.

    open_writer: Opens a publisher, of a type of messages, a topic, and whether it is latched.
    made: Makes messages of the transport.
    log: Where is told what is wrong.

    received, answered: Messages so far.
    """

    def __init__(
        self,
        robot: rd.Robot,
        topics: RelayTopics,
        made: Messages,
        open_writer: Callable[[str, str, bool], Writer],
        log: ThrottledLogger,
    ) -> None:
        self.relay, self._topics, self._made, self._log = Relay(robot), topics, made, log
        robot, relay = self.relay.robot, self.relay
        self.received = self.answered = 0
        joints = robot.joints
        self._offered = topics.wrenches or tuple(
            n for n, x in joints.items() if x.kind.nv and not x.kind.is_free
        )
        for name in self._offered:
            _ = name == "base" or joints[name]  # refuses others
        self._multi = tuple(name for name in relay.names.multi if name not in relay.free)
        for sentence in relay.untold:
            log.each(sentence)
        self._asked = topics.wrenches or None  # those whose wrenches are determined
        self._prepare()
        self._states = open_writer(kinds.JOINT_STATE, topics.answers, False)
        if self._multi:
            self._wide = open_writer(kinds.MULTI_DOF, "~/multi_dof_joint_states", False)
        self._wrenches = {
            name: open_writer(kinds.WRENCH, f"~/joint_wrenches/{topic_name(name)}", False)
            for name in self._offered
        }
        self._heard, self._wanted, self._look_again = False, list[str](), 0.0
        self._poses = None
        if topics.tf:
            self._poses = TransformMessage(made, relay.links, topics.frame_prefix)
            self._tf = open_writer(TF, "/tf", False)
            still = LinkTransforms(robot, fixed=True).transforms(robot.neutral())
            fixed = TransformMessage.of(made, still + sensor_frames(robot), topics.frame_prefix)
            self._static = open_writer(TF, "/tf_static", True)
            self._static.write(fixed)

    def receive(self, message: Any) -> None:
        """Answer a ``sensor_msgs/JointState``; what cannot be answered is told of.

        Whatever is wrong with it, the next one is answered.
        """
        self.received += 1
        try:
            found = self.relay.complete(JointStateContent.of_message(message))
            self._publish(found)
        except Exception as error:  # whatever the numbers of others do
            self._log(self._reason(error), f"joint state not answered: {error}")
            return
        self.answered += 1
        for kind, sentence in found.remarks.items():
            self._log(kind, sentence)

    def tell_of_delay(self, seconds: float) -> None:
        """Warn if a message had to wait so long [s] to be answered."""
        if seconds > LATE:
            self._log(
                "delay",
                f"answers come {seconds:.2g} s late: messages come faster than this computer "
                f"answers them. Of more than {WAITING} that wait the oldest are lost",
            )

    @property
    def summary(self) -> str:
        """What a node says in the end."""
        return summary(self.answered, self.received)

    def _reason(self, error: Exception) -> str:
        """What is wrong, but for its numbers, so that the same is not told of at each message."""
        reason = re.sub(r"[\d.]+", "", str(error))
        if reason not in self._log.counts and len(self._log.counts) > MOST_REASONS:
            return type(error).__name__
        return reason

    def _prepare(self) -> None:
        try:
            self.relay.prepare(self._asked)
        except rd.SingularError:
            pass  # just where it starts
        except rd.RobodynError as error:
            self._log("loads", f"no wrenches of joints: {error}")
            self._offered = ()

    def _publish(self, found: RelayedState) -> None:
        made, state = self._made, found.state
        columns = state.position, state.velocity, state.effort
        self._states.write(made.joint_state(state.stamp, state.name, *columns))
        if self._poses is not None:
            self._tf.write(self._poses.at(state.stamp, found.poses))
        self._look_who_listens()
        if self._heard:
            robot, stamp = self.relay.robot, found.state.stamp
            v = np.zeros(robot.nv) if found.v is None else found.v
            places, twists = zip(
                *(multi_joint(robot, name, found.q, v) for name in self._multi), strict=True
            )
            poses = [np.append(x.translation, x.rotation) for x in places]
            known: Iterable[Any] = () if found.v is None else twists
            self._wide.write(self._made.multi_dof_joint_state(stamp, self._multi, poses, known))
        if len(state.effort) and self._wanted:
            try:
                self._publish_wrenches(found)
            except rd.RobodynError as error:
                self._log("loads", f"no wrenches of joints: {error}")

    def _look_who_listens(self) -> None:
        """Look now and then: to ask for each message takes as long as to answer it."""
        now = time.monotonic()
        if now < self._look_again:
            return
        self._look_again = now + LOOK
        self._heard = bool(self._multi and self._wide.matched)
        self._wanted = [name for name, writer in self._wrenches.items() if writer.matched]

    def _publish_wrenches(self, found: RelayedState) -> None:
        wrenches = found.wrenches(self._asked)  # all of them, for which code is there
        for name in self._wanted:
            x = wrench_content(self.relay.robot, name, wrenches[name], found.state.stamp)
            frame, columns = self._topics.frame_prefix + x.frame_id, np.append(x.force, x.torque)
            self._wrenches[name].write(self._made.wrench(x.stamp, frame, columns))


def summary(answered: int, received: int) -> str:
    """What a relay says in the end."""
    return f"{answered} of {received} joint states answered"


class TransformMessage:
    """A ``tf2_msgs/TFMessage`` that is made once; its numbers change."""

    def __init__(self, made: Messages, links: Iterable[tuple[str, str]], prefix: str) -> None:
        self._made = made
        places = [Transform(*pair, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])) for pair in links]
        self._message = self.of(made, places, prefix)

    @staticmethod
    def of(made: Messages, places: Iterable[Transform], prefix: str) -> Any:
        """A message of some poses, without a stamp."""
        found = [
            made.transform(
                (0, 0), prefix + x.parent, prefix + x.child, np.append(x.translation, x.rotation)
            )
            for x in places
        ]
        return made.class_of(TF)(transforms=found)

    def at(self, stamp: Stamp, poses: Any) -> Any:
        """The message, with poses of shape (n, 7)."""
        time = self._made.header(stamp).stamp
        for one, (x, y, z, *turn) in zip(self._message.transforms, poses.tolist(), strict=True):
            one.header.stamp = time
            place, rotation = one.transform.translation, one.transform.rotation
            place.x, place.y, place.z = x, y, z
            rotation.x, rotation.y, rotation.z, rotation.w = turn
        return self._message
