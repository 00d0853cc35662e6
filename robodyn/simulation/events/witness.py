"""Witness functions and instants of events, for the loop of a motion.

A pure function may be called with many samples at once. A function that stores its arguments,
counts its calls or prints is called for each sample.
"""

from __future__ import annotations

import builtins
import dis
import functools
import math
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from robodyn.array_types import FloatArray
from robodyn.arrays import shown
from robodyn.errors import ShapeError
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.events.event import Action, Event, EventFunction, State
from robodyn.tolerances import SAME_TIME


class StepSamples(NamedTuple):
    """Samples at the start of some steps and at the end of each.

    q, v, a (n + 1, nq), (n + 1, nv) [rad, m], [rad/s, m/s], [rad/s^2, m/s^2]: ``a`` is not known at
        the end of the last step of machine code that samples a controller.
    forces (n + 1, nv) [N m, N]: Forces of the controller, and those that drive or hold joints.
    tau (nv,), or None [N m, N]: Forces of the controller in all of these steps, if Python calls it.
    """

    t: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray
    forces: FloatArray
    tau: FloatArray | None


@dataclass(frozen=True, eq=False)
class WitnessFunction:
    """A function of the state whose zero is an event.

    value: (t, q, v) -> float.
    direction {0, 1, -1}: As of `robodyn.Event`.
    actions: What is done where it happens.
    one_sided: The function is a gap, which is negative by rounding alone.
    already: It also happens where the function is negative from a jump on.
    of_state: The function may depend on what acts, which changes where time does not go on.
    values, optional: (t, q, v) -> the values at many samples at once, or ``None`` where the
        function has to be asked for each of them: arrays of shape (n,), (n, nq), (n, nv) -> (n,).
    sure_steps, optional: `StepSamples` -> how many of the steps certainly have no event of this
        function, in place of its values; functions that share one are asked by it together.
    when_endless, optional: The action taken instead where it happens again and again in ever
        shorter intervals. Default: that is an error.
    """

    name: str
    value: Callable[[float, FloatArray, FloatArray], float]
    direction: int = 0
    actions: tuple[Action, ...] = ()
    one_sided: bool = False
    already: bool = False
    of_state: bool = False
    values: Callable[[FloatArray, FloatArray, FloatArray], FloatArray | None] | None = None
    sure_steps: Callable[[StepSamples], int] | None = None
    when_endless: Action | None = None


@dataclass(slots=True, eq=False)
class WitnessState:
    """State of a witness function at the present instant of a motion.

    side {1, -1, 0}: Sign of the function. ``None`` after a jump of the state, until the next step
        shows it.
    came_from {1, -1, 0}: Sign before its latest event, or the present sign if there was none.
    value: Present value.
    change, change_at_event: Changes of the value in the latest step, and in the step of its latest
        event.
    must_separate: Its event has happened at this instant, with `Change.must_separate`.
    one_by_one: Its values for many samples at once are wrong, so it is called for each sample.
    """

    function: WitnessFunction
    side: int | None = None
    came_from: int = 0
    value: float = 0.0
    change: float = 0.0
    change_at_event: float = 0.0
    must_separate: bool = False
    one_by_one: bool = False

    def stepped(self, side: int, change: float) -> None:
        """Note the sign at the start of a step, and the change of the value in it."""
        self.came_from, self.change = side, abs(change)


class SampleNumbers(NDArrayOperatorsMixin):
    """One number of each sample of a motion, for a function that is written for one sample.

    Operators and universal functions of numpy act on each sample by itself. Operations that would
    combine samples, such as the maximum of an array, or decide by them, raise a `TypeError`. The
    object never changes.

    values (n,)
    """

    __slots__ = ("values",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: FloatArray) -> None:
        self.values = values

    def __bool__(self) -> bool:
        raise TypeError("the numbers of many samples have no common truth value")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        """Apply a function to each sample by itself."""
        in_place = options.pop("out", (self,))  # x += 1 makes another object, as of a number
        alone = all(isinstance(x, SampleNumbers) or np.ndim(x) == 0 for x in given)
        if method != "__call__" or options or not alone or ufunc.signature is not None:
            return NotImplemented
        if not all(x is given[0] or x is self for x in in_place):
            return NotImplemented
        found = ufunc(*(x.values if isinstance(x, SampleNumbers) else x for x in given))
        if isinstance(found, tuple):
            return tuple(map(SampleNumbers, found))
        return SampleNumbers(found)


