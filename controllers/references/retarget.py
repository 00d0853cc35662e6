"""The quickest motion from a moving state to a target, by the package ruckig (an extra)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import MissingExtraError, PathError, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import finite, number, numbers
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

from ..support.gains import checked_call, reduce_by_fields
from .profile import limit

#: Position, velocity and acceleration.
Motion = tuple[FloatArray, FloatArray, FloatArray]

#: A moving target is looked for at so many instants of the time that it would take to where it is
#: now, for so many times as long, and then at instants between two of them.
LOOKS, LONGEST, HALVES = 50, 40, 50


@dataclass(frozen=True, eq=False)
class Retarget:
    """The quickest motion, within limits, from a moving state to a target that may move.

    All joints arrive together. A state beyond limits is brought within them first.

    Attributes
    ----------
    start : callable, array_like, shape (n,), (q, v) or (q, v, a)
        A reference that is left at ``time``, or the state in which the motion begins.
    goal : callable, array_like, shape (n,), or (q, v)
        Where it ends, at rest if no speeds are given; with speeds it goes on with them. A reference
        is met as soon as it can be, with its speed, and followed from then on.
    velocity : float or array_like, shape (n,) [rad/s, m/s]
        Largest of each joint.
    acceleration : float or array_like, shape (n,) [rad/s^2, m/s^2]
    jerk : float or array_like, shape (n,), optional [rad/s^3, m/s^3]
        Default: accelerations jump.
    time : float [s]
        When it begins.
    duration : float [s]
        From then to its arrival.

    Raises
    ------
    ShapeError
        For starts and goals that are no states, and limits that are not positive.
    PathError
        For a goal beyond limits, and one that moves too fast to be met.
    MissingExtraError
        Without ruckig (extra ``ruckig``).

    Examples
    --------
    >>> from robodyn.controllers import Retarget, SCurve
    >>> limits = {"velocity": 1.0, "acceleration": 2.0, "jerk": 10.0}
    >>> first = SCurve([[0.0], [2.0]], **limits)
    >>> back = Retarget(first, [0.5], **limits, time=1.0)     # another goal on the way
    >>> back(0.9)[0] == first(0.9)[0], back(1.0 + back.duration)[0].round(9).tolist()
    (array([ True]), [0.5])
    """

    start: Any
    goal: Any
    velocity: ArrayLike
    acceleration: ArrayLike
    jerk: ArrayLike | None = None
    time: float = 0.0
    duration: float = field(init=False)
    _way: Any = field(init=False, repr=False)
    _ends: tuple[Motion, Motion] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        start = _state("start", self.start, number("time", self.time))
        search = _Search(start, self)
        if callable(self.goal):
            way, goal = search.met(self.goal, self.time)
        else:
            goal = _state("goal", self.goal, 0.0)
            way = search.way(goal, 0.0)
        if way is None:
            raise PathError(
                f"no motion leads from {_shown(start)} to {_shown(goal)} with these limits of "
                "velocity, acceleration and jerk: the goal is beyond them, or it is not finite",
                time=self.time,
            )
        object.__setattr__(self, "_way", way)
        object.__setattr__(self, "_ends", (start, goal))
        object.__setattr__(self, "duration", float(way.duration))

    __reduce__ = reduce_by_fields

    @checked_call
    def __call__(self, t: float) -> Motion:
        """Position, velocity, acceleration, each of shape (n,), at time ``t`` [s]."""
        since = t - self.time
        if since < 0.0:
            if callable(self.start):
                return self.start(t)  # type: ignore[no-any-return]
            q, v, a = self._ends[0]
            return q + v * since + a * (0.5 * since**2), v + a * since, a
        if since < self.duration:
            q, v, a = (np.array(x) for x in self._way.at_time(since))
            return q, v, a
        if callable(self.goal):
            return self.goal(t)  # type: ignore[no-any-return]
        q, v, a = self._ends[1]
        return q + v * (since - self.duration), v, a


class _Search:
    """What ruckig is asked, from one start with the same limits."""

    def __init__(self, start: Motion, law: Retarget) -> None:
        try:
            import ruckig
        except ImportError:
            raise MissingExtraError("ruckig", "ruckig", "motions from moving states") from None
        n, self._ruckig, self._jerk = start[0].size, ruckig, law.jerk is not None
        self._given = given = ruckig.InputParameter(n)
        given.current_position, given.current_velocity = start[0].tolist(), start[1].tolist()
        given.current_acceleration = (start[2] * self._jerk).tolist()
        given.max_velocity = limit("velocity", law.velocity, n).tolist()
        given.max_acceleration = limit("acceleration", law.acceleration, n).tolist()
        jerk = [np.inf] * n if law.jerk is None else limit("jerk", law.jerk, n).tolist()
        given.max_jerk = jerk

    def way(self, goal: Motion, least: float) -> Any:
        """The quickest way that takes at least so long [s]; ``None`` if there is none."""
        given, n = self._given, self._given.degrees_of_freedom
        if goal[0].size != n:
            raise ShapeError(
                f"goal has {goal[0].size} positions, and start {n}", name="goal", expected=(n,)
            )
        given.target_position, given.target_velocity = goal[0].tolist(), goal[1].tolist()
        given.target_acceleration = (goal[2] * self._jerk).tolist()
        given.minimum_duration = least or None
        found = self._ruckig.Trajectory(n)
        try:
            result = self._ruckig.Ruckig(n).calculate(given, found)
        except self._ruckig.RuckigError:
            return None
        return found if result.value >= 0 else None

    def met(self, target: Any, time: float) -> tuple[Any, Motion]:
        """The way to where a moving target can be met first, and its motion there."""

        def on_time(after: float) -> Any:
            way = self.way(_state("goal", target, time + after), after)
            late = way is None or way.duration > after * (1.0 + SAMPLE_TIME_ROUNDING)
            return None if late else way

        now = _state("goal", target, time)
        near = self.way((now[0], 0.0 * now[1], 0.0 * now[2]), 0.0)
        step = near.duration / LOOKS if near else 0.0
        early, late = 0.0, 0.0
        while on_time(late) is None:
            early, late = late, late + step
            if not late < LONGEST * LOOKS * step:
                return None, now
        for _ in range(HALVES if late else 0):
            middle = 0.5 * (early + late)
            early, late = (middle, late) if on_time(middle) is None else (early, middle)
        return on_time(late), _state("goal", target, time + late)


def _state(name: str, given: Any, t: float) -> Motion:
    """Position, velocity and acceleration of a reference at a time, or of a state."""
    parts = given(t) if callable(given) else given
    if not (isinstance(parts, tuple) and np.ndim(parts[0]) == 1 and len(parts) <= 3):
        parts = (parts,)
    arrays = [np.array(numbers(name, x), float) for x in parts]
    for x in arrays:
        finite(**{name: x})
    if arrays[0].ndim != 1 or any(x.shape != arrays[0].shape for x in arrays):
        raise ShapeError(
            f"{name} has shapes {[x.shape for x in arrays]}, expected positions (n,), and as many "
            "velocities and accelerations, if any",
            name=name,
            given=[x.shape for x in arrays],
        )
    still = np.zeros_like(arrays[0])
    q, v, a = (*arrays, still, still)[:3]
    return q, v, a


def _shown(state: Motion) -> str:
    return f"q = {state[0].tolist()}, v = {state[1].tolist()}"
