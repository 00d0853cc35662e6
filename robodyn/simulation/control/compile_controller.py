"""Compilation of controllers: they are traced with symbols, or numba has compiled them."""

from __future__ import annotations

import copy
import sys
import weakref
from collections.abc import Hashable, Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import is_masked
from robodyn.codegen.calls.trace_graph import Untraceable
from robodyn.errors import ShapeError
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import RobotCache, contents, of_library
from robodyn.simulation.control.compiled_controller import (
    Code,
    CompiledController,
    StateLayout,
    cached_code,
    layout_of,
)
from robodyn.simulation.control.controller import (
    ControllerSample,
    StatefulController,
    nested_controllers,
    recorded_entries,
    stateful,
)
from robodyn.simulation.control.tracing import NO_CODE, Trace, steps_between
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, Scalar

#: Controllers as machine code, by their contents.
_traced: RobotCache[CompiledController] = RobotCache("traced controllers")

#: Largest number of nodes of the equations of a controller with a state that is compiled; to
#: compile more takes longer than it saves. Those that take long in Python have ``most_nodes``.
MOST = 20_000


def compile_controller(
    robot: Robot, controller: Any, times: FloatArray | None = None, *, gains_as_inputs: bool = True
) -> CompiledController | None:
    """Compile a controller.

    A controller with the same attributes is traced once. Controllers of users are traced for each
    motion, as it is not known what they depend on; if the program is the same as before, its
    machine code is used again.

    times (n,), optional [s]: All times at which the controller is sampled, if they are known.
    gains_as_inputs: Where gains can be an input of the program, one with other gains is not traced
        either.
    Returns compiled: ``None`` if it is neither symbolic nor compiled by numba, or has no
        straight-line code.
    Raises ShapeError: If the controller returns anything but symbols and numbers, one a speed.
    """
    by_numba = numba_code(robot, controller)
    if by_numba is not None:
        return CompiledController(stateful(controller), Code(by_numba, ()), layout_of({}, ()))
    if not getattr(controller, "symbolic", False):
        return None
    gains = _gains_of(controller, gains_as_inputs)
    found = _traced.find(robot, gains.key(same=False)) if len(gains.values) else None
    found = found or _traced.find(robot, gains.key(same=True))
    if found is None or not found.has_same_shapes:
        trace = Trace(robot, times)
        try:
            found = _called_with_symbols(robot, gains.as_symbols(trace), trace)
        except NO_CODE:
            found = None
        if found is None:
            return None
        if not trace.for_these_times:  # where a function of time is called, for the same objects
            same = bool(found.signals) or not len(gains.values)
            _traced.keep(robot, gains.key(same), found)
    return gains.given_to(found)


@dataclass(frozen=True, eq=False)
class _Gains:
    """Gains of a controller that are inputs of machine code: others are not traced anew.

    Controllers of this library name the gains with which their forces are computed by arithmetic
    alone. It is not known what controllers of users do with theirs, which stay in the equations,
    and so do gains that are zero.

    controller: A frozen dataclass, where it has gains.
    arrays: Attributes that are gains, by name.
    values (n,): The gains that are not zero.
    """

    controller: Any
    arrays: Mapping[str, FloatArray]
    values: FloatArray

    def key(self, same: bool) -> Hashable | None:
        """Key of all that the equations depend on; ``None`` where that is not known.

        ``same``: as for `contents`.
        """
        kind: Any = type(self.controller)
        if not len(self.values):
            return contents(self.controller, same=same)
        given = tuple(getattr(self.controller, name) for name in _given(kind))
        found = contents(given, same=same)
        zeros = tuple((x.shape, (x == 0.0).tobytes()) for x in self.arrays.values())
        key: tuple[Any, ...] = kind, zeros, same, found
        return None if found is None else key

    def as_symbols(self, trace: Trace) -> Any:
        """The controller with symbols in place of these gains."""
        if not len(self.values):
            return self.controller
        made, left = copy.copy(self.controller), trace.gains(len(self.values))
        for name, x in self.arrays.items():
            among, there = x.astype(object), x != 0.0
            count = int(there.sum())
            among[there], left = left[:count], left[count:]
            object.__setattr__(made, name, among)
        return made

    def given_to(self, compiled: CompiledController) -> CompiledController:
        """Machine code of such a controller, with these gains."""
        if not len(self.values):
            return compiled
        code = Code(compiled.code.function, (self.values, *compiled.code.constants))
        return replace(compiled, controller=stateful(self.controller), code=code)


