"""Import of rclpy and of ROS messages, with advice where they are not installed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.bags.messages import Messages
from robodyn.installation import install_command


class MissingRosError(rd.MissingExtraError):
    """ROS is not installed; the message names both ways to install it."""

    def __init__(self, module: str) -> None:
        super().__init__(module, "ros", "talking to ROS")
        message = (
            f"talking to ROS needs {module}. With a ROS 2 distribution: source "
            "/opt/ros/<distro>/setup.bash, and install robodyn for its Python; without one, on "
            "Linux x86_64, in a virtual environment of its own: "
            f"{install_command(module, 'ros')}"
        )
        self.msg, self.args = message, (message,)


def rclpy() -> Any:
    """The module rclpy. Raises `MissingExtraError`."""
    return _module("rclpy")


def message_class(kind: str) -> Any:
    """Class of messages, as ``"std_msgs/msg/String"``, or services. Raises `MissingExtraError`."""
    package, group, name = kind.split("/")
    return getattr(_module(f"{package}.{group}"), name)


#: Makes messages of rclpy. Raises `MissingExtraError`.
MESSAGES = Messages(message_class, np.ndarray.tolist)


def optional(package: str) -> bool:
    """Whether the messages of a package are installed."""
    try:
        importlib.import_module(f"{package}.msg")
    except ImportError:
        return False
    return True


def quality(depth: int = 10, *, latched: bool = False) -> Any:
    """Quality of service of topics: reliable, the newest ``depth`` messages wait to be taken.

    That of states has the default; of commands only the newest is kept, and late subscribers get
    the last one of latched topics: ``depth`` is 1.
    """
    rclpy()
    from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

    durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    return QoSProfile(depth=depth, durability=durability, reliability=ReliabilityPolicy.RELIABLE)


@contextmanager
def ros_errors() -> Iterator[None]:
    """Raise errors of ROS (about a name, an argument, a parameter) as `RobodynError`."""
    try:
        yield
    except Exception as error:
        kind = type(error)
        if kind.__module__.partition(".")[0] != "rclpy":
            raise
        lines = (line.strip() for line in str(error).partition(", at /")[0].splitlines())
        text = " ".join(line for line in lines if line.strip("^"))
        raise rd.RobodynError(f"ROS does not take this: {text} ({kind.__name__})") from error


def start(arguments: Sequence[str] | None = None, *, network: bool = False) -> None:
    """Initialise rclpy, if it is not. By default, only this computer is reached.

    arguments, optional: ``["--ros-args", ...]``.
    network: Reach the local network.
    Raises RobodynError: For arguments that ROS does not understand.
    """
    if network:
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"
    elif "ROS_LOCALHOST_ONLY" not in os.environ:
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    module = rclpy()
    if not module.ok():
        with ros_errors():
            module.init(args=list(arguments or []))
            module.get_global_executor()  # one made while a signal shuts ROS down fails aloud


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingRosError(name) from error
