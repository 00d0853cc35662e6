"""The joints of a robot that ros2_control can command, and how."""

from __future__ import annotations

import numpy as np

import robodyn as rd
from robodyn.errors import some_of
from robodyn.ros.engine.engine import Engine
from robodyn.ros.engine.settings import Settings


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
        engine = Engine(robot)
        state = engine.names.content(engine.q, engine.v, np.zeros(robot.nv))
        places = dict(zip(state.name, state.position, strict=True))
        tree = {joint.name for joint in robot.mechanism.joints} - {x.name for x in robot.loops}
        self.names = tuple(name for name in engine.joints if name in tree and name in places)
        self.start = {name: float(places[name]) for name in self.names}
        self.notes: list[str] = []
        self.left_out = [name for name in robot.actuated_joints if name not in self.names]
        if not self.names:
            raise rd.SettingsError(
                f"{robot.name!r} has no joint with a motor that ros2_control can command: it "
                "takes joints of one coordinate"
            )
        if self.left_out:
            self.notes.append(f"not of one coordinate, and not commanded: {some_of(self.left_out)}")
        self.interfaces: tuple[str, ...] = ("position", "effort")
        try:
            Engine(robot, joints=self.names).check(Settings(interfaces=("position",)))
        except rd.ActuationError as error:
            self.interfaces = ("effort",)
            self.notes.append(f"efforts alone, as not all can be driven: {error}")