def _gains_of(controller: Any, as_inputs: bool) -> _Gains:
    """The gains of a controller that can be inputs."""
    kind = type(controller)
    names = getattr(kind, "gain_arrays", {}) if as_inputs and of_library(kind) else {}
    arrays = {name: getattr(controller, name) for name in names.values()}
    values = [x[x != 0.0] for x in arrays.values()]
    return _Gains(controller, arrays, np.concatenate(values) if values else np.zeros(0))


@cache
def _given(kind: Any) -> tuple[str, ...]:
    """Names of the fields of a class of controllers that are given, and are no gains."""
    return tuple(x.name for x in fields(kind) if x.init and x.name not in kind.gain_arrays)


def why_no_code(robot: Robot, controller: Any) -> str:
    """Why a symbolic controller has no straight-line code, after a colon; empty if not known."""
    try:
        _called_with_symbols(robot, controller, Trace(robot))
    except NO_CODE as error:
        return f": {error}" if str(error) else ""
    return ""


def _begun(controller: Any, trace: Trace) -> tuple[ControllerSample, Any, StateLayout]:
    """The first sample in symbols, the state before it, and the layout of this."""
    nothing: Any = np.zeros(len(trace.v), object)
    first = ControllerSample(trace.t, trace.q, trace.v, 0.0, nothing)  # type: ignore[arg-type]
    state = stateful(controller).initial_state(first)
    return first, state, layout_of(state, recorded_entries(controller))


def _called_with_symbols(robot: Robot, controller: Any, trace: Trace) -> CompiledController | None:
    own = stateful(controller)
    most = max(getattr(x, "most_nodes", MOST) for x in nested_controllers(controller))
    trace.graph.most = most
    _, state, layout = _begun(controller, trace)
    if not layout.size:
        trace.graph.most = None
    rows = layout.symbols(state)
    tau, after = _updated(own, trace, layout, trace.interval(steps_between))
    if layout.size and len(trace.graph.op) > most:
        return None
    is_function = trace.forget_unneeded([*rows, *tau, *after])
    state_port, initial = Port("state", (layout.size,)), None
    if layout.size:
        initial = trace.program("control_initial", (state_port,), rows, layout.size)
    outputs = Port("tau", (robot.nv,), "N m, N"), state_port
    program = trace.program("control", outputs, [*tau, *after], layout.size)
    signals: Any = (*trace.signals, *trace.sample_signals)
    given = own, cached_code(program), layout, signals, initial, program
    return CompiledController(*given, trace if is_function else None)


def trace_at_equal_steps(
    robot: Robot, controller: Any, step: float, takes_readings: bool
) -> tuple[Program, Program, StateLayout, tuple[str, ...]] | None:
    """The updates of a controller at a first sample, and at all others, as programs.

    Last come the inputs that say what a sample is: t, q and v, or sensors in place of these.
    step [s]: From sample to sample, whenever they are.
    takes_readings: As of `Trace`.
    Raises SettingsError: If part of it is sampled at other times.
    """
    own = stateful(controller)
    if not getattr(controller, "symbolic", False):
        return None
    trace = Trace(robot, step=step, takes_readings=takes_readings)
    try:
        first, state, layout = _begun(controller, trace)
        begun = _forces_and_state(own.update(first, state), layout, robot.nv)
        going = _updated(own, trace, layout, step)
    except NO_CODE:
        return None
    outputs = Port("tau", (robot.nv,), "N m, N"), Port("state", (layout.size,))
    at_first, update = (
        trace.program(name, outputs, [*tau, *after], layout.size)
        for name, (tau, after) in (("control_first", begun), ("control", going))
    )
    names = trace.sample_inputs((*at_first.needed, *update.needed))
    return at_first, update, layout, names


