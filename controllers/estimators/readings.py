"""What sensors of a robot show, as one array, in numbers or in symbols."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from robodyn import Robot, SettingsError, ShapeError, UnknownNameError, arctan2, cos, sin
from robodyn.array_types import FloatArray
from robodyn.arrays import named
from robodyn.symbolic.graph import Port


class Readings:
    """Readings of some sensors of a robot, one after the other.

    Raises
    ------
    SettingsError
        If the robot has no sensors, or its base moves in a given way.
    UnknownNameError
        For a sensor that it does not have.
    """

    def __init__(self, robot: Robot, sensors: Iterable[str] | None) -> None:
        known = {x.name: x for x in robot.sensors}
        if not known:
            raise SettingsError(
                f"{robot.name!r} has no sensors, which an estimator reads: load it with sensors=, "
                "or give it some by with_(sensors=)"
            )
        if robot.base == "moving":
            raise SettingsError(
                f"{robot.name!r} has a base that moves as it is told: estimators are for fixed and "
                "floating ones"
            )
        self.robot = robot
        self.names = tuple(known) if sensors is None else named("sensors", sensors)
        for k, name in enumerate(self.names):
            if name not in known:
                raise UnknownNameError("sensor", name, known, repr(robot.name))
            if name in self.names[:k]:
                raise ShapeError(f"sensors names {name!r} twice", name="sensors", given=self.names)
        self._shown = [known[name] for name in self.names]
        self.columns = tuple(f"{x.name}.{y}" for x in self._shown for y in x.columns)
        self._kinds = [x.kind for x in self._shown for _ in x.columns]
        self.reads = max((x.reads for x in self._shown), key="qva".index, default="q")

    @property
    def ports(self) -> tuple[Port, ...]:
        """An array for each sensor."""
        return tuple(
            Port(x.name, (len(x.columns),), ", ".join(dict.fromkeys(x.units))) for x in self._shown
        )

    def check_size(self, size: int, what: str, rows: Sequence[str]) -> None:
        """Refuse a model of other readings.

        Raises
        ------
        ShapeError
        """
        if size != len(self.columns):
            raise ShapeError(
                f"{what} has {size} outputs ({', '.join(rows)}), and the sensors show "
                f"{len(self.columns)} numbers ({', '.join(self.columns)}): linearize with outputs= "
                "these sensors, in their order",
                name="model",
                given=size,
                expected=len(self.columns),
            )

    def measured(self, t: Any, q: FloatArray, v: FloatArray, tau: FloatArray) -> FloatArray:
        """What they show in a state under some forces, shape (..., p)."""
        robot = self.robot.at(t)
        a = robot.forward_dynamics(q, v, tau) if self.reads == "a" else None
        shown = robot.measure(q, None if self.reads == "q" else v, a, sensors=self.names)
        return np.concatenate([shown[name] for name in self.names], axis=-1)

    def difference(self, y: FloatArray, expected: FloatArray) -> FloatArray:
        """How far readings are from expected ones; of turns, the shorter way round."""
        found = y - expected
        turns = [k for k, x in enumerate(self._kinds) if x == "turn"]
        if turns:
            found = np.array(found)
            turned: Any = found[..., turns]
            found[..., turns] = arctan2(sin(turned), cos(turned))
        return found
