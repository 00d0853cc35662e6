"""Arguments of controllers: checks of gains and of what references return, and pickling by them."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn import Robot, ShapeError
from robodyn.array_types import FloatArray
from robodyn.arrays import each, number, numbers, wrong_shape
from robodyn.simulation.control.tracing import SymbolicTime
from robodyn.simulation.loads.actuated_speeds import at_all_joints, coordinates_of_motors
from robodyn.symbolic.scalar import Scalar, SymbolArray, floor
from robodyn.tolerances import EIGENVALUE_ZERO

Method = TypeVar("Method", bound=Callable[..., Any])


def checked_call(method: Method) -> Method:
    """Decorator that checks that arguments of a method are times and arrays, or symbols.

    Its errors are `ShapeError`, and name the argument.
    """
    names = list(inspect.signature(method).parameters)[1:]

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        for name, given in (*zip(names, args, strict=False), *kwargs.items()):
            plain = type(given) in (np.ndarray, SymbolArray) and given.dtype.kind in "fO"
            if not plain and type(given) is not float:
                _refuse(name, given)
            elif name == "t" and type(given) is float and math.isnan(given):
                raise ShapeError("t is nan, expected a time [s]", name="t", given=given)
        return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]


def _refuse(name: str, given: Any) -> None:
    """Raise an error for what is neither numbers nor symbols."""
    if isinstance(given, Scalar | SymbolicTime):
        return
    if isinstance(given, np.ndarray) or name != "t":
        numbers(name, given)
    else:
        number(name, given)


def state_of(robot: Robot, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """A state as arrays, after a check of its sizes.

    Raises
    ------
    ShapeError
    """
    for name, x, size in (("q", q, robot.nq), ("v", v, robot.nv)):
        if np.shape(x)[-1:] != (size,):
            raise ShapeError(
                f"the controller's model {robot.name!r} has {size} numbers in {name}, and what it "
                f"is to control has shape {np.shape(x)}",
                name=name,
                given=np.shape(x),
                expected=(size,),
            )
    return np.asarray(q), np.asarray(v)


def reference_arrays(given: Any, t: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Position, velocity and acceleration that a reference returned at time ``t`` [s].

    Raises
    ------
    ShapeError
        If it returned something else.
    """
    try:
        q, v, a = (np.asarray(x) for x in given)
        numbers = all(x.dtype.kind in "fiub" or _symbols(x) for x in (q, v, a))
    except (TypeError, ValueError):
        numbers = False
    if not numbers:
        raise ShapeError(
            f"the reference returned {given!r}{_when(t)}, expected three arrays: position, "
            "velocity and acceleration",
            name="reference",
            given=given,
        )
    return q, v, a


