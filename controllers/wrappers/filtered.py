"""A low-pass filter behind a controller, or before it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import SettingsError, UnknownNameError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation import ControllerSample, StatefulController

from ..support.gains import checked_call
from .wrapping import (
    Controller,
    alone,
    asked_of,
    fitting,
    positive,
    remembering,
    wrapped,
)

__all__ = ["Filtered"]

#: What can be filtered.
SIGNALS = ("torque", "speed")
#: The largest order; of more, partial fractions lose digits.
MAX_ORDER = 8


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
        check_fields(self)
        object.__setattr__(self, "robot", wrapped(self.controller, self.robot))
        object.__setattr__(self, "_cutoff", positive("cutoff", self.cutoff))
        whole = isinstance(self.order, int | np.integer) and not isinstance(self.order, bool)
        if not (whole and 1 <= self.order <= MAX_ORDER):
            raise SettingsError(
                f"order is {self.order!r}, expected a whole number, 1 to {MAX_ORDER}"
            )
        if not (isinstance(self.signal, str) and self.signal in SIGNALS):
            raise UnknownNameError("signal", str(self.signal), SIGNALS)
        object.__setattr__(self, "_modes", _butterworth(self.order))

    @property
    def symbolic(self) -> bool:
        """Whether it is arithmetic only: whether the controller in it is."""
        return bool(getattr(self.controller, "symbolic", False))

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """What it asks for at its first look, at time ``t`` [s], shape (..., nv) [N m, N]."""
        return alone(self, t, q, v)

    def fresh(self) -> StatefulController:
        """The same at the start of a motion, with a memory of that motion alone."""
        return remembering(self)

    def answer(self, look: ControllerSample, memory: Any) -> tuple[FloatArray, dict[str, Any]]:
        """Forces, and the state of the filter."""
        if self.signal == "speed":
            memory = self._passed(look, np.asarray(look.v), memory)
            return asked_of(self.controller, look.t, look.q, memory["filtered"]), memory
        memory = self._passed(look, asked_of(self.controller, look.t, look.q, look.v), memory)
        return memory["filtered"], memory

    def _passed(self, look: ControllerSample, u: FloatArray, memory: Any) -> dict[str, Any]:
        """The filter after its input has come to ``u``: real and imaginary part of each mode."""
        cutoff = fitting("cutoff", self._cutoff, u.shape[-1])
        grown = look.over(lambda h: _over(h, np.array([p for p, _ in self._modes]), cutoff))
        states, y = [], np.zeros(u.shape)
        for k, (pole, weight) in enumerate(self._modes):
            if memory is None:
                x = -1.0 / (pole * cutoff)
                re, im = x.real * u, x.imag * u
            else:
                before, u0 = memory["states"][2 * k : 2 * k + 2], memory["input"]
                re, im = _moved(grown[k], before[0], before[1], u0, u - u0)
            states += [re, im]
            y = y + weight.real * cutoff * re - weight.imag * cutoff * im
        return {"filtered": y, "states": states, "input": u}


def _butterworth(order: int) -> list[tuple[complex, complex]]:
    """Poles of the filter whose cutoff is 1, and the weights of their modes in what comes out.

    Of a pair of poles it is the one above, whose real part counts twice.
    """
    angles = [math.pi * (2 * k + order + 1) / (2 * order) for k in range(order)]
    poles = [complex(math.cos(angle), math.sin(angle)) for angle in angles]
    modes = []
    for k, p in enumerate(poles):
        residue = 1.0 / complex(np.prod([p - x for j, x in enumerate(poles) if j != k]))
        if 2 * k + 1 == order:
            modes.append((complex(p.real, 0.0), complex(residue.real, 0.0)))
        elif p.imag > 0.0:
            modes.append((p, 2.0 * residue))
    return modes


def _over(h: FloatArray, poles: Any, cutoff: FloatArray) -> FloatArray:
    """What times make of ``x' = p x + u``, where ``u`` changes linearly, for each pole ``p``.

    Parameters
    ----------
    h : ndarray, shape (n,) [s]
    poles : ndarray, shape (k,), complex
    cutoff : ndarray, shape (nv,), (1,) or () [rad/s]

    Returns
    -------
    factors : ndarray, shape (n, k, 3, 2, nv), (n, k, 3, 2, 1) or (n, k, 3, 2)
        Of x, of u as it was, and of its change: real and imaginary parts.
    """
    time = h.reshape(-1, 1, *[1] * cutoff.ndim)
    p = poles.reshape(-1, *[1] * cutoff.ndim) * cutoff
    grown = np.expm1(p * time)
    ramp = (grown - p * time) / (p * p * np.where(time > 0.0, time, 1.0))
    factors = np.stack([1.0 + grown, grown / p + 0.0 * grown, ramp], axis=2)
    return np.stack([factors.real, factors.imag], axis=3)


def _moved(
    factors: FloatArray, re: FloatArray, im: FloatArray, u: FloatArray, change: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Real and imaginary part of a mode after a time whose factors these are."""
    (a, b), held, ramp = factors
    return (
        a * re - b * im + held[0] * u + ramp[0] * change,
        a * im + b * re + held[1] * u + ramp[1] * change,
    )
