"""Controllers as functions, alone or with their robot, for example to export them as C."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array
from robodyn.caller import warn
from robodyn.codegen import Function
from robodyn.codegen.constants_as_inputs import function_of
from robodyn.errors import SampleWarning, SettingsError
from robodyn.robot import Robot
from robodyn.simulation.control.compile_controller import (
    compile_controller,
    trace_at_equal_steps,
    why_no_code,
)
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.control.controller import check_controller, nested_controllers
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, edge_of, inputs
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

#: Times of samples [s] with which a controller is traced: the start alone.
AT_START = np.zeros(1)


@checked_arguments
def closed_loop(robot: Robot, controller: Any) -> Function[Array]:
    """The accelerations of a robot under a controller, as one function.

    Like every `Function` it has machine code, batches, C and derivatives, and does not check
    whether loops are closed.

    Parameters
    ----------
    robot : Robot
    controller : callable
        One of `robodyn.controllers` or another one with ``symbolic = True``: called with symbols,
        it writes down its equations.

    Returns
    -------
    f : Function
        ``(t, q, v)`` -> accelerations (nv,) [rad/s^2, m/s^2]. References and motions of the base
        that only Python knows are further inputs, a signal each: ``"reference0"``, ``"base0"``,
        with the numbers that they return one after the other. Of a robot with a moving base the
        motion of the base comes last.

    Raises
    ------
    SettingsError
        If the controller is a plain function, or has no straight-line code for this robot.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import ComputedTorque, PointToPoint
    >>> robot = rd.load("arm7")
    >>> q0 = robot.neutral()
    >>> f = rd.closed_loop(robot, ComputedTorque(robot, PointToPoint(q0, q0 + 1.0, 2.0)))
    >>> bool(np.abs(f(0.0, q0, np.zeros(7))).max() < 1e-12)  # it starts at rest
    True
    """
    check_controller(controller)
    law = function_of_state(robot, controller).function_program
    assert law is not None
    dynamics = robot.function("forward_dynamics").program
    q, v, t, *signals = law.inputs
    ports = [t, q, v, *signals]
    ports += [x for x in dynamics.inputs if x.name not in ("q", "v", "tau", "t")]
    graph = Graph()
    numbers = numbered(graph, ports)
    controlled = [x for port in law.inputs for x in numbers[port.name]]
    numbers["tau"] = inline(law, controlled)
    a = inline(dynamics, [x for port in dynamics.inputs for x in numbers[port.name]])
    edges = tuple(edge_of(graph, x) for x in a)
    outputs, rates = dynamics.outputs, dynamics.rates
    return function_of(Program("closed_loop", tuple(ports), outputs, graph, edges, rates))


def function_of_state(robot: Robot, controller: Any) -> CompiledController:
    """Machine code of a controller whose forces are a function of time, position and velocity.

    Raises SettingsError: If there is none.
    """
    compiled = compile_controller(robot, controller, AT_START, gains_as_inputs=False)
    if compiled is None or compiled.function_program is None:
        raise not_a_function_error(robot, controller, compiled)
    return compiled


def not_a_function_error(
    robot: Robot,
    controller: Any,
    compiled: CompiledController | None = None,
    what: str = "robot and controller cannot be one function",
) -> SettingsError:
    """The error that says why a controller cannot be compiled as a function of the state."""
    kind = type(controller).__name__
    if compiled is not None and not compiled.is_function:
        reason = (
            f"{kind} has a state of its own, so that its forces are no function of the state of "
            "the robot; robodyn.control_law has it as functions from sample to sample"
        )
    elif own := next(filter(None, map(_why_no_code, nested_controllers(controller))), None):
        reason = own
    elif getattr(controller, "symbolic", False):
        why = why_no_code(robot, controller)
        reason = f"there is no straight-line code of {kind} for {robot.name!r}{why}"
    else:
        reason = (
            f"{kind} does not say that it is symbolic: set symbolic = True on a controller that "
            "does nothing with its sample but arithmetic"
        )
    return SettingsError(f"{what}: {reason}")


def _why_no_code(controller: Any) -> str | None:
    """Why a controller has no code, by itself."""
    why = getattr(controller, "why_no_code", None)
    return f"of {type(controller).__name__}, {why}" if isinstance(why, str) else None


def numbered(graph: Graph, ports: list[Port]) -> dict[str, list[Number]]:
    """Symbols of all inputs by name."""
    numbers, first = dict[str, list[Number]](), 0
    for port in ports:
        numbers[port.name] = inputs(graph, first, port.size)
        first += port.size
    return numbers


#: What is missing if a controller is a plain Python function, for errors.
NOTHING = "there are no functions"


@dataclass(frozen=True, eq=False)
class ControlLaw:
    """A controller as functions of its samples and its state, which is an array.

    Attributes
    ----------
    first : Function
        ``(t, q, v)`` -> ``tau`` (nv,) [N m, N], and the ``state`` if there is one: the update at
        the first sample. References that only Python knows are further inputs. In place of ``q``
        and ``v``, an `OutputFeedback` has an input for each of its sensors.
    update : Function
        ``(t, q, v, applied, state)`` -> ``tau``, ``state``: the update at all others. ``applied``
        (nv,) are the forces that acted since the sample before. The same as ``first`` where there
        is no state.
    recorded : mapping of str to slice
        Where in ``state`` stands what simulations record in ``run.controller_state``.
    step : float or None [s]
        Time from sample to sample.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation, Sampled
    >>> robot = rd.load("double_pendulum")
    >>> law = rd.control_law(robot, Sampled(GravityCompensation(robot), period=0.01), step=0.01)
    >>> type(law).__name__
    'ControlLaw'
    """

    first: Function
    update: Function
    recorded: Mapping[str, slice]
    step: float | None


@checked_arguments
def control_law(robot: Robot, controller: Any, *, step: float | None = None) -> ControlLaw:
    """The updates of a controller as functions: machine code, batches, C and CUDA.

    The state of the controller is an array that goes from one sample to the next.

    Parameters
    ----------
    robot : Robot
    controller : callable
        One of `robodyn.controllers` or another one with ``symbolic = True``, which does nothing
        with time and state but arithmetic.
    step : float, optional [s]
        Time from sample to sample. Controllers with a state need it.

    Returns
    -------
    law : ControlLaw

    Raises
    ------
    SettingsError
        If the controller is a plain function or has no straight-line code for this robot; if it has
        a state and there is no step; if part of it is sampled at other steps.

    Warns
    -----
    SampleWarning
        For a delay that is no whole number of steps: forces act at the next call.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import Filtered, JointPD, SineReference
    >>> robot = rd.load("arm7")
    >>> wave = SineReference(robot.neutral(), 0.1 * np.ones(7), np.ones(7))
    >>> smooth = Filtered(JointPD(robot, wave, stiffness=100.0, damping=10.0), cutoff=50.0)
    >>> law = rd.control_law(robot, smooth, step=1e-3)
    >>> q, v = robot.neutral(), np.zeros(7)
    >>> tau, state = law.first(0.0, q, v)
    >>> tau, state = law.update(1e-3, q, v, tau, state)
    >>> bool((state[law.recorded["filtered"]] == tau).all())
    True
    >>> "void control(" in law.update.c_source()
    True
    """
    law = control_law_of(robot, controller, step, takes_readings=True)
    if step is not None:
        warn_of_late_forces(controller, step)
    return law


def warn_of_late_forces(controller: Any, step: float) -> None:
    """Warn of a delay that lasts until the next call, where it is no whole number of steps [s]."""
    for own in nested_controllers(controller):
        digital = hasattr(own, "instants") and hasattr(own, "period")
        late = float(own.delay) / step if digital else 0.0
        calls = math.ceil(late - SAMPLE_TIME_ROUNDING)
        if calls - late > SAMPLE_TIME_ROUNDING:
            message = SampleWarning(
                f"the delay of {type(own).__name__}, {own.delay:.6g} s, is no whole number of "
                f"steps of {step:.6g} s: a function that is called at each step lets its forces "
                f"act {calls * step:.6g} s late. Give delay={calls * step:.6g}, so that "
                "simulations and linear models do what it does"
            )
            warn(message)


def control_law_of(
    robot: Robot, controller: Any, step: float | None, *, takes_readings: bool
) -> ControlLaw:
    """As `control_law`; without ``takes_readings`` sensors are computed from q and v."""
    check_controller(controller)
    if step is None:
        return ControlLaw(*2 * (_stateless(robot, controller),), MappingProxyType({}), None)
    if not 0.0 < step < math.inf:
        raise SettingsError(f"step is {step!r} s, expected a positive number")
    traced = trace_at_equal_steps(robot, controller, float(step), takes_readings)
    if traced is None:
        raise not_a_function_error(robot, controller, what=NOTHING)
    first, update, layout, sample = traced
    begun = _ordered(first, "control_first", sample)
    if not layout.size and first.results == update.results:
        begun = _ordered(first, "control", sample)
        return ControlLaw(begun, begun, MappingProxyType({}), float(step))
    going = _ordered(update, "control", (*sample, "applied", "state"))
    return ControlLaw(begun, going, MappingProxyType(dict(layout.recorded)), float(step))


def _stateless(robot: Robot, controller: Any) -> Function:
    """The function of a controller without a state."""
    compiled = compile_controller(robot, controller, AT_START, gains_as_inputs=False)
    if compiled is None or compiled.program is None:
        raise not_a_function_error(robot, controller, what=NOTHING)
    if compiled.function_program is None:
        raise SettingsError(
            f"{type(controller).__name__} has a state: give step=, the time from sample to sample "
            "[s]"
        )
    return _ordered(compiled.function_program, "control", ("t", "q", "v"))


def _ordered(program: Program, name: str, first: tuple[str, ...]) -> Function:
    """The function of a program with these inputs first, whether the program uses them or not."""
    own = {port.name: port for port in program.inputs}
    rest = [x for x in program.inputs if x.name not in (*first, "q", "v", "applied", "state")]
    ports: list[Port] = [own[key] for key in first] + rest
    graph = Graph()
    numbers: dict[str, Any] = {key: [0.0] * own[key].size for key in own}
    numbers.update(numbered(graph, ports))
    results = inline(program, [x for port in program.inputs for x in numbers[port.name]])
    outputs = tuple(port for port in program.outputs if port.size)
    edges = tuple(edge_of(graph, x) for x in results)
    return function_of(Program(name, tuple(ports), outputs, graph, edges, program.rates))
