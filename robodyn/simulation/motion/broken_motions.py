"""Errors of motions that break down, with the trajectory until then, while others may go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.errors import SimulationError, SimulationInterrupted
from robodyn.robot import Robot
from robodyn.simulation.control.controller import refuse_not_finite
from robodyn.simulation.trajectory.trajectory import Trajectory

#: Attribute in which exceptions of other packages get the trajectory.
NOTE = "The motion until then is the .trajectory of this exception."


class OnError:
    """A context that calls a function for an exception, which may raise another one.

    It is entered in each step, and is therefore kept as simple as possible.

    handle: Called with the exception. If it returns, the exception is raised.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: Callable[[BaseException], None]) -> None:
        self._handle = handle

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None:
            self._handle(error)


def attaching_trajectory(so_far: Callable[[], Trajectory | None]) -> OnError:
    """Context that sets ``.trajectory`` of an exception to the motion up to then.

    An exception of a controller, an event or another function of the user stays what it is; Ctrl-C
    becomes `SimulationInterrupted`.
    """

    def handle(error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            raise SimulationInterrupted(
                "the simulation was interrupted; .trajectory is what there is of it",
                trajectory=so_far(),
            ) from error
        known = getattr(error, "trajectory", None) is not None and not _is_ours(error)
        if isinstance(error, Exception) and not known:
            _attach(error, so_far())

    return OnError(handle)


def detach_trajectory(error: Any) -> Trajectory | None:
    """Remove the trajectory that `attaching_trajectory` has set, and return it."""
    if not (_is_ours(error) or isinstance(error, SimulationError | SimulationInterrupted)):
        return None
    motion: Trajectory | None = error.trajectory
    error.trajectory = None
    return motion


def _is_ours(error: Any) -> bool:
    """Whether `attaching_trajectory` has set the trajectory of an exception."""
    return NOTE in getattr(error, "__notes__", ())


def _attach(error: Any, motion: Trajectory | None) -> None:
    try:
        error.trajectory = motion
    except (AttributeError, TypeError):  # its class allows no attributes
        return
    says_so = motion is None or isinstance(error, SimulationError)
    if not (says_so or _is_ours(error)):
        error.add_note(NOTE)


#: Largest number of motions that a message names.
NAMED = 10


class BrokenMotions:
    """The motions that have broken down, by their numbers, and why.

    q, v (..., nq), (..., nv): States at the start.
    rows: The motions, in the order in which they have broken down.
    """

    def __init__(self, q: FloatArray, v: FloatArray) -> None:
        self._shape = q.shape[:-1]  # a single motion, of none, ends where it breaks down
        self._count, self._start = math.prod(self._shape), tuple[FloatArray, ...]()
        if self._shape:
            self._start = tuple(x.reshape(self._count, x.shape[-1]).copy() for x in (q, v))
        self.rows: list[int] = []
        self._errors: dict[int, SimulationError] = {}
        self._latest: dict[int, float] = {}

    def others(self) -> list[int]:
        """The motions that go on."""
        return [r for r in range(self._count) if r not in self._errors]

    def __contains__(self, row: int) -> bool:
        return row in self._errors

    def add(self, error: SimulationError, t: float) -> None:
        """Keep why the motion that an error names has broken down at ``t`` [s].

        The error is raised if it names none, or one that has broken down at this instant before;
        that of the first one, if no other motion goes on.
        """
        if not (self._shape and error.motion):
            raise error
        row = int(np.ravel_multi_index(error.motion, self._shape))
        again = self._latest.get(row) == t
        self._latest[row] = t
        self._errors.setdefault(row, error)
        self.rows = [*self._errors]
        if again:
            raise error
        if len(self._errors) == self._count:
            raise next(iter(self._errors.values()))

    def finite(
        self, robot: Robot, tau: FloatArray, t: float, step: int, breaking: OnError
    ) -> FloatArray:
        """Forces of a controller, after a check that they are finite.

        step: Number of the step that begins there.
        breaking: Context that raises the breakdown of a motion.
        """
        while not all_finite(tau := self.without_forces(tau)):
            try:
                with breaking:
                    refuse_not_finite(robot, tau, t, step)
            except SimulationError as error:
                self.add(error, t)
        return tau

    def at_start(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """States, shape (..., nq), (..., nv), those of broken motions as at the start."""
        if not self.rows:
            return q, v
        return self._with(q, self._start[0][self.rows]), self._with(v, self._start[1][self.rows])

    def without_forces(self, tau: FloatArray) -> FloatArray:
        """Forces, shape (..., nv), those of broken motions zero."""
        return self._with(tau, 0.0)

    def unknown(self, x: FloatArray) -> FloatArray:
        """Samples, shape (..., n), those of broken motions not a number."""
        return self._with(x, np.nan)

    def _with(self, x: FloatArray, values: FloatArray | float) -> FloatArray:
        if not self.rows:
            return x
        x = x.copy()
        x.reshape(-1, x.shape[-1])[self.rows] = values
        return x

    def refuse(self) -> None:
        """Raise the error of the first motion that has broken down, which names all, if one has."""
        if not self._errors:
            return
        errors = sorted(self._errors.values(), key=lambda error: float(error.time or 0.0))
        first, motions = errors[0], tuple(error.motion for error in errors)
        text = str(first)
        if len(errors) > 1:
            named = ", ".join(",".join(map(str, motion)) for motion in motions[1 : NAMED + 1])
            more = f" and {len(errors) - 1 - NAMED} more" if len(errors) > NAMED + 1 else ""
            text += f"; motions that broke down, too: {named}{more}"
        raise SimulationError(
            f"{text}; the others went on to their end",
            time=first.time,
            motion=first.motion,
            motions=motions,
        ) from first.__cause__
