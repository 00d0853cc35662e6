"""What wrappers around other controllers have in common: their numbers, and motions they begin."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError, ShapeError
from robodyn.array_types import FloatArray
from robodyn.arrays import expect
from robodyn.simulation import ControllerSample, StatefulController
from robodyn.simulation.control.callbacks import torque

from ..support.gains import function
from ..support.symbols import is_symbolic

__all__ = [
    "Controller",
    "alone",
    "asked_of",
    "begun",
    "begun_around",
    "fitting",
    "positive",
    "remembering",
    "robot_of",
    "wrapped",
]

Controller = Callable[[float, FloatArray, FloatArray], ArrayLike]
Wrapper = TypeVar("Wrapper")


def wrapped(controller: Any, robot: Robot | None) -> Robot | None:
    """The robot of a wrapper: the one that is given, or that of the controller in it.

    Raises
    ------
    ShapeError
        If the controller is no function, or what is given as a robot is none.
    """
    function("controller", controller, "(t, q, v)")
    if robot is not None:
        expect("robot", robot, Robot)
        return robot
    own = getattr(controller, "robot", None)
    return own if isinstance(own, Robot) else None


def robot_of(wrapper: Any) -> Robot:
    """The robot of a wrapper that cannot do without.

    Raises
    ------
    SettingsError
        If there is none.
    """
    robot = wrapper.robot
    if not isinstance(robot, Robot):
        raise SettingsError(
            f"{type(wrapper).__name__} does not know whose forces these are: the controller in it "
            f"is {type(wrapper.controller).__name__}, which has no robot; give robot="
        )
    return robot


def positive(name: str, value: ArrayLike) -> FloatArray:
    """A positive number, or one for each speed: shape () or (nv,).

    Raises
    ------
    ShapeError
        If it is not.
    """
    try:
        given = np.array(value, float)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.ndim > 1 or not np.all(np.isfinite(given) & (given > 0.0)):
        raise ShapeError(
            f"{name} is {value!r}, expected a positive number, or one for each speed",
            name=name,
            given=value,
        )
    given.flags.writeable = False
    return given


def fitting(name: str, given: FloatArray, nv: int) -> FloatArray:
    """Numbers of which there is one, or one for each speed.

    Raises
    ------
    ShapeError
        If there are others.
    """
    if given.shape not in ((), (1,), (nv,)):
        raise ShapeError(
            f"{name} has shape {given.shape}, expected one number or {nv}, one a speed",
            name=name,
            given=given.shape,
            expected=(nv,),
        )
    return given


def begun(controller: Any) -> Any:
    """A controller at the start of a motion, with an empty memory where it has one."""
    fresh = getattr(controller, "fresh", None)
    return controller if fresh is None else fresh()


def begun_around(wrapper: Wrapper) -> Callable[[], Wrapper] | None:
    """What makes a wrapper without a memory anew for each motion; none if nothing in it has one."""
    inner: Any = wrapper
    if getattr(inner.controller, "fresh", None) is None:
        return None
    return lambda: dataclasses.replace(inner, controller=begun(inner.controller))


def alone(controller: Any, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
    """What a controller with a memory asks for when it has none yet, shape (..., nv) [N m, N]."""
    look = ControllerSample(t, np.asarray(q), np.asarray(v), 0.0, np.zeros(np.shape(v)))
    tau, _ = controller.answer(look, None)
    return np.asarray(tau)


def asked_of(controller: Any, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
    """What the controller in a wrapper asks for, in numbers or symbols, in the shape of ``v``.

    Raises
    ------
    ShapeError
        If it returns anything else.
    """
    if not is_symbolic(q):
        q, v = np.asarray(q), np.asarray(v)
        if q.ndim > v.ndim:  # one velocity for many positions
            v = np.broadcast_to(v, (*q.shape[:-1], *v.shape[-1:]))
        return torque(controller, t, q, v)
    tau = np.array(controller(t, q, v), object)
    if tau.shape != v.shape:
        raise ShapeError(
            f"the controller returned shape {tau.shape} for symbols, expected {v.shape}",
            name="controller",
            given=tau.shape,
            expected=v.shape,
        )
    return tau


def remembering(controller: Any) -> StatefulController:
    """A controller with a memory, and all that it holds, at the start of a motion."""
    return StatefulController(
        dataclasses.replace(controller, controller=begun(controller.controller))
    )
