"""Errors and Jacobians of tasks.

The target of a task is the pose, position or rotation of a frame in the world or in another frame,
the position of the centre of mass, the momentum, or the posture. The error ``e`` is the target less
the value at ``q``; for a target that stays, ``e`` falls at the rate ``J v``. The error of a pose is
the displacement of the origin and the rotation vector to the target, both in the axes of the frame
in which the target is given [Siciliano et al., Robotics, 3.7]. The target of a momentum task is
``J v`` itself, so that its error is the target. Of a robot that depends on time, the rates are
``J v + drift``. A moving base is at rest in the axes of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robodyn.equations.mechanism import coordinate_steps
from robodyn.equations.quantities.common.quantity import STATE, Input, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.tree import frame_motion as fm, momentum
from robodyn.symbolic.scalar import Number, arctan2, clip, is_zero, sqrt, where
from robodyn.symbolic.vector import Mat3, Rotation, Vec3
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
    rows = _all_rows(t)
    nv = range(t.model.nv)
    J = [[slopes.get(k, 0.0) for k in nv] for _, slopes in rows]
    return {"error": [error for error, _ in rows], "J": J}


def _all_rows(t: Tracer) -> list[Row]:
    first, rows = 0, []
    for task in t.options["tasks"]:
        target = t.numbers["targets"][first : first + task.target_size]
        first += task.target_size
        all_components = list(KINDS[task.kind](t, task, target))
        rows += [all_components[n] for n in task.components]
    return rows


def task_qp(t: Tracer) -> Results:
    """The quadratic program ``v^T H v / 2 + f^T v`` of speeds for tasks, and bounds of speeds.

    Its terms are ``weight |J v + drift - gain e / dt|^2 / 2`` and ``damping |v|^2 / 2``; for a
    momentum, ``weight |J v + drift - e|^2 / 2``. Bounds keep the limits of speeds, and of positions
    after the step; where a position is beyond its limit, the only speed within bounds leads back.
    The numbers of the step are its time, the damping, and a factor of the drift.
    """
    (dt, damping, moving), nv = t.numbers["step"], t.model.nv
    H: list[list[Number]] = [[damping if k == n else 0.0 for k in range(nv)] for n in range(nv)]
    f: list[Number] = [0.0] * nv
    momenta = [task.kind == "momentum" for task in t.options["tasks"] for _ in task.components]
    numbers = t.numbers["weights"], t.numbers["gains"], momenta
    rows = zip(_all_rows(t), _all_rates(t), *numbers, strict=True)
    for (error, slopes), drift, weight, gain, is_rate in rows:
        rate = (error if is_rate else error * (gain / dt)) - moving * drift
        acting = {k: x for k, x in slopes.items() if not is_zero(x)}
        for k, x in acting.items():
            weighted = weight * x
            f[k] = f[k] - weighted * rate
            for n, y in acting.items():
                if n >= k:
                    H[k][n] = H[k][n] + weighted * y
    H = [[H[min(k, n)][max(k, n)] for n in range(nv)] for k in range(nv)]
    lower, upper = _bounds(t, dt)
    return {"H": H, "f": f, "lower": lower, "upper": upper}


def _bounds(t: Tracer, dt: Number) -> tuple[list[Number], list[Number]]:
    """Bounds of speeds within a step."""
    q, nq = t.numbers["q"], t.model.nq
    limits = t.numbers["limits"]
    low, high, most = limits[:nq], limits[nq : 2 * nq], limits[2 * nq :]
    lower, upper = [-x for x in most], list(most)
    for body in t.model:
        if body.joint.kind.coordinates.flat:
            for (n, *_), speed in zip(body.q, body.speeds, strict=True):
                k = speed.index
                lower[k] = clip((low[n] - q[n]) / dt, -most[k], most[k])
                upper[k] = clip((high[n] - q[n]) / dt, -most[k], most[k])
    return lower, upper


def task_bias(t: Tracer) -> Results:
    """``dJ/dt v`` and ``J v`` of all tasks, one after the other."""
    bias: list[Number] = []
    for task in t.options["tasks"]:
        if task.frames:
            F = t.frame_in(*task.frames)
            own = [*fm.in_axes(F.X.R, fm.classical(F.V, F.A))]
        else:
            own = t.zeros if task.kind == "posture" else _momentum_bias(t)
        bias += _chosen(t, task, own)
    return {"bias": bias, "rate": _all_rates(t)}


def _all_rates(t: Tracer) -> list[Number]:
    """``J v`` of all tasks, one after the other; with time, their drift besides."""
    rates: list[Number] = []
    for task in t.options["tasks"]:
        if task.frames:
            F = t.frame_in(*task.frames)
            own = [*fm.in_axes(F.X.R, F.V)]
        else:
            own = t.v if task.kind == "posture" else [*momentum.momentum(t.state)]
        rates += _chosen(t, task, own)
    return rates


def _chosen(t: Tracer, task: TaskEquations, found: Sequence[Number]) -> list[Number]:
    """Components of a task, of those of a frame's motion, of the momentum, or of all speeds."""
    if task.kind == "center_of_mass":
        mass = momentum.total_mass(t.model, t.state.base.inertia)
        found = [x / mass for x in found]
    return [found[n + 3 * (task.kind == "rotation")] for n in task.components]


def _momentum_bias(t: Tracer) -> list[Number]:
    """``dA/dt v`` of the centroidal matrix A; with time, the rate of the momentum without a."""
    total = t.program(lambda inner: [*momentum.momentum(inner.state)])
    found = [
        sum((x * v for x, v in zip(row, t.v, strict=True)), 0.0) for row in t.slopes(total, "q")
    ]
    if "t" in t.numbers:
        found = [x + y for x, (y,) in zip(found, t.slopes(total, "t"), strict=True)]
    return found


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
    "task_qp": Quantity(
        (
            Q,
            Input("targets", _target_numbers, "1, m, rad"),
            Input("weights", _components, "1"),
            Input("gains", _components, "1"),
            Input("step", 3, "s, 1"),
            Input("limits", lambda t: 2 * t.model.nq + t.model.nv, "rad, m, rad/s, m/s"),
        ),
        (
            Output("H", ("nv", "nv"), "1"),
            Output("f", ("nv",), "1"),
            Output("lower", ("nv",), "rad/s, m/s"),
            Output("upper", ("nv",), "rad/s, m/s"),
        ),
        task_qp,
        STATE,
        options=("tasks",),
    ),
    "task_bias": Quantity(
        (Q, V),
        (
            Output("bias", (_components,), "m/s^2, rad/s^2"),
            Output("rate", (_components,), "m/s, rad/s"),
        ),
        task_bias,
        STATE,
        options=("tasks",),
    ),
}
