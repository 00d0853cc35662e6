"""A digital controller: it looks now and then, counts in steps, and takes its time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError, ShapeError
from robodyn.array_types import FloatArray
from robodyn.controllers.gains import state_of
from robodyn.controllers.wrapping import wrapped
from robodyn.simulation.callbacks import torque

__all__ = ["Sampled"]

#: Parts of a period by which instants may be late, by rounding.
ROUNDING = 1e-9

Controller = Callable[[float, FloatArray, FloatArray], ArrayLike]


@dataclass(frozen=True, eq=False)
class Sampled:
    """Another controller as a digital one runs it.

    It looks at the robot at the instants 0, ``period``, 2 ``period``, ..., and what it asks for
    acts ``delay`` later, until the next result does; before the first one, nothing acts. A
    simulation has it look and act at the first of its steps that is not earlier.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``, called with the instant at which it looks.
    period : float [s]
        Zero: at every step.
    delay : float [s]
    quantum : float [rad, m]
        What positions are rounded to a multiple of, as an encoder does. Zero: not at all.
        Quaternions stay as they are: no encoder reads them.
    velocity_quantum : float [rad/s, m/s]
        What speeds are rounded to a multiple of.
    robot : Robot, optional
        Needed where there are quaternions among positions. Default: that of the controller.

    Raises
    ------
    SettingsError
        If a number is negative or not finite.
    ShapeError
        If the controller is no function; when called, if it returns anything but numbers, one a
        speed, and if it is not known which positions are quaternions.
    """

    controller: Controller
    period: float
    delay: float = 0.0
    quantum: float = 0.0
    velocity_quantum: float = 0.0
    robot: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "robot", wrapped(self.controller, self.robot))
        for name in ("period", "delay", "quantum", "velocity_quantum"):
            given = getattr(self, name)
            known = isinstance(given, int | float | np.number)
            if not (known and 0.0 <= given < math.inf):
                raise SettingsError(f"{name} is {given!r}, expected a number >= 0")

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """What it asks for when it looks at time ``t`` [s], shape (..., nv) [N m, N]."""
        q, v = np.asarray(q), np.asarray(v)
        seen = self._read(q, v.shape[-1]), _rounded(v, self.velocity_quantum)
        return torque(self.controller, t, *seen)

    def _read(self, q: FloatArray, nv: int) -> FloatArray:
        """Positions as encoders read them."""
        if not self.quantum or q.shape[-1] == nv:
            return _rounded(q, self.quantum)
        if not isinstance(self.robot, Robot):
            raise ShapeError(
                f"q has {q.shape[-1]} numbers and v {nv}: which of them are quaternions, that no "
                "encoder reads? Give Sampled robot=, whose coordinates they are",
                name="robot",
            )
        state_of(self.robot, q, np.zeros(nv))
        found = _rounded(q, self.quantum)
        for joint in (self.robot.joints[name] for name in self.robot.joint_names):
            if joint.kind.coordinates.quaternion:
                turn = slice(joint.q.stop - 4, joint.q.stop)
                found[..., turn] = q[..., turn]
        return found

    def fresh(self) -> Controller:
        """The same at the start of a motion, with a memory of that motion alone."""
        return _Running(self)


class _Running:
    """A digital controller within a motion, called with ascending times."""

    def __init__(self, settings: Sampled) -> None:
        self._settings = settings
        inner = getattr(settings.controller, "fresh", None)
        if inner is not None:
            self._settings = replace(settings, controller=inner())
        self._looks = -1
        self._coming: list[tuple[float, FloatArray]] = []
        self._acting: FloatArray | None = None

    @property
    def controller(self) -> Controller:
        """What looks and asks."""
        return self._settings.controller

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        chosen = self._settings
        slack = ROUNDING * max(chosen.period, chosen.delay)
        looks = math.floor((t + slack) / chosen.period) if chosen.period else self._looks + 1
        if looks > self._looks:
            self._looks = looks
            self._coming.append((t + chosen.delay, chosen(t, q, v)))
        while self._coming and self._coming[0][0] <= t + slack:
            self._acting = self._coming.pop(0)[1]
        return np.zeros(v.shape) if self._acting is None else self._acting


def _rounded(x: FloatArray, quantum: float) -> FloatArray:
    return quantum * np.round(x / quantum) if quantum else x
