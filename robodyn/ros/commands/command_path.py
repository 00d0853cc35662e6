"""Joints on their way to commanded positions and speeds, as closed functions of time.

A joint with a position command moves as a critically damped spring of frequency ``w`` would pull
it, ``x'' = w^2 (goal - x) - 2 w x'``, as long as that asks for less than its top speed; beyond
that, and with a speed command, its speed comes near the top or commanded speed ``s`` as a damper
would bring it there, ``x'' = 2 w (s - x')``. Both have solutions of one form,

    x(t) = p + s t + (A + B t) exp(-r t)

and a motion is a few of them, one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray

#: Halvings of an interval when the end of a phase is sought.
HALVINGS = 60


@dataclass(frozen=True)
class _Phase:
    """Part of the motion of one joint: ``x = p + s t + (A + B t) exp(-r t)``, t from ``start``."""

    start: float
    p: float
    s: float
    A: float
    B: float
    r: float

    def at(self, t: float) -> tuple[float, float]:
        """Position and velocity, ``t`` [s] after the start of the phase."""
        decay, swing = math.exp(-self.r * t), self.A + self.B * t
        return self.p + self.s * t + swing * decay, self.s + (self.B - self.r * swing) * decay


class CommandPath:
    """The motion of several joints after a command: called with a time, as a `JointPath` is.

    start [s]: When the command comes.
    x, v (n,) [rad, m], [rad/s, m/s]: Positions and speeds then.
    position (n,) [rad, m]: Sought; NaN for joints that have a speed to reach.
    speed (n,) [rad/s, m/s]: Sought by the others.
    top (n,) [rad/s, m/s]: Top speeds; infinite where there are none.
    bandwidth [1/s]
    """

    def __init__(
        self,
        start: float,
        x: FloatArray,
        v: FloatArray,
        position: FloatArray,
        speed: FloatArray,
        top: FloatArray,
        bandwidth: float,
    ) -> None:
        self._start = start
        joints = zip(*(c.tolist() for c in (x, v, position, speed, top)), strict=True)
        rows = [_phases(bandwidth, *joint) for joint in joints]
        most = max(map(len, rows), default=1)
        padded = [[*row, *[row[-1]] * (most - len(row))] for row in rows]
        names = ("start", "p", "s", "A", "B", "r")
        table = [[[getattr(phase, name) for phase in row] for row in padded] for name in names]
        #: Of each phase, shape (phases, n).
        self._starts, *self._terms = (np.array(column).reshape(-1, most).T for column in table)
        self._joints = np.arange(len(rows))
        #: When all joints are in their last phase, and that phase.
        self._last_start = float(self._starts[-1].max(initial=0.0))
        self._last = [self._starts[-1], *(term[-1] for term in self._terms)]

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations, each of shape (n,), at time ``t`` [s]."""
        x, dx, ddx = self.at_times(np.array([t]))
        return x[0], dx[0], ddx[0]

    def at_times(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same at many times, shape (m,) [s]: arrays of shape (m, n)."""
        since = (t - self._start)[:, None]
        if since.min(initial=np.inf) >= self._last_start:
            start, p, s, A, B, r = self._last
        else:
            phase = (self._starts <= since[:, None]).sum(axis=1) - 1, self._joints
            start, p, s, A, B, r = (term[phase] for term in (self._starts, *self._terms))
        t = since - start
        decay, swing = np.exp(-r * t), A + B * t
        rate = B - r * swing
        return p + s * t + swing * decay, s + rate * decay, -r * (rate + B) * decay


def _phases(w: float, x: float, v: float, goal: float, speed: float, top: float) -> list[_Phase]:
    """The phases of a joint that is at ``x`` with speed ``v``."""
    if math.isnan(goal):
        return [_toward_speed(0.0, x, v, min(max(speed, -top), top), w)]
    far = 2.0 * top / w  # from there on, the spring asks for more than the top speed
    phases, start, held = [], 0.0, abs(goal - x) > far
    while True:
        if held:
            phase = _toward_speed(start, x, v, math.copysign(top, goal - x), w)
            length = _arrival(phase, goal, far, math.copysign(1.0, goal - x), top)
        else:
            phase = _toward_position(start, x, v, goal, w)
            length = _departure(phase, far)
        phases.append(phase)
        if not math.isfinite(length):
            return phases
        (x, v), start, held = phase.at(length), start + length, not held


def _toward_speed(start: float, x: float, v: float, s: float, w: float) -> _Phase:
    lag = (v - s) / (2.0 * w)
    return _Phase(start, x + lag, s, -lag, 0.0, 2.0 * w)


def _toward_position(start: float, x: float, v: float, goal: float, w: float) -> _Phase:
    return _Phase(start, goal, 0.0, x - goal, v + w * (x - goal), w)


def _arrival(phase: _Phase, goal: float, far: float, side: float, top: float) -> float:
    """When a joint on its way at top speed has come so near that the spring asks for less."""
    way = abs(goal - phase.p) + 3.0 * abs(phase.A)
    return _first(lambda t: side * (goal - phase.at(t)[0]) <= far, way / top)


def _departure(phase: _Phase, far: float) -> float:
    """When a joint has passed its goal so fast that the spring asks for more than top speed."""
    if phase.B == 0.0:
        return math.inf
    turn = 1.0 / phase.r - phase.A / phase.B  # where it is farthest from the goal
    if turn <= 0.0 or abs(phase.A + phase.B * turn) * math.exp(-phase.r * turn) <= far:
        return math.inf
    begin = max(0.0, -phase.A / phase.B)  # it passes the goal then
    return begin + _first(lambda t: abs(phase.at(begin + t)[0] - phase.p) > far, turn - begin)


def _first(happened: Callable[[float], bool], end: float) -> float:
    """The first instant from 0 to ``end`` at which something has happened that stays so."""
    low, high = 0.0, end
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if happened(middle) else (middle, high)
    return high
