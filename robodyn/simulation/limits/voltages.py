"""Limits of motors by the voltage of their drives, which the speed of the motor leaves less of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot


@dataclass(frozen=True, eq=False)
class VoltageLimits:
    """Electric motors whose drives have a largest voltage, each array of shape (k,).

    names: Of their joints.
    columns: Their indices in `Gearing`.
    constants, resistances, voltages [N m/A], [ohm], [V]
    """

    names: tuple[str, ...]
    columns: FloatArray
    constants: FloatArray
    resistances: FloatArray
    voltages: FloatArray

    def needed(self, torques: FloatArray, speeds: FloatArray) -> FloatArray:
        """Voltages at the terminals, shape (..., k), for all motors at their shafts, (..., n)."""
        torque, speed = torques[..., self.columns], speeds[..., self.columns]
        return np.asarray(self.resistances / self.constants * torque + self.constants * speed)

    def within(self, torques: FloatArray, speeds: FloatArray) -> FloatArray:
        """Torques of all motors, shape (..., n), as the voltages allow.

        A motor that turns faster than at no load brakes, whatever is asked for.
        """
        gain = self.constants / self.resistances
        against = self.constants * speeds[..., self.columns]
        least, most = gain * (-self.voltages - against), gain * (self.voltages - against)
        found = torques.copy()
        found[..., self.columns] = np.clip(found[..., self.columns], least, most)
        return found


@once_per_robot
def voltage_limits(robot: Robot) -> VoltageLimits | None:
    """The voltage limits of a robot; ``None`` without any."""
    places, motors = robot.model.gearing.places, robot.actuators
    found = [
        (name, k, x.torque_constant, x.resistance, x.voltage)
        for name in robot.actuated_joints
        if name in motors and (x := motors[name].motor) is not None and x.voltage is not None
        for k in range(*places[name].indices(10**9))
    ]
    if not found:
        return None
    names, columns, *numbers = zip(*found, strict=True)
    return VoltageLimits(names, np.array(columns, int), *(np.array(x, float) for x in numbers))
