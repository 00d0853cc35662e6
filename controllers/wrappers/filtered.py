"""A low-pass filter for the forces of a controller, or for the velocities that it gets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import SettingsError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.literals import Signal
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State

from ..wrappers import wrapping

#: The largest order; with a larger one, partial fractions lose digits.
MAX_ORDER = 8


@dataclass(frozen=True, eq=False)
class Filtered:
    """Another controller with a low-pass filter for its forces, or for the velocities it gets.

    It is a Butterworth filter: flat up to ``cutoff``, where its gain is 0.707; beyond, the gain
    falls by ``order`` decades per decade of frequency. The filter of first order is ``y' = cutoff
    (u - y)``. It is exact for an input that is linear between samples. At the first sample its
    output equals its input. The output is ``run.controller_state["filtered"]``.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    cutoff : float or array_like, shape (nv,) [rad/s]
    order : int
        1 to 8.
    signal : {"torque", "speed"}
        The filtered signal.
    robot : Robot, optional
        Default: that of the controller. Only wrappers around this one use it.

    Raises
    ------
    ShapeError
        For frequencies that are not positive and finite, or of another number than speeds.
    SettingsError
        For another order.
    UnknownNameError
        For another signal.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import Filtered, GravityCompensation
    >>> robot = rd.load("double_pendulum")
    >>> slow = Filtered(GravityCompensation(robot), cutoff=5.0, robot=robot)
    >>> run = rd.simulate(robot, slow, q0=[0.5, 0.0], duration=0.1)
    >>> run.tau.shape
    (101, 2)
    """

    recorded: ClassVar[tuple[str, ...]] = ("filtered",)

    controller: Controller
    cutoff: ArrayLike
    order: int = 1
    signal: Signal = "torque"
    robot: Any = None
    _cutoff: FloatArray = field(init=False, repr=False)
    _modes: list[tuple[complex, complex]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.controller, self.robot))
        object.__setattr__(self, "_cutoff", wrapping.positive("cutoff", self.cutoff))
        if not 1 <= self.order <= MAX_ORDER:
            raise SettingsError(
                f"order is {self.order!r}, expected a whole number, 1 to {MAX_ORDER}"
            )
        object.__setattr__(self, "_modes", _butterworth(self.order))

    symbolic = wrapping.inner_symbolic
    __call__ = wrapping.first_forces

    def initial_state(self, sample: ControllerSample) -> State:
        """The filter at rest."""
        if self.signal == "speed":
            own = self._at_rest(np.asarray(sample.v))
            sample = sample._replace(v=own["filtered"])
            return {**own, INNER: wrapping.initial_state_of(self.controller, sample)}
        inner = wrapping.initial_state_of(self.controller, sample)
        return {
            **self._at_rest(wrapping.update_of(self.controller, sample, inner)[0]),
            INNER: inner,
        }

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces, and the state of the filter."""
        if self.signal == "speed":
            own = self._moved(sample, np.asarray(sample.v), state)
            sample = sample._replace(v=own["filtered"])
            tau, inner = wrapping.update_of(self.controller, sample, state[INNER])
            return tau, {**own, INNER: inner}
        tau, inner = wrapping.update_of(self.controller, sample, state[INNER])
        own = self._moved(sample, tau, state)
        return own["filtered"], {**own, INNER: inner}

    def _at_rest(self, u: FloatArray) -> dict[str, Any]:
        """The filter whose input has always been ``u``: real and imaginary part of each mode."""
        cutoff, states = wrapping.fitting("cutoff", self._cutoff, u.shape[-1]), list[FloatArray]()
        for pole, _ in self._modes:
            x = -1.0 / (pole * cutoff)
            states += [x.real * u, x.imag * u]
        return self._state(states, u)

    def _moved(self, sample: ControllerSample, u: FloatArray, state: State) -> dict[str, Any]:
        """The filter after its input has come to ``u``."""
        cutoff, states = wrapping.fitting("cutoff", self._cutoff, u.shape[-1]), list[FloatArray]()
        poles = np.array([pole for pole, _ in self._modes])
        grown = sample.function_of_dt(lambda h: _over(h, poles, cutoff))
        before, last = state["states"], state["input"]
        for k in range(len(self._modes)):
            states += _moved(grown[k], before[2 * k], before[2 * k + 1], last, u - last)
        return self._state(states, u)

    def _state(self, states: list[FloatArray], u: FloatArray) -> dict[str, Any]:
        """The state of the filter with its output."""
        cutoff, y = wrapping.fitting("cutoff", self._cutoff, u.shape[-1]), np.zeros(u.shape)
        for (_, weight), re, im in zip(self._modes, states[::2], states[1::2], strict=True):
            y = y + weight.real * cutoff * re - weight.imag * cutoff * im
        return {"filtered": y, "states": states, "input": u}


def _butterworth(order: int) -> list[tuple[complex, complex]]:
    """Poles of the filter with cutoff 1, and the weights of their modes in the output.

    Of a conjugate pair of poles, it is the one with positive imaginary part, counted twice.
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
    """Transition factors of ``x' = p x + u`` over times, ``u`` linear in time, for each pole ``p``.

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
