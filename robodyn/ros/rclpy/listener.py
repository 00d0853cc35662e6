"""`StateListener`: controls a real robot by efforts from inverse dynamics or a controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.bags.messages import JOINT_STATE, NUMBERS
from robodyn.ros.commands.commanded_joints import CommandedJoints
from robodyn.ros.rclpy.access import MESSAGES, message_class, quality, rclpy, ros_errors, start
from robodyn.ros.rclpy.robot_node import spin
from robodyn.ros.states.estimate import Estimator, State
from robodyn.ros.states.messages import StateNames
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.simulation.control.controller import ControlFunction, Controller
from robodyn.simulation.control.running_controller import RunningController


class ControlledStates:
    """The forces of a controller at one state after the other.

    A controller with a state of its own goes on from sample to sample, and starts anew where the
    time goes back, as that of a simulation does that is restarted.

    Raises ShapeError: If it is no controller.
    """

    def __init__(self, robot: rd.Robot, controller: Controller) -> None:
        self._made = robot, controller
        self._running, self._t = RunningController(robot, controller), -float("inf")

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces at time ``t`` [s], shape (nv,) [N m, N]."""
        if t < self._t:
            self._running = RunningController(*self._made)
        self._t = t
        return self._running(t, q, v)

    def notify_applied(self, tau: FloatArray) -> None:
        """Say which forces, shape (nv,), act since the latest state."""
        self._running.notify_applied(tau)


class StateListener:
    """Subscribes to ``joint_states`` and publishes efforts.

    For each state that comes in, accelerations are asked of ``acceleration`` and the efforts that
    produce them are published: inverse dynamics. With ``controller`` instead, its torques are.
    Names are matched; mimic joints and joints that loops determine need not be measured; what is
    missing is warned of, and nothing is published then.

    Parameters
    ----------
    robot : Robot
    acceleration : callable, optional
        ``a = acceleration(t, q, v)``, shape (nv,). With loops the nearest accelerations that keep
        them closed are used. Default: zero, which lets the robot stay where it is.
    controller : callable or object with a state, optional
        ``tau = controller(t, q, v)``, or what `robodyn.simulate` takes, instead of
        ``acceleration``. Each state that comes in is a sample; where the time of states goes back,
        its own state starts anew.
    name : str
        Of the node.
    states, efforts : str
        Topics: ``sensor_msgs/JointState`` in, ``std_msgs/Float64MultiArray`` out, in the order of
        ``joints``.
    joints : sequence of str, optional
        Default: those with motors.
    limit : bool
        Cut efforts to the limits of the joints and their motors.

    Attributes
    ----------
    node : rclpy.node.Node
    state : State or None
        The last one.

    Raises
    ------
    MissingExtraError
        If rclpy is not installed.
    """

    def __init__(
        self,
        robot: rd.Robot,
        acceleration: ControlFunction | None = None,
        *,
        controller: Controller | None = None,
        name: str = "robodyn_listener",
        states: str = "joint_states",
        efforts: str = "~/commands",
        joints: tuple[str, ...] | None = None,
        limit: bool = True,
    ) -> None:
        self.robot, self.names = robot, StateNames(robot)
        self._commanded, self._limit = CommandedJoints(self.names, joints), limit
        self.joints = self._commanded.names
        #: (t, q, v) -> forces, shape (nv,).
        self._forces: Callable[[float, FloatArray, FloatArray], FloatArray]
        self._controlled = None if controller is None else ControlledStates(robot, controller)
        self._forces = self._controlled or self._by(acceleration)
        self._estimator = Estimator(self.names)
        self.state: State | None = None
        start()
        with ros_errors():
            self.node: Any = rclpy().create_node(name)
        self._log = ThrottledLogger(self.node.get_logger().warning)
        self._out = self.node.create_publisher(message_class(NUMBERS), efforts, quality(1))
        self.node.create_subscription(message_class(JOINT_STATE), states, self._received, quality())

    def spin(self) -> None:
        """Run until ROS shuts down or Ctrl-C."""
        spin(self.node)

    def close(self) -> None:
        """Take the node off the network."""
        self.node.destroy_node()

    def _received(self, msg: Any) -> None:
        try:
            measured = self.names.read(msg.name, msg.position, msg.velocity)
            if measured.unknown:
                self._log("unknown", f"not of this robot: {', '.join(measured.unknown)}")
            state = self._estimator.complete(measured)
            if self._estimator.remark:
                self._log("branch", self._estimator.remark)
            stamp = msg.header.stamp
            tau = self._forces(stamp.sec + 1e-9 * stamp.nanosec, state.q, state.v)
            efforts = self._commanded.efforts(state.q, np.asarray(tau))
        except (rd.RobodynError, TypeError, ValueError) as error:
            self._log("state", f"joint state not used: {error}")
            return
        if not np.isfinite(efforts).all():
            self._log("torque", "no efforts published: they are not finite")
            return
        self.state = state
        applied = self._commanded.forces(state.q, efforts, limited=self._limit)
        if self._limit:
            efforts = self._commanded.efforts(state.q, applied)
        if self._controlled is not None:
            self._controlled.notify_applied(applied)
        self._out.publish(MESSAGES.numbers(efforts))

    def _by(
        self, acceleration: ControlFunction | None
    ) -> Callable[[float, FloatArray, FloatArray], FloatArray]:
        def law(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            a = np.zeros(self.robot.nv) if acceleration is None else acceleration(t, q, v)
            if self.robot.nc:
                a = self.robot.consistent_acceleration(q, v, a)
            return np.asarray(self.robot.inverse_dynamics(q, v, a))

        return law
