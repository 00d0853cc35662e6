"""Many copies of a model with rows of parameters, whose equations share a program."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, FloatArray
from robodyn.arrays import numbers as as_numbers
from robodyn.description import Joint
from robodyn.description.values import LARGEST, why_impossible
from robodyn.equations.forces.drives import MotorFriction
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import Body, regrouped
from robodyn.equations.mechanism.light import rows_in_doubt
from robodyn.equations.mechanism.lumping import is_there
from robodyn.equations.quantities.common.numbers import with_numbers
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.regressors import MOTOR_FRICTION, RESISTANCES
from robodyn.equations.tree.regressor import PARAMETERS, body_link, inertia_of, parameters_of
from robodyn.errors import InertiaError, SettingsError, ShapeError
from robodyn.model.changes.other_numbers import with_other_numbers
from robodyn.model.changes.parameter_changes import (
    parameters_before,
    refuse_unchangeable,
    with_parameters,
)
from robodyn.model.joint_inertias import mass_diagonals_of_rows
from robodyn.model.model import Model, checked_masses
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.spatial import RigidInertia

#: Rows of parameters by name, each (robots,).
Values: TypeAlias = Mapping[str, FloatArray]

Numbered = TypeVar("Numbered", Joint, Closure, MotorFriction)

#: Last parts of the names of parameters that must not be negative.
_NOT_NEGATIVE = (*RESISTANCES, *MOTOR_FRICTION, "armature", "rotor_inertia")


@dataclass(frozen=True, eq=False)
class ParameterRows:
    """Parameters of many copies, and the numbers that are inputs of their equations.

    values (robots,)
    example: Setup in which a number is zero only if it is zero in all copies.
    numbers (robots, n): Inputs of the equations, in the order of `with_numbers`.
    inertial (robots, 10 bodies): As `Robot.inertial_parameters` has them.
    """

    values: Values
    example: Setup
    numbers: FloatArray
    inertial: FloatArray

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> ParameterRows:
        """Some of the copies, in an order of one's own; the equations are those of all."""
        values = {name: x[rows] for name, x in self.values.items()}
        numbers, inertial = self.numbers[rows], self.inertial[rows]
        return replace(self, values=values, numbers=numbers, inertial=inertial)

    def place(self, rows: Any) -> Any:
        """The index of a copy, or indices of several, not negative.

        Raises ShapeError: If there is no such row, or if none is asked for.
        """
        try:
            found = np.arange(len(self))[rows]
        except IndexError:
            found = np.arange(0)
        if not found.size:
            raise ShapeError(f"there is no row {rows} of {len(self)}", name="rows", given=rows)
        return found


def is_rows(values: Mapping[str, Any]) -> bool:
    """Whether parameters are arrays, for many copies."""
    return any(isinstance(x, Sequence | np.ndarray) and _several(x) for x in values.values())


def _several(x: Any) -> bool:
    try:
        return not isinstance(x, str) and np.ndim(x) > 0
    except ValueError:  # rows of different lengths are refused later
        return True


def parameter_rows(model: Model, given: Mapping[str, ArrayLike]) -> ParameterRows:
    """Many copies of a model.

    given (robots,) or (): As `Robot.dynamic_parameter_names` has them.
    Raises InertiaError: If a row makes a body that cannot exist, or a joint that moves no mass.
    """
    old = parameters_before(model, given)
    values = _as_rows(given)
    count = len(next(iter(values.values())))
    ten = {
        body.index: rows
        for body in model.bodies
        if (rows := _rows_of(model, body, old, values)) is not None
    }
    for i, rows in ten.items():
        _refuse_impossible(model, model.bodies.bodies[i], rows, values)
    _refuse_other_geometry(model, values)
    setup = _setup(model, ten, values)
    _refuse_massless(model, setup, count)
    inertial = np.empty((count, 10 * len(model.bodies.bodies)))
    for body in model.bodies:
        own = slice(10 * body.index, 10 * body.index + 10)
        as_before: Any = parameters_of(model.bodies, body)
        inertial[:, own] = ten.get(body.index, as_before)
    numbers: list[Any] = []

    def take(x: Any) -> Any:
        if is_there(x):
            numbers.append(x if isinstance(x, np.ndarray) else np.full(count, x))
        return _largest(x)

    example = with_numbers(setup, take)
    return ParameterRows(values, example, np.column_stack(numbers), inertial)


