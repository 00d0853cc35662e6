"""`SimNode` and `SimLifecycleNode`: a simulated robot as a ROS node."""

from __future__ import annotations

from typing import Any, Self

import robodyn as rd
from robodyn.ros.commands.settings import Settings
from robodyn.ros.rclpy.parameters import Parameters
from robodyn.ros.rclpy.robot_node import RobotNode, spin
from robodyn.ros.rclpy.simulation_node import SimulationOnNode


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
