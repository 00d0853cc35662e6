"""What a user's functions return during a simulation, checked with the time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import is_masked, shown, sum_of_squares
from robodyn.errors import ShapeError
from robodyn.robot import Robot
from robodyn.simulation.control.controller import ControllerSample, State, StatefulController
from robodyn.simulation.loads.column_names import speed_names


def check_controller(given: Any, what: str = "controller") -> None:
    """Check that an object is a function (t, q, v) or a controller with a state."""
    functions = [hasattr(given, name) for name in ("initial_state", "update")]
    if isinstance(given, type) and any(functions):
        raise ShapeError(
            f"the {what} is the class {given.__name__}, expected one of its objects: "
            f"{given.__name__}(...)",
            name=what,
            given=given,
        )
    if not (all(functions) or (callable(given) and not any(functions))):
        missing = [name for name in ("initial_state", "update") if not hasattr(given, name)]
        lacks = f", which has no {missing[0]}" if any(functions) else ""
        raise ShapeError(
            f"the {what} is {given!r}{lacks}, expected a function (t, q, v), or an object with "
            "initial_state(sample) and update(sample, state)",
            name=what,
            given=given,
        )


def for_motion(controller: Any, k: int) -> Any:
    """The controller of one of many motions; random numbers differ between motions."""
    inner = getattr(controller, "controller", None)
    if inner is not None and dataclasses.is_dataclass(controller):
        other = for_motion(inner, k)
        if other is not inner:
            controller = dataclasses.replace(controller, controller=other)  # type: ignore[type-var]
    numbered = getattr(controller, "for_motion", None)
    return controller if numbered is None else numbered(k)


def checked_initial_state(controller: StatefulController, sample: ControllerSample) -> State:
    """The state of a controller before its first sample, with copies of arrays.

    A controller may return an array that it holds, which updates could change for later motions.

    Raises ShapeError: If it is not a mapping.
    """
    own = sample._replace(q=sample.q.copy(), v=sample.v.copy())
    state = controller.initial_state(own)
    if not isinstance(state, Mapping):
        raise ShapeError(
            f"{type(controller).__name__}.initial_state returned {shown(state)}, expected "
            "a mapping, the state: arrays and numbers by name",
            name="initial_state",
            given=state,
        )
    return _with_own_arrays(state)  # type: ignore[no-any-return]


def _with_own_arrays(state: Any) -> Any:
    """A state with copies of its arrays, lists and dictionaries."""
    if type(state) is dict:
        return {key: _with_own_arrays(x) for key, x in state.items()}
    if type(state) in (list, tuple):
        return type(state)(map(_with_own_arrays, state))
    return state.copy() if isinstance(state, np.ndarray) else state


def checked_update(
    controller: StatefulController, sample: ControllerSample, state: State
) -> tuple[FloatArray, State]:
    """Forces, shape (..., nv), and the state of a controller after a sample of numbers.

    The controller gets copies, so that it may write into them and keep them.

    Raises ShapeError: If it returns anything but forces, one a speed, and a state.
    """
    own = sample._replace(q=sample.q.copy(), v=sample.v.copy())
    given = controller.update(own, state)
    try:
        tau, after = given
    except (TypeError, ValueError):
        after = None
    if not isinstance(after, Mapping):
        raise ShapeError(
            f"{type(controller).__name__}.update returned {shown(given)} at "
            f"t = {sample.t:.6g} s, expected a pair: forces, one a speed, and a mapping, the state",
            name="update",
            given=given,
        )
    symbolic = bool(getattr(controller, "symbolic", False))
    return checked_forces(tau, sample.t, sample.v.shape, symbolic=symbolic), after


def checked_forces(
    given: Any, t: float, shape: tuple[int, ...], *, symbolic: bool = False
) -> FloatArray:
    """The forces that a controller returned, in a new array.

    A symbolic controller may return constants, one for each speed, also for many states.

    Raises ShapeError: If it returned anything but numbers, one for each speed.
    """
    if type(given) is np.ndarray and given.dtype == np.float64 and given.shape == shape:
        return given.copy()
    try:
        tau = np.array(given)
    except ValueError:  # lists of different lengths
        tau = np.array(None)
    if is_masked(given):  # masked elements are no numbers
        tau = np.array(None)
    if tau.dtype.kind not in "fiub":
        raise ShapeError(
            f"the controller returned {shown(given)} at t = {t:.6g} s, expected numbers of "
            f"shape {shape}",
            name="controller",
            given=given,
            expected=shape,
        )
    if symbolic and tau.shape == shape[-1:]:
        tau = np.array(np.broadcast_to(tau, shape))
    if tau.shape != shape:
        raise ShapeError(
            f"the controller returned shape {tau.shape} at t = {t:.6g} s, expected {shape}",
            name="controller",
            given=tau.shape,
            expected=shape,
        )
    return tau if tau.dtype == np.float64 else tau.astype(np.float64)


def refuse_not_finite(robot: Robot, tau: FloatArray, t: float, step: int) -> None:
    """Check that torques are finite.

    step: Number of the step that begins there.
    Raises ShapeError: It names the joint.
    """
    if math.isfinite(sum_of_squares(tau)):  # the sum is not finite if one torque is not
        return
    wrong = ~np.isfinite(tau)
    if not wrong.any():
        return
    *motion, k = (int(i) for i in np.argwhere(wrong)[0])
    of = f" of motion {', '.join(map(str, motion))}" if motion else ""
    error = ShapeError(
        f"the controller returned {tau[(*motion, k)]} for joint {speed_names(robot)[k]!r}{of} at "
        f"t = {t:.6g} s, step {step}",
        name="tau",
        given=tau,
    )
    error.motion = tuple(motion)
    raise error
