"""A digital controller: it has a sample period, a delay, and encoders with finite resolution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import numbers
from robodyn.codegen.calls.trace_graph import Untraceable
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State
from robodyn.simulation.control.tracing import Trace, steps_between
from robodyn.symbolic.scalar import Scalar, SymbolArray, where
from robodyn.tolerances import SAME_TIME, SAMPLE_TIME_ROUNDING

from ..support.gains import checked_call, state_of
from ..support.symbols import is_symbolic
from ..wrappers import wrapping

#: Most results that machine code has on their way.
MAX_PENDING = 64

#: What one number in a state may be.
NUMBERS = (Scalar, int, float, np.number, np.bool_)


@dataclass(frozen=True, eq=False)
class Sampled:
    """Another controller as a digital one with a sample period, a delay and encoders.

    It samples the robot at the instants 0, ``period``, 2 ``period``, ..., and first of all where
    its motion starts, and the resulting forces act ``delay`` later, until the next result does;
    before the first one, nothing acts. A simulation ends steps at all of these instants, whatever
    its step is, and records samples at its own. Where controllers have different rates in each
    other, the inner ones are sampled at instants of the outer ones.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``, called with the instant of the sample.
    period : float [s]
        Zero: at every step; then forces act at the first step that is not earlier than they should.
    delay : float [s]
    quantum : float or array_like, shape (nv,) [rad, m]
        What positions are rounded to a multiple of, as an encoder does: the same for all joints, or
        one number a speed. Zero: not at all. Quaternions stay as they are: no encoder reads them.
    velocity_quantum : float or array_like, shape (nv,) [rad/s, m/s]
        What speeds are rounded to a multiple of.
    robot : Robot, optional
        Needed where there are quaternions among positions. Default: that of the controller.
    wrap : float or array_like, shape (nv,) [rad, m]
        Range after which encoders begin again: positions are read from ``-wrap / 2`` on to below
        ``wrap / 2``. 2 pi for an absolute encoder of one turn. Zero: they count on.
    dropped : float
        Part of the samples that are lost on their way, 0 to below 1: forces stay what they were.
        The first one is not lost.
    seed : int
        Which samples these are: the same for the same seed, whatever the motion.

    Raises
    ------
    SettingsError
        If a number is negative or not finite.
    ShapeError
        If the controller is no function; when called, if it returns anything but numbers, one a
        speed, and if it is not known which positions are quaternions.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation, Sampled
    >>> robot = rd.load("double_pendulum")
    >>> digital = Sampled(GravityCompensation(robot), period=0.01)
    >>> run = rd.simulate(robot, digital, q0=[1.0, 0.0], v0=[1.0, 0.0], duration=0.1)
    >>> len(np.unique(run.tau[:100, 0]))     # each is held for ten steps
    10
    """

    controller: Controller
    period: float
    delay: float = 0.0
    quantum: ArrayLike = 0.0
    velocity_quantum: ArrayLike = 0.0
    robot: Any = None
    wrap: ArrayLike = 0.0
    dropped: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.controller, self.robot))
        for name in ("period", "delay"):
            given = getattr(self, name)
            if not 0.0 <= given < math.inf:
                raise SettingsError(f"{name} is {given!r}, expected a number >= 0")
        for name in ("quantum", "velocity_quantum", "wrap"):
            given = numbers(name, getattr(self, name))
            if given.ndim > 1 or not ((given >= 0.0) & (given < math.inf)).all():
                raise SettingsError(
                    f"{name} is {getattr(self, name)!r}, expected a number >= 0, or one a speed"
                )
            kept = given.copy() if given.ndim else float(given)
            object.__setattr__(self, name, kept)
        if not 0.0 <= self.dropped < 1.0 or (self.dropped and not self.period):
            raise SettingsError(
                f"dropped is {self.dropped!r}, expected a part of the samples, 0 to below 1, and "
                "zero without a period"
            )
        if not 0 <= self.seed < 2**128:
            raise SettingsError(f"seed is {self.seed!r}, expected a whole number, 0 to 2^128 - 1")

    @property
    def symbolic(self) -> bool:
        """Whether it can be called with symbols: if no encoder rounds, and its controller can."""
        return self.why_no_code is None and bool(getattr(self.controller, "symbolic", False))

    @property
    def why_no_code(self) -> str | None:
        """Why it is no code of itself, whatever its controller is; ``None`` if it can be."""
        if not (np.any(self.quantum) or np.any(self.velocity_quantum) or np.any(self.wrap)):
            return None
        return (
            "the rounding of encoders (quantum, velocity_quantum, wrap) has no code: leave it out, "
            "as positions that a real encoder gives are rounded already"
        )

    def instants(self, start: float, stop: float) -> FloatArray:
        """When it samples and acts from one time to another [s], for simulations."""
        if not self.period:
            return np.zeros(0)
        first = math.ceil(start / self.period - SAMPLE_TIME_ROUNDING)
        ticks = self.period * np.arange(first, stop // self.period + 1.0)
        return np.concatenate([ticks, [start + self.delay], ticks + self.delay])

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces of a sample at time ``t`` [s], shape (..., nv) [N m, N]."""
        seen = self._seen(ControllerSample(t, q, v, 0.0, np.zeros(np.shape(v))))
        return wrapping.first_forces(self.controller, t, seen.q, seen.v)

    def _seen(self, sample: ControllerSample) -> ControllerSample:
        """A sample as encoders read it."""
        if is_symbolic(sample.q):
            return sample
        q, v = np.asarray(sample.q), np.asarray(sample.v)
        return sample._replace(q=self._read(q, v.shape[-1]), v=_rounded(v, self.velocity_quantum))

    def _read(self, q: FloatArray, nv: int) -> FloatArray:
        """Positions as encoders read them."""
        given = [self.quantum, self.wrap]
        if (np.any(self.quantum) or np.any(self.wrap)) and q.shape[-1] != nv:
            if not isinstance(self.robot, Robot):
                raise ShapeError(
                    f"q has {q.shape[-1]} numbers and v {nv}: which of them are quaternions, that "
                    "no encoder reads? Give Sampled robot=, whose coordinates they are",
                    name="robot",
                )
            state_of(self.robot, q, np.zeros(nv))
            given = [_of_positions(self.robot, each) for each in given]
        return _wrapped(_rounded(q, given[0]), given[1])

    def initial_state(self, sample: ControllerSample) -> State:
        """No sample taken, and no result on its way."""
        sample, trace = self._seen(sample), getattr(sample.t, "trace", None)
        zeros = np.zeros(sample.v.shape)
        own = {INNER: wrapping.initial_state_of(self.controller, sample)}
        if trace is not None and trace.step is not None:
            return {"results": np.zeros((self._steps_late(trace.step) + 1, *zeros.shape)), **own}
        most = 0 if trace is None else self._most(trace)
        results = {"times": np.zeros(most), "results": np.zeros((most, *zeros.shape))}
        return {"count": -1.0, **results, "sampled": sample.t, "impulse": zeros, **own}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces; the number of its latest sample, when it was, and results on their way."""
        trace = getattr(sample.t, "trace", None)
        if trace is not None and trace.step is not None:
            return self._at_steps(sample, trace.step, state)
        impulse, t = state["impulse"] + sample.impulse, sample.t
        kept, number, taken = {**state, "impulse": impulse}, state["count"] + 1.0, True
        h, most = t - state["sampled"], None if trace is None else len(state["times"])
        if self.period:
            number = self._number(t) if trace is None else self._symbol(t)
            taken = number > state["count"]
        if trace is not None:
            h = self._interval(sample, trace)
        if trace is not None or taken:
            own = self._seen(sample)._replace(h=h, impulse=impulse)
            tau, inner = wrapping.update_of(self.controller, own, _copied(state[INNER]))
            results = np.array([tau, *state["results"]][:most])
            new = {"count": number, "times": np.array([t, *state["times"]][:most])}
            new |= {"results": results, "sampled": t, "impulse": 0.0 * impulse, INNER: inner}
            kept = _chosen(taken, new, kept) if trace is not None else new
        acts = [at + self.delay <= t + self._slack(t) for at in kept["times"]]
        tau = np.zeros(sample.v.shape)
        for acting, result in zip(acts[::-1], kept["results"][::-1], strict=True):
            tau = where(acting, result, tau)
        if trace is not None:  # what is no number is asked of Python now, not when it acts
            tau = where(kept["results"][0].view(SymbolArray) ** 2 >= 0.0, tau, np.nan)
        else:  # those before the one that acts are done with
            needed = acts.index(True) + 1 if True in acts else len(acts)
            kept |= {name: kept[name][:needed] for name in ("times", "results")}
        return tau, kept

    def _slack(self, t: Any) -> Any:
        """By how much earlier an instant counts as one at which it is due [s]."""
        return SAMPLE_TIME_ROUNDING * max(self.period, self.delay) + SAME_TIME * t

    def _number(self, t: Any) -> Any:
        """Number of the latest sample until a time [s], or until each of many, that is not lost."""
        number = np.floor((t + self._slack(t)) / self.period)
        return self._kept(number) if self.dropped else number

    def _symbol(self, t: Any) -> Any:
        """The same of the time while it is traced."""

        def numbered(t: Any) -> tuple[FloatArray]:
            return (np.asarray(self._number(t)),)

        return t.sampled("sampled", numbered, (self,), numbered)[0][()]

    def _kept(self, number: Any) -> Any:
        """The latest sample, that is not lost, until one with a number, or each of many."""
        most = int(np.max(number, initial=0))
        latest = _latest_kept(self.seed, self.dropped, 1 << most.bit_length())
        return latest[np.maximum(number, 0.0).astype(int)]

    def _interval(self, sample: ControllerSample, trace: Trace) -> Any:
        """In symbols: the time since the sample before, zero at the first one.

        Raises
        ------
        Untraceable
            If samples come from another controller with a period of its own.
        """
        if getattr(sample.h, "intervals", steps_between) is not steps_between:
            raise Untraceable
        if not self.period:
            return sample.h

        def intervals(times: FloatArray, first: int, stop: int) -> FloatArray:
            start, number = float(times[0]), self._number(times[first:stop])
            before = self._kept(number - 1.0) if self.dropped else number - 1.0
            since = np.minimum(number - before, number - start / self.period) * self.period
            return np.where(number > self._number(start), since, 0.0)

        return trace.interval(intervals)

    def _most(self, trace: Trace) -> int:
        """The most results that are on their way at once in a motion whose instants are known.

        Raises
        ------
        Untraceable
            If they are not known, and for more than machine code can carry.
        """
        if self.period:
            most = math.floor(self.delay / self.period) + 2  # one more where it starts between two
        elif trace.times is None or not len(trace.times):
            raise Untraceable
        else:
            t = trace.times
            due = np.searchsorted(t + self.delay, t + self._slack(t), side="right")
            most = int((np.arange(1, len(t) + 1) - due).max()) + 1
        if most > MAX_PENDING:
            raise Untraceable
        return most

    def _steps_late(self, step: float) -> int:
        """Steps by which results act late, where samples come at equal steps [s].

        Raises
        ------
        SettingsError
            If the controller in it is sampled at other times.
        """
        if self.dropped:
            raise SettingsError(
                "samples of Sampled are dropped by its seed: a function at equal steps is called "
                "with those that are there; leave dropped= out"
            )
        if self.period and abs(self.period - step) > SAMPLE_TIME_ROUNDING * step:
            raise SettingsError(
                f"the step is {step:.6g} s, and {type(self).__name__} has a period of "
                f"{self.period:.6g} s: give step={self.period:.6g}, and call its functions then"
            )
        return max(math.ceil(self.delay / step - SAMPLE_TIME_ROUNDING), 0)

    def _at_steps(
        self, sample: ControllerSample, step: float, state: State
    ) -> tuple[FloatArray, State]:
        """In symbols, for samples at equal steps."""
        tau_new, inner = wrapping.update_of(self.controller, sample, state[INNER])
        results = np.zeros((self._steps_late(step) + 1, len(tau_new)), object)
        results[0], results[1:] = tau_new, state["results"][:-1]
        return results[-1], {"results": results, INNER: inner}


def _chosen(taken: Any, new: Any, old: Any) -> Any:
    """A state after a sample where it takes one, and the old one elsewhere.

    Raises
    ------
    Untraceable
        If they are made of other arrays, lists and mappings.
    """
    if taken is True:
        return new
    if isinstance(old, Mapping):
        if not isinstance(new, Mapping) or new.keys() != old.keys():
            raise Untraceable
        return {key: _chosen(taken, new[key], old[key]) for key in old}
    if type(old) in (list, tuple):
        if type(new) is not type(old) or len(new) != len(old):
            raise Untraceable
        return type(old)(_chosen(taken, *pair) for pair in zip(new, old, strict=True))
    if np.shape(new) != np.shape(old) or not isinstance(new, (np.ndarray, *NUMBERS)):
        raise Untraceable
    return where(taken, new, old)


def _copied(state: Any) -> Any:
    """A state whose arrays may be written into."""
    if isinstance(state, Mapping):
        return {key: _copied(x) for key, x in state.items()}
    if type(state) in (list, tuple):
        return type(state)(map(_copied, state))
    return state.copy() if isinstance(state, np.ndarray) else state


@lru_cache
def _latest_kept(seed: int, dropped: float, count: int) -> FloatArray:
    """The latest sample that is not lost, until each of so many, shape (count,)."""
    lost = np.random.Generator(np.random.Philox(key=seed)).random(count) < dropped
    lost[0] = False
    number = np.arange(float(count))
    return np.asarray(np.maximum.accumulate(np.where(lost, 0.0, number)))


def _of_positions(robot: Robot, each: ArrayLike) -> FloatArray:
    """Numbers of all speeds, shape (nv,) or (), as those of coordinates; zero of quaternions."""
    by_speed, found = np.broadcast_to(each, robot.nv), np.zeros(robot.nq)
    for joint in (robot.joints[name] for name in robot.joint_names):
        turning = 4 if joint.kind.coordinates.quaternion else 0
        read = slice(joint.q.start, joint.q.stop - turning)
        found[read] = by_speed[joint.v][: read.stop - read.start]
    return found


def _wrapped(x: FloatArray, wrap: ArrayLike) -> FloatArray:
    """Numbers between ``-wrap / 2`` and ``wrap / 2``; of zero: as they are."""
    each = np.asarray(wrap)
    if not each.any():
        return x
    some = np.where(each, each, 1.0)
    found: FloatArray = np.where(each, x - some * np.floor(x / some + 0.5), x)
    return found


def _rounded(x: FloatArray, quantum: ArrayLike) -> FloatArray:
    """The multiples of numbers [of the last axis, or one] that are nearest; of zero: as it is."""
    each = np.asarray(quantum)
    if not each.any():
        return x
    if each.shape not in ((), x.shape[-1:]):
        raise ShapeError(
            f"quantum has shape {each.shape}, expected one number, or {x.shape[-1]}: one a speed",
            name="quantum",
            given=each.shape,
        )
    some = np.where(each, each, 1.0)
    found: FloatArray = np.where(each, some * np.round(x / some), x)
    return found
