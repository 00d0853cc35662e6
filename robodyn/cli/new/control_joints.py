"""The joints of a robot that ros2_control can command, and how."""

from __future__ import annotations

import numpy as np

import robodyn as rd
from robodyn.errors import some_of
from robodyn.ros.commands.commanded_joints import CommandedJoints
from robodyn.ros.engine.initial_posture import initial_posture
from robodyn.ros.states.messages import StateNames
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.simulation.loads.driven_joints import independent


class ControlJoints:
    """Joints with motors that a ``<ros2_control>`` can name.

    names: In the order of commands.
    left_out: Others with motors.
    start: Where each stands in the neutral posture [rad, m].
    interfaces: Kinds of commands that they take, the usual one first.
    notes: What cannot be commanded, and why.
    Raises SettingsError: If there are none.
    """

    def __init__(self, robot: rd.Robot) -> None:
        self.notes: list[str] = []
        names, log = StateNames(robot), ThrottledLogger(self.notes.append)
        joints, q = CommandedJoints(names), initial_posture(names, log)
        state = names.content(q, np.zeros(robot.nv), np.zeros(robot.nv))
        places = dict(zip(state.name, state.position, strict=True))
        tree = {joint.name for joint in robot.mechanism.joints} - {x.name for x in robot.loops}
        self.names = tuple(name for name in joints.names if name in tree and name in places)
        self.start = {name: float(places[name]) for name in self.names}
        self.left_out = [name for name in robot.actuated_joints if name not in self.names]
        if not self.names:
            raise rd.SettingsError(
                f"{robot.name!r} has no joint with a motor that ros2_control can command: it "
                "takes joints of one coordinate"
            )
        if self.left_out:
            self.notes.append(f"not of one coordinate, and not commanded: {some_of(self.left_out)}")
        self.interfaces: tuple[str, ...] = ("position", "effort")
        rows = [joints.row(name) for name in self.names]
        try:
            joints.refuse_without_coordinates(rows)
        except rd.ActuationError as error:
            self._leave_positions(str(error))
        else:
            if not independent(robot, q, joints.speeds[rows].tolist()):
                self._leave_positions("loops tie them together")

    def _leave_positions(self, reason: str) -> None:
        self.interfaces = ("effort",)
        self.notes.append(f"efforts alone, as not all motors can be driven: {reason}")
