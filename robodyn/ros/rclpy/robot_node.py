"""A node of rclpy, plain or managed, with what is made of a robot on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import robodyn as rd
from robodyn.ros.rclpy.access import rclpy, ros_errors, start

#: Seconds that a node waits for callbacks at most before it looks whether ROS still runs.
LONGEST_WAIT = 0.5


class RobotNode:
    """A node, and what is made of a robot on it.

    robot, optional: Robot, path or URDF text. Default: the parameter ``robot_description``.
    declare: Node -> its parameters.
    make: (node, robot, parameters) -> an object with ``start``, ``stop`` and ``close``.
    managed: A managed (lifecycle) node, on which ``configure`` makes that object; else it is made
        and started now.
    made: The object; ``None`` before ``configure`` and after ``cleanup``.
    Raises MissingExtraError: If rclpy is not installed.
    Raises RobodynError: If ROS does not take the name or a parameter.
    """

    def __init__(
        self,
        robot: rd.Robot | str | None,
        name: str,
        declare: Callable[[Any], Any],
        make: Callable[[Any, rd.Robot, Any], Any],
        *,
        managed: bool = False,
    ) -> None:
        start()
        self._robot, self._make = robot, make
        self.made: Any = None
        with ros_errors():
            self.node: Any = _managed_node(name) if managed else rclpy().create_node(name)
        try:
            if robot is None:
                self.node.declare_parameter("robot_description", "")
            with ros_errors():
                self._parameters = declare(self.node)
            if managed:
                self.node.add_managed_entity(_callbacks(self))
            else:
                self._load().start()
        except BaseException:
            self.node.destroy_node()
            raise

    def _load(self) -> Any:
        robot = self._robot
        if robot is None:
            robot = str(self.node.get_parameter("robot_description").value)
            if not robot.strip():
                raise rd.UrdfError("no robot: give a file, or the parameter robot_description")
        robot = robot if isinstance(robot, rd.Robot) else rd.load(robot)
        self.made = self._make(self.node, robot, self._parameters)
        return self.made

    def configure(self) -> bool:
        """Load the robot, and return whether that succeeded."""
        try:
            self._load()
        except (rd.RobodynError, OSError) as error:
            self.node.get_logger().error(str(error))
            return False
        return True

    def forget(self) -> None:
        """Remove everything from the node."""
        if self.made is not None:
            self.made.close()
            self.made = None

    def close(self) -> None:
        """Stop, and take the node off the network."""
        self.forget()
        self.node.destroy_node()


def _managed_node(name: str) -> Any:
    rclpy()
    from rclpy.lifecycle import LifecycleNode

    return LifecycleNode(name)


def _callbacks(own: RobotNode) -> Any:
    """Callbacks of rclpy for changes of a managed node's state."""
    from rclpy.lifecycle import ManagedEntity, TransitionCallbackReturn as Outcome

    def answering(change: Callable[[], bool | None]) -> Callable[..., Any]:
        return lambda self, state: Outcome.FAILURE if change() is False else Outcome.SUCCESS

    changes: dict[str, Callable[[], bool | None]] = {
        "on_configure": own.configure,
        "on_activate": lambda: own.made.start() if own.made else False,
        "on_deactivate": lambda: own.made.stop() if own.made else None,
        **dict.fromkeys(("on_cleanup", "on_shutdown", "on_error"), own.forget),
    }
    answers = {name: answering(change) for name, change in changes.items()}
    return type("Managed", (ManagedEntity,), answers)()


def spin(node: Any) -> None:
    """Serve a node until ROS shuts down or Ctrl-C; both end quietly.

    Each wait is bounded: a signal just before a wait shuts the context down without waking it, and
    a node that has no timer would wait on for ever.
    """
    module = rclpy()
    from rclpy.executors import ExternalShutdownException

    executor = module.get_global_executor()
    executor.add_node(node)
    try:
        while executor.context.ok():
            executor.spin_once(timeout_sec=LONGEST_WAIT)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except Exception:
        if module.ok():
            raise  # else ROS shut down while a callback ran
    finally:
        executor.remove_node(node)
