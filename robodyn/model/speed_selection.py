"""Selection of speeds by names of joints: controlled speeds, and those with given forces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, named_alone, numbers, wrong_shape
from robodyn.errors import ActuationError, ShapeError, UnknownNameError
from robodyn.model.joint_info import JointInfo, part_names, part_of
from robodyn.model.model import Model
from robodyn.quick_dataclass import dataclass

_ZERO = np.zeros(())

#: Values by joint name (or ``"joint[k]"``, one axis of it), or one array over all speeds.
ByJoint = Mapping[str, ArrayLike] | ArrayLike


@dataclass(frozen=True, eq=False)
class Roles:
    """The known quantity of each speed: its acceleration or its force.

    controlled: Speeds whose acceleration is given.
    a (..., nc): Those accelerations [rad/s^2, m/s^2].
    tau (..., nv - nc): Generalised forces of the others, in the order of v [N m, N].
    single: All values are float32, or plain numbers.
    """

    controlled: tuple[int, ...]
    a: Array
    tau: Array
    single: bool = False

    def beside(
        self, q: ArrayLike, v: ArrayLike
    ) -> tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]:
        """A state, and ``a`` and ``tau``; plain numbers do not convert float32 to float64."""
        if self.single and np.result_type(np.asarray(q), np.asarray(v)) == np.float32:
            return q, v, self.a.astype(np.float32), self.tau.astype(np.float32)
        return q, v, self.a, self.tau


def speed_indices(model: Model, name: str) -> tuple[int, ...]:
    """Indices in v of a joint, or of one axis ``"joint[k]"`` of it.

    Raises UnknownNameError: If there is no such joint or axis, or it has no speed of its own.
    """
    if not isinstance(name, str):
        raise UnknownNameError("joint", repr(name), model.joint_names, repr(model.mechanism.name))
    axis = part_of(name, model.joints)
    joint = axis[0] if axis else model.joints[name]
    indices = tuple(range(joint.v.start, joint.v.stop))
    if not indices:
        follows = any(name == model.bodies.bodies[i].description.name for i in _following(model))
        raise without_speed(name, joint, model.joint_names, model.mechanism.name, follows)
    if axis is None:
        return indices
    if axis[1] >= len(indices):
        known = part_names(joint.name, len(indices), model.joints)
        raise UnknownNameError("axis", name, known, repr(model.mechanism.name))
    return (indices[axis[1]],)


def has_own_speeds(model: Model, names: Iterable[str]) -> bool:
    """Whether none of some joints moves without a speed of its own, as it follows others."""
    return model.following_joints.isdisjoint(names)


def without_speed(
    name: str, joint: JointInfo, known: Iterable[str], robot: str, follows: bool = False
) -> UnknownNameError:
    """The error for a joint that has no speed in v.

    ``follows``: it follows others by a loop in closed form.
    """
    why = ""
    if joint.cut:
        why = (
            ": it is cut; it gets one by a motor, or where another joint of its loop is marked "
            'with cut="true"'
        )
    elif joint.follows:
        why = f": it follows {', '.join(joint.follows)}, whose speeds determine its own"
    elif follows:
        why = ": it follows others by a loop in closed form; tree_form has speeds of all joints"
    return UnknownNameError("joint with a speed of its own", name, known, f"{robot!r}{why}")


def _following(model: Model) -> Iterable[int]:
    """Bodies whose joints follow others by loops that are solved in closed form."""
    return (i for linkage in model.bodies.linkages for i in linkage.dependent)


def speed_names(model: Model, speeds: Iterable[int]) -> tuple[str, ...]:
    """Names of speeds: joints where all of theirs are meant, else ``"joint[k]"``."""
    wanted, names = {*speeds}, []
    for name in model.joint_names:
        own = range(model.joints[name].v.start, model.joints[name].v.stop)
        parts = part_names(name, len(own), model.joints)
        some = [part for k, part in zip(own, parts, strict=True) if k in wanted]
        names += [name] if len(some) == len(own) > 0 else some
    return tuple(names)


def assign_roles(
    model: Model,
    controlled: ByJoint | None,
    tau: ByJoint | None,
    locked: Iterable[str],
) -> Roles:
    """Roles of all speeds.

    controlled (..., nv): Accelerations; an array has NaN where a speed is free.
    tau (..., nv): Generalised forces, zero where none is given; an array has NaN or zero where a
        speed is controlled.
    locked: Controlled with acceleration zero.
    Raises ActuationError: If a joint is both controlled and given a force, or controlled and
        locked.
    """
    given = _by_speed(model, "controlled", controlled)
    forces = _by_speed(model, "tau", tau)
    held: set[int] = set()
    over_all = tau is not None and not isinstance(tau, Mapping)
    for name in named_alone("locked", locked) if locked != () else ():
        for k in speed_indices(model, name):
            if k in given:
                twice = "is named twice in locked" if k in held else "is both controlled and locked"
                raise _conflict(model, k, twice)
            held.add(k)
            given[k] = _ZERO
    for k in given:
        force = forces.pop(k, None)
        # an array over all speeds has to have something here: zero is no torque
        if force is not None and (not over_all or force.any()):
            raise _conflict(model, k, "is both controlled and given a torque")
    if over_all:
        for k in range(model.bodies.nv):
            if k not in given and k not in forces:
                raise _conflict(model, k, "is free, but its tau is NaN", ShapeError)
    order = tuple(sorted(given))
    free = [k for k in range(model.bodies.nv) if k not in given]
    return Roles(
        order,
        _stacked([given[k] for k in order]),
        _stacked([forces.get(k, _ZERO) for k in free]),
        _is_single(controlled) and _is_single(tau),
    )


def _is_single(values: ByJoint | None) -> bool:
    if values is None:
        return True
    parts = values.values() if isinstance(values, Mapping) else [values]
    return all(
        part.dtype == np.float32 if isinstance(part, np.ndarray) else not hasattr(part, "__len__")
        for part in parts
    )


def _conflict(model: Model, speed: int, what: str, kind: Any = ActuationError) -> Exception:
    names = (n for n in model.joint_names if speed in range(*model.joints[n].v.indices(10**9)))
    name = next(names)
    message = f"joint {name!r} of {model.mechanism.name!r} {what}"
    if kind is ActuationError:
        return ActuationError(message, direction=name)
    return ShapeError(message, name="tau", given=name)


def _stacked(columns: list[Array]) -> Array:
    if not any(column.ndim for column in columns):
        return np.array([column.item() for column in columns])
    try:
        return np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise ShapeError(
            f"values by joint have leading axes that do not broadcast together: {shapes}",
            name="arguments",
        ) from None


def _by_speed(model: Model, what: str, values: ByJoint | None) -> dict[int, Array]:
    if values is None:
        return {}
    if isinstance(values, Mapping):
        result: dict[int, Array] = {}
        for name, value in values.items():
            indices = speed_indices(model, name)
            parts = _split(what, name, value, len(indices))
            for k, part in zip(indices, parts, strict=True):
                if k in result:
                    raise _conflict(model, k, f"is named twice in {what}")
                result[k] = part
        return result
    array = numbers(what, values)
    nv = model.bodies.nv
    if array.ndim == 0 or array.shape[-1] != nv:
        told = f"(..., {nv}) or a mapping by joint name"
        raise wrong_shape(what, array.shape, told, (nv,))
    if array.ndim == 1:
        row: list[float] = array.tolist()
        if not any(map(math.isinf, row)):
            return {k: array[k] for k, x in enumerate(row) if x == x}
    if np.isinf(array).any():
        raise ShapeError(f"{what} holds infinite numbers", name=what)
    missing = np.isnan(array).reshape(-1, nv) if array.size else np.zeros((1, nv), bool)
    if not np.array_equal(missing.any(axis=0), missing.all(axis=0)):
        raise ShapeError(
            f"{what} is NaN (not given) in some rows and a number in others: the same speeds must "
            "be given in the whole batch",
            name=what,
        )
    return {k: array[..., k] for k in range(nv) if not missing[:, k].any()}


def _split(what: str, name: str, value: ArrayLike, width: int) -> list[Array]:
    array = numbers(f"{what}[{name!r}]", value)
    if not all_finite(array):
        raise ShapeError(f"{what}[{name!r}] holds numbers that are not finite", name=what)
    if width == 1:
        return [array]
    if array.ndim == 0 or array.shape[-1] != width:
        raise wrong_shape(f"{what}[{name!r}]", array.shape, f"(..., {width})", (width,))
    return [array[..., k] for k in range(width)]
