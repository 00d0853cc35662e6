"""Speeds that bring tasks about within limits, loops closed: differential inverse kinematics.

Of tasks with errors ``e``, Jacobians ``J``, gains ``g`` and weights ``w``, the speeds have the
least sum of ``w |J v - g e / dt|^2 + damping |v|^2``, where positions after a step of ``dt`` and
speeds keep their limits [Kanoun, Lamiraux, Wieber 2011]. Speeds of a closed linkage are sums of
those at which one independent joint moves at a time. Tasks of a later level act in what those
before leave open.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import by_name, checked, expect, named, number, refuse_not_finite, truth
from robodyn.closed_loops.dynamics.postures import Postures
from robodyn.codegen import Function, Memo
from robodyn.description.task import Task, Tasks
from robodyn.equations.quantities.tasks import TaskForm
from robodyn.errors import ActuationError, SettingsError, ShapeError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_indices
from robodyn.parts.joint_positions import TreeJointPositions
from robodyn.tasks.quadratic_program import FAR, least
from robodyn.tolerances import JACOBIAN_RANK

#: Singular value that is none, of a task that nothing moves.
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class _Level:
    """Tasks of one level.

    function: Their errors and Jacobian, of q and what is wanted.
    forms: What shapes the equations of each task.
    wanted: Arrays of what is wanted.
    gains, weights (m,): Of the rows; weights are roots, and gains of rates are zero.
    rates (m,): Which rows want a rate.
    places: Where positions by joint are in q, of each task that has them.
    """

    function: Function
    forms: tuple[TaskForm, ...]
    gains: FloatArray
    weights: FloatArray
    rates: FloatArray
    places: tuple[list[int] | None, ...]

    @cached_property
    def ends(self) -> Array:
        """Where the rows of each task but the last end."""
        return np.cumsum(self.counts)[:-1]

    @cached_property
    def counts(self) -> list[int]:
        """How many rows each task has."""
        return [len(form.components) for form in self.forms]

    def jacobian(self, q: FloatArray, level: Sequence[Task]) -> tuple[FloatArray, FloatArray]:
        """Jacobian and errors."""
        wanted: list[Any] = [task.target for task in level]
        for n, places in enumerate(self.places):
            if places is not None:
                joints, wanted[n] = wanted[n], q.copy()
                wanted[n][places] = [*joints.values()]
        given = wanted[0].ravel() if len(wanted) == 1 else np.concatenate(wanted, axis=None)
        error, J = self.function(q, given)
        if not np.isfinite(error).all():
            refuse_not_finite("target", np.asarray(given), 1)
        return J, error

    def rows(
        self, q: FloatArray, level: Sequence[Task], dt: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weighted Jacobian and rates that are wanted, and errors."""
        J, error = self.jacobian(q, level)
        rates = error * (self.weights * (self.gains / dt + self.rates))
        return J * self.weights[:, None], rates, error