def of_all_joints(
    robot: Robot, motion: Sequence[FloatArray], t: Any, joints: Sequence[str] | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The motion of all joints at time ``t`` [s], from that of all or of some.

    These are ``joints``, by default those with motors.

    Raises
    ------
    ShapeError
        If it is for another number of coordinates or speeds.
    """
    q, v, a = motion
    if q.shape[-1:] != (robot.nq,):
        joints = coordinates_of_motors(robot) if joints is None else joints
        q, v, a = at_all_joints(robot, motion, joints)
    if q.shape[-1:] != (robot.nq,):
        joints = joints or ()
        size = sum(robot.joints[name].q.stop - robot.joints[name].q.start for name in joints)
        raise ShapeError(
            f"the reference gives positions of shape {q.shape}{_when(t)}, expected ({robot.nq},)"
            + (f", or ({size},) of {', '.join(joints)} alone" if 0 < size < robot.nq else ""),
            name="reference",
            given=q.shape,
            expected=(robot.nq,),
        )
    for name, rates in (("velocities", v), ("accelerations", a)):
        if rates.shape != np.shape(t):  # else one number for all joints
            _check_rates(name, rates, robot)
    return q, v, a


def _when(t: Any) -> str:
    """The time for a message; empty for a symbol."""
    return f" at t = {t} s" if np.asarray(t).dtype.kind in "fiu" else ""


def _symbols(x: NDArray[Any]) -> bool:
    """Whether all elements are symbols or numbers."""
    return x.dtype.kind == "O" and all(hasattr(type(y), "__truediv__") for y in x.flat)


def _check_rates(name: str, given: FloatArray, robot: Robot) -> None:
    if given.shape[-1:] not in ((), (robot.nv,)):
        raise ShapeError(
            f"the reference gives {name} of shape {given.shape}, expected ({robot.nv},): one a "
            "speed of the robot, of which a floating base or another joint with a quaternion has "
            "fewer than coordinates. Leave them out, so that the reference is of "
            f"{', '.join(robot.actuated_joints)} alone, or take Recorded(robot, times, positions) "
            "or a function of your own",
            name="reference",
            given=given.shape,
            expected=(robot.nv,),
        )


def gain(name: str, value: ArrayLike, nv: int, *, positive: bool = False) -> NDArray[np.float64]:
    """A gain for each speed, shape (nv,), from one for all or one for each.

    Raises
    ------
    ShapeError
        If it is neither, or has the wrong sign, or is not finite.
    """
    kind = f"a finite number, {'positive' if positive else 'not negative'}"
    gains = each(
        name, value, nv, kind, lambda x: np.isfinite(x) & (x > 0.0 if positive else x >= 0.0)
    )
    gains.flags.writeable = False
    return gains


def weights(
    name: str,
    value: ArrayLike,
    size: int,
    of: str,
    definite: bool = False,
    kind: str = "weight",
) -> FloatArray:
    """A matrix of weights, shape (size, size), of one for all, one for each, or a matrix.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    value : array_like, shape (), (size,) or (size, size)
    of : str
        The weighted quantity, for messages.
    definite : bool
        The matrix has to be positive definite.
    kind : str
        What each number on the diagonal is, for messages: a weight, or a variance.

    Raises
    ------
    ShapeError
        If it is neither, or not symmetric, or a weight is negative, or, where it has to be
        definite, zero.
    """
    given = np.asarray(value, float)
    if given.shape not in ((), (size,), (size, size)):
        raise wrong_shape(
            name, given.shape, f"a number, ({size},) or ({size}, {size}): {of}", (size, size)
        )
    full = np.array(given) if given.ndim == 2 else np.diag(np.broadcast_to(given, (size,)))
    if not np.isfinite(full).all() or not np.allclose(full, full.T, rtol=1e-10, atol=0.0):
        raise ShapeError(
            f"{name} is {given.tolist()}, expected finite and symmetric {kind}s",
            name=name,
            given=value,
        )
    values = np.linalg.eigvalsh(full) if given.ndim == 2 else np.sort(np.diag(full))
    values = values if size else np.ones(1)
    least, most = float(values[0]), float(values[-1])
    slack = EIGENVALUE_ZERO * max(most, 0.0) if given.ndim == 2 else 0.0
    if least < -slack or (definite and least <= slack):
        expected = "positive" if definite else "not negative"
        of_what = "smallest eigenvalue" if given.ndim == 2 else f"smallest {kind}"
        raise ShapeError(
            f"{name} has the {of_what} {least:.3g}, expected all {expected}", name=name, given=value
        )
    full = 0.5 * (full + full.T)
    full.flags.writeable = False
    return full


def real(
    name: str, value: Any, expected: str, fits: Callable[[FloatArray], Any]
) -> NDArray[np.float64]:
    """Numbers of an argument that fit, in an array of their own that nobody writes into.

    Parameters
    ----------
    expected : str
        For the message.
    fits : callable
        From the array to whether it is right.

    Raises
    ------
    ShapeError
    """
    given = np.array(value, float)
    if not np.all(fits(given)):
        raise ShapeError(f"{name} is {value!r}, expected {expected}", name=name, given=value)
    given.flags.writeable = False
    return given


def reduce_by_fields(controller: Any) -> tuple[type, tuple[Any, ...]]:
    """The class of a controller and what it was called with, for ``__reduce__``.

    Private attributes hold functions within functions, which cannot be pickled; the constructor
    makes them again.
    """
    given = (getattr(controller, field.name) for field in fields(controller) if field.init)
    return type(controller), tuple(given)


def quanta(value: ArrayLike) -> FloatArray:
    """Quanta of an argument ``quantum``: one, or one for each number; zero: no rounding.

    Raises
    ------
    ShapeError
    """
    expected = "a finite number >= 0, or one for each number"
    return real("quantum", value, expected, lambda x: (x >= 0.0) & (x < np.inf) & (x.ndim < 2))


def rounded(x: FloatArray, quantum: FloatArray) -> FloatArray:
    """The nearest multiples, shape (..., n), of numbers or symbols.

    Raises
    ------
    ShapeError
        If there are other numbers of quanta.
    """
    if not quantum.any():
        return x
    n = x.shape[-1]
    if quantum.shape not in ((), (1,), (n,)):
        raise wrong_shape("quantum", quantum.shape, f"one number or {n}", (n,))
    each, found = np.broadcast_to(quantum, (n,)), np.array(x)
    at = np.flatnonzero(each)
    found[..., at] = floor(x[..., at] / each[at] + 0.5) * each[at]
    return found
