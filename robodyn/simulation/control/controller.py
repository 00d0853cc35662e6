"""What a controller is: a function of time and state, or an object with a state of its own.

A controller without a state is a function of time, position and velocity of the robot::

    tau = controller(t, q, v)

A controller with a state, as an integrator or a filter, does not hold it. It is an object with two
pure functions, so that one object serves any number of motions::

    class Integral:
        recorded = ("sum",)

        def initial_state(self, sample):
            return {"sum": np.zeros(sample.v.shape)}

        def update(self, sample, state):
            total = state["sum"] + sample.h * (0.2 - sample.q)
            return 400.0 * total - 60.0 * sample.v, {"sum": total}

A simulation samples its controller once a step and holds the forces until the next sample.
``update`` is called at each sample, also at the first one, at which no time has passed: ``h`` and
``impulse`` are zero there.

A state is a mapping from names to numbers, arrays, and lists, tuples and mappings of them.
``recorded`` names those of its entries that a trajectory keeps. A controller around another one
holds that as its attribute ``controller``, and its state under the name ``"controller"``.

A simulation ends steps also at the instants that a controller asks for, by a method
``instants(start, stop)`` that returns them, as those at which a digital one samples and acts::

    def instants(self, start, stop):
        return np.arange(start, stop, 0.002)

A controller with ``symbolic = True`` does nothing but arithmetic. It is called with symbols once,
and becomes machine code.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import checked, is_masked, named, shown, sum_of_squares
from robodyn.errors import SettingsError, ShapeError
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.control.tracing import SymbolicInterval
from robodyn.simulation.loads.column_names import speed_names
from robodyn.tolerances import SAME_TIME

#: A controller without a state: (t, q, v) -> tau.
ControlFunction: TypeAlias = Callable[[float, FloatArray, FloatArray], ArrayLike]

#: What a controller keeps from one sample to the next, by name.
State: TypeAlias = Mapping[str, Any]

#: Name, in the state of a wrapper, of the state of the controller that it wraps.
INNER = "controller"


class ControllerSample(NamedTuple):
    """What a controller knows of the robot at one sample.

    Attributes
    ----------
    t : float [s]
    q, v : ndarray, shape (..., nq), (..., nv)
    h : float [s]
        Time since the sample before; zero at the first one.
    impulse : ndarray, shape (..., nv) [N m s, N s]
        Integral over that time of the forces that acted: those of the controller, changed by
        wrappers around it and cut to the limits of the simulation.

    Examples
    --------
    >>> import robodyn as rd
    >>> class Elapsed:
    ...     def initial_state(self, sample):
    ...         return {"time": 0.0}
    ...     def update(self, sample, state):
    ...         return 0.0 * sample.q, {"time": state["time"] + sample.h}
    >>> run = rd.simulate(rd.load("double_pendulum"), Elapsed(), duration=0.01)
    >>> run.tau.shape
    (11, 2)
    """

    t: float
    q: FloatArray
    v: FloatArray
    h: float
    impulse: FloatArray

    def function_of_dt(self, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Values of any function of the time since the sample before.

        Machine code gets its values, which are computed beforehand, as an input.

        Parameters
        ----------
        function : callable
            From times, shape (n,) [s], zero at a first sample, to numbers, shape (n, ...).

        Returns
        -------
        numbers : ndarray, shape (...)
            Symbols while the controller is traced.
        """
        if isinstance(self.h, SymbolicInterval):
            return np.asarray(self.h.function(function))
        return np.asarray(function(np.array([self.h], float))[0])


class StatefulController(Protocol):
    """A controller with a state, which its two functions take and return.

    It may also have ``recorded``, a tuple of names, and ``symbolic``, a bool.

    Examples
    --------
    >>> import robodyn as rd
    >>> class Integral:
    ...     def initial_state(self, sample):
    ...         return {"sum": 0.0 * sample.q}
    ...     def update(self, sample, state):
    ...         total = state["sum"] + sample.h * sample.q
    ...         return -5.0 * total, {"sum": total}
    >>> run = rd.simulate(rd.load("double_pendulum"), Integral(), q0=[0.1, 0.0], duration=0.1)
    >>> run.tau.shape
    (101, 2)
    """

    def initial_state(self, sample: ControllerSample) -> State:
        """The state before the first sample of a motion."""

    def update(self, sample: ControllerSample, state: State) -> tuple[ArrayLike, State]:
        """Forces, shape (..., nv) [N m, N], and the state after a sample."""


