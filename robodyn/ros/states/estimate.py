"""The whole state of a robot from what was measured of it; nothing here needs ROS."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.closed_loops.assembly.continuation import LONGEST, SHORTEST, SURPRISE
from robodyn.closed_loops.constraints.open_loops import largest_gap as largest_opening
from robodyn.codegen import Function
from robodyn.ros.states.messages import Measured, StateNames
from robodyn.tolerances import (
    FARTHEST,
    LAST_CORRECTION,
    LOOP_CLOSED,
    LOOP_DRIFT,
    SINGULAR_AFTER_SEARCH,
)

#: Positions of joints in loops that are farther away [rad, m], but for turns, were not measured.
FAR = 1e3
#: Measured joints that are farther [rad, m] from where the loops have them contradict these.
AGREE = 0.1
#: Most steps of Newton's method that close the loops after a step of the measured joints.
NEWTON = 8
#: Choices of joints that are kept, one for each set of measured joints.
MOST_CHOICES = 16


@dataclass(frozen=True, eq=False)
class State:
    """Position and velocity with loops closed.

    Attributes
    ----------
    q, v : ndarray, shape (nq,), (nv,)
    """

    q: FloatArray
    v: FloatArray


@dataclass(frozen=True, eq=False)
class Held:
    """Measured joints that determine all others.

    names: Their scalar coordinates.
    coordinates, speeds: Their places in q and v.
    corrections: Closes loops by the others; ``None`` where the robot has no such program.
    rank: Of the Jacobian of the loops over all other speeds.
    """

    names: tuple[str, ...]
    coordinates: NDArray[np.intp]
    speeds: NDArray[np.intp]
    corrections: Function | None
    rank: int


class Estimator:
    """Completes measured joints: mimic joints, and joints that loops determine.

    The last posture is where the search for the next one starts, which keeps a linkage on its
    branch: measured joints go from it to where they are now in steps, after each of which Newton's
    method closes the loops, and a step ends near where its tangent leads.

    unmeasured: Joints that no message tells of; they stay where they are.
    remark: Of the last posture, why it may be on another branch; else empty.
    way: Postures between the last two, where measured joints moved by more than one step.
    """

    def __init__(self, names: StateNames, unmeasured: Collection[str] = ()) -> None:
        self.names, self._unmeasured = names, frozenset(unmeasured)
        robot = names.robot
        self._last: FloatArray = robot.neutral()
        self._choices: dict[bytes, Held] = {}
        self._turning = _turning(names)
        # without checks: a step that is no number is not taken
        self._add: Any = np.add if robot.joints.coordinates_add else robot.function("integrate")
        self._rows = np.array(robot.model.setup.position_rows, int)
        if robot.nc:
            self._looped = (robot.loop_jacobian(self._last) != 0.0).any(axis=0)
        self.remark, self.way = "", list[FloatArray]()
        #: What was measured where no posture was found; whether there was one before at all.
        self._failed: FloatArray | None = None
        self._answered = self._searched_for = False

    def prepare(self, joints: Collection[str]) -> None:
        """Compile what completes these measured joints, before a message is to be answered."""
        known = np.zeros(self.names.robot.nq, bool)
        known[[self.names.coordinate(name) for name in joints]] = True
        if self.names.robot.nc:
            held = self._held(known, ())
            self._walked(self._last, self._last + 1e-6 * known, held)
            self.velocity(self._last, np.zeros(self.names.robot.nv), held)
        self.way = []

    def complete(self, measured: Measured) -> State:
        """The state that agrees with what was measured.

        Where more was measured than the loops leave free, motors' joints have the last word and
        the others tell of the branch. Speeds that were not measured and that no loop determines
        are zero.

        Raises UnknownNameError: If joints are missing that nothing determines; ``.name`` lists
            them.
        Raises AssemblyError: If the loops cannot be closed, or other measured joints contradict
            them.
        """
        last = self._last
        q, held = self.posture(measured)
        try:
            return State(q, self.velocity(q, measured.v, held))
        except rd.RobodynError:
            self._last = last
            raise

    def posture(self, measured: Measured) -> tuple[FloatArray, Held | None]:
        """The posture, and in a linkage the joints that determine it; errors as of `complete`."""
        known = ~np.isnan(measured.q)
        goal = np.where(known, measured.q, self._last)
        self.remark, self.way, held, searched = "", [], None, False
        if not np.abs(goal).max(initial=0.0) < FARTHEST:
            raise rd.AssemblyError(f"measured positions are beyond {FARTHEST:g}", q=goal)
        if not self.names.robot.nc:
            self._demand(measured.missing)
        else:
            goal, held, searched = self._closed(goal, measured, known)
        self._last, self._answered, self._failed = goal, True, None
        self._searched_for = searched
        return goal, held

    def velocity(self, q: FloatArray, v: FloatArray, held: Held | None) -> FloatArray:
        """Speeds of all joints from measured ones, NaN where there are none, shape (nv,).

        Raises AssemblyError, SingularError: In a singular posture, where others are not determined.
        """
        speeds = np.where(np.isnan(v), 0.0, v)
        if held is None:
            return speeds
        if self._searched_for and self._is_singular(q, held):
            raise rd.SingularError(
                f"the speeds of {', '.join(held.names)} leave others open in this posture"
            )
        return self.names.robot.consistent_velocity(q, speeds, hold=held.names)

    def _is_singular(self, q: FloatArray, held: Held) -> bool:
        """Whether joints are not determined just there, but for rounding of the posture."""
        K = np.delete(self.names.robot.loop_jacobian(q), held.speeds, axis=1)
        sizes = np.linalg.svd(K, compute_uv=False)
        return bool((sizes > SINGULAR_AFTER_SEARCH * sizes.max(initial=0.0)).sum() < held.rank)

    def undetermined(self) -> dict[str, bool]:
        """Joints that no scalar coordinate determines, and whether none of their freedoms are."""
        robot = self.names.robot
        fixed = np.isin(np.arange(robot.nv), [self.names.speed(n) for n in self._own])
        free = np.eye(robot.nv)[:, ~fixed]
        if robot.nc:
            free = free @ _null_space(robot.loop_jacobian(self._last) @ free)
        found = {}
        for name in self.names.multi:
            rows = free[robot.joints[name].v]
            rank = int(np.linalg.matrix_rank(rows, tol=1e-6)) if rows.size else 0
            if rank:
                found[name] = rank == len(rows)
        return found

    @property
    def _own(self) -> list[str]:
        """Scalar coordinates that are the robot's own, motors first."""
        every = dict.fromkeys((*self.names.motors, *self.names.names))
        return [name for name in every if self.names.is_own(name)]

    # -- postures of linkages -------------------------------------------------------------------

    def _closed(
        self, goal: FloatArray, measured: Measured, known: NDArray[np.bool_]
    ) -> tuple[FloatArray, Held, bool]:
        """The closed posture in which joints are where they were measured, and which are held.

        And whether it was searched for, as no way along a branch leads there.
        """
        held = self._held(known, measured.missing)
        q = self._followed(self._last, goal, held)
        if q is None and np.count_nonzero(known) > len(held.names):
            self._choices.clear()  # others of them may determine the rest here
            held = self._held(known, measured.missing)
            q = self._followed(self._last, goal, held)
        if q is not None and not self._contradicted(q, measured):
            return q, held, False
        self.way = []
        found = self._searched(goal, held, measured, known, q)
        if self._answered:
            self.remark = (
                "no way leads along one branch from the posture before to what was measured now: "
                f"the loops may be assembled in another way ({', '.join(held.names)} jumped, or "
                "passed where two ways meet); a measured passive joint tells which"
            )
        return found, held, True

    def _searched(
        self,
        goal: FloatArray,
        held: Held,
        measured: Measured,
        known: NDArray[np.bool_],
        followed: FloatArray | None,
    ) -> FloatArray:
        """A closed posture on any branch; not from nearly where no search has found one.

        followed: The posture on the branch so far, which measured joints contradict.
        """
        robot, before = self.names.robot, self._failed
        here = np.where(known, measured.q, 0.0)
        if before is not None and not np.abs(here - before).max(initial=0.0) > LONGEST:
            wrong = "" if followed is None else self._contradicted(followed, measured)
            raise rd.AssemblyError(wrong or self._opened(goal), q=goal)
        self._failed = here
        away = np.abs(goal - self._last)
        away = np.where(self._turning, _turned(away), away)
        if not away.max(initial=0.0) < FAR:
            raise rd.AssemblyError(f"measured positions are more than {FAR:g} away", q=goal)
        if followed is None:
            followed = robot.assemble(goal, hold=held.names, beyond_limits=True)
        wrong = self._contradicted(followed, measured)
        if not wrong:
            return followed
        passive = self._chosen(known, (), passive=True)  # they tell of another branch
        with suppress(rd.AssemblyError):
            near = robot.assemble(goal, hold=passive.names, beyond_limits=True)
            other = self._walked(near, goal, held)
            if other is not None and not self._contradicted(other, measured):
                return other
        raise rd.AssemblyError(wrong, q=followed)

    def _opened(self, goal: FloatArray) -> str:
        """Which loop is open, in words, where measured joints alone have moved."""
        robot = self.names.robot
        loop, gap = largest_opening(robot.model, robot.loop_residual(goal)[self._rows])
        return (
            f"the loops of {robot.name!r} do not close: {loop!r} is off by {gap} from the posture "
            "before; no posture was found near here"
        )

    def _followed(self, start: FloatArray, goal: FloatArray, held: Held) -> FloatArray | None:
        """The posture on the branch of another one; ``None`` where no way leads there."""
        q = self._walked(start, goal, held)
        if q is not None:
            return q
        at, turned = held.coordinates[self._turning[held.coordinates]], goal.copy()
        turned[at] -= 2.0 * np.pi * np.round((goal[at] - start[at]) / (2.0 * np.pi))
        if (turned == goal).all():
            return None
        q = self._walked(start, turned, held)  # an angle that is given from -pi to pi comes round
        if q is not None:
            q[at] = goal[at]
        return q if q is not None and self._is_closed(q) else None

    def _walked(self, start: FloatArray, goal: FloatArray, held: Held) -> FloatArray | None:
        """The posture that steps of measured joints lead to from another one."""
        at, looped = held.coordinates, self._looped[held.speeds]
        q, longest, self.way = start.copy(), LONGEST, []
        q[at[~looped]] = goal[at[~looped]]  # these may be anywhere
        if not np.abs(goal[at] - q[at]).max(initial=0.0) < FAR:
            return None
        while True:
            way = goal[at] - q[at]
            size = float(np.abs(way).max(initial=0.0))
            if size == 0.0:
                return q
            whole = size <= longest
            new = self._stepped(q, held, way if whole else way * (longest / size))
            if new is not None:
                if whole:
                    new[at] = goal[at]
                else:
                    self.way.append(new)
                q, longest = new, min(2.0 * longest, LONGEST)
            elif longest > SHORTEST:
                longest = 0.5 * min(longest, size)
            else:
                return None

    def _assembled(self, q: FloatArray, held: Held, way: FloatArray) -> FloatArray | None:
        """The same by a search near by, of a linkage without a program of its corrections."""
        guess = q.copy()
        guess[held.coordinates] += way
        with suppress(rd.AssemblyError):
            return self.names.robot.assemble(guess, hold=held.names, beyond_limits=True)
        return None

    def _is_closed(self, q: FloatArray) -> bool:
        gap = np.abs(self.names.robot.loop_residual(q)[self._rows]).max(initial=0.0)
        return bool(gap < LOOP_CLOSED)

    def _stepped(self, q: FloatArray, held: Held, way: FloatArray) -> FloatArray | None:
        """The closed posture one step on; ``None`` if there is none where the tangent leads."""
        if held.corrections is None:
            return self._assembled(q, held, way)
        step = np.zeros(self.names.robot.nv)
        step[held.speeds] = way
        predicted = step + held.corrections(q, step)[1]
        first = new = self._add(q, predicted)
        still = np.zeros(len(step))
        for _ in range(NEWTON):
            change = held.corrections(new, still)[0]
            new = self._add(new, change)
            if not np.abs(change).max() > LAST_CORRECTION:
                break
        else:
            return None
        surprise = np.abs(new - first).max()
        if not surprise <= SURPRISE * np.abs(predicted).max() + LOOP_DRIFT:
            return None
        return new if self._is_closed(new) else None

    def _contradicted(self, q: FloatArray, measured: Measured) -> str:
        """Which measured joint is elsewhere than the loops have it, in words; else empty."""
        found = largest_gap(measured.q, q, self._turning)
        if found is None:
            return ""
        name = next(name for name in self._own if self.names.coordinate(name) == found[0])
        return f"{name} was measured {found[1]:.3g} (rad or m) away from where the loops have it"

    # -- which joints determine the others ------------------------------------------------------

    def _held(self, known: NDArray[np.bool_], missing: tuple[str, ...]) -> Held:
        """Measured joints that determine all others, motors first."""
        key = known.tobytes()
        if key not in self._choices:
            if len(self._choices) >= MOST_CHOICES:
                self._choices.clear()
            self._choices[key] = self._chosen(known, missing)
        return self._choices[key]

    def _chosen(
        self, known: NDArray[np.bool_], missing: tuple[str, ...], *, passive: bool = False
    ) -> Held:
        """The same, found anew; with ``passive`` joints without motors come first."""
        names, robot = self.names, self.names.robot
        own = self._own
        if passive:
            own = [*own[len(names.motors) :], *own[: len(names.motors)]]
        free = _null_space(robot.loop_jacobian(self._last))
        every = free[[names.speed(name) for name in self._own]]
        chosen: list[str] = []
        basis = np.zeros((0, free.shape[1]))
        for name in own:
            more = np.vstack([basis, free[names.speed(name)]])
            if known[names.coordinate(name)] and np.linalg.matrix_rank(more, tol=1e-6) == len(more):
                chosen, basis = [*chosen, name], more
        lacking = int(np.linalg.matrix_rank(every, tol=1e-6)) - len(chosen)
        if lacking > 0:
            self._demand(tuple(n for n in missing if n not in names.multi), lacking)
        at = np.array([names.coordinate(name) for name in chosen], int)
        speeds = np.array([names.speed(name) for name in chosen], int)
        rank = robot.nv - free.shape[1]
        return Held(tuple(chosen), at, speeds, self._corrections(speeds), rank)

    def _corrections(self, speeds: NDArray[np.intp]) -> Function | None:
        try:
            driven = tuple(sorted(speeds.tolist()))
            return self.names.robot.function("loop_corrections", controlled=driven)
        except rd.RobodynError:
            return None

    def _demand(self, missing: tuple[str, ...], lacking: int = 0) -> None:
        missing = tuple(name for name in missing if name not in self._unmeasured)
        if missing:
            where = repr(self.names.robot.name)
            if 0 < lacking < len(missing):
                where += f": {lacking} of these determine the others"
            measured = (name for name in self._own if name not in missing)
            error = rd.UnknownNameError("measurement of", ", ".join(missing), measured, where)
            error.suggestions = ()  # what was measured is not what was meant
            raise error