def _as_rows(given: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
    """Arrays of one length, of finite numbers."""
    arrays = {name: as_numbers(f"parameters[{name!r}]", x) for name, x in given.items()}
    shapes = {name: x.shape for name, x in arrays.items()}
    lengths = {*shapes.values()} - {()}
    if len(lengths) > 1 or any(len(x) > 1 or not all(x) for x in lengths):
        shown = ", ".join(f"parameters[{name!r}] {shape}" for name, shape in shapes.items())
        raise ShapeError(
            f"rows of parameters have shapes {shown}, expected one number for each robot, shape "
            "(robots,), or one for all",
            name="parameters",
            given=shapes,
        )
    for name, x in arrays.items():
        wrong = np.flatnonzero(~np.isfinite(x))
        if len(wrong):
            raise SettingsError(
                f"parameters[{name!r}] is {np.atleast_1d(x)[wrong[0]]} in row {wrong[0]}, expected "
                "a finite number"
            )
        small = name.rpartition(".")[2] in _NOT_NEGATIVE
        wrong = np.flatnonzero(x < 0.0)
        if small and len(wrong):
            raise SettingsError(
                f"parameters[{name!r}] is {np.atleast_1d(x)[wrong[0]]:g} in row {wrong[0]}, "
                "expected a number that is not negative"
            )
    (length,) = lengths
    return {name: np.array(np.broadcast_to(x, length), float) for name, x in arrays.items()}


def _rows_of(
    model: Model, body: Body, old: Mapping[str, float], values: Values
) -> FloatArray | None:
    """The ten parameters of a body in each row, shape (robots, 10); ``None`` if unchanged."""
    link = body_link(model.bodies, body)
    names = [f"{link}.{name}" for name in PARAMETERS]
    if all(np.all(values[name] == old[name]) for name in names if name in values):
        return None
    refuse_unchangeable(model, body)
    count = len(next(iter(values.values())))
    return np.column_stack([np.broadcast_to(values.get(name, old[name]), count) for name in names])


def _refuse_impossible(model: Model, body: Body, ten: FloatArray, values: Values) -> None:
    """Check that the bodies of all rows can exist."""
    doubtful = np.flatnonzero(~_is_possible(ten))
    if model.settings.allow_unphysical or not len(doubtful):
        return
    link, ten = body_link(model.bodies, body), ten[doubtful]
    m, h = ten[:, 0], ten[:, 1:4]
    about = ten[:, [[4, 5, 7], [5, 6, 8], [7, 8, 9]]]
    with np.errstate(all="ignore"):
        c = h / np.where(m, m, 1.0)[:, None]
        shift = np.einsum("ri,ri->r", c, c)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None]
        central = about - m[:, None, None] * shift
        fine = (m > 0.0) & np.isfinite(central).all(axis=(1, 2)) & (np.abs(ten) <= LARGEST).all(1)
        moments = np.linalg.eigvalsh(np.where(fine[:, None, None], central, 0.0))
    fine &= (moments[:, 0] >= 0.0) & (0.5 * moments.sum(axis=1) >= moments[:, 2])
    for k in np.flatnonzero(~fine):  # some of them within rounding
        if m[k] == 0.0 and ten[k].any() and h[k].any():
            reason: str | None = f"a body without mass has moments {ten[k, 1:].tolist()}"
        else:
            reason = why_impossible(float(m[k]), central[k])
        if reason:
            by = [f"parameters[{x!r}]" for x in values if x.rpartition(".")[0] == link]
            links = [x for x in model.mechanism.links if x.name == link]
            raise InertiaError(
                f"{', '.join(by)} make body {link!r} of {model.mechanism.name!r} one that none can "
                f"be in row {doubtful[k]}: {reason}; allow_unphysical=True takes it as it is",
                **(model.mechanism.where(links[0]) if links else {}),
            )


def _is_possible(ten: FloatArray) -> Array:
    """Whether masses and their second moments in all directions are clearly positive, by minors.

    Then principal moments are positive, and none is larger than both others together.
    """
    m, x, y, z, xx, xy, yy, xz, yz, zz = np.ascontiguousarray(ten.T)
    with np.errstate(all="ignore"):
        half = 0.5 * (xx + yy + zz)
        a, d, f = (half - own - h * h / m for own, h in ((xx, x), (yy, y), (zz, z)))
        b, c, e = (-own - g * h / m for own, g, h in ((xy, x, y), (xz, x, z), (yz, y, z)))
        first, second = a * d - b * b, d * f - e * e
        last = a * second - b * (b * f - c * e) + c * (b * e - c * d)
        least = 1e-12 * half
        fine = (a > least) & (first > least * (a + d)) & (last > least * first)
    return np.asarray(fine & (m > 0.0) & (np.abs(ten) <= LARGEST).all(axis=1))


def _refuse_other_geometry(model: Model, values: Values) -> None:
    """Check that the masses of rows do not change where links are cut in two."""
    if model.effective.links is model.mechanism.links:  # none is cut
        return
    for k, row in enumerate(zip(*values.values(), strict=True)):
        described = with_parameters(model, dict(zip(values, map(float, row), strict=True)))
        if with_other_numbers(model, described, model.settings) is None:
            raise SettingsError(
                f"parameters in row {k} change how links of {model.mechanism.name!r} are cut in "
                "two to close loops: take robot.with_(parameters=) with that row alone"
            )


