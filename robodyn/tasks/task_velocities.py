"""Differential inverse kinematics: speeds that reduce the errors of tasks within limits.

For tasks with errors ``e``, Jacobians ``J``, gains ``g`` and weights ``w``, the speeds minimise the
sum of ``w |J v - g e / dt|^2 + damping |v|^2``, subject to the limits of speeds, and of positions
after a step of ``dt`` [Kanoun, Lamiraux, Wieber 2011]. A closed linkage has speeds ``v0 + T z``,
with one column of ``T`` for each independent speed, so that its loops stay closed. Tasks of a later
level move the robot within the null space of the Jacobians of the levels before.
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
from robodyn.arrays import checked, expect, named, number, refuse_not_finite, truth
from robodyn.closed_loops.dynamics.postures import Postures
from robodyn.codegen import Function, Memo
from robodyn.description.task import Task, Tasks
from robodyn.equations.quantities.tasks import TaskEquations
from robodyn.errors import ActuationError, SettingsError, ShapeError
from robodyn.evaluator import Evaluator
from robodyn.evaluator.task_options import posture_joints, task_equations
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_indices
from robodyn.parts.joint_positions import TreeJointPositions
from robodyn.tasks.quadratic_program import FAR, least
from robodyn.tolerances import JACOBIAN_RANK

#: Singular values of Jacobians below this are zero, however small the others are.
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class TaskLevel:
    """Tasks of one level, but for the numbers of their targets.

    function: Errors and Jacobian of all tasks, of q and their targets.
    equations: Of each task.
    gains (m,): Of each component of the errors; zero for momenta.
    root_weights (m,): Square roots of the weights of the components.
    momenta (m,): One for components of momenta, whose targets are rates themselves; else zero.
    by_joint: Of each task, where in q its target has positions, if it is a posture by joint.
    """

    function: Function
    equations: tuple[TaskEquations, ...]
    gains: FloatArray
    root_weights: FloatArray
    momenta: FloatArray
    by_joint: tuple[list[int] | None, ...]

    @cached_property
    def ends(self) -> Array:
        """Where the components of each task but the last end."""
        return np.cumsum(self.counts)[:-1]

    @cached_property
    def counts(self) -> list[int]:
        """How many components each task has."""
        return [len(task.components) for task in self.equations]

    def errors(self, q: FloatArray, level: Sequence[Task]) -> tuple[FloatArray, FloatArray]:
        """Errors, shape (m,), and Jacobian, shape (m, nv)."""
        targets: list[Any] = [task.target for task in level]
        for n, places in enumerate(self.by_joint):
            if places is not None:
                joints, targets[n] = targets[n], q.copy()
                targets[n][places] = [*joints.values()]
        given = targets[0].ravel() if len(targets) == 1 else np.concatenate(targets, axis=None)
        error, J = self.function(q, given)
        if not np.isfinite(error).all():
            refuse_not_finite("target", np.asarray(given), 1)
        return error, J

    def weighted(
        self, q: FloatArray, level: Sequence[Task], dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """Rates ``J v`` that tasks ask for, and the Jacobian, both times root weights."""
        error, J = self.errors(q, level)
        rates = error * (self.root_weights * (self.gains / dt + self.momenta))
        return rates, J * self.root_weights[:, None]


class TaskVelocities:
    """Differential inverse kinematics of one robot."""

    def __init__(self, model: Model, evaluator: Evaluator, postures: Postures) -> None:
        self._model, self._evaluator, self._postures = model, evaluator, postures
        self._levels: Memo[TaskLevel] = Memo()

    def solve(
        self,
        tasks: Tasks,
        q: ArrayLike,
        dt: float,
        limits: bool,
        locked: Iterable[str],
        damping: float,
    ) -> Array:
        """Speeds, shape (nv,); arguments as of `Robot.velocity_for`."""
        q = checked("q", q, self._model.bodies.nq, of=self._model.mechanism.name)
        if q.ndim != 1:
            raise ShapeError(f"q has shape {q.shape}, expected one posture", name="q")
        for name, given in (("dt", number("dt", dt)), ("damping", number("damping", damping))):
            if not 0.0 < given < math.inf:
                raise SettingsError(f"{name} is {given!r}, expected a number above 0")
        bounds = self.bounds(q, dt, truth("limits", limits), limits, locked)
        v = self.speeds(levels(tasks), q.astype(float, copy=False), dt, bounds, damping)
        for motor, joint, name in self._behind_springs:
            own = self._followers.velocities(q, v)[name] if joint is None else v[joint]
            v[motor] = min(max(own, bounds[0][motor]), bounds[1][motor])
        return v

    def speeds(
        self,
        ordered: Sequence[Sequence[Task]],
        q: FloatArray,
        dt: float,
        bounds: tuple[FloatArray, FloatArray],
        damping: float,
    ) -> FloatArray:
        """Speeds for levels of tasks within bounds."""
        v, T = self.motions(q)
        for k, level in enumerate(ordered):
            rates, J = self.level(level).weighted(q, level, dt)
            if T is None or T.size:
                v = self._optimal(rates, J, bounds, v, T, damping)
            if k + 1 < len(ordered):
                T = _null_space(J, T)
        return v

    def _optimal(
        self,
        rates: FloatArray,
        J: FloatArray,
        bounds: tuple[FloatArray, FloatArray],
        v: FloatArray,
        T: FloatArray | None,
        damping: float,
    ) -> FloatArray:
        """Of the speeds ``v + T z`` within bounds those with ``J`` times them nearest to rates."""
        lower, upper = bounds
        if T is None:  # the identity
            H, f, sums = J.T @ J, -(rates @ J), np.zeros((0, J.shape[1]))
        else:
            JT, bounded = J @ T, (lower > -FAR) | (upper < FAR)
            H, f = JT.T @ JT, (J @ v - rates) @ JT + damping * (v @ T)
            sums, fixed, free = T[bounded], v[bounded], np.full(T.shape[1], FAR)
            lower = np.concatenate([-free, lower[bounded] - fixed])
            upper = np.concatenate([free, upper[bounded] - fixed])
        H.flat[:: len(H) + 1] += damping
        found = least(H, f, sums, lower, upper)
        if found is None:
            raise ActuationError(
                f"no speeds of {self._model.mechanism.name!r} keep its loops closed and its joints "
                "within limits, or where they are locked: lock fewer, or move them off their "
                "limits; limits=False leaves these out"
            )
        return found.clip(lower, upper) if T is None else v + T @ found

    @cached_property
    def _behind_springs(self) -> list[tuple[int, int | None, str]]:
        """Of each elastic gear: index of the motor's speed, of the joint's, and the joint's name.

        A joint that follows others has no speed of its own.
        """
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
        """Limits of speeds; of each limited position its indices in q and v, and its limits."""
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
        """Bounds of all speeds; beyond a limit of positions, a speed that leads back is within."""
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
        """The ``v0`` and ``T`` of the speeds ``v0 + T z`` that keep loops closed.

        ``v0`` is zero unless loops have joints whose motion is given. ``None`` for ``T`` is the
        identity, of a robot without loops.
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
        """Independent speeds that are asked for, all zero first and then one at a time; joints."""
        independent = list(self._postures.independent_speeds)
        asked = np.zeros((len(independent) + 1, self._model.bodies.nv))
        asked[range(1, len(asked)), independent] = 1.0
        return asked, tuple(self._postures.independent_joints)

    # -- functions --------------------------------------------------------------------------------

    def level(self, level: Sequence[Task]) -> TaskLevel:
        """The equations of the tasks of one level."""
        return self._levels.get(tuple(task.key for task in level), lambda: self._made(level))

    def _made(self, level: Sequence[Task]) -> TaskLevel:
        equations = tuple(task_equations(task, self._model) for task in level)
        counts = [len(task.components) for task in equations]
        momenta = np.repeat([task.kind == "momentum" for task in level], counts)
        weights = [task.weights(n) for task, n in zip(level, counts, strict=True)]
        return TaskLevel(
            self._evaluator.function("task_rows", tasks=equations),
            equations,
            np.repeat([task.gain for task in level], counts) * ~momenta,
            np.concatenate(weights),
            momenta.astype(float),
            tuple(self._by_joint(task) for task in level),
        )

    def _by_joint(self, task: Task) -> list[int] | None:
        if not isinstance(task.target, Mapping):
            return None
        return [joint.q.start for joint in posture_joints(task, self._model)]


def levels(tasks: Tasks) -> list[list[Task]]:
    """Tasks by level, in the order of their priority."""
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


def _null_space(J: FloatArray, T: FloatArray | None) -> FloatArray:
    """Basis, as columns, of the speeds ``T z`` that ``J`` maps to zero."""
    JT = J if T is None else J @ T
    _, values, rows = np.linalg.svd(JT)
    rank = int((values > JACOBIAN_RANK * max(values.max(initial=0.0), LEAST)).sum())
    null = rows[rank:].T
    return np.ascontiguousarray(null if T is None else T @ null)