def largest_gap(
    measured: FloatArray, found: FloatArray, turning: NDArray[np.bool_]
) -> tuple[int, float] | None:
    """The number that is farthest from where it was measured, and how far, if that is too far.

    measured: NaN where nothing was measured.
    turning: Angles, which may be given a turn more or less.
    """
    gap = np.abs(measured - found)
    if not (gap > AGREE).any():
        return None
    gap = np.where(turning, _turned(gap), gap)
    worst = int(np.nanargmax(gap))
    return (worst, float(gap[worst])) if gap[worst] > AGREE else None


def _turned(angle: FloatArray) -> FloatArray:
    """The size of an angle without whole turns [rad]."""
    return np.abs(np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi)


def _null_space(K: FloatArray) -> FloatArray:
    from scipy.linalg import null_space

    if not K.size:
        return np.eye(K.shape[1])
    found: FloatArray = null_space(K, rcond=1e-9)
    return found


def _turning(names: StateNames) -> NDArray[np.bool_]:
    """Coordinates that are angles, which may be given a turn more or less, shape (nq,)."""
    turning = np.zeros(names.robot.nq, bool)
    for name in names.names:
        if names.is_own(name):
            joint, _, axis = name.removesuffix("]").partition("[")
            turning[names.coordinate(name)] = (
                names.robot.joints[joint].kind.unit(int(axis or 0)) != "m"
            )
    return turning
