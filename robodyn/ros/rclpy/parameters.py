"""Settings as parameters of a ROS node: declared, checked, and changed while it runs."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any

import robodyn as rd
from robodyn.ros.commands.settings import NOTES, Settings
from robodyn.ros.rclpy.access import message_class, optional

#: Choices made once, when the node starts.
FIXED: Mapping[str, tuple[Any, str]] = {
    "joints": ([""], "scalar joints that commands move, in this order; default: with motors"),
    "wrenches": ([""], "joints whose wrenches are published; default: all that move"),
    "publish_clock": (False, "publish /clock with the time of the simulation"),
    "publish_tf": (True, "publish /tf and /tf_static; default: where tf2_msgs is installed"),
    "frame_prefix": ("", "in front of the names of links in frame_id and in /tf, as 'left/'"),
    "description": ("tree", "robot_description: tree (cut joints left out) or source"),
}


#: What is said where ``publish_tf`` is true without tf2_msgs.
WITHOUT_TF2 = (
    "publish_tf:=true needs the messages of tf2_msgs: install "
    f"ros-{os.environ.get('ROS_DISTRO', '<distro>')}-tf2-msgs of a ROS 2 distribution "
    "and source its setup.bash (the extra ros has no such package), or let "
    "publish_tf:=false stand beside a robot_state_publisher"
)


def declare_fixed(node: Any, name: str, value: Any) -> None:
    """Declare a parameter of `FIXED`, which is read at the start only."""
    _declare(node, name, value, description=FIXED[name][1], read_only=True)


def fixed(node: Any, name: str) -> Any:
    """What such a parameter is; an empty list is ``None``."""
    value = node.get_parameter(name).value
    if name in ("joints", "wrenches"):
        return [item for item in value if item] or None
    return value


def _declare(node: Any, name: str, value: Any, **described: Any) -> None:
    if not node.has_parameter(name):
        descriptor = message_class("rcl_interfaces/msg/ParameterDescriptor")
        node.declare_parameter(name, value, descriptor(**described))


class Parameters:
    """Parameters of a simulation node.

    settings: Defaults.
    settings: As they are now.
    check: Gets settings before they are taken; raises `RobodynError` if they will not do.
    changed: Called after a change.
    Raises ShapeError: If a file or the command line gives values that make no sense.
    Raises RobodynError: If they ask for /tf where tf2_msgs is not installed.
    """

    def __init__(self, node: Any, settings: Settings) -> None:
        self._node = node
        self.check: Callable[[Settings], object] | None = None
        self.changed: Callable[[], None] | None = None
        for field in dataclasses.fields(settings):
            value = getattr(settings, field.name)
            self._declare(field.name, list(value) if isinstance(value, tuple) else value)
        for name, (value, _) in FIXED.items():
            declare_fixed(node, name, optional("tf2_msgs") if name == "publish_tf" else value)
        names = [field.name for field in dataclasses.fields(settings)]
        given = {name: node.get_parameter(name).value for name in names}
        self.settings = settings.replaced(given)
        if self.fixed("publish_tf") and not optional("tf2_msgs"):
            raise rd.RobodynError(WITHOUT_TF2)
        self._refuse_two_clocks(self.sim_time)
        node.add_on_set_parameters_callback(self._allowed)
        node.add_post_set_parameters_callback(self._taken)

    def fixed(self, name: str) -> Any:
        """A parameter that is read at the start only; an empty list is ``None``."""
        return fixed(self._node, name)

    @property
    def sim_time(self) -> bool:
        """Whether the node takes its time from the topic ``/clock``."""
        return bool(self._node.get_parameter("use_sim_time").value)

    def _declare(self, name: str, value: Any) -> None:
        # settings are checked by themselves, which takes 100 for 100.0 and one for a list of one
        _declare(self._node, name, value, description=NOTES[name], dynamic_typing=True)

    def _refuse_two_clocks(self, sim_time: bool) -> None:
        if sim_time and self.fixed("publish_clock"):
            raise rd.ShapeError("publish_clock and use_sim_time exclude each other")

    def _allowed(self, parameters: Any) -> Any:
        result = message_class("rcl_interfaces/msg/SetParametersResult")
        values = {p.name: p.value for p in parameters}
        own = {name: x for name, x in values.items() if hasattr(self.settings, name)}
        try:
            settings = self.settings.replaced(own)
            if self.check:
                self.check(settings)
            self._refuse_two_clocks(bool(values.get("use_sim_time")))
        except rd.RobodynError as error:
            return result(successful=False, reason=str(error))
        return result(successful=True)

    def _taken(self, parameters: Any) -> None:
        values = {p.name: p.value for p in parameters}
        own = {name: x for name, x in values.items() if hasattr(self.settings, name)}
        self.settings = self.settings.replaced(own)
        if self.changed and (own or "use_sim_time" in values):
            self.changed()
