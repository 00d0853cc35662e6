"""Differential inverse kinematics: speeds that reduce the errors of tasks within limits.

For tasks with errors ``e``, Jacobians ``J``, gains ``g`` and weights ``w``, the speeds minimise the
sum of ``w |J v - g e / dt|^2 + damping |v|^2``, subject to the limits of speeds, and of positions
after a step of ``dt`` [Kanoun, Lamiraux, Wieber 2011]. A closed linkage has speeds ``v0 + T z``,
with one column of ``T`` for each independent speed, so that its loops stay closed. Tasks of a later
level move the robot within the null space of the Jacobians of the levels before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import (
    all_finite,
    checked,
    expect,
    named,
    number,
    refuse_not_finite,
    truth,
)
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

    rows: Function of q and targets: errors and Jacobian of all tasks.
    qp: Function of q, targets, weights, gains, a step and limits: the quadratic program.
    equations: Of each task.
    weights, gains (m,): Of each component of the errors.
    by_joint: Of each task, where in q its target has positions, if it is a posture by joint.
    when: The time, of a robot that depends on it.
    """

    rows: Function
    qp: Function
    equations: tuple[TaskEquations, ...]
    weights: FloatArray
    gains: FloatArray
    by_joint: tuple[list[int] | None, ...]
    when: tuple[Array, ...]

    @cached_property
    def ends(self) -> Array:
        """Where the components of each task but the last end."""
        return np.cumsum([len(task.components) for task in self.equations])[:-1]

    @cached_property
    def momenta(self) -> Array:
        """Which components are those of momenta, shape (m,)."""
        return np.array([x.kind == "momentum" for x in self.equations for _ in x.components])

    @cached_property
    def root_weights(self) -> FloatArray:
        """Square roots of the weights, shape (m,)."""
        return np.sqrt(self.weights)

    def targets(self, q: FloatArray, level: Sequence[Task]) -> FloatArray:
        """Targets of all tasks, one after the other, for the same level."""
        targets: list[Any] = [task.target for task in level]
        for n, places in enumerate(self.by_joint):
            if places is not None:
                joints, targets[n] = targets[n], q.copy()
                targets[n][places] = [*joints.values()]
        return targets[0].ravel() if len(targets) == 1 else np.concatenate(targets, axis=None)

    def errors(self, q: FloatArray, level: Sequence[Task]) -> tuple[FloatArray, FloatArray]:
        """Errors, shape (m,), and Jacobian, shape (m, nv)."""
        targets = self.targets(q, level)
        error, J = self.rows(q, targets, *self.when)
        if not all_finite(error):
            refuse_not_finite("target", targets, 1)
        return error, J


