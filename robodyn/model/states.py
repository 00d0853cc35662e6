"""States that a robot cannot be in: numbers that are not finite, quaternions of length zero."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import refuse_not_finite
from robodyn.errors import ShapeError
from robodyn.model.model import Model
from robodyn.symbolic.graph import Port

__all__ = ["refuse_wrong_states", "refuse_zero_quaternions"]


def _sizes(dtype: type) -> tuple[float, float]:
    limits = np.finfo(dtype)
    return 1e2 * float(limits.tiny) ** 0.5, 1e-2 * float(limits.max) ** 0.5


#: Between these sizes, squares are numbers with all their digits.
_SINGLE, _DOUBLE = _sizes(np.float32), _sizes(np.float64)


def refuse_wrong_states(model: Model, ports: Sequence[Port], arrays: Sequence[ArrayLike]) -> None:
    """Refuse what is not finite, and quaternions that are zero, among the inputs of a function.

    Raises
    ------
    ShapeError
        Names the input, the joint, and the state of a batch.
    """
    for port, given in zip(ports, arrays, strict=True):
        x = np.asarray(given)
        refuse_not_finite(port.name, x, len(port.shape), partial(_joint, model, port))
        if port.name == "q":
            refuse_zero_quaternions(model, "q", x)


def refuse_zero_quaternions(model: Model, name: str, q: Array) -> None:
    """Refuse quaternions from which no rotation can be told.

    Parameters
    ----------
    model : Model
    name : str
        Of the argument.
    q : ndarray, shape (..., nq)

    Raises
    ------
    ShapeError
        Names the joint, and the state of a batch.
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


def _joint(model: Model, port: Port, index: list[int]) -> str:
    """The joint that a coordinate or speed belongs to, in words."""
    nq, nv = model.bodies.nq, model.bodies.nv
    sizes = {"q": nq, "v": nv, "a": nv, "tau": nv, "dv": nv}
    if len(index) != 1 or port.shape != (sizes.get(port.name),):
        return ""
    for joint, block in zip(model.joint_names, model.blocks, strict=True):
        part = block.q if port.name == "q" else block.v
        if index[0] in range(part.start, part.stop):
            return f" (joint {joint!r})"
    return ""
