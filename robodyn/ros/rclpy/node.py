"""`SimNode` and `SimLifecycleNode`: a simulated robot as a ROS node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import robodyn as rd
from robodyn.ros.engine.settings import Settings
from robodyn.ros.rclpy.access import rclpy, ros_errors, start
from robodyn.ros.rclpy.parameters import Parameters
from robodyn.ros.rclpy.simulation_node import SimulationOnNode

LONGEST_WAIT = 0.5
"""Seconds that a node waits for callbacks at most before it looks whether ROS still runs."""


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
        start()
        with ros_errors():
            self.node: Any = rclpy().create_node(name)
        try:
            with ros_errors():
                parameters = Parameters(self.node, settings or Settings())
            self._simulation = SimulationOnNode(self.node, robot_of(self.node, robot), parameters)
        except BaseException:
            self.node.destroy_node()
            raise
        self.engine = self._simulation.engine
        self._simulation.start()

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
        self._simulation.close()
        self.node.destroy_node()


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
    simulation : SimulationOnNode or None
        From ``configure`` to ``cleanup``.
    """

    def __init__(
        self,
        robot: rd.Robot | str | None = None,
        *,
        name: str = "robodyn",
        settings: Settings | None = None,
    ) -> None:
        start()
        rclpy()
        from rclpy.lifecycle import LifecycleNode

        self._robot = robot
        self.simulation: SimulationOnNode | None = None
        with ros_errors():
            self.node: Any = LifecycleNode(name)
        self.node.add_managed_entity(managed(self.configure, lambda: self.simulation, self.forget))
        try:
            with ros_errors():
                if robot is None:
                    self.node.declare_parameter("robot_description", "")
                self._parameters = Parameters(self.node, settings or Settings())
        except BaseException:
            self.node.destroy_node()
            raise

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
        self.forget()
        self.node.destroy_node()

    def configure(self) -> bool:
        """Load the robot, and return whether that succeeded."""
        try:
            robot = robot_of(self.node, self._robot)
            self.simulation = SimulationOnNode(self.node, robot, self._parameters)
        except (rd.RobodynError, OSError) as error:
            self.node.get_logger().error(str(error))
            return False
        return True

    def forget(self) -> None:
        """Remove everything from the node."""
        if self.simulation is not None:
            self.simulation.close()
            self.simulation = None


def managed(
    configure: Callable[[], bool], running: Callable[[], Any], forget: Callable[[], None]
) -> Any:
    """Callbacks of rclpy for changes of a node's state.

    running: What is started and stopped; ``None`` before ``configure``.
    """
    from rclpy.lifecycle import ManagedEntity
    from rclpy.lifecycle import TransitionCallbackReturn as Outcome

    def answering(change: Callable[[], bool | None]) -> Callable[..., Any]:
        return lambda self, state: Outcome.FAILURE if change() is False else Outcome.SUCCESS

    changes: dict[str, Callable[[], bool | None]] = {
        "on_configure": configure,
        "on_activate": lambda: made.start() if (made := running()) else False,
        "on_deactivate": lambda: made.stop() if (made := running()) else None,
        **dict.fromkeys(("on_cleanup", "on_shutdown", "on_error"), forget),
    }
    answers = {name: answering(change) for name, change in changes.items()}
    return type("Managed", (ManagedEntity,), answers)()


def robot_of(node: Any, robot: rd.Robot | str | None) -> rd.Robot:
    """A robot, loaded if it is not one; by default from the parameter ``robot_description``.

    Raises UrdfError: If neither is given.
    """
    if isinstance(robot, rd.Robot):
        return robot
    if robot is None:
        if not node.has_parameter("robot_description"):
            node.declare_parameter("robot_description", "")
        robot = str(node.get_parameter("robot_description").value)
        if not robot.strip():
            raise rd.UrdfError("no robot: give a file, or the parameter robot_description")
    return rd.load(robot)


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