#: Any controller: a function of (t, q, v), or an object with a state.
Controller: TypeAlias = ControlFunction | StatefulController


@dataclass(frozen=True, eq=False)
class Stateless:
    """A function (t, q, v) as a controller whose state is empty."""

    function: ControlFunction

    @property
    def symbolic(self) -> bool:
        """Whether the function does nothing but arithmetic."""
        return bool(getattr(self.function, "symbolic", False))

    def initial_state(self, sample: ControllerSample) -> State:
        """An empty state."""
        return {}

    def update(self, sample: ControllerSample, state: State) -> tuple[ArrayLike, State]:
        """What the function returns."""
        return self.function(sample.t, sample.q, sample.v), state


def stateful(controller: Any) -> StatefulController:
    """A controller as a `StatefulController`; a function of (t, q, v) has an empty state.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation
    >>> from robodyn.simulation import stateful
    >>> both = stateful(GravityCompensation(rd.load("double_pendulum")))
    >>> callable(both.initial_state), callable(both.update)
    (True, True)
    """
    if hasattr(controller, "update") and hasattr(controller, "initial_state"):
        return controller  # type: ignore[no-any-return]
    return Stateless(controller)


def nested_controllers(controller: Any) -> Iterator[Any]:
    """A controller and those that it wraps, the outermost first."""
    while controller is not None:
        yield controller
        controller = getattr(controller, "controller", None)


def without_sampling(controller: Any) -> tuple[Any, float | None, float]:
    """A controller without the wrappers that say when it is called, and with which noise.

    What it rounds, which has no slope, is exact: a controller that rounds has itself as ``exact``.

    Returns controller
    Returns period [s]: Of the outermost digital wrapper; ``None`` without one.
    Returns delay [s]: Of all of them.
    Raises SettingsError: If there are several periods.
    """
    controller = getattr(controller, "exact", controller)
    inner = getattr(controller, INNER, None)
    if inner is None:
        return controller, None, 0.0
    bare, period, delay = without_sampling(inner)
    if hasattr(controller, "instants") and hasattr(controller, "period"):
        own = float(controller.period) or None
        if None not in (own, period) and own != period:
            raise SettingsError(
                f"{type(controller).__name__} has a period of {own:.6g} s, and another one in it "
                f"of {period:.6g} s: a linear model has one period"
            )
        return bare, own or period, delay + float(controller.delay)
    if getattr(controller, "adds_noise", False):
        return bare, period, delay
    if bare is not inner and dataclasses.is_dataclass(controller):
        if INNER not in (x.name for x in dataclasses.fields(controller)):
            raise SettingsError(
                f"there is a digital controller within {type(controller).__name__}: put it around"
            )
        controller = dataclasses.replace(controller, **{INNER: bare})  # type: ignore[type-var]
    return controller, period, delay


def with_instants(controller: Any, times: FloatArray) -> FloatArray:
    """Ends of steps, shape (n,) [s], with the instants for which a controller asks among them.

    Of controllers in each other the outermost that asks is heard: it calls those within.
    """
    own = next((x for x in nested_controllers(controller) if hasattr(x, "instants")), None)
    if own is None or len(times) < 2:
        return times
    given = own.instants(float(times[0]), float(times[-1]))
    asked = np.sort(checked("instants", given, None))
    asked = asked[(asked > times[0]) & (asked < times[-1])]
    after = np.searchsorted(times, asked)
    apart = np.minimum(np.abs(times[after] - asked), np.abs(asked - times[after - 1]))
    apart = np.minimum(apart, np.diff(asked, prepend=-np.inf))
    asked = asked[apart > SAME_TIME * abs(float(times[-1]))]
    return np.sort(np.concatenate([times, asked])) if len(asked) else times


def reads_sensors(controller: Any) -> bool:
    """Whether a controller, or one that it wraps, knows of the state what sensors show."""
    return any(getattr(x, "reads_sensors", False) for x in nested_controllers(controller))


def recorded_entries(controller: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Names under which a trajectory records states, and the path to each within a state.

    Where wrapped controllers record something under the same name, that of the inner ones gets a
    number: ``"filtered"``, ``"filtered 2"``.
    """
    found: dict[str, tuple[str, ...]] = {}
    path: tuple[str, ...] = ()
    for own in nested_controllers(controller):
        if hasattr(own, "update"):
            for name in named("recorded", getattr(own, "recorded", ()), "names"):
                key, k = name, 1
                while key in found:
                    k += 1
                    key = f"{name} {k}"
                found[key] = (*path, name)
            path = (*path, INNER)
    return list(found.items())


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
