"""What a user's functions return during a simulation, checked with the time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.robot import Robot
from robodyn.simulation.control.compiled_law import law_of
from robodyn.simulation.control.numba_law import numba_law_of
from robodyn.simulation.loads.column_names import speed_names

__all__ = [
    "Controller",
    "at_start",
    "check_callable",
    "of_motion",
    "refuse_not_finite",
    "shown_briefly",
    "torque",
]

Controller = Callable[[float, FloatArray, FloatArray], ArrayLike]


def check_callable(what: str, given: Any) -> None:
    """Refuse a controller or an event that is no function."""
    if not callable(given):
        raise ShapeError(f"the {what} is {given!r}, expected a function (t, q, v)", name=what)


def at_start(robot: Robot, controller: Controller | None) -> Controller | None:
    """A controller at the start of a motion of a robot.

    One that has a memory gets an empty one; of one that is symbolic, or compiled by numba, it is
    its law.
    """
    fresh = getattr(controller, "fresh", None)
    if fresh is not None:
        return cast(Controller, fresh())
    return law_of(robot, controller) or numba_law_of(robot, controller) or controller


def of_motion(controller: Any, k: int) -> Any:
    """A controller of many motions as it is for one: what is random differs between them."""
    inner = getattr(controller, "controller", None)
    if inner is not None and dataclasses.is_dataclass(controller):
        other = of_motion(inner, k)
        if other is not inner:
            controller = dataclasses.replace(controller, controller=other)  # type: ignore[type-var]
    numbered = getattr(controller, "of_motion", None)
    return controller if numbered is None else numbered(k)


def torque(controller: Controller | None, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
    """What a controller asks for, shape (..., nv): an array that nobody else writes into.

    The controller gets copies, so that it may write into them and keep them.

    Raises
    ------
    ShapeError
        If it returns anything but numbers, one a speed.
    """
    if controller is None:
        return np.zeros(v.shape)
    given = controller(t, q.copy(), v.copy())
    if type(given) is np.ndarray and given.dtype == np.float64 and given.shape == v.shape:
        return given.copy()
    try:
        tau = np.array(given)
    except ValueError:  # lists of different lengths
        tau = np.array(None)
    if np.ma.is_masked(given):  # there is no number behind a mask
        tau = np.array(None)
    if tau.dtype.kind not in "fiub":
        raise ShapeError(
            f"the controller returned {shown_briefly(given)} at t = {t:.6g} s, expected numbers of "
            f"shape {v.shape}",
            name="controller",
            given=given,
            expected=v.shape,
        )
    if tau.shape != v.shape:
        raise ShapeError(
            f"the controller returned shape {tau.shape} at t = {t:.6g} s, expected {v.shape}",
            name="controller",
            given=tau.shape,
            expected=v.shape,
        )
    return tau if tau.dtype == np.float64 else tau.astype(np.float64)


def refuse_not_finite(robot: Robot, tau: FloatArray, t: float, step: int) -> None:
    """Refuse torques that are no numbers.

    Parameters
    ----------
    robot : Robot
    tau : ndarray, shape (..., nv)
    t : float [s]
    step : int
        That begins there.

    Raises
    ------
    ShapeError
        That says which joint's it is.
    """
    if math.isfinite(np.vdot(tau, tau)):  # one number that is not spoils the sum
        return
    wrong = ~np.isfinite(tau)
    if not wrong.any():
        return
    *motion, k = (int(i) for i in np.argwhere(wrong)[0])
    of = f" of motion {', '.join(map(str, motion))}" if motion else ""
    raise ShapeError(
        f"the controller returned {tau[(*motion, k)]} for joint {speed_names(robot)[k]!r}{of} at "
        f"t = {t:.6g} s, step {step}",
        name="tau",
        given=tau,
    )


def shown_briefly(given: Any) -> str:
    """What was given, in at most 60 characters."""
    text = " ".join(repr(given).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
