"""A digital controller: it looks now and then, counts in steps, and takes its time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import Array, FloatArray
from robodyn.simulation import ControllerSample, StatefulController
from robodyn.simulation.control.callbacks import torque
from robodyn.simulation.control.sample_tracer import Gate, SampleTracer
from robodyn.simulation.control.tracing import Untraceable
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

from ..support.gains import checked_call, state_of
from ..support.symbols import is_symbolic
from .wrapping import asked_of, remembering, wrapped

__all__ = ["Sampled"]

#: Most results that machine code has on their way.
MAX_PENDING = 64

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

    remembers: ClassVar[tuple[str, ...]] = ()

    controller: Controller
    period: float
    delay: float = 0.0
    quantum: float = 0.0
    velocity_quantum: float = 0.0
    robot: Any = None

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapped(self.controller, self.robot))
        for name in ("period", "delay", "quantum", "velocity_quantum"):
            given = getattr(self, name)
            known = isinstance(given, int | float | np.number)
            if not (known and 0.0 <= given < math.inf):
                raise SettingsError(f"{name} is {given!r}, expected a number >= 0")

    @property
    def symbolic(self) -> bool:
        """Whether it is arithmetic only: no encoder rounds, and the controller in it is."""
        rounds = self.quantum or self.velocity_quantum
        return not rounds and bool(getattr(self.controller, "symbolic", False))

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """What it asks for when it looks at time ``t`` [s], shape (..., nv) [N m, N]."""
        if is_symbolic(q):
            return asked_of(self.controller, t, q, v)
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

    def fresh(self) -> StatefulController:
        """The same at the start of a motion, with a memory of that motion alone."""
        return remembering(self)

    def answer(self, look: ControllerSample, memory: Any) -> tuple[FloatArray, dict[str, Any]]:
        """Forces, and what is remembered: how often it should have looked, when it did, and why."""
        if isinstance(look.t, SampleTracer):
            if look.t.step is not None:
                return self._at_steps(look, look.t.step, memory)
            return self._in_symbols(look, look.t, memory)
        slack = SAMPLE_TIME_ROUNDING * max(self.period, self.delay)
        looks, times, coming = -1.0, list[float](), list[FloatArray]()
        if memory is not None:
            looks, times, coming = (memory[key] for key in ("looks", "times", "coming"))
        due = math.floor((look.t + slack) / self.period) if self.period else looks + 1
        if due > looks:
            asked = self(look.t, look.q, look.v)
            looks, times, coming = due, [look.t, *times], [asked, *coming]
        acting = (k for k, at in enumerate(times) if at + self.delay <= look.t + slack)
        k = next(acting, len(times))
        tau = coming[k] if k < len(times) else np.zeros(look.v.shape)
        return tau, {"looks": looks, "times": times[: k + 1], "coming": coming[: k + 1]}

    def _at_steps(self, look: ControllerSample, step: float, memory: Any) -> tuple[FloatArray, Any]:
        """In symbols, for looks at equal steps.

        Raises
        ------
        SettingsError
            If these are not the times at which it looks.
        """
        if self.period and abs(self.period - step) > SAMPLE_TIME_ROUNDING * step:
            raise SettingsError(
                f"the step is {step:.6g} s, and {type(self).__name__} looks every "
                f"{self.period:.6g} s: give step={self.period:.6g}, and call its functions then"
            )
        asked = asked_of(self.controller, look.t, look.q, look.v)
        coming = np.zeros(
            (max(math.ceil(self.delay / step - SAMPLE_TIME_ROUNDING), 0) + 1, len(asked)), object
        )
        coming[0] = asked
        if memory is not None:
            coming[1:] = memory["coming"][:-1]
        return coming[-1], {"coming": coming}

    def _in_symbols(
        self, look: ControllerSample, t: SampleTracer, memory: Any
    ) -> tuple[FloatArray, Any]:
        plan = _plan(t.times, self.period, self.delay)
        n = plan.most
        row = t.table("sampled", 4 + 2 * n, plan.rows)
        (looks, rests, looked, due), acting, times = row[:4], row[4 : 4 + n], row[4 + n :]
        gate = Gate(looks, rests, plan.intervals, looked)
        with t.only(gate):
            asked = asked_of(self.controller, look.t, look.q, look.v)
        coming = np.zeros((n, len(asked)), object)
        coming[0] = asked
        if memory is not None:
            before = memory["coming"]
            coming = gate.chosen(np.concatenate([coming[:1], before[:-1]]), before)
        return acting @ coming, {"looks": due, "times": times, "coming": coming}


class _Plan(NamedTuple):
    """When a digital controller looks and acts, at each of n instants.

    Attributes
    ----------
    most : int
        Looks whose results are on their way at once, the latest one counted.
    at : ndarray, shape (k,) [s]
        Of all looks.
    looks : ndarray of bool, shape (n,)
    due : ndarray, shape (n,)
        How often it should have looked, before the first instant as well.
    latest, acting : ndarray of int, shape (n,)
        The last look, and the one that acts; -1: none does.
    intervals : ndarray, shape (n,) [s]
        Since the look before, where it looks; zero at the first.
    """

    most: int
    at: FloatArray
    looks: Array
    due: FloatArray
    latest: Array
    acting: Array
    intervals: FloatArray

    def rows(self, first: int, stop: int) -> FloatArray:
        """All that machine code has to be told of some instants, a row for each.

        Whether it looks, whether it does not, when it did last, how often it should have; for the
        looks on their way, counted backward from the latest, one for the one that acts, and when
        they were: zero where there is none.
        """
        some = slice(first, stop)
        looks, latest, acting = self.looks[some], self.latest[some], self.acting[some]
        back = latest[:, None] - np.arange(self.most)
        acts = (back == acting[:, None]) & (back >= 0)
        times = np.where(back >= 0, self.at[np.maximum(back, 0)], 0.0)
        columns = [looks, ~looks, times[:, 0], self.due[some]]
        return np.concatenate([np.stack(columns, axis=1, dtype=float), acts, times], axis=1)


def _plan(t: FloatArray, period: float, delay: float) -> _Plan:
    """When a digital controller looks and acts.

    Raises
    ------
    Untraceable
        If that is no matter for machine code: it does not look at once, or too much is on its way.
    """
    slack = SAMPLE_TIME_ROUNDING * max(period, delay)
    due = np.floor((t + slack) / period) if period else np.arange(len(t), dtype=float)
    looks = np.diff(due, prepend=-1.0) > 0.0
    at = t[looks]
    latest = np.cumsum(looks) - 1
    acts = np.minimum(np.searchsorted(at + delay, t + slack, side="right") - 1, latest)
    most = int((latest - np.maximum(acts, 0)).max(initial=0)) + 1
    if not looks[0] or most > MAX_PENDING:
        raise Untraceable
    since = np.diff(at, prepend=at[0])
    waiting = since[-1] if len(at) > 1 else 1.0  # of no look: any that is not zero
    intervals = np.where(looks, since[latest], waiting)
    return _Plan(most, at, looks, due, latest, acts, intervals)


def _rounded(x: FloatArray, quantum: float) -> FloatArray:
    return quantum * np.round(x / quantum) if quantum else x
