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
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import checked, named
from robodyn.errors import SettingsError
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.control.tracing import SymbolicInterval
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
