"""A digital controller: it has a sample period, a delay, and encoders with finite resolution."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from robodyn.symbolic.scalar import Scalar, where
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

from ..support.gains import checked_call, state_of
from ..support.symbols import is_symbolic
from ..wrappers import wrapping

#: Most results that machine code has on their way.
MAX_PENDING = 64

#: In how many parts more than needed a period may be cut so that its delay is some of them.
MOST_PARTS = 1000

#: What one number in a state may be.
NUMBERS = (Scalar, int, float, np.number, np.bool_)


@dataclass(frozen=True, eq=False)
class Sampled:
    """Another controller as a digital one with a sample period, a delay and encoders.

    It samples the robot at the instants 0, ``period``, 2 ``period``, ..., and the resulting forces
    act ``delay`` later, until the next result does; before the first one, nothing acts. In a
    simulation it samples and acts at the first step that is not earlier.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``, called with the instant of the sample.
    period : float [s]
        Zero: at every step.
    delay : float [s]
    quantum : float or array_like, shape (nv,) [rad, m]
        What positions are rounded to a multiple of, as an encoder does: the same for all joints, or
        one number a speed. Zero: not at all. Quaternions stay as they are: no encoder reads them.
    velocity_quantum : float or array_like, shape (nv,) [rad/s, m/s]
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

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapping.wrapped(self.controller, self.robot))
        for name in ("period", "delay"):
            given = getattr(self, name)
            if not 0.0 <= given < math.inf:
                raise SettingsError(f"{name} is {given!r}, expected a number >= 0")
        for name in ("quantum", "velocity_quantum"):
            given = numbers(name, getattr(self, name))
            if given.ndim > 1 or not ((given >= 0.0) & (given < math.inf)).all():
                raise SettingsError(
                    f"{name} is {getattr(self, name)!r}, expected a number >= 0, or one a speed"
                )
            kept = given.copy() if given.ndim else float(given)
            object.__setattr__(self, name, kept)

    @property
    def symbolic(self) -> bool:
        """Whether it can be called with symbols: if no encoder rounds, and its controller can."""
        return self.why_no_code is None and bool(getattr(self.controller, "symbolic", False))

    @property
    def why_no_code(self) -> str | None:
        """Why it is no code of itself, whatever its controller is; ``None`` if it can be."""
        if not (np.any(self.quantum) or np.any(self.velocity_quantum)):
            return None
        return (
            "the rounding of encoders (quantum, velocity_quantum) has no code: leave it out, as "
            "positions that a real encoder gives are rounded already"
        )

    def uneven(self, step: float) -> str | None:
        """What steps of a simulation [s] make of its instants, if they are others than it says."""
        asked = {"period": self.period, "delay": self.delay}
        wrong = [name for name, given in asked.items() if not _is_part(step, given)]
        if not wrong:
            return None
        whole = self.period or self.delay
        first = math.ceil(whole / step)
        tried = (whole / n for n in range(first, first + MOST_PARTS))
        fitting = (x for x in tried if all(_is_part(x, given) for given in asked.values()))
        advice = next((f"step={x:.6g}" for x in fitting), "a step that is part of both")
        return (
            f"{type(self).__name__} has a {wrong[0]} of {asked[wrong[0]]:.6g} s, of which steps of "
            f"{step:.6g} s are no part: it samples and acts at the first step that is not earlier; "
            f"take {advice}"
        )

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
        if not np.any(self.quantum) or q.shape[-1] == nv:
            return _rounded(q, self.quantum)
        if not isinstance(self.robot, Robot):
            raise ShapeError(
                f"q has {q.shape[-1]} numbers and v {nv}: which of them are quaternions, that no "
                "encoder reads? Give Sampled robot=, whose coordinates they are",
                name="robot",
            )
        state_of(self.robot, q, np.zeros(nv))
        by_speed = np.broadcast_to(self.quantum, nv)
        quantum = np.zeros(q.shape[-1])
        for joint in (self.robot.joints[name] for name in self.robot.joint_names):
            turning = 4 if joint.kind.coordinates.quaternion else 0
            read = slice(joint.q.start, joint.q.stop - turning)
            quantum[read] = by_speed[joint.v][: read.stop - read.start]
        return _rounded(q, quantum)

    def initial_state(self, sample: ControllerSample) -> State:
        """No sample taken, and no result on its way."""
        sample = self._seen(sample)
        inner, zeros = (
            {INNER: wrapping.initial_state_of(self.controller, sample)},
            np.zeros(sample.v.shape),
        )
        trace, pending = getattr(sample.t, "trace", None), 0
        if trace is not None and trace.step is not None:
            return {"results": np.zeros((self._steps_late(trace.step) + 1, *zeros.shape)), **inner}
        if trace is not None:  # as many as there may be, of which those to come are without effect
            pending = self._plan(trace).most
        results = {"times": np.zeros(pending), "results": np.zeros((pending, *zeros.shape))}
        return {"count": -1.0, **results, "sampled": sample.t, "impulse": zeros, **inner}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces; how many samples it should have taken, when it did, and results on their way."""
        trace, slack = getattr(sample.t, "trace", None), self._slack
        if trace is not None and trace.step is not None:
            return self._at_steps(sample, trace.step, state)
        impulse, taken = state["impulse"] + sample.impulse, True
        kept, h, most = {**state, "impulse": impulse}, sample.t - state["sampled"], None
        if trace is not None:
            taken, due, h, most = self._planned(sample, trace)
        else:
            due = _due(sample.t, self.period, slack) if self.period else state["count"] + 1
            taken = bool(due > state["count"])
        if taken is not False:
            own = self._seen(sample)._replace(h=h, impulse=impulse)
            tau, inner = wrapping.update_of(self.controller, own, _copied(state[INNER]))
            results = np.array([tau, *state["results"]][:most])
            new = {"count": due, "times": np.array([sample.t, *state["times"]][:most])}
            new |= {"results": results, "sampled": sample.t, "impulse": 0.0 * impulse, INNER: inner}
            kept = _chosen(taken, new, kept)
        acts = [at + self.delay <= sample.t + slack for at in kept["times"]]
        tau = np.zeros(sample.v.shape)
        for acting, result in zip(acts[::-1], kept["results"][::-1], strict=True):
            tau = where(acting, result, tau)
        if trace is not None:  # what is no number is asked of Python now, not when it acts
            tau = where(kept["results"][0] ** 2 >= 0.0, tau, np.nan)
        else:  # those before the one that acts are done with
            needed = acts.index(True) + 1 if True in acts else len(acts)
            kept |= {name: kept[name][:needed] for name in ("times", "results")}
        return tau, kept

    @property
    def _slack(self) -> float:
        """By how much earlier an instant counts as one at which it is due [s]."""
        return SAMPLE_TIME_ROUNDING * max(self.period, self.delay)

    def _steps_late(self, step: float) -> int:
        """Steps by which results act late, where samples come at equal steps [s].

        Raises
        ------
        SettingsError
            If the controller in it is sampled at other times.
        """
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

    def _plan(self, trace: Trace) -> _Plan:
        """When it takes samples in a motion whose instants are known.

        Raises
        ------
        Untraceable
            If they are not known.
        """
        if trace.times is None or not len(trace.times):
            raise Untraceable
        return _plan(trace.times, self.period, self.delay, self._slack)

    def _planned(self, sample: ControllerSample, trace: Trace) -> tuple[Any, Any, Any, int]:
        """In symbols: whether it takes a sample, how many it should have taken, since when."""
        if getattr(sample.h, "intervals", steps_between) is not steps_between:
            raise Untraceable  # within another one with a period of its own
        plan = self._plan(trace)

        def of_samples(table: FloatArray) -> Callable[[FloatArray, int, int], FloatArray]:
            return lambda times, first, stop: table[first:stop]

        taken, due = trace.sample_signal("sampled", 2, of_samples(plan.rows))
        return taken > 0.5, due, trace.interval(of_samples(plan.intervals)), plan.most


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


class _Plan(NamedTuple):
    """When a digital controller takes samples, at each of n instants.

    Attributes
    ----------
    most : int
        Samples whose results are on their way at once, the latest one counted.
    rows : ndarray, shape (n, 2)
        Whether it takes a sample, and how many it should have taken, before the first instant as
        well.
    intervals : ndarray, shape (n,) [s]
        Since the sample before, where it takes one; zero at the first.
    """

    most: int
    rows: FloatArray
    intervals: FloatArray


def _due(t: Any, period: float, slack: float) -> Any:
    """How many samples it should have taken, but for the first one."""
    return np.floor((t + slack) / period)


def _plan(t: FloatArray, period: float, delay: float, slack: float) -> _Plan:
    """When a digital controller takes samples.

    Raises
    ------
    Untraceable
        If machine code cannot do it: there is no sample at once, or too much is on its way.
    """
    due = _due(t, period, slack) if period else np.arange(len(t), dtype=float)
    taken = np.diff(due, prepend=-1.0) > 0.0
    at = t[taken]
    latest = np.cumsum(taken) - 1
    acts = np.minimum(np.searchsorted(at + delay, t + slack, side="right") - 1, latest)
    most = int((latest - np.maximum(acts, 0)).max(initial=0)) + 1
    if not taken[0] or most > MAX_PENDING:
        raise Untraceable
    since = np.diff(at, prepend=at[0])
    waiting = since[-1] if len(at) > 1 else 1.0  # of no sample: any that is not zero
    rows = np.stack([taken, due], axis=1, dtype=float)
    return _Plan(most, rows, np.where(taken, since[latest], waiting))


def _is_part(step: float, whole: float) -> bool:
    """Whether a time is a whole number of steps, or zero."""
    return abs(round(whole / step) * step - whole) <= SAMPLE_TIME_ROUNDING * max(whole, step)


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
