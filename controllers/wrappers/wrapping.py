"""What wrappers around other controllers share: checks, and calls of the controller in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError, ShapeError
from robodyn.array_types import FloatArray
from robodyn.arrays import expect, wrong_shape
from robodyn.codegen.calls.trace_graph import Untraceable
from robodyn.simulation import ControllerSample
from robodyn.simulation.control.controller import (
    INNER,
    State,
    check_controller,
    checked_initial_state,
    checked_update,
    stateful,
)
from robodyn.symbolic.scalar import SymbolArray

from ..support.gains import checked_call, real
from ..support.symbols import is_symbolic


def wrapped(controller: Any, robot: Robot | None) -> Robot | None:
    """The robot of a wrapper: the one that is given, or that of the controller in it.

    Raises
    ------
    ShapeError
        If the controller is no function, or what is given as a robot is none.
    """
    check_controller(controller)
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
    expected = "a positive number, or one for each speed"
    return real(name, value, expected, lambda x: (x > 0.0) & (x < np.inf) & (x.ndim < 2))


def fitting(name: str, given: FloatArray, nv: int) -> FloatArray:
    """One number, or one for each speed.

    Raises
    ------
    ShapeError
        If there are others.
    """
    if given.shape not in ((), (1,), (nv,)):
        raise wrong_shape(name, given.shape, f"one number or {nv}, one a speed", (nv,))
    return given


#: The attribute ``symbolic`` of a wrapper.
inner_symbolic = property(
    lambda wrapper: bool(getattr(wrapper.controller, "symbolic", False)),
    doc="Whether it can be called with symbols: whether the controller in it can.",
)


@checked_call
def first_forces(controller: Any, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
    """Forces, shape (..., nv) [N m, N], of a first sample at time ``t`` [s]."""
    if not is_symbolic(q):
        q, v = np.asarray(q), np.asarray(v)
        if q.ndim > v.ndim:  # one velocity for many positions
            v = np.broadcast_to(v, (*q.shape[:-1], *v.shape[-1:]))
    sample = ControllerSample(t, q, v, 0.0, np.zeros(np.shape(v)))
    return update_of(controller, sample, initial_state_of(controller, sample))[0]


def inner_state(wrapper: Any, sample: ControllerSample) -> State:
    """The initial state of the inner controller, of a wrapper without a state of its own."""
    return {INNER: initial_state_of(wrapper.controller, sample)}


def initial_state_of(controller: Any, sample: ControllerSample) -> State:
    """The state of the controller in a wrapper before its first sample."""
    if is_symbolic(sample.q):
        return stateful(controller).initial_state(sample)
    return checked_initial_state(stateful(controller), sample)


def update_of(controller: Any, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
    """Forces, in the shape of ``v``, and state of the controller in a wrapper after a sample.

    Raises
    ------
    ShapeError
        If it returns anything else.
    """
    if not is_symbolic(sample.q):
        return checked_update(stateful(controller), sample, state)
    updated = stateful(controller).update(sample, state)
    try:
        given, after = updated
    except (TypeError, ValueError):  # called with numbers it says what is wrong
        raise Untraceable from None
    tau = np.array(given, object).view(SymbolArray)
    if tau.shape != sample.v.shape:
        raise ShapeError(
            f"the controller returned shape {tau.shape} for symbols, expected {sample.v.shape}",
            name="controller",
            given=tau.shape,
            expected=sample.v.shape,
        )
    return tau, after
