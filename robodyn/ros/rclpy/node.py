"""A simulated robot as a ROS node: subscriptions, publications, services, a timer, `SimNode`."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, Self

import robodyn as rd
from robodyn.bags.messages import JOINT_STATE
from robodyn.ros.commands.settings import Settings
from robodyn.ros.engine.engine import INPUTS, Engine
from robodyn.ros.engine.pacing import Pace, Stamps, burst, read_together
from robodyn.ros.rclpy.access import message_class, quality, rclpy
from robodyn.ros.rclpy.follow_joint_trajectory import FollowJointTrajectory, action_type
from robodyn.ros.rclpy.parameters import Parameters
from robodyn.ros.rclpy.publishing import Publishing
from robodyn.ros.rclpy.robot_node import RobotNode, spin
from robodyn.ros.states.sizes import check_command, check_trajectory
from robodyn.ros.states.throttled_logger import ThrottledLogger

#: Largest number of messages that wait where each may be of other joints, from another sender.
SENDERS = 10


class SimulationOnNode:
    """Adds a simulated robot to a node, which the caller owns.

    published: States published so far.
    """

    def __init__(self, node: Any, robot: rd.Robot, parameters: Parameters) -> None:
        self._node, self._parameters = node, parameters
        self._log = ThrottledLogger(partial(warn, node))
        settings, joints = parameters.settings, parameters.fixed("joints")
        self.engine = Engine(robot, settings, joints=joints, log=self._log)
        self.engine.advance(1)  # compiled before the clock starts
        self.engine.reset()
        self._publishing = Publishing(node, self.engine, parameters)
        self._subscriptions, self._services = self._inputs()
        self.paused, self._timer, self.published = False, None, 0
        kind = action_type()
        running = lambda: self._timer is not None  # noqa: E731
        self._action = kind and FollowJointTrajectory(node, self.engine, kind, running)
        self._stamps = Stamps()
        self._pace = Pace(settings.rate, settings.real_time_factor, settings.step)
        self._again = node.create_guard_condition(self._tick)
        parameters.check, parameters.changed = self.engine.check, self._changed
        trees = "" if not robot.nc else f", {robot.nc} loop constraints"
        node.get_logger().info(
            f"{robot.name}: {len(robot.joint_names)} joints{trees}; commands: "
            + ", ".join(self.engine.joints)
        )

    # -- start and stop --------------------------------------------------------------------------

    def start(self) -> None:
        """Start the simulation; earlier commands are dropped."""
        self._poll(use=False)
        self._publish_now()  # what is compiled for it is not late then
        self._run()

    def _run(self) -> None:
        self.stop()
        settings = self._parameters.settings
        self._pace = self._pace.changed(settings.rate, settings.real_time_factor, settings.step)
        self._clock = self._node.get_clock() if self._parameters.sim_time else _steady()
        self._timer = self._node.create_timer(1.0 / settings.rate, self._tick, clock=self._clock)

    def stop(self) -> None:
        """Stop the simulation; topics and services stay."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def close(self) -> None:
        """Remove everything from the node."""
        self.stop()
        self._parameters.check = self._parameters.changed = None
        for subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        for service in self._services:
            self._node.destroy_service(service)
        if self._action:
            self._action.close()
        self._node.destroy_guard_condition(self._again)
        self._publishing.close()
        self._log.close()

    @property
    def overruns(self) -> int:
        """Publications that came late so far."""
        return self._pace.overruns

    # -- time ------------------------------------------------------------------------------------

    def _tick(self) -> None:
        if self._timer is None:
            return
        self._poll()
        pace = self._pace
        before = pace.overruns
        for steps, ago in burst(pace, self._read_clocks):
            if not self.paused:
                self.engine.advance(steps)
            self._publish(self._now - ago)
        if self._action:
            self._action.look()
        pace.report(self._log)
        if pace.overruns > before:
            self._publishing.overruns(pace.overruns)
        if self._parameters.sim_time and pace.behind(self._read_clocks()):
            self._again.trigger()  # the clock of others may stand still until the next tick

    def _read_clocks(self) -> int:
        """Read the clock for pacing, and the clock for time stamps at the same instant."""
        clocks = self._clock, self._node.get_clock()
        read, self._now = read_together(*(lambda x=x: int(x.now().nanoseconds) for x in clocks))
        return read

    def _stamp(self, now: int) -> int:
        """Time stamp [ns] of messages: simulated time, if the node publishes the clock."""
        own = self._parameters.fixed("publish_clock")
        return round(1e9 * self.engine.t) if own else max(now, 0)

    def _publish_now(self) -> None:
        self._publish(self._node.get_clock().now().nanoseconds)

    def _publish(self, now: int) -> None:
        """Publish the state as that of a time [ns]."""
        stamp = self._stamp(now)
        if not self._parameters.fixed("publish_clock"):
            stamp = self._stamps.next(stamp)
        self.published += 1
        try:
            self._publishing.publish(stamp)
        except rd.RobodynError as error:
            self._log("publish", f"not all of the state is published: {error}")

    def _changed(self) -> None:
        self.engine.configure(self._parameters.settings)
        if self._timer is not None:
            self._run()

    # -- commands and services -------------------------------------------------------------------

    def _inputs(self) -> tuple[dict[str, Any], list[Any]]:
        node, group = self._node, _polled_group()
        subscriptions = {
            topic: node.create_subscription(
                message_class(kind), topic, lambda _: None, quality(depth), callback_group=group
            )
            for topic, kind in INPUTS.items()
            for depth in (SENDERS if kind == JOINT_STATE else 1,)
        }
        trigger = message_class("std_srvs/srv/Trigger")
        services = [
            node.create_service(trigger, "~/reset", self._reset),
            node.create_service(message_class("std_srvs/srv/SetBool"), "~/pause", self._pause),
            node.create_service(trigger, "~/step", self._step),
        ]
        return subscriptions, services

    def _poll(self, *, use: bool = True) -> None:
        """Take the newest messages of each topic, and drop older ones.

        Their bytes are taken: what is too large must not be made objects of Python.
        """
        for topic, subscription in self._subscriptions.items():
            for _ in range(SENDERS):
                with subscription.handle:
                    oldest = subscription.handle.take_message(subscription.msg_type, True)
                if oldest is None:
                    break
                if use:
                    self._take(topic, oldest[0], subscription.msg_type)

    def _take(self, topic: str, data: bytes, kind: Any) -> None:
        from rclpy.serialization import deserialize_message

        follows = topic == "~/joint_trajectory"
        try:
            (check_trajectory if follows else check_command)(data)
            now = self._stamp(self._node.get_clock().now().nanoseconds)
            self.engine.obey(topic, deserialize_message(data, kind), now)
        except Exception as error:  # whatever the bytes and numbers of others do
            self._log.each(f"{'trajectory' if follows else 'command'} ignored: {error}")

    def _reset(self, request: Any, response: Any) -> Any:
        self.engine.reset()
        self._show()
        return _answered(response, "at the start, at rest")

    def _pause(self, request: Any, response: Any) -> Any:
        self.paused = bool(request.data)
        self._pace.restart()
        return _answered(response, "paused" if self.paused else "running")

    def _step(self, request: Any, response: Any) -> Any:
        settings = self._parameters.settings
        if not self.paused:
            return _answered(response, "not paused", success=False)
        period = settings.real_time_factor / (settings.rate * settings.step)
        self.engine.advance(max(1, round(period)))
        self._show()
        return _answered(response, f"t = {self.engine.t:.9g} s")

    def _show(self) -> None:
        """Publish the state that a service has changed, if the simulation is stopped."""
        if self.paused or self._timer is None:
            self._pace.restart()  # or stamps of what is overdue would run back
            self._publish_now()