def never(t: float, q: FloatArray, v: FloatArray) -> float:
    """The witness function of an event at an instant: it is never zero."""
    return 1.0


@dataclass(frozen=True, eq=False)
class OfSamples:
    """A function of a state that can also be computed for many samples at once.

    function: State -> float.
    of_samples: State of n samples, whose ``q`` and ``v`` have shape (n, nq), (n, nv) -> shape (n,),
        or ``None`` where ``function`` has to be called for each sample.
    """

    function: Callable[[State], float]
    of_samples: Callable[[State], FloatArray | None]

    def __call__(self, state: State) -> float:
        """The function's value in a state."""
        return self.function(state)


def witness_of(
    event: Event, state: Callable[..., State], samples: Callable[..., State]
) -> WitnessFunction:
    """The witness function of an event; for an event at an instant, one that is never zero.

    state: (t, q, v) -> State, for a function of a state.
    samples: (t, q, v) -> State of many samples at once, of which accelerations are not known.
    """
    when: Any = event.when
    of_samples: Any = when
    if isinstance(when, float):
        return WitnessFunction(event.name, never, event.direction, event.actions)
    value = functools.partial(event_value, when)
    if event.of_state:
        value = functools.partial(event_value, lambda t, q, v: when(state(t, q, v)))
        of_samples = lambda t, q, v: when(samples(t, q, v))  # noqa: E731
    values = functools.partial(event_values, of_samples) if is_pure(when) else None
    if isinstance(when, OfSamples):
        values = functools.partial(_values_at_once, when, samples)
    return WitnessFunction(
        event.name, value, event.direction, event.actions,
        already=event.already, of_state=event.of_state,
        values=values,
    )  # fmt: skip


def _values_at_once(
    function: OfSamples, samples: Callable[..., State], *arrays: FloatArray
) -> FloatArray | None:
    """Values of a function for many samples; ``None`` if it cannot compute them together."""
    with np.errstate(all="ignore"):
        try:
            return function.of_samples(samples(*arrays))
        except Exception:  # of the user's function: the call with one state will raise it again
            return None


def instants_of(events: Sequence[Event], times: FloatArray) -> list[tuple[float, Event]]:
    """Instants of events, rounded to instants of the motion that differ by rounding alone.

    Events at the same instant stay in order.
    """
    found = []
    for event in events:
        if isinstance(event.when, float):
            nearest = float(times[np.abs(times - event.when).argmin()])
            close = abs(nearest - event.when) <= SAME_TIME * max(float(times[-1]), 1e-300)
            found.append((nearest if close else event.when, event))
    return found


def event_value(function: EventFunction, t: float, q: FloatArray, v: FloatArray) -> float:
    """The number that the function of an event returns.

    Raises ShapeError: If it returns anything else.
    """
    given = function(t, q.copy(), v.copy())
    try:
        value = float(given)
        if math.isnan(value):  # NaN would never reach zero
            raise ValueError
        return value
    except (TypeError, ValueError):
        raise ShapeError(
            f"an event returned {shown(given)} at t = {t:.6g} s, expected a number",
            name="events",
            given=given,
        ) from None


