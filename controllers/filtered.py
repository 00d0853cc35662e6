"""A low-pass filter behind a controller, or before it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import SettingsError, UnknownNameError
from robodyn.array_types import FloatArray
from robodyn.controllers.wrapping import (
    Controller,
    alone,
    fitting,
    positive,
    remembering,
    wrapped,
)
from robodyn.simulation import Look, Remembering
from robodyn.simulation.callbacks import torque

__all__ = ["Filtered"]

#: What can be filtered.
SIGNALS = ("torque", "speed")
#: The largest order; of more, partial fractions lose digits.
MOST = 8


@dataclass(frozen=True, eq=False)
class Filtered:
    """Another controller whose forces, or the speeds that it sees, go through a low-pass filter.

    The filter is Butterworth's: flat up to ``cutoff``, where it lets 0.707 of an oscillation pass;
    beyond, ``order`` decades less a decade of frequency. Its first-order form is
    ``y' = cutoff (u - y)``. It takes its input for linear between looks, and follows it exactly
    then. At the first look it is at rest at its input. What comes out is
    ``run.memory["filtered"]``.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    cutoff : float or array_like, shape (nv,) [rad/s]
    order : int
        1 to 8.
    signal : {"torque", "speed"}
        What is filtered.
    robot : Robot, optional
        Default: that of the controller. It is not used here; wrappers around this one ask for it.

    Raises
    ------
    ShapeError
        For frequencies that are not positive and finite, or of another number than speeds.
    SettingsError
        For another order.
    UnknownNameError
        For another signal.
    """

    remembers: ClassVar[tuple[str, ...]] = ("filtered",)

    controller: Controller
    cutoff: ArrayLike
    order: int = 1
    signal: str = "torque"
    robot: Any = None
    _cutoff: FloatArray = field(init=False, repr=False)
    _modes: list[tuple[complex, complex]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "robot", wrapped(self.controller, self.robot))
        object.__setattr__(self, "_cutoff", positive("cutoff", self.cutoff))
        whole = isinstance(self.order, int | np.integer) and not isinstance(self.order, bool)
        if not (whole and 1 <= self.order <= MOST):
            raise SettingsError(f"order is {self.order!r}, expected a whole number, 1 to {MOST}")
        if not (isinstance(self.signal, str) and self.signal in SIGNALS):
            raise UnknownNameError("signal", str(self.signal), SIGNALS)
        object.__setattr__(self, "_modes", _butterworth(self.order))

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """What it asks for at its first look, at time ``t`` [s], shape (..., nv) [N m, N]."""
        return alone(self, t, q, v)

    def fresh(self) -> Remembering:
        """The same at the start of a motion, with a memory of that motion alone."""
        return remembering(self)

    def answer(self, look: Look, memory: Any) -> tuple[FloatArray, dict[str, Any]]:
        """Forces, and the state of the filter."""
        if self.signal == "speed":
            memory = self._passed(look.v, look.h, memory)
            return torque(self.controller, look.t, look.q, memory["filtered"]), memory
        memory = self._passed(torque(self.controller, look.t, look.q, look.v), look.h, memory)
        return memory["filtered"], memory

    def _passed(self, u: FloatArray, h: float, memory: Any) -> dict[str, Any]:
        """The filter after its input has come to ``u``, over a time ``h`` [s]."""
        cutoff = fitting("cutoff", self._cutoff, u.shape[-1])
        states, y = [], np.zeros(u.shape)
        for k, (pole, residue) in enumerate(self._modes):
            p = pole * cutoff
            if memory is None:
                x = -u / p
            else:
                before, u0 = memory["states"][k], memory["input"]
                x = _moved(p, before, u0, u - u0, h)
            states.append(x)
            y = y + np.real(residue * cutoff * x)
        return {"filtered": y, "states": states, "input": u}


def _butterworth(order: int) -> list[tuple[complex, complex]]:
    """Poles of the filter whose cutoff is 1, and its residues at them."""
    angles = [math.pi * (2 * k + order + 1) / (2 * order) for k in range(order)]
    poles = [complex(math.cos(angle), math.sin(angle)) for angle in angles]
    return [
        (p, 1.0 / complex(np.prod([p - x for j, x in enumerate(poles) if j != k])))
        for k, p in enumerate(poles)
    ]


def _moved(p: Any, x: Any, u: FloatArray, change: FloatArray, h: float) -> Any:
    """The solution of ``x' = p x + u`` after a time ``h``, in which ``u`` changes linearly."""
    if not h:
        return x
    grown = np.expm1(p * h)
    held, ramp = grown / p, (grown - p * h) / (p * p * h)
    return (1.0 + grown) * x + held * u + ramp * change
