"""What the equations of tasks are made of, from the tasks that a user describes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from robodyn.arrays import by_name, expect, named
from robodyn.description.task import Task
from robodyn.equations.quantities.tasks import TaskEquations
from robodyn.errors import SettingsError, ShapeError
from robodyn.model.joint_info import JointInfo
from robodyn.model.model import Model


def tasks_option(tasks: Any, model: Model) -> tuple[TaskEquations, ...]:
    """The option ``tasks=`` of a function: one task, or several."""
    given = named("tasks", [tasks] if isinstance(tasks, Task) else tasks, "tasks")
    return tuple(x if isinstance(x, TaskEquations) else task_equations(x, model) for x in given)


def task_equations(task: Task, model: Model) -> TaskEquations:
    """All of a task but the numbers of its target.

    Raises ShapeError, SettingsError, UnknownNameError: For a target, components or joints that the
        robot cannot have.
    """
    expect("task", task, Task, "tasks")
    nq, nv = model.bodies.nq, model.bodies.nv
    frame = (task.frame,) if isinstance(task.frame, str) else task.frame or ()
    if isinstance(task.target, Mapping):
        components = tuple(joint.v.start for joint in posture_joints(task, model))
    else:
        components = task.chosen(nq, nv)
    size = nq if task.kind == "posture" else math.prod(task.shape)
    return TaskEquations(task.kind, (*frame, "world")[:2] if frame else (), components, size)


def posture_joints(task: Task, model: Model) -> list[JointInfo]:
    """The joints of a posture that is given by joint, each with one coordinate of its own."""
    if task.components is not None:
        raise SettingsError("a posture by joint has no components=: name the joints that count")
    target: Any = task.target
    joints = [model.joints[name] for name in by_name("target", target)]
    for joint in joints:
        if (joint.q.stop - joint.q.start, joint.v.stop - joint.v.start) != (1, 1):
            raise ShapeError(
                f"joint {joint.name!r} has not one coordinate of its own: give the posture as an "
                f"array of {model.bodies.nq} numbers",
                name="target",
            )
    return joints