def event_values(
    function: EventFunction, t: FloatArray, q: FloatArray, v: FloatArray
) -> FloatArray | None:
    """Values of a function without side effects for many samples.

    A function that only computes with the elements of q and v is called once, with elements that
    hold the numbers of all samples. If it raises an exception then, as with ``if``, arrays of
    elements or functions of the module ``math``, or returns a single number, it is called for each
    sample.

    t (n,) [s]: At least two instants.
    Returns values (n,), or None: ``None`` if the function raised an exception, or returned
        something else than numbers.
    """
    with np.errstate(all="ignore"):  # the motion may never reach some of the samples
        try:
            given = function(SampleNumbers(t), _columns(q), _columns(v))
            if isinstance(given, SampleNumbers) and given.values.shape == t.shape:
                return np.asarray(given.values, float)
        except Exception:  # it does more than arithmetic with its arguments
            pass
        try:
            samples = zip(t.tolist(), q.copy(), v.copy(), strict=True)
            return np.array([float(function(*sample)) for sample in samples])
        except Exception:  # of the user's function, at samples that may never come
            return None


def _columns(samples: FloatArray) -> Any:
    """Samples, shape (n, m), as m objects that each hold n numbers."""
    columns = np.empty(samples.shape[1], object)
    for k, column in enumerate(samples.T):
        columns[k] = SampleNumbers(column)
    return columns


#: Instructions with side effects.
STORING = frozenset(
    {"STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "STORE_NAME",
     "DELETE_GLOBAL", "DELETE_DEREF", "DELETE_ATTR", "DELETE_SUBSCR", "IMPORT_NAME",
     "YIELD_VALUE"}
)  # fmt: skip
#: Instructions that handle exceptions: many samples may raise where a single one does not.
CATCHING = frozenset({"SETUP_FINALLY", "PUSH_EXC_INFO"})
#: Types of objects that cannot change, and arrays, which only instructions that store can change.
VALUES = (int, float, complex, str, bytes, types.NoneType, np.ndarray, np.generic, np.ufunc)
#: Built-in functions without side effects.
COMPUTING = tuple(
    getattr(builtins, name)
    for name in ("abs", "divmod", "float", "int", "len", "max", "min", "pow", "range", "round",
                 "sum", "tuple", "zip", "enumerate", "reversed", "sorted", "list")
)  # fmt: skip
#: Largest depth of functions that call functions.
DEPTH = 4


def is_pure(function: Callable[..., Any]) -> bool:
    """Whether a function stores nothing, and refers to no object that could store its arguments.

    function: ``False`` for anything but a Python function or a partial one.
    """
    return _pure(function, DEPTH)


def _pure(x: Any, depth: int) -> bool:
    if isinstance(x, VALUES) or any(x is known for known in COMPUTING):
        return True
    if depth == 0:
        return False
    if isinstance(x, tuple | frozenset):
        return all(_pure(part, depth - 1) for part in x)
    if isinstance(x, functools.partial):
        parts = (x.func, *x.args, *x.keywords.values())
        return all(_pure(part, depth - 1) for part in parts)
    if isinstance(x, types.FunctionType):
        return not _stores(x.__code__) and all(_pure(y, depth - 1) for y in _referred_to(x))
    owner = x.__name__ if isinstance(x, types.ModuleType) else type(x).__module__
    if owner.startswith("numpy.random"):
        return False
    return owner.partition(".")[0] in ("math", "numpy", "robodyn")


@functools.lru_cache(1024)
def _stores(code: types.CodeType) -> bool:
    """Whether a function, or one that it defines, has side effects or handles exceptions.

    Drawing random numbers is a side effect.
    """
    if "random" in code.co_names:
        return True
    inner = (x for x in code.co_consts if isinstance(x, types.CodeType))
    found = any(x.opname in STORING | CATCHING for x in dis.get_instructions(code))
    return found or any(map(_stores, inner))


def _referred_to(function: types.FunctionType) -> Iterator[Any]:
    """Objects of its module, its closure and its defaults that a function refers to."""
    code, outside = function.__code__, function.__globals__
    for name in code.co_names:  # attributes are among them, which need not be names of the module
        if name in outside:
            yield outside[name]
        elif hasattr(builtins, name):
            yield getattr(builtins, name)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            yield None
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