def _updated(
    controller: StatefulController, trace: Trace, layout: StateLayout, h: Any
) -> tuple[list[Number], list[Number]]:
    """Forces and row of the state after a sample in symbols."""
    sample = ControllerSample(trace.t, trace.q, trace.v, h, trace.applied * h)  # type: ignore[arg-type]
    given = controller.update(sample, layout.state(trace.state(layout.size)))
    return _forces_and_state(given, layout, len(trace.v))


def _forces_and_state(
    given: Any, layout: StateLayout, nv: int
) -> tuple[list[Number], list[Number]]:
    try:
        tau, after = given
    except (TypeError, ValueError):  # the call with numbers will report what is wrong
        raise Untraceable from None
    return checked_symbols(tau, nv), layout.symbols(after)


def checked_symbols(tau: Any, nv: int) -> list[Number]:
    """Symbols and numbers that a controller returned.

    Raises ShapeError: If it returned anything else.
    """
    try:
        given = [*np.array(tau, object).flat] if np.shape(tau) == (nv,) else None
    except ValueError:  # lists of different lengths
        given = None
    kinds = (Scalar, int, float, np.integer, np.floating, np.bool_)
    if given is None or is_masked(tau) or not all(isinstance(x, kinds) for x in given):
        shape = "" if given is not None or not isinstance(tau, np.ndarray) else f" {tau.shape}"
        raise ShapeError(
            f"the controller, which says that it is symbolic, returned {type(tau).__name__}{shape} "
            f"for symbols, expected symbols and numbers of shape ({nv},)",
            name="controller",
            given=tau,
            expected=(nv,),
        )
    return given


@dataclass(frozen=True, eq=False)
class NumbaCode:
    """The loop of a controller over states, compiled by numba.

    rows: ``rows(begin, end, pointers, strides)``.
    """

    rows: Any

    def rows_address(self, batch: bool) -> int:
        """Address of the loop, for one state and for many."""
        return int(self.rows.address)


_known: weakref.WeakKeyDictionary[Any, dict[tuple[int, int], NumbaCode | None]] = (
    weakref.WeakKeyDictionary()
)


def numba_code(robot: Robot, controller: Any) -> NumbaCode | None:
    """A controller as a loop over states; ``None`` if numba has not compiled it or cannot."""
    numba = sys.modules.get("numba")
    if numba is None or not isinstance(controller, numba.core.registry.CPUDispatcher):
        return None
    known = _known.setdefault(controller, {})
    sizes = robot.nq, robot.nv
    if sizes not in known:
        known[sizes] = _compiled(numba, controller, *sizes)
    return known[sizes]


def _compiled(numba: Any, controller: Any, nq: int, nv: int) -> NumbaCode | None:
    number = numba.types.float64
    array = numba.types.CPointer(number)
    signature = numba.types.void(
        numba.types.int64,
        numba.types.int64,
        numba.types.CPointer(array),
        numba.types.CPointer(numba.types.int64),
    )

    def rows(begin, end, pointers, strides):  # type: ignore[no-untyped-def]
        for i in range(begin, end):
            tau = numba.carray(pointers[5], (end * nv,))[i * nv : (i + 1) * nv]
            tau[:] = np.nan  # stays if the controller raises; then Python calls it again
        for i in range(begin, end):
            q = numba.carray(pointers[0], (end * nq,))[i * nq : (i + 1) * nq]
            v = numba.carray(pointers[1], (end * nv,))[i * nv : (i + 1) * nv]
            tau = numba.carray(pointers[5], (end * nv,))[i * nv : (i + 1) * nv]
            try:
                asked = controller(pointers[2][0], q.copy(), v.copy())
                if asked.shape == tau.shape:
                    tau[:] = asked
            except Exception:  # forces stay NaN, and Python calls the controller again
                pass

    try:
        return NumbaCode(numba.cfunc(signature)(rows))
    except numba.core.errors.NumbaError:  # the call from Python will report what is wrong
        return None