class TaskVelocities:
    """Speeds for tasks of one robot."""

    def __init__(self, model: Model, evaluator: Evaluator, postures: Postures) -> None:
        self._model, self._evaluator, self._postures = model, evaluator, postures
        self._levels: Memo[_Level] = Memo()

    def solve(
        self,
        tasks: Tasks,
        q: ArrayLike,
        dt: float,
        limits: bool,
        locked: Iterable[str],
        damping: float,
    ) -> Array:
        """Speeds for tasks, shape (nv,); arguments as of `Robot.velocity_for`."""
        q = checked("q", q, self._model.bodies.nq, of=self._model.mechanism.name)
        if q.ndim != 1:
            raise ShapeError(f"q has shape {q.shape}, expected one posture", name="q")
        for name, given in (("dt", number("dt", dt)), ("damping", number("damping", damping))):
            if not 0.0 < given < math.inf:
                raise SettingsError(f"{name} is {given!r}, expected a number above 0")
        bounds = self.bounds(q, dt, truth("limits", limits), limits, locked)
        v = self.along(levels(tasks), q.astype(float, copy=False), dt, bounds, damping)
        for motor, joint, name in self._behind_springs:
            own = self._followers.velocities(q, v)[name] if joint is None else v[joint]
            v[motor] = min(max(own, bounds[0][motor]), bounds[1][motor])
        return v

    def along(
        self,
        ordered: Sequence[Sequence[Task]],
        q: FloatArray,
        dt: float,
        bounds: tuple[FloatArray, FloatArray],
        damping: float,
    ) -> FloatArray:
        """Speeds for levels of tasks within bounds."""
        v, moves = self.motions(q)
        for k, level in enumerate(ordered):
            J, rates, _ = self.level(level).rows(q, level, dt)
            if moves is None or moves.size:
                v = self._improved(J, rates, bounds, v, moves, damping)
            if k + 1 < len(ordered):
                moves = _left_open(J, moves)
        return v

    def _improved(
        self,
        J: FloatArray,
        rates: FloatArray,
        bounds: tuple[FloatArray, FloatArray],
        v: FloatArray,
        moves: FloatArray | None,
        damping: float,
    ) -> FloatArray:
        """Speeds that come as near to rates as ``v`` and what is added along ``moves`` can."""
        lower, upper = bounds
        if moves is None:  # all speeds, one by one
            H, f, sums = J.T @ J, -(rates @ J), np.zeros((0, J.shape[1]))
        else:
            own, bounded = J @ moves, (lower > -FAR) | (upper < FAR)
            H, f = own.T @ own, (J @ v - rates) @ own + damping * (v @ moves)
            sums, apart, free = moves[bounded], v[bounded], np.full(moves.shape[1], FAR)
            lower = np.concatenate([-free, lower[bounded] - apart])
            upper = np.concatenate([free, upper[bounded] - apart])
        H.flat[:: len(H) + 1] += damping
        found = least(H, f, sums, lower, upper)
        if found is None:
            raise ActuationError(
                f"no speeds of {self._model.mechanism.name!r} keep its loops closed and its joints "
                "within limits, or where they are locked: lock fewer, or move them off their "
                "limits; limits=False leaves these out"
            )
        return found.clip(lower, upper) if moves is None else v + moves @ found

    @cached_property
    def _behind_springs(self) -> list[tuple[int, int | None, str]]:
        """Where speeds of motors behind elastic gears are, and of their joints; the joints."""
        found, joints = [], self._model.joints
        for x in self._model.setup.gear_springs:
            own = joints[x.joint].v
            place = own.start if own.stop > own.start else None
            found.append((joints[x.motor].v.start, place, x.joint))
        return found

    @cached_property
    def _followers(self) -> TreeJointPositions:
        return TreeJointPositions(self._model, self._evaluator)

    # -- limits and motions -----------------------------------------------------------------------

    @cached_property
    def _limited(self) -> tuple[FloatArray, Array, Array, FloatArray, FloatArray]:
        """Largest speeds; positions that have limits: where they are in q and v, and these."""
        pairs = [
            (n, k)
            for block in self._model.blocks
            if block.kind.coordinates.flat
            for n, k in zip(
                range(block.q.start, block.q.stop), range(block.v.start, block.v.stop), strict=True
            )
            if np.isfinite(self._model.lower[n]) or np.isfinite(self._model.upper[n])
        ]
        at = np.array(pairs, np.intp).reshape(-1, 2)
        most, (in_q, in_v) = np.minimum(self._model.velocity, FAR), at.T.copy()
        return most, in_q, in_v, self._model.lower[in_q], self._model.upper[in_q]

    def bounds(
        self, q: FloatArray, dt: float, positions: bool, speeds: bool, locked: Iterable[str]
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds of all speeds, within which those are that lead back from beyond a limit."""
        most, in_q, in_v, low, high = self._limited
        upper = most.copy() if speeds else np.full(len(most), FAR)
        lower = -upper
        if positions and len(in_q):
            x, bound = q[in_q], upper[in_v]
            upper[in_v] = np.maximum(np.minimum(bound, (high - x) / dt), -bound)
            lower[in_v] = np.minimum(np.maximum(-bound, (low - x) / dt), bound)
        for name in named("locked", locked):
            for k in speed_indices(self._model, name):
                lower[k] = upper[k] = 0.0
        return lower, upper

    def motions(self, q: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Speeds of a linkage that moves as little as it can, and those that may be added.

        ``None``: all of them, one by one.
        """
        nv = self._model.bodies.nv
        if not self._model.setup.closed:
            return np.zeros(nv), None
        asked, held = self._asked
        states = np.broadcast_to(q, (len(asked), len(q)))
        found = self._postures.consistent_velocity(states, asked, held)
        return found[0], np.ascontiguousarray((found[1:] - found[0]).T)

    @cached_property
    def _asked(self) -> tuple[FloatArray, tuple[str, ...]]:
        """No speed, then each independent one alone; the joints that have them."""
        independent = list(self._postures.independent_speeds)
        asked = np.zeros((len(independent) + 1, self._model.bodies.nv))
        asked[range(1, len(asked)), independent] = 1.0
        return asked, tuple(self._postures.independent_joints)

    # -- functions --------------------------------------------------------------------------------

    def level(self, level: Sequence[Task]) -> _Level:
        """What tasks of one level want."""
        return self._levels.get(tuple(task.key for task in level), lambda: self._made(level))

    def _made(self, level: Sequence[Task]) -> _Level:
        forms, filled = [], []
        for task in level:
            expect("task", task, Task, "tasks")
            rows, places = self._rows(task)
            frame = (task.frame,) if isinstance(task.frame, str) else task.frame or ()
            seen = (*frame, "world")[:2] if frame else ()
            size = self._model.bodies.nq if task.kind == "posture" else math.prod(task.shape)
            forms.append(TaskForm(task.kind, seen, rows, size))
            filled.append(places)
        counts = [len(form.components) for form in forms]
        of_rates = [task.kind == "momentum" for task in level]
        weights = [task.weights(n) for task, n in zip(level, counts, strict=True)]
        return _Level(
            self._evaluator.function("task_rows", tasks=tuple(forms)),
            tuple(forms),
            np.repeat([task.gain for task in level], counts) * ~np.repeat(of_rates, counts),
            np.concatenate(weights),
            np.repeat(of_rates, counts).astype(float),
            tuple(filled),
        )

    def _rows(self, task: Task) -> tuple[tuple[int, ...], list[int] | None]:
        """Components of a task; of a posture by joint, where its positions are in q."""
        if not isinstance(task.target, Mapping):
            return task.rows(self._model.bodies.nq, self._model.bodies.nv), None
        if task.components is not None:
            raise SettingsError("a posture by joint has no components=: name the joints that count")
        joints = [self._model.joints[name] for name in by_name("target", task.target)]
        for joint in joints:
            if (joint.q.stop - joint.q.start, joint.v.stop - joint.v.start) != (1, 1):
                raise ShapeError(
                    f"joint {joint.name!r} has not one coordinate of its own: give the posture as "
                    f"an array of {self._model.bodies.nq} numbers",
                    name="target",
                )
        return tuple(joint.v.start for joint in joints), [joint.q.start for joint in joints]


def levels(tasks: Tasks) -> list[list[Task]]:
    """Tasks by level, the one that goes before the others first."""
    if isinstance(tasks, Task):
        return [[tasks]]
    expect("tasks", tasks, Iterable)
    given = [x if isinstance(x, Task) else list(x) for x in tasks]
    if not given or [] in given:
        raise ShapeError("tasks is empty, expected one task at least", name="tasks")
    single = [x for x in given if isinstance(x, Task)]
    if len(single) == len(given):
        return [single]
    return [[x] if isinstance(x, Task) else x for x in given]


def _left_open(J: FloatArray, moves: FloatArray | None) -> FloatArray:
    """Speeds that change nothing of tasks, as columns."""
    own = J if moves is None else J @ moves
    _, values, rows = np.linalg.svd(own)
    rank = int((values > JACOBIAN_RANK * max(values.max(initial=0.0), LEAST)).sum())
    null = rows[rank:].T
    return np.ascontiguousarray(null if moves is None else moves @ null)