def _answered(response: Any, text: str, *, success: bool = True) -> Any:
    response.success, response.message = success, text
    return response


def warn(node: Any, text: str) -> None:
    """Log a warning; also where ROS has shut down, as after Ctrl-C."""
    if rclpy().ok(context=node.context):
        node.get_logger().warning(text)
    else:
        print(f"robodyn: {text}", file=sys.stderr, flush=True)


def _polled_group() -> Any:
    """Callback group of polled subscriptions, so that messages cannot flood the executor."""
    rclpy()
    from rclpy.callback_groups import CallbackGroup

    names = ("can_execute", "beginning_execution", "ending_execution")
    return type("Polled", (CallbackGroup,), dict.fromkeys(names, lambda self, entity: False))()


def _steady() -> Any:
    rclpy()
    from rclpy.clock import Clock
    from rclpy.clock_type import ClockType

    return Clock(clock_type=ClockType.STEADY_TIME)


class SimNode:
    """A simulated robot on the usual ROS topics; see docs/guides/ros/ros.md.

    Parameters
    ----------
    robot : Robot, path or URDF text, optional
        Default: the parameter ``robot_description``.
    name : str
        Of the node.
    settings : Settings, optional
        Defaults of the parameters.

    Attributes
    ----------
    node : rclpy.node.Node
    engine : Engine

    Raises
    ------
    MissingExtraError
        If rclpy is not installed.
    RobodynError
        If ROS does not take the name or a parameter.
    """

    def __init__(
        self,
        robot: rd.Robot | str | None = None,
        *,
        name: str = "robodyn",
        settings: Settings | None = None,
    ) -> None:
        self._own = _node(robot, name, settings, managed=False)
        self.node: Any = self._own.node
        self._simulation: SimulationOnNode = self._own.made
        self.engine = self._simulation.engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def published(self) -> int:
        """States published so far."""
        return self._simulation.published

    @property
    def overruns(self) -> int:
        """Publications that came late so far."""
        return self._simulation.overruns

    def spin(self) -> None:
        """Run until ROS shuts down or Ctrl-C."""
        spin(self.node)

    def close(self) -> None:
        """Stop, and take the node off the network."""
        self._own.close()


class SimLifecycleNode:
    """A simulated robot as a managed (lifecycle) node.

    ``configure`` loads the robot and makes topics and services, ``activate`` lets time run,
    ``deactivate`` stops it, ``cleanup`` forgets everything. A robot that cannot be loaded makes
    ``configure`` fail, and the node stays.

    Parameters
    ----------
    robot, name, settings
        As for `SimNode`.

    Attributes
    ----------
    node : rclpy.lifecycle.LifecycleNode
    """

    def __init__(
        self,
        robot: rd.Robot | str | None = None,
        *,
        name: str = "robodyn",
        settings: Settings | None = None,
    ) -> None:
        self._own = _node(robot, name, settings, managed=True)
        self.node: Any = self._own.node

    @property
    def simulation(self) -> SimulationOnNode | None:
        """The simulation, from ``configure`` to ``cleanup``."""
        found: SimulationOnNode | None = self._own.made
        return found

    @property
    def published(self) -> int:
        """States published since ``configure``."""
        return 0 if self.simulation is None else self.simulation.published

    @property
    def overruns(self) -> int:
        """Publications that came late since then."""
        return 0 if self.simulation is None else self.simulation.overruns

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


def _node(
    robot: rd.Robot | str | None, name: str, settings: Settings | None, *, managed: bool
) -> RobotNode:
    declare = lambda node: Parameters(node, settings or Settings())  # noqa: E731
    return RobotNode(robot, name, declare, SimulationOnNode, managed=managed)
