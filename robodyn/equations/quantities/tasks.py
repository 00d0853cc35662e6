"""Errors and Jacobians of tasks.

The target of a task is the pose, position or rotation of a frame in the world or in another frame,
the position of the centre of mass, the momentum, or the posture. The error ``e`` is the target less
the value at ``q``; for a target that stays, ``e`` falls at the rate ``J v``. The error of a pose is
the displacement of the origin and the rotation vector to the target, both in the axes of the frame
in which the target is given [Siciliano et al., Robotics, 3.7]. The target of a momentum task is
``J v`` itself, so that its error is the target. A moving base is at rest in the axes of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robodyn.equations.mechanism import coordinate_steps
from robodyn.equations.quantities.common.quantity import STATE, Input, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.tree import frame_motion as fm, momentum
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, arctan2, sqrt, where
from robodyn.symbolic.vector import Mat3, Vec3
from robodyn.tolerances import SQUARED_ANGLE_FLOOR

#: One component of an error, and its row of the Jacobian by the index of the speed.
Row = tuple[Number, Mapping[int, Number]]


@dataclass(frozen=True)
class TaskEquations:
    """Everything about a task that shapes its equations: all but the numbers of its target.

    kind: A key of `KINDS`.
    frames: The frame of a pose, point or rotation, and the frame in which the target is given.
    components: Indices of the components of the error that count, in their order.
    target_size: How many numbers the target has.
    """

    kind: str
    frames: tuple[str, ...]
    components: tuple[int, ...]
    target_size: int


def _pose(t: Tracer, task: TaskEquations, target: Sequence[Number]) -> Iterator[Row]:
    """Of a pose, whose target is a 4 by 4 matrix, row by row."""
    F, columns = _motion(t, task)
    position = Vec3(target[3], target[7], target[11])
    turn = _rotation_vector(F.X.R, [*target[0:3], *target[4:7], *target[8:11]])
    return _rows([*(position - F.X.p), *turn], columns)


def _point(t: Tracer, task: TaskEquations, target: Sequence[Number]) -> Iterator[Row]:
    """Of the position of a frame's origin."""
    F, columns = _motion(t, task)
    return _rows([*(Vec3(*target) - F.X.p)], {k: s[:3] for k, s in columns.items()})


def _rotation(t: Tracer, task: TaskEquations, target: Sequence[Number]) -> Iterator[Row]:
    """Of a rotation, whose target is a 3 by 3 matrix, row by row."""
    F, columns = _motion(t, task)
    error = [*_rotation_vector(F.X.R, target)]
    return _rows(error, {k: s[3:] for k, s in columns.items()})


def _motion(t: Tracer, task: TaskEquations) -> tuple[fm.FrameMotion, dict[int, list[Number]]]:
    """Motion of a frame in another, and the columns of its Jacobian in the axes of the latter."""
    F = t.frame_in(*task.frames)
    return F, {k: [*fm.in_axes(F.X.R, s)] for k, s in F.columns.items()}


def _rows(errors: Sequence[Number], columns: Mapping[int, Sequence[Number]]) -> Iterator[Row]:
    for n, error in enumerate(errors):
        yield error, {k: s[n] for k, s in columns.items()}


def _rotation_vector(R: Rotation, goal: Sequence[Number]) -> Vec3:
    """Rotation vector, angle times unit axis ``n``, of the turn ``E`` from a rotation to a goal.

    Up to a quarter turn, ``n`` is along the skew part of ``E``, which is ``sin(angle) [n]x``.
    Beyond, where this vanishes toward half a turn, ``n`` is along the column with the largest
    diagonal element of ``(1 - cos(angle)) n n^T``, the symmetric part of ``E`` less
    ``cos(angle) 1``, with the sign of the skew part.
    """
    E: Any = Mat3(*goal) @ R.T.matrix
    sine = Vec3((E.zy - E.yz) * 0.5, (E.xz - E.zx) * 0.5, (E.yx - E.xy) * 0.5)
    cosine = (E.xx + E.yy + E.zz - 1.0) * 0.5
    size = sqrt(sine.dot(sine) + SQUARED_ANGLE_FLOOR)
    xy, xz, yz = (E.xy + E.yx) * 0.5, (E.xz + E.zx) * 0.5, (E.yz + E.zy) * 0.5
    x, y, z = E.xx - cosine, E.yy - cosine, E.zz - cosine
    of_y_or_z = [where(y > z, a, b) for a, b in ((xy, xz), (y, yz), (yz, z))]
    first = (x > y) & (x > z)
    column = Vec3(*(where(first, a, b) for a, b in zip((x, xy, xz), of_y_or_z, strict=True)))
    length = sqrt(column.dot(column) + SQUARED_ANGLE_FLOOR)
    way = where(column.dot(sine) < 0.0, -1.0, 1.0)
    far, angle = cosine < 0.0, arctan2(size, cosine)
    parts = zip(sine * (1.0 / size), column * (way / length), strict=True)
    return Vec3(*(where(far, b, a) * angle for a, b in parts))


