"""Quantities of robots, references and bases for controllers, in numbers or in symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn import BaseMotion, BasePath, Robot
from robodyn.array_types import Array, FloatArray
from robodyn.codegen import Function
from robodyn.motion.reference import Reference
from robodyn.simulation.control.tracing import SymbolicTime, Untraceable, inlined
from robodyn.symbolic.scalar import sqrt

from .gains import checked_reference

__all__ = [
    "base_at",
    "cut",
    "difference",
    "dynamics",
    "is_symbolic",
    "quantity",
    "reference_at",
    "times",
]


def is_symbolic(x: Any) -> bool:
    """Whether an array holds symbols."""
    return isinstance(x, np.ndarray) and x.dtype == object


def reference_at(
    robot: Robot, reference: Reference, t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Position, velocity and acceleration of a reference at a time."""
    if not isinstance(t, SymbolicTime):
        return checked_reference(reference(t), robot.nq, t)
    if getattr(reference, "symbolic", False):
        found = checked_reference(reference(t), robot.nq, t)
    else:
        found = t.sampled(
            "reference",
            lambda at: checked_reference(reference(at), robot.nq, at),
            (reference,),
            getattr(reference, "at_times", None),
        )
    if max(map(np.ndim, found)) > 1:
        raise Untraceable
    return found


def base_at(path: BasePath | None, t: float) -> BaseMotion | Mapping[str, Array] | None:
    """The motion of a moving base at a time; symbols of it by the names of a function's inputs."""
    if path is None or not isinstance(t, SymbolicTime):
        return None if path is None else path(t)

    def parts(time: float) -> tuple[FloatArray, ...]:
        motion = path(time)
        return motion.pose, motion.twist, motion.acceleration

    names = ("base_pose", "base_twist", "base_acceleration")
    return dict(zip(names, t.sampled("base", parts, (path,)), strict=True))


def quantity(
    robot: Robot,
    name: str,
    arrays: Mapping[str, FloatArray],
    base: BaseMotion | Mapping[str, Array] | None,
    t: float,
    **options: Any,
) -> FloatArray:
    """A quantity of a robot, by the name of its method, in numbers or in symbols.

    Arguments as for `dynamics`; the base is `None` for what does not depend on it.
    """
    if isinstance(t, SymbolicTime):
        return dynamics(robot, name, arrays, base, t, **options)[0]
    if base is not None:
        options["base"] = base
    found = getattr(robot.at(t), name)(*arrays.values(), **options)
    return np.asarray(found)


def dynamics(
    robot: Robot,
    name: str | Function,
    arrays: Mapping[str, FloatArray],
    base: BaseMotion | Mapping[str, Array] | None,
    t: float,
    **options: Any,
) -> tuple[Array, ...]:
    """Results of a function of a robot over symbols.

    Parameters
    ----------
    robot : Robot
    name : str or Function
        Its name, or one that was made of a function of the robot.
    arrays : mapping of str to ndarray
        Its inputs by name; zeros may be numbers.
    base : mapping of str to ndarray, or None
        From `base_at`.
    t : SymbolicTime
        Or any number, for what does not depend on time.
    **options
        As for `Robot.function`.
    """
    made = name if isinstance(name, Function) else robot.function(name, **options)
    program = made.program
    known: dict[str, Any] = {**arrays, **(base or {}), "t": t}  # type: ignore[dict-item]
    given = [np.asarray(known[port.name], object) for port in program.inputs]
    if any(x.size != port.size for x, port in zip(given, program.inputs, strict=True)):
        raise Untraceable
    numbers = [x for array in given for x in array.flat]
    results = np.empty(len(program.results), object)
    results[:] = inlined(program, numbers)
    ends = np.cumsum([port.size for port in program.outputs])[:-1]
    parts = np.split(results, ends)
    return tuple(x.reshape(p.shape) for x, p in zip(parts, program.outputs, strict=True))


def difference(robot: Robot, q0: FloatArray, q1: FloatArray) -> FloatArray:
    """The motion from one position to another, in numbers or in symbols."""
    if is_symbolic(q0) or is_symbolic(q1):
        return dynamics(robot, "difference", {"q0": q0, "q1": q1}, None, 0.0)[0]
    return robot.difference(q0, q1)


def times(A: FloatArray, x: FloatArray) -> FloatArray:
    """Matrix times vector, of one state or many, in numbers or symbols."""
    if is_symbolic(A) or is_symbolic(x):
        return A @ x
    return np.asarray(np.einsum("...ij,...j->...i", A, x))


def cut(x: FloatArray, most: FloatArray) -> FloatArray:
    """Numbers or symbols clipped to ``-most <= x <= most``; those within stay as they are.

    Parameters
    ----------
    x : ndarray, shape (..., n)
    most : ndarray, shape (n,)
        Positive numbers or symbols.
    """
    over = _size(x) / most - 1.0
    return np.asarray(x / (1.0 + 0.5 * (over + _size(over))))  # within limits by 1


def _size(x: FloatArray) -> FloatArray:
    """Absolute values of numbers or symbols; among symbols there may be numbers, as zeros."""
    if x.dtype == object:
        return np.array([sqrt(y * y) for y in x], object)
    return np.asarray(np.sqrt(x * x))