def _setup(model: Model, ten: Mapping[int, FloatArray], values: Values) -> Setup:
    """Setup of a model with arrays in place of the numbers that differ."""
    bodies, setup = model.bodies, model.setup
    if setup.gear_losses:
        raise SettingsError(
            f"gears of {model.mechanism.name!r} lose power ({setup.gear_losses[0].joint!r}), and "
            "parameters that are rows of several robots do not reach them: take "
            "robot.with_(parameters=) with one row after the other"
        )
    inertias = {i: inertia_of(bodies, bodies.bodies[i], list(rows.T)) for i, rows in ten.items()}
    own = [_pseudo_inertia(inertias.get(body.index, body.inertia)) for body in bodies]
    described = (body.description for body in bodies)
    joints = [_with_rows(x, x.name, ("armature", *RESISTANCES), values) for x in described]
    inertia: Any = (values.get(f"{x.joint}.rotor_inertia", x.inertia) for x in bodies.motors)
    motors = tuple(replace(x, inertia=y) for x, y in zip(bodies.motors, inertia, strict=True))
    rows = regrouped(bodies, model.tree, own, ten, joints, motors)
    closures, resisted = (
        tuple(_with_rows(x, x.name, RESISTANCES, values) for x in some)
        for some in (setup.closures, setup.cut_joint_friction)
    )
    friction = (_with_rows(x, x.joint, MOTOR_FRICTION, values) for x in setup.motor_friction)
    return replace(
        setup,
        model=replace(rows, bodies=tuple(map(_described, rows)), light=bodies.light),
        closures=closures,
        cut_joint_friction=resisted,
        motor_friction=tuple(friction),
    )


def _pseudo_inertia(inertia: RigidInertia) -> FloatArray:
    """The matrix of an inertia, shape (4, 4) or (robots, 4, 4)."""
    S, h = inertia.S, inertia.h
    elements: list[Any] = [
        S.xx, S.xy, S.xz, h.x, S.xy, S.yy, S.yz, h.y, S.xz, S.yz, S.zz, h.z, h.x, h.y, h.z,
        inertia.m,
    ]  # fmt: skip
    shape = np.broadcast_shapes(*map(np.shape, elements))
    return np.stack([np.broadcast_to(x, shape) for x in elements], -1).reshape(*shape, 4, 4)


def _with_rows(x: Numbered, name: str, fields: Iterable[str], values: Values) -> Numbered:
    """A joint, closure or motor of a name with numbers of the rows, without checks."""
    given = {field: values[f"{name}.{field}"] for field in fields if f"{name}.{field}" in values}
    other = copy.copy(x) if given else x
    for field, rows in given.items():
        object.__setattr__(other, field, rows)
    return other


def _described(body: Body) -> Body:
    """A body with one armature in its description: equations have those of the model."""
    joint = copy.copy(body.description)
    object.__setattr__(joint, "armature", _largest(joint.armature))
    return replace(body, description=joint)


def _largest(x: Any) -> Any:
    """The number of the rows with the largest magnitude."""
    return float(x[np.abs(x).argmax()]) if np.ndim(x) else x


def _refuse_massless(model: Model, setup: Setup, count: int) -> None:
    """Check that in all rows joints move a mass if they do in the model.

    setup: With arrays.
    count: Of rows.
    """
    diagonal = mass_diagonals_of_rows(setup.model, model.some_posture, count)
    doubt = np.broadcast_to(rows_in_doubt(setup.model, diagonal), count)
    for k in np.flatnonzero(doubt):
        one = with_numbers(setup, _at_row(int(k)))
        unphysical = replace(model.settings, allow_unphysical=True)
        found, _ = checked_masses(model.mechanism, unphysical, one, model.some_posture)
        lost = found.model.light.keys() - model.bodies.light.keys()
        if lost:
            speeds = ((x, model.joints[x].v) for x in model.joint_names)
            names = [x for x, v in speeds if not lost.isdisjoint(range(v.start, v.stop))]
            raise InertiaError(
                f"parameters in row {k} leave joints {', '.join(names)} of "
                f"{model.mechanism.name!r} next to no mass to move, so that other equations hold: "
                "take robot.with_(parameters=) with that row alone"
            )


def _at_row(k: int) -> Callable[[Any], Any]:
    return lambda x: float(x[k]) if np.ndim(x) else x


#: Methods of robots that cannot be computed for rows of parameters.
NOT_BY_ROWS = frozenset(
    (
        "acceleration_for", "apparent_mass", "base_parameters", "contact_forces", "equilibrium",
        "impact", "impact_derivatives", "impact_tensors", "impulses", "latch", "reduced",
        "simultaneous_impacts", "steady_motion",
        "velocity_for", "with_",
    )
)  # fmt: skip


def refused_by_rows(name: str) -> Callable[..., Any]:
    """A method that raises an error, in place of one that needs a single robot."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise SettingsError(
            f"{name} is not computed for rows of parameters: ask robot.of_rows(k), one after the "
            "other"
        )

    return refuse


def refuse_rows_of(model: Model, *, has_programs: bool) -> None:
    """Check that the functions of a model can take the numbers of many copies."""
    name, why = model.mechanism.name, ""
    if model.setup.rheonomic:
        why = "depends on time"
    elif not has_programs:
        why = "is not compiled"
    if why:
        raise SettingsError(
            f"{name!r} {why}: rows of parameters cannot be given; take robot.with_(parameters=) "
            "with one after the other"
        )
