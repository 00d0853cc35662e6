"""Errors of tasks, and the Jacobians by which speeds lessen them.

A task wants a frame at a pose, point or rotation, seen from the world or another frame; the centre
of mass at a point; a momentum; or a posture. With the error ``e`` from what is to what is wanted,
``J v`` is the rate at which the error falls while what is wanted stays. Errors of frames are the
way of the origin and the rotation vector, both in the axes of the frame that they are seen from
[Siciliano et al., Robotics, 3.7].
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

#: Error of a row, and its slopes by speed.
Row = tuple[Number, Mapping[int, Number]]


@dataclass(frozen=True)
class TaskForm:
    """What shapes the equations of a task; what is wanted is an input.

    kind: A key of `KINDS`.
    frames: The frame, and the one that it is seen from.
    components: Rows of it, in their order.
    size: How many numbers say what is wanted.
    """

    kind: str
    frames: tuple[str, ...]
    components: tuple[int, ...]
    size: int


def _pose(t: Tracer, form: TaskForm, wanted: Sequence[Number]) -> Iterator[Row]:
    """Rows of a pose, given by rows."""
    F, columns = _motion(t, form)
    place = Vec3(wanted[3], wanted[7], wanted[11])
    turn = _rotation_vector(F.X.R, [*wanted[0:3], *wanted[4:7], *wanted[8:11]])
    return _rows_of([*(place - F.X.p), *turn], columns)


def _point(t: Tracer, form: TaskForm, wanted: Sequence[Number]) -> Iterator[Row]:
    """Rows of a position."""
    F, columns = _motion(t, form)
    return _rows_of([*(Vec3(*wanted) - F.X.p)], {k: s[:3] for k, s in columns.items()})


def _rotation(t: Tracer, form: TaskForm, wanted: Sequence[Number]) -> Iterator[Row]:
    """Rows of a rotation matrix, given by rows."""
    F, columns = _motion(t, form)
    error = [*_rotation_vector(F.X.R, wanted)]
    return _rows_of(error, {k: s[3:] for k, s in columns.items()})


def _motion(t: Tracer, form: TaskForm) -> tuple[fm.FrameMotion, dict[int, list[Number]]]:
    """Motion of a frame, and its Jacobian by columns in the axes of what it is seen from."""
    F = t.frame_in(*form.frames)
    return F, {k: [*fm.in_axes(F.X.R, s)] for k, s in F.columns.items()}


def _rows_of(errors: Sequence[Number], columns: Mapping[int, Sequence[Number]]) -> Iterator[Row]:
    for n, error in enumerate(errors):
        yield error, {k: s[n] for k, s in columns.items()}


def _rotation_vector(R: Rotation, goal: Sequence[Number]) -> Vec3:
    """Of the turn that leads to another rotation, in the axes of what both are seen from.

    Beyond a quarter turn the axis is that of the symmetric part, ``(1 - cos) n n^T`` beside
    multiples of one, of which the column with the largest element is taken; its way is that of the
    skew part, which vanishes at half a turn, where both ways are as long.
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


def _center_of_mass(t: Tracer, form: TaskForm, wanted: Sequence[Number]) -> Iterator[Row]:
    center = momentum.center_of_mass(t.state)
    mass = momentum.total_mass(t.model, t.state.base.inertia)
    rows = momentum.centroidal_matrix(t.state)[:3]
    for goal, x, row in zip(wanted, center, rows, strict=True):
        yield goal - x, {k: slope / mass for k, slope in enumerate(row)}


def _momentum(t: Tracer, form: TaskForm, wanted: Sequence[Number]) -> Iterator[Row]:
    """What is wanted is a rate already: no step of time divides it."""
    for goal, row in zip(wanted, momentum.centroidal_matrix(t.state), strict=True):
        yield goal, dict(enumerate(row))


def _posture(t: Tracer, form: TaskForm, wanted: Sequence[Number]) -> Iterator[Row]:
    errors = coordinate_steps.difference(t.model, t.numbers["q"], wanted)
    for k, error in enumerate(errors):
        yield error, {k: 1.0}


#: Equations of the rows of tasks, all components of them.
KINDS: Mapping[str, Callable[[Tracer, TaskForm, Sequence[Number]], Iterator[Row]]] = {
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
    for form in t.options["tasks"]:
        wanted = t.numbers["wanted"][first : first + form.size]
        first += form.size
        own = list(KINDS[form.kind](t, form, wanted))
        rows += [own[n] for n in form.components]
    nv = range(t.model.nv)
    J = [[slopes.get(k, 0.0) for k in nv] for _, slopes in rows]
    return {"error": [error for error, _ in rows], "J": J}


def task_bias(t: Tracer) -> Results:
    """Rates of ``J v`` of all tasks where no joint accelerates."""
    found: list[Number] = []
    for form in t.options["tasks"]:
        if form.kind == "posture":
            found += [0.0] * len(form.components)
            continue
        if form.frames:
            F = t.frame_in(*form.frames)
            own = [*fm.in_axes(F.X.R, fm.classical(F.V, F.A))][3 * (form.kind == "rotation") :]
        else:
            own = _change_of_momentum(t)
            if form.kind == "center_of_mass":
                mass = momentum.total_mass(t.model, t.state.base.inertia)
                own = [x / mass for x in own[:3]]
        found += [own[n] for n in form.components]
    return {"bias": found}


def _change_of_momentum(t: Tracer) -> list[Number]:
    """Rate of the momentum where no joint accelerates."""

    def all_of_it(inner: Tracer) -> list[Number]:
        rows = momentum.centroidal_matrix(inner.state)
        return [sum((x * v for x, v in zip(row, inner.v, strict=True)), 0.0) for row in rows]

    slopes = t.slopes(t.program(all_of_it), "q")
    return [sum((x * v for x, v in zip(row, t.v, strict=True)), 0.0) for row in slopes]


def _numbers(t: Tracer) -> int:
    return sum(form.size for form in t.options["tasks"])


def _rows(t: Tracer) -> int:
    return sum(len(form.components) for form in t.options["tasks"])


#: Quantities by name.
ROWS = {
    "task_rows": Quantity(
        (Q, Input("wanted", _numbers, "1, m, rad")),
        (Output("error", (_rows,), "m, rad"), Output("J", (_rows, "nv"), "m, 1")),
        task_rows,
        STATE,
        options=("tasks",),
    ),
    "task_bias": Quantity(
        (Q, V), (Output("bias", (_rows,), "m/s^2, rad/s^2"),), task_bias, STATE, options=("tasks",)
    ),
}
