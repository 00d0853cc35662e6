"""The side of ros2_control: what its hardware of topics reads and sends, without ROS.

It does what `joint_state_topic_hardware_interface` 1.1 is documented and published to do, for one
``<ros2_control>`` element:

- states: the latest JointState; names that it does not have are passed over, numbers that are not
  finite leave the state, a state without an interface is an error;
- commands: nothing, while states and commands differ by no more than the threshold in sum; else all
  its joints in its order, and in each field the numbers of those joints that have a command
  interface of that kind. What nothing commands is NaN.
"""

import math
from types import SimpleNamespace

from lxml import etree

KINDS = ("position", "velocity", "effort")
PLUGIN = "joint_state_topic_hardware_interface/JointStateTopicSystem"


class TopicHardware:
    """The hardware of one ``<ros2_control>`` of a URDF."""

    def __init__(self, urdf, index=0):
        element = etree.fromstring(urdf.encode()).findall("ros2_control")[index]
        hardware = element.find("hardware")
        assert hardware.findtext("plugin") == PLUGIN
        said = {x.get("name"): x.text.strip() for x in hardware.findall("param")}
        self.commands_topic = said.get("joint_commands_topic", "/robot_joint_commands")
        self.states_topic = said.get("joint_states_topic", "/robot_joint_states")
        self.threshold = float(said.get("trigger_joint_command_threshold", 1e-5))
        self.names, self.states, self.commands = [], {}, {}
        for joint in element.findall("joint"):
            name = joint.get("name")
            self.names.append(name)
            for interface in joint.findall("command_interface"):
                self.commands[name, interface.get("name")] = math.nan
            for interface in joint.findall("state_interface"):
                initial = [x.text for x in interface.findall("param")
                           if x.get("name") == "initial_value"]  # fmt: skip
                self.states[name, interface.get("name")] = (
                    float(initial[0]) if initial else math.nan
                )

    def read(self, message):
        """Take the latest JointState: anything with its fields."""
        fields = message.position, message.velocity, message.effort
        for k, name in enumerate(message.name):
            if name not in self.names:
                continue
            for kind, numbers in zip(KINDS, fields, strict=True):
                if len(numbers) and math.isfinite(numbers[k]):
                    if (name, kind) not in self.states:
                        raise RuntimeError(f"{name}/{kind} is no state interface")
                    self.states[name, kind] = float(numbers[k])

    def write(self):
        """What it sends now, or nothing."""
        known = {at: x for at, x in self.commands.items() if at[1] in KINDS}
        if sum(abs(self.states[at] - x) for at, x in known.items()) <= self.threshold:
            return None
        columns = {
            kind: [known[name, kind] for name in self.names if (name, kind) in known]
            for kind in KINDS
        }
        return SimpleNamespace(name=list(self.names), **columns)
