"""Checks of states: finite numbers, quaternions that are not zero, closed loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, numbers, refuse_not_finite, wrong_shape
from robodyn.errors import InconsistentStateError, ShapeError, SingularError
from robodyn.model.model import Model
from robodyn.symbolic.graph import Port

#: Largest number of states of a batch that a message names.
SHOWN = 5

#: Arguments smaller than this, in double and in single precision, cannot cause an overflow.
LARGE = 1e60, 1e8


#: Names of arguments with one number for each coordinate, and with one for each speed.
POSITIONS = frozenset({"q", "q0", "q1", "posture", "near"})
SPEEDS = frozenset({"v", "a", "tau", "dv", "u"})


def _sizes(dtype: type) -> tuple[float, float]:
    limits = np.finfo(dtype)
    return 1e2 * float(limits.tiny) ** 0.5, 1e-2 * float(limits.max) ** 0.5


#: Range of magnitudes whose squares neither overflow nor lose digits.
_SINGLE, _DOUBLE = _sizes(np.float32), _sizes(np.float64)


def refuse_wrong_states(model: Model, ports: Sequence[Port], arrays: Sequence[ArrayLike]) -> None:
    """Check that the inputs of a function are finite, and quaternions not zero.

    Raises ShapeError: Names the input, the joint, and the state of a batch.
    """
    for port, given in zip(ports, arrays, strict=True):
        x = numbers(port.name, given)
        refuse_not_finite(port.name, x, len(port.shape), partial(_joint, model, port))
        if port.name == "q":
            refuse_zero_quaternions(model, "q", x)


def refuse_wrong_array(model: Model, name: str, given: ArrayLike) -> None:
    """Check that an argument is an array of real, finite numbers of the right size.

    Raises ShapeError: Names the argument, the joint, and the state of a batch.
    """
    x = numbers(name, given)
    size = _size(model, name)
    if (size is None or x.shape[-1:] == (size,)) and all_finite(x):
        return
    if size is not None and x.shape[-1:] != (size,):
        told = f"(..., {size}) for {model.mechanism.name!r}"
        raise wrong_shape(name, x.shape, told, (size,))
    port = Port(name, x.shape[-1:])
    refuse_not_finite(name, x, len(port.shape), partial(_joint, model, port))


def listed(rows: Sequence[int] | Array) -> str:
    """The first indices of states of a batch, for messages."""
    return ", ".join(map(str, rows[:SHOWN])) + (", ..." if len(rows) > SHOWN else "")


def refuse_zero_quaternions(model: Model, name: str, q: Array) -> None:
    """Check that no quaternion is zero.

    name: Of the argument.
    q (..., nq)
    Raises ShapeError: Names the joint, and the state of a batch.
    """
    if not model.has_quaternions:
        return
    small, large = _SINGLE if q.dtype == np.float32 else _DOUBLE
    size = np.abs(q[..., model.quaternions]).max(axis=-1)
    if ((size > small) & (size < large)).all():
        return
    for joint, block in zip(model.joint_names, model.blocks, strict=True):
        if not block.kind.coordinates.quaternion:
            continue
        part = slice(block.q.stop - 4, block.q.stop)
        size = np.abs(q[..., part]).max(axis=-1)
        wrong = np.argwhere(~((size > small) & (size < large)))
        if len(wrong):
            state = wrong[0].tolist()
            of_batch = f" in state {state} of the batch" if state else ""
            raise ShapeError(
                f"{name}[{part.start}:{part.stop}], the quaternion x, y, z, w of joint {joint!r}, "
                f"is {q[(*state, part)].tolist()}{of_batch}: expected one of unit length; others "
                "are normalised, but for those that are zero, or too large or small to be squared",
                name=name,
                given=q,
            )


def refuse_open_linkages(model: Model, q: Array, places: Array) -> None:
    """Check that joints that follow others can do so, as a loop may not close.

    model: In minimal coordinates, or with joints that follow by functions.
    q (..., nq)
    places (..., freedoms that follow, 2): Two numbers for each freedom of the joints that follow;
        NaN where the loop is open.
    Raises InconsistentStateError: Names the loop, and the states of a batch.
    """
    for name, part in _following(model):
        wrong = np.asarray(np.isnan(places[..., part, :]).any(axis=(-1, -2)))
        if np.any(wrong):
            first = q.reshape(-1, q.shape[-1])[np.flatnonzero(wrong)[0]].copy()
            if joints := _by_function(model, name):
                what = f"the function of {name!r}, by which {joints} follow,"
                said, why = "is no number", "choose positions at which it is defined"
            else:
                what, said = f"loop {name!r}", "does not close"
                kept = " while the other loops keep their branches (robot.branches)"
                why = (
                    "its other joints cannot get there, however they move"
                    f"{kept if len(model.bodies.linkages) > 1 else ''}. dependent_positions(q) "
                    "is NaN there; random() gives postures that close"
                )
            raise InconsistentStateError(
                f"{what} of {model.mechanism.name!r} {said} at q = {_shown(first)}"
                f"{_of_batch(wrong)}: {why}",
                q=first,
                loops=(name,),
                rows=rows_of(wrong),
            )


def refuse_dead_points(model: Model, speed_map: Array) -> None:
    """Check for dead points, in which joints do not determine the speeds of their followers.

    model: In minimal coordinates.
    speed_map (..., freedoms that follow, nv)
    Raises SingularError: Names the loop, and the states of a batch.
    """
    for name, part in _following(model):
        wrong = np.asarray(~np.isfinite(speed_map[..., part, :]).all(axis=(-1, -2)))
        if np.any(wrong):
            what, instead = f"loop {name!r}", "tree_form, or other independent joints"
            if _by_function(model, name):
                what, instead = repr(name), "other joints"
            raise SingularError(
                f"{what} of {model.mechanism.name!r} is at a dead "
                f"point{_of_batch(wrong)}: the speeds of {', '.join(model.joint_names)} do "
                f"not determine those of the joints that follow. Take {instead}",
                joints=model.joint_names,
                rows=rows_of(wrong),
            )


def too_large(given: Mapping[str, ArrayLike]) -> bool:
    """Whether arguments, by their names, may cause an overflow."""
    single = all(np.asarray(x).dtype == np.float32 for x in given.values())
    return any(np.abs(x).max(initial=0.0) >= LARGE[single] for x in given.values())


def overflow(model: Model, name: str, given: Mapping[str, ArrayLike], wrong: Array) -> ShapeError:
    """The error for a result that is not finite though all arguments, by their names, are."""
    sizes = {key: float(np.abs(x).max(initial=0.0)) for key, x in given.items()}
    worst = max(sizes, key=lambda key: sizes[key])
    single = all(np.asarray(x).dtype == np.float32 for x in given.values())
    reason = f"numbers as large as {sizes[worst]:.3g} in {worst} overflow"
    if not too_large(given):
        reason = (
            "a joint map or constraint has no derivative there, or masses and lengths are too "
            "large or small to compute with"
        )
    elif single:
        reason += " in single precision"
    error = ShapeError(
        f"{name} of {model.mechanism.name!r} is not finite{_of_batch(wrong)}: {reason}",
        name=worst,
        given=sizes[worst],
    )
    error.motion = tuple(int(k) for k in next(iter(np.argwhere(wrong)), ()))
    return error


def _following(model: Model) -> list[tuple[str, list[int]]]:
    """Functions and loops by which joints follow others, and the number of freedoms of each."""
    bodies, linkages = model.bodies.bodies, (*model.bodies.followers, *model.bodies.linkages)
    places: dict[int, list[int]] = {}
    first = 0
    for i in sorted(i for linkage in linkages for i in linkage.dependent):
        count = len(bodies[i].joint.kind.turning) or 1
        places[i] = list(range(first, first + count))
        first += count
    return [(one.name, [k for i in one.dependent for k in places[i]]) for one in linkages]


def _by_function(model: Model, name: str) -> str:
    """Joints that follow by the function of that name; empty of a loop."""
    found = (one.given.dependent for one in model.bodies.followers if one.name == name)
    return ", ".join(next(found, ()))


def rows_of(wrong: Array | np.bool_) -> tuple[int, ...]:
    """States of a batch for which something holds; none of one state."""
    return tuple(np.flatnonzero(wrong).tolist()) if np.ndim(wrong) else ()


def _of_batch(wrong: Array | np.bool_) -> str:
    """Position in a batch, in words."""
    return f" (states {listed(rows_of(wrong))} of the batch)" if np.ndim(wrong) else ""


def _shown(q: Array) -> str:
    return np.array2string(q, precision=6, separator=", ", threshold=12)


def _size(model: Model, name: str) -> int | None:
    """Size of an array for one state by its name; ``None`` if the name does not determine it."""
    if name in POSITIONS:
        return model.bodies.nq
    return model.bodies.nv if name in SPEEDS else None


def _joint(model: Model, port: Port, index: list[int]) -> str:
    """The joint that a coordinate or speed belongs to, in words."""
    if len(index) != 1 or port.shape != (_size(model, port.name),):
        return ""
    for joint, block in zip(model.joint_names, model.blocks, strict=True):
        part = block.q if port.name in POSITIONS else block.v
        if index[0] in range(part.start, part.stop):
            return f" (joint {joint!r})"
    return ""
