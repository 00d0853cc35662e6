"""Quantities of robots, references and bases for controllers, in numbers or in symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn import BaseMotion, BasePath, Robot
from robodyn.array_types import Array, FloatArray
from robodyn.codegen import Function
from robodyn.codegen.calls.trace_graph import Untraceable
from robodyn.motion.functions import Reference
from robodyn.simulation.control.tracing import SymbolicTime
from robodyn.symbolic.scalar import Scalar

from .gains import of_all_joints, reference_arrays


def is_symbolic(x: Any) -> bool:
    """Whether an array holds symbols."""
    return isinstance(x, np.ndarray) and x.dtype == object


def reference_at(
    robot: Robot, reference: Reference, t: float, joints: tuple[str, ...] | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Position, velocity and acceleration of all joints at a time.

    The reference is of all joints, or of ``joints`` alone, by default those with motors.
    """

    def whole(motion: Any, at: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        return of_all_joints(robot, reference_arrays(motion, at), at, joints)

    if not isinstance(t, SymbolicTime):
        return whole(reference(t), t)
    if getattr(reference, "symbolic", False):
        q, v, a = whole(reference(t), t)
        found = as_numbers(q), as_numbers(v), as_numbers(a)
    else:
        many = getattr(reference, "at_times", None)
        found = t.sampled(
            "reference",
            lambda at: whole(reference(at), at),
            (reference,) if joints is None else (reference, joints),
            many and (lambda at: whole(many(at), at)),
        )
    if max(map(np.ndim, found)) > 1:
        raise Untraceable
    return found


def as_numbers(x: Any) -> Any:
    """An array as numbers, if it contains no symbol."""
    known = is_symbolic(x) and not any(isinstance(y, Scalar) for y in x.flat)
    return x.astype(float) if known else x


def base_at(path: BasePath | None, t: float) -> BaseMotion | None:
    """The motion of a moving base at a time, in numbers or in symbols."""
    if path is None or not isinstance(t, SymbolicTime):
        return None if path is None else path(t)
    return BaseMotion(*t.sampled("base", lambda time: path(time).parts, (path,)))


def dynamics(
    robot: Robot,
    name: str | Function,
    arrays: Mapping[str, FloatArray],
    base: BaseMotion | None,
    t: float,
    **options: Any,
) -> tuple[Array, ...]:
    """Results of a function of a robot, for inputs by name.

    Parameters
    ----------
    name : str or Function
        Its name, or a function that was derived from one of the robot.
    arrays : mapping of str to ndarray
        Inputs of the function.
    base : BaseMotion, optional
        Inputs of the function for a robot with a moving base.
    t : float [s]
        Input of the function for a robot that depends on time.
    **options
        As for `Robot.function`.
    """
    f = name if isinstance(name, Function) else robot.function(name, **options)
    known: dict[str, Any] = {**arrays, "t": t}
    if base is not None:
        known |= zip(("base_pose", "base_twist", "base_acceleration"), base.parts, strict=True)
    found = f(*(known[port.name] for port in f.inputs))
    return found if len(f.outputs) > 1 else (found,)


def times(A: FloatArray, x: FloatArray) -> FloatArray:
    """Matrix times vector, of one state or many, in numbers or symbols."""
    if is_symbolic(A) or is_symbolic(x):
        return A @ x
    return np.asarray(np.einsum("...ij,...j->...i", A, x))


def at_speeds(speeds: Sequence[int], x: FloatArray, nv: int) -> FloatArray:
    """Numbers or symbols at some speeds, and zeros at all others, shape (..., nv)."""
    found = np.zeros((*x.shape[:-1], nv), x.dtype)
    found[..., list(speeds)] = x
    return found