def _center_of_mass(t: Tracer, task: TaskEquations, target: Sequence[Number]) -> Iterator[Row]:
    center = momentum.center_of_mass(t.state)
    mass = momentum.total_mass(t.model, t.state.base.inertia)
    rows = momentum.centroidal_matrix(t.state)[:3]
    for goal, x, row in zip(target, center, rows, strict=True):
        yield goal - x, {k: slope / mass for k, slope in enumerate(row)}


def _momentum(t: Tracer, task: TaskEquations, target: Sequence[Number]) -> Iterator[Row]:
    for goal, row in zip(target, momentum.centroidal_matrix(t.state), strict=True):
        yield goal, dict(enumerate(row))


def _posture(t: Tracer, task: TaskEquations, target: Sequence[Number]) -> Iterator[Row]:
    errors = coordinate_steps.difference(t.model, t.numbers["q"], target)
    for k, error in enumerate(errors):
        yield error, {k: 1.0}


#: Equations of all components of a task's error, by the kind of its target.
KINDS: Mapping[str, Callable[[Tracer, TaskEquations, Sequence[Number]], Iterator[Row]]] = {
    "pose": _pose,
    "point": _point,
    "rotation": _rotation,
    "center_of_mass": _center_of_mass,
    "momentum": _momentum,
    "posture": _posture,
}


def task_rows(t: Tracer) -> Results:
    """Errors of all tasks, one after the other, and their Jacobian."""
    first, rows = 0, []
    for task in t.options["tasks"]:
        target = t.numbers["targets"][first : first + task.target_size]
        first += task.target_size
        all_components = list(KINDS[task.kind](t, task, target))
        rows += [all_components[n] for n in task.components]
    nv = range(t.model.nv)
    J = [[slopes.get(k, 0.0) for k in nv] for _, slopes in rows]
    return {"error": [error for error, _ in rows], "J": J}


def task_bias(t: Tracer) -> Results:
    """``dJ/dt v`` of all tasks, one after the other."""
    bias: list[Number] = []
    for task in t.options["tasks"]:
        if task.kind == "posture":
            bias += [0.0] * len(task.components)
            continue
        if task.frames:
            F = t.frame_in(*task.frames)
            first = 3 if task.kind == "rotation" else 0
            own = [*fm.in_axes(F.X.R, fm.classical(F.V, F.A))][first:]
        else:
            own = _momentum_bias(t)
            if task.kind == "center_of_mass":
                mass = momentum.total_mass(t.model, t.state.base.inertia)
                own = [x / mass for x in own[:3]]
        bias += [own[n] for n in task.components]
    return {"bias": bias}


def _momentum_bias(t: Tracer) -> list[Number]:
    """``dA/dt v`` of the centroidal matrix A."""

    def total(inner: Tracer) -> list[Number]:
        rows = momentum.centroidal_matrix(inner.state)
        return [sum((x * v for x, v in zip(row, inner.v, strict=True)), 0.0) for row in rows]

    slopes = t.slopes(t.program(total), "q")
    return [sum((x * v for x, v in zip(row, t.v, strict=True)), 0.0) for row in slopes]


def _target_numbers(t: Tracer) -> int:
    return sum(task.target_size for task in t.options["tasks"])


def _components(t: Tracer) -> int:
    return sum(len(task.components) for task in t.options["tasks"])


#: Quantities by name.
ROWS = {
    "task_rows": Quantity(
        (Q, Input("targets", _target_numbers, "1, m, rad")),
        (Output("error", (_components,), "m, rad"), Output("J", (_components, "nv"), "m, 1")),
        task_rows,
        STATE,
        options=("tasks",),
    ),
    "task_bias": Quantity(
        (Q, V),
        (Output("bias", (_components,), "m/s^2, rad/s^2"),),
        task_bias,
        STATE,
        options=("tasks",),
    ),
}
