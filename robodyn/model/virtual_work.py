"""Forces of motors from generalised forces, by virtual work."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import ActuationError
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_names
from robodyn.tolerances import ACTUATION_RANK

#: Makes the actuation matrix of a state, where it is needed.
Matrix = Callable[[], Array]


def joint_forces(model: Model, matrix: Matrix, tau: Array, *, exact: bool = True) -> Array:
    """Forces of the joints of motors, with the indices of `Gearing`, shape (..., n).

    tau (..., nv) [N m, N]: Generalised forces; of all forces of motors that do the same, those of
        least 2-norm are taken.
    exact: Refuse forces that the motors of a linkage do not produce; those of a tree may be at
        other joints.
    """
    if not model.gearing.elsewhere:
        return tau
    B = matrix()
    f = forces_of_motors(B, tau)
    if exact and (model.bodies.linkages or model.setup.closed):
        refuse_rest(model, B, f, tau)
    return f


def joint_speeds(model: Model, matrix: Matrix, v: Array) -> Array:
    """Speeds of the joints of motors, with the indices of `Gearing`, shape (..., n)."""
    if not model.gearing.elsewhere:
        return v
    return np.asarray(np.einsum("...ji,...j->...i", matrix(), v), v.dtype)


def forces_of_motors(B: Array, tau: Array) -> Array:
    """The forces ``f`` of least 2-norm with ``B f`` as near to ``tau`` as can be, shape (..., m).

    B (..., nv, m): Actuation matrix.
    tau (..., nv) [N m, N]
    """
    given = np.asarray(B, float)
    inverse = np.linalg.pinv(given, rcond=ACTUATION_RANK)
    return np.asarray(np.einsum("...ij,...j->...i", inverse, tau), np.asarray(tau).dtype)


def generalised(B: Array, f: Array) -> Array:
    """``B f``, shape (..., nv), for forces of motors (..., m)."""
    return np.asarray(np.einsum("...ij,...j->...i", B, f), np.asarray(f).dtype)


def speeds_without_motors(model: Model) -> tuple[int, ...]:
    """Speeds of a linkage in minimal coordinates that no motor at an independent joint drives.

    None of other robots: in tree coordinates inverse dynamics finds forces of motors alone, and
    those of a tree may be at other joints. The base needs no motor.
    """
    if model.gearing.elsewhere or not model.bodies.linkages:
        return ()
    driven = {i for name in model.actuated_joints for i in _indices(model, name)}
    own = 6 if model.settings.base == "floating" else 0
    return tuple(i for i in range(own, model.bodies.nv) if i not in driven)


def loads_follow_forces(model: Model) -> bool:
    """Whether wrenches in joints follow from the forces of joints, not from accelerations alone."""
    return model.setup.closed or bool(speeds_without_motors(model))


def _indices(model: Model, name: str) -> range:
    at = model.joints[name].v
    return range(at.start, at.stop)


def refuse_other_forces(model: Model, tau: Array) -> None:
    """Check that a linkage in minimal coordinates needs no forces where it has no motors.

    Raises ActuationError: As `refuse_rest`.
    """
    if without := speeds_without_motors(model):
        driven = [i for i in range(model.bodies.nv) if i not in without]
        refuse_rest(model, np.eye(model.bodies.nv)[:, driven], tau[..., driven], tau)


def refuse_rest(
    model: Model, B: Array, f: Array, tau: Array, joints: tuple[str, ...] | None = None
) -> None:
    """Check that forces of motors produce generalised forces; the base needs no motor.

    ``joints``: where motors are, if it is not where the model has them.

    Raises ActuationError: With ``.direction``, shape (nv,): the part of ``tau`` that is missing.
    """
    joints = model.actuated_joints if joints is None else joints
    own = 6 if model.settings.base == "floating" else 0
    rest = (tau - generalised(B, f))[..., own:]
    digits = 1.0 if np.asarray(tau).dtype == np.float64 else 1e6
    most = digits * ACTUATION_RANK * max(1.0, float(np.abs(tau).max(initial=0.0)))
    if not rest.size or not np.abs(rest).max() > most:  # NaN has its own error
        return
    row = np.unravel_index(int(np.abs(rest).argmax()), rest.shape)
    missing = np.concatenate([np.zeros(own), rest[row[:-1]]])
    name = speed_names(model, (own + int(row[-1]),))[0]
    raise ActuationError(
        f"motors at {', '.join(joints) or 'no joint'} of {model.mechanism.name!r} "
        f"cannot produce these forces: {missing[own + row[-1]]:.3g} (N m or N) along {name} is "
        "missing",
        direction=missing,
    )
