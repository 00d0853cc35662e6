"""A simulated robot as a managed node: configure loads, activate lets time run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import robodyn as rd
from robodyn.ros.engine.settings import Settings
from robodyn.ros.rclpy.access import rclpy, ros_errors, start
from robodyn.ros.rclpy.node import robot_of, spin
from robodyn.ros.rclpy.parameters import Parameters
from robodyn.ros.rclpy.simulation_node import SimulationOnNode


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
        self.node.add_managed_entity(_managed(self))
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


def _managed(owner: SimLifecycleNode) -> Any:
    """Callbacks of rclpy for changes of the node's state."""
    from rclpy.lifecycle import ManagedEntity
    from rclpy.lifecycle import TransitionCallbackReturn as Outcome

    def answering(change: Callable[[], bool | None]) -> Callable[..., Any]:
        return lambda self, state: Outcome.FAILURE if change() is False else Outcome.SUCCESS

    changes: dict[str, Callable[[], bool | None]] = {
        "on_configure": owner.configure,
        "on_activate": lambda: owner.simulation.start() if owner.simulation else False,
        "on_deactivate": lambda: owner.simulation.stop() if owner.simulation else None,
        **dict.fromkeys(("on_cleanup", "on_shutdown", "on_error"), owner.forget),
    }
    answers = {name: answering(change) for name, change in changes.items()}
    return type("Managed", (ManagedEntity,), answers)()
