"""A simulated robot on ROS 2 topics over DDS, without ROS (extra ``dds``)."""

from __future__ import annotations

import math
import time

from robodyn.ros.dds.node import DdsNode
from robodyn.ros.engine.engine import INPUTS, Engine
from robodyn.ros.engine.pacing import Pace, Stamps, burst, read_together
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.urdf import write
from robodyn.urdf.extensions import refused_by_others

#: Length of the queue of commands between two publications; older ones are dropped.
BURST = 10


class DdsSimulation:
    """Publishes what an engine does, and hands it what is commanded.

    ============================ ========================================= =======================
    topic                        type                                      content
    ============================ ========================================= =======================
    ``joint_states``             sensor_msgs/JointState                    of all joints
    ``robot_description``        std_msgs/String                           URDF, latched
    ``~/commands``               std_msgs/Float64MultiArray                one number for each of
                                                                           ``engine.joints``
    ``~/joint_commands``         sensor_msgs/JointState                    numbers for some of them
    ``~/joint_trajectory``       trajectory_msgs/JointTrajectory           a path; empty: stop
    ============================ ========================================= =======================

    Whatever is wrong with a command, it is ignored, and the simulation goes on.

    log: Where warnings go.
    description, optional: Default: the URDF of the robot, loops as ``<loop>``.
    """

    def __init__(
        self,
        engine: Engine,
        node: DdsNode,
        log: ThrottledLogger,
        description: str | None = None,
    ) -> None:
        self.engine, self.log = engine, log
        self._states = node.writer("JointState", "joint_states")
        self._kept = latched = node.writer("String", "robot_description", depth=1, latched=True)
        if description is None:
            description = write(engine.robot.mechanism, strict_tree=True)
            for line in refused_by_others(engine.robot.mechanism, strict_tree=True):
                log("description", f"robot_description: {line}")
        latched.text(description)
        depths = {"JointTrajectory": 1}
        kinds = {topic: kind.split("/")[-1] for topic, kind in INPUTS.items()}
        self._readers = {
            topic: node.reader(kind, topic, depth=depths.get(kind, BURST))
            for topic, kind in kinds.items()
        }
        self._malformed = 0
        #: States published, and publications that the computer was too late for.
        self.published = self.overruns = self._now = 0

    def _read_clocks(self) -> int:
        """Read the clock for pacing, and the clock for time stamps at the same instant."""
        read, self._now = read_together(time.monotonic_ns, time.time_ns)
        return read

    def run(self, duration: float = math.inf) -> None:
        """Simulate in real time, for a duration [s] or until interrupted."""
        settings = self.engine.settings
        pace, stamps = Pace(settings.rate, settings.real_time_factor, settings.step), Stamps()
        start = due = time.monotonic_ns()
        period = round(1e9 / settings.rate)
        while due - start <= 1e9 * duration:
            self.receive()
            for steps, late in burst(pace, self._read_clocks):
                stamp = stamps.next(self._now - late)
                self.engine.advance(steps)
                self.publish(stamp)
            pace.report(self.log)
            due += period
            wait = due - time.monotonic_ns()
            if wait > 0:
                time.sleep(1e-9 * wait)
            else:  # late: the next publication is due from now on
                due -= wait
            self.overruns = pace.overruns

    def publish(self, stamp: int) -> None:
        """Send the present state with a time stamp [ns]."""
        q, v, _, tau = self.engine.observe()
        content = self.engine.names.content(q, v, tau, stamp)
        self._states.state(content.name, content.position, content.velocity, content.effort, stamp)
        self.published += 1

    def receive(self) -> None:
        """Apply received commands; of each kind, the newest one."""
        for topic, reader in self._readers.items():
            waiting = reader.take(BURST)
            if len(waiting) == BURST:
                self.log("flood", "commands come faster than they are used: the newest count")
            for message in waiting:
                try:
                    self.engine.obey(topic, message, time.time_ns())
                except Exception as error:  # whatever the numbers of others do
                    self.log.each(f"command ignored: {error}")
            for problem in reader.unread:
                self.log.each(f"command ignored: {problem}")
        malformed = sum(reader.malformed for reader in self._readers.values())
        if malformed > self._malformed:
            self._malformed = malformed
            self.log("malformed", "a message that is not of its topic's type is ignored")
