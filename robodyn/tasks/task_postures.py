"""Inverse kinematics for tasks: postures that minimise their errors, loops closed, within limits.

Each step from one posture to the next is the velocity that `TaskVelocities` finds for a unit of
time. Its damping falls after steps that reduce the errors and grows after others [Marquardt 1963].
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import checked
from robodyn.caller import warn
from robodyn.description.task import Task, Tasks
from robodyn.errors import AssemblyError, ConvergenceWarning, SettingsError
from robodyn.inverse_kinematics import InverseKinematics
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.results import IKResult
from robodyn.tasks.task_velocities import TaskVelocities, levels
from robodyn.tolerances import STEP_TO_TARGET, TARGET_REACHED

#: Steps from each start, and starts after the first.
STEPS, OTHERS = 200, 12
#: Damping of the first step, its least and largest values, and the factors of its changes.
FIRST, LEAST, MOST, LESS, MORE = 1e-3, 1e-12, 1e8, 0.2, 5.0

#: Squares of weighted errors of each level.
Costs = list[float]


class TaskPostures:
    """Inverse kinematics of one robot for tasks."""

    def __init__(
        self,
        model: Model,
        velocities: TaskVelocities,
        space: ConfigurationSpace,
        frames: InverseKinematics,
    ) -> None:
        self._model, self._velocities = model, velocities
        self._space, self._frames, self._starts = space, frames, frames.starts

    def solve(self, tasks: Tasks, q0: ArrayLike | None, limits: bool) -> IKResult:
        """The posture for tasks; arguments as of `Robot.inverse_kinematics`."""
        ordered = levels(tasks)
        if any(task.kind == "momentum" for level in ordered for task in level):
            raise SettingsError("no posture has a momentum: leave out tasks of quantity='momentum'")
        if q0 is None:
            begun = self._starts.neutral_within(limits)
        else:
            given = checked("q0", q0, self._space.nq, of=self._model.mechanism.name)
            begun = self._starts.within(self._space.normalised("q0", given), limits)
        q, costs = self._descended(ordered, self._starts.closed(begun[None])[0], limits)
        for start in self._others(ordered[0], begun, limits):
            if self._reached(ordered[0], q):
                break
            other, less = self._descended(ordered, self._starts.closed(start[None])[0], limits)
            if less < costs:
                q, costs = other, less
        q = self._space.relaxed(q)
        residuals = [float(np.linalg.norm(x)) for x in self._errors(ordered[0], q)]
        residual = float(np.linalg.norm(residuals))
        reached = self._reached(ordered[0], q)
        if not reached:
            told = ", ".join(
                f"{_name(task)} {x:.3g}" for task, x in zip(ordered[0], residuals, strict=True)
            )
            warn(
                ConvergenceWarning(
                    f"no posture of {self._model.mechanism.name!r} was found that brings all tasks "
                    f"about: with the least weighted squares, errors (m, rad) are: {told}; give "
                    "tasks that may yield a level of their own, behind the others"
                )
            )
        return IKResult(q, np.asarray(residual)[()], np.asarray(reached)[()], self._model.joints)

    def _others(
        self, level: Sequence[Task], begun: FloatArray, limits: bool
    ) -> Iterator[FloatArray]:
        """Further starts: the posture for the frames of tasks alone, then random ones."""
        targets = {
            task.frame: np.asarray(task.target)
            for task in level
            if isinstance(task.frame, str) and task.kind != "rotation" and not task.components
        }
        if targets:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                yield self._frames.solve(targets, begun, limits, None, None).q
        for k in range(OTHERS):
            start = self._starts.restart(k, limits)
            if start is not None:
                yield start

    def _descended(
        self, ordered: Sequence[Sequence[Task]], q: FloatArray, limits: bool
    ) -> tuple[FloatArray, Costs]:
        """The posture where steps end, and the costs there."""
        damping, costs = FIRST, self._costs(ordered, q)
        for _ in range(STEPS):
            unit = np.array([1.0, damping, 0.0])
            step, _ = self._velocities.speeds(ordered, q, unit, (limits, False))
            if np.abs(step).max(initial=0.0) <= STEP_TO_TARGET or damping > MOST:
                break
            try:
                tried = self._closed(self._space.integrate(q, step))
            except AssemblyError:
                damping *= MORE
                continue
            less = self._costs(ordered, tried)
            if less < costs:
                q, costs, damping = tried, less, max(damping * LESS, LEAST)
            else:
                damping *= MORE
        return q, costs

    def _closed(self, q: FloatArray) -> FloatArray:
        return self._starts.assembled(q) if self._model.setup.closed else q

    def _costs(self, ordered: Sequence[Sequence[Task]], q: FloatArray) -> Costs:
        made = ((self._velocities.level(level), level) for level in ordered)
        return [float(x.weights @ x.errors(q, level)[0] ** 2) for x, level in made]

    def _errors(self, level: Sequence[Task], q: FloatArray) -> list[FloatArray]:
        """Errors of each task."""
        made = self._velocities.level(level)
        return np.split(made.errors(q, level)[0], made.ends)

    def _reached(self, level: Sequence[Task], q: FloatArray) -> bool:
        error = self._velocities.level(level).errors(q, level)[0]
        return bool(np.linalg.norm(error) <= TARGET_REACHED)


def _name(task: Task) -> str:
    return repr(task.frame) if task.frame is not None else str(task.quantity).replace("_", " ")