class TaskVelocities:
    """Differential inverse kinematics of one robot."""

    def __init__(self, model: Model, evaluator: Evaluator, postures: Postures) -> None:
        self._model, self._evaluator, self._postures = model, evaluator, postures
        self._levels: Memo[TaskLevel] = Memo()
        self._limits: Memo[FloatArray] = Memo()
        self._bounded: Memo[tuple[Array, Array]] = Memo()

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
        kept = (truth("limits", limits),) * 2
        v, bounds = self.speeds(levels(tasks), q, np.array([dt, damping, 1.0]), kept, locked)
        for motor, joint, name in self._behind_springs:
            own = self._followers.velocities(q, v)[name] if joint is None else v[joint]
            v[motor] = min(max(own, bounds[0][motor]), bounds[1][motor])
        return v

    def speeds(
        self,
        ordered: Sequence[Sequence[Task]],
        q: FloatArray,
        step: FloatArray,
        kept: tuple[bool, bool],
        locked: Iterable[str] = (),
    ) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
        """Speeds for levels of tasks, and their bounds.

        step: Its time, the damping, and one; zero to keep the time of a robot that depends on it.
        kept: Whether limits of positions and those of speeds are.
        """
        limits = self._limits.get(kept, lambda: self._limits_that_are(*kept))
        still = tuple(k for x in named("locked", locked) for k in speed_indices(self._model, x))
        v, T = self.motions(q)
        v = v * step[2]
        for n, level in enumerate(ordered):
            made = self.level(level)
            targets = made.targets(q, level)
            given = q, targets, made.weights, made.gains, step, limits, *made.when
            H, f, lower, upper = made.qp(*given)
            if not all_finite(f):
                refuse_not_finite("target", targets, 1)
            for k in still:
                lower[k] = upper[k] = 0.0
            if T is None:
                found = self._least(H, f, np.empty((0, len(f))), lower, upper)
                v = np.minimum(np.maximum(found, lower), upper)
            elif T.size:
                bounded = (*kept, still, n > 0)
                own, rows = self._bounded.get(bounded, partial(self._bounds_of, *bounded))
                low, high = (lower - v)[own], (upper - v)[own]
                v = v + T @ self._least(T.T @ H @ T, (f + H @ v) @ T, T[rows], low, high)
            if n + 1 < len(ordered):
                T = _null_space(made.rows(q, targets, *made.when)[1], T)
        return v, (lower, upper)

    def _least(
        self, H: FloatArray, f: FloatArray, A: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        found = least(H, f, A, lower, upper)
        if found is None:
            raise ActuationError(
                f"no speeds of {self._model.mechanism.name!r} keep its loops closed and its joints "
                "within limits, or where they are locked: lock fewer, or move them off their "
                "limits; limits=False leaves these out"
            )
        return found

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
    def _fastest(self) -> FloatArray:
        """Limits of speeds, shape (nv,); a limit of zero counts as not given."""
        return np.where(self._model.velocity > 0.0, self._model.velocity, FAR)

    def _limits_that_are(self, positions: bool, speeds: bool) -> FloatArray:
        """Limits of positions and of speeds that are kept, as `TaskLevel.qp` takes them."""
        model, none = self._model, np.full(self._model.bodies.nq, FAR)
        found = [model.lower, model.upper] if positions else [-none, none]
        found.append(self._fastest if speeds else np.full(model.bodies.nv, FAR))
        return np.concatenate(found).clip(-FAR, FAR)

    def _bounds_of(
        self, positions: bool, speeds: bool, still: Sequence[int], later: bool
    ) -> tuple[Array, Array]:
        """Indices of the speeds ``v + T z`` that have bounds, and those of them that take a row.

        Of the first level, ``z`` are the independent speeds, which need no rows.
        """
        model = self._model
        limited = (model.lower > -FAR) | (model.upper < FAR)
        found = {*still, *(np.flatnonzero(self._fastest < FAR) if speeds else ())}
        for block in model.blocks:
            if positions and block.kind.coordinates.flat:
                found |= {block.v.start + k for k in np.flatnonzero(limited[block.q])}
        own = [] if later else list(self._postures.independent_speeds)
        rows = sorted(found - {*own})
        return np.array([*own, *rows], np.intp), np.array(rows, np.intp)

    def motions(self, q: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """The ``v0`` and ``T`` of the speeds ``v0 + T z`` that keep loops closed.

        ``v0`` is zero unless loops have joints whose motion is given. ``None`` for ``T`` is the
        identity, of a robot without loops.
        """
        nv = self._model.bodies.nv
        if not self._model.setup.closed:
            return np.zeros(nv), None
        found = self._consistent(q, self._asked)
        if len(found) > len(self._postures.independent_speeds):
            return found[-1], (found[:-1] - found[-1]).T
        return np.zeros(nv), found.T

    @cached_property
    def _consistent(self) -> Callable[..., Array]:
        """`Postures.consistent_velocity`, the independent speeds held."""
        postures, held = self._postures, tuple(self._postures.independent_joints)
        return self._evaluator.caller(
            "consistent_velocity",
            lambda q, v: postures.consistent_velocity(q, v, held),
            controlled=tuple(sorted(postures.independent_speeds)),
        )

    @cached_property
    def _asked(self) -> FloatArray:
        """Independent speeds that are asked for, one at a time; then none, where that matters."""
        independent = list(self._postures.independent_speeds)
        still = self._model.setup.rheonomic or not independent
        asked = np.zeros((len(independent) + still, self._model.bodies.nv))
        asked[range(len(independent)), independent] = 1.0
        return asked

    # -- functions --------------------------------------------------------------------------------

    def level(self, level: Sequence[Task]) -> TaskLevel:
        """The equations of the tasks of one level."""
        return self._levels.get(tuple(task.key for task in level), lambda: self._made(level))

    def _made(self, level: Sequence[Task]) -> TaskLevel:
        equations = tuple(task_equations(task, self._model) for task in level)
        counts = [len(task.components) for task in equations]
        weights = [task.weights(n) for task, n in zip(level, counts, strict=True)]
        return TaskLevel(
            self._evaluator.function("task_rows", tasks=equations),
            self._evaluator.function("task_qp", tasks=equations),
            equations,
            np.concatenate(weights),
            np.repeat([task.gain for task in level], counts),
            tuple(self._by_joint(task) for task in level),
            self._evaluator.environment("task_rows", None),
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
