"""One step of a robot under its controller as one function: straight-line code."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.codegen import Function
from robodyn.codegen.constants_as_inputs import function_of
from robodyn.errors import SettingsError, ShapeError
from robodyn.literals import IntegratorName
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.control.closed_loop import function_of_state, numbered
from robodyn.simulation.integrators.method import FLAT, Coordinates, Integrator
from robodyn.simulation.loads.driven_joints import DrivenPlaces, driven_places
from robodyn.simulation.loads.loads import BASE, StepFunctions, functions_that_move
from robodyn.simulation.step.operations.step import (
    Correct,
    Duration,
    Instant,
    close_loops,
    instants_of,
    step,
    with_end,
)
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, edge_of
from robodyn.symbolic.symbol_arrays import symbol_array

#: Number of corrections that close loops, before the last one. It is the same for all states, as
#: straight-line code has no branches. Each correction squares the gap, so that after two of them
#: the gap that a reasonable step opens is closed to rounding.
CORRECTIONS = 2

#: Corrections of position and velocity, and the gap.
Corrections = tuple[Array, Array, Array]


class SymbolicInputs:
    """Inputs of a step as arrays of symbols.

    numbers: All elements of each input.
    instants: Fractions of the step, for inputs that have a row for each of them.
    """

    def __init__(
        self,
        numbers: Mapping[str, Sequence[Number]],
        instants: Mapping[str, Sequence[float]],
        h: float,
    ) -> None:
        self._numbers, self._instants, self._h = numbers, instants, h

    def array(self, name: str) -> Array:
        """All elements of an input."""
        return symbol_array(self._numbers[name])

    def at(self, name: str, t: Instant) -> Array:
        """The row of an input at an instant of the step."""
        if name == "t":
            return np.array(self.array("t") + t.part * self._h, object)
        if name not in self._instants:
            return self.array(name)
        instants = self._instants[name]
        return np.asarray(self.array(name).reshape(len(instants), -1)[instants.index(t.part)])


class SymbolicOperations:
    """Operations with arrays of symbols."""

    def __init__(
        self, functions: StepFunctions, driven: DrivenPlaces, inputs: SymbolicInputs
    ) -> None:
        self._functions, self._driven, self._inputs = functions, driven, inputs

    @cached_property
    def coordinates(self) -> Coordinates:
        """How positions move by twists."""
        integrate, rate = self._functions.integrate, self._functions.rate
        if integrate is None or rate is None:
            return FLAT
        return Coordinates(
            lambda q, u: _called(integrate, q, u)[0], lambda u, v: _called(rate, u, v)[0]
        )

    def drive(self, t: Instant, q: Array, v: Array) -> Array | None:
        """Set driven joints to their paths; return their accelerations, ``None`` without any."""
        driven = self._driven
        v[driven.still] = 0.0
        if driven.speeds:
            q[driven.coordinates] = self._inputs.at("driven_position", t)
            v[driven.speeds] = self._inputs.at("driven_velocity", t)
        return self.driving(t, len(v))

    def driving(self, t: Instant, nv: int) -> Array | None:
        """Accelerations of driven joints."""
        if not self._driven.all_speeds:
            return None
        wanted = np.zeros(nv, object)
        if self._driven.speeds:
            wanted[self._driven.speeds] = self._inputs.at("driven_acceleration", t)
        return np.asarray(wanted[list(self._driven.all_speeds)])

    def accelerations(
        self, t: Instant, q: Array, v: Array, tau: Array, driving: Array | None
    ) -> Array:
        """Accelerations of all speeds."""
        given = [tau]
        if driving is not None:
            given = [driving, np.delete(tau, self._driven.all_speeds)]
        around = self._around(self._functions.dynamics, self._functions.before_loads, t)
        return _called(self._functions.dynamics, q, v, *given, *around)[0]

    # -- loops --------------------------------------------------------------------------------

    def close(self, t: Instant, q: Array, v: Array) -> tuple[Array, Array]:
        """The state with its loops closed."""
        return (q, v) if self._functions.corrections is None else close_loops(self, t, q, v)

    def corrections(self, t: Instant, q: Array, v: Array) -> Corrections:
        """One step of Newton's method."""
        corrections = self._functions.corrections
        assert corrections is not None
        dq, dv, gap = _called(corrections, q, v, *self._around(corrections, 2, t))
        return dq, dv, gap

    def where_open(self, gap: Array, moved: Array, q: Array) -> Array:
        """``moved`` for all states, as symbols cannot be compared."""
        return moved

    def while_open(
        self, correct: Correct, q: Array, found: Corrections
    ) -> tuple[Array, Corrections]:
        """Repeat a fixed number of times."""
        for _ in range(CORRECTIONS):
            q, found = correct(q, found)
        return q, found

    def _around(self, f: Function, after: int, t: Instant) -> list[Array]:
        """Inputs of a function after its first ones, at an instant."""
        return [self._inputs.at(port.name, t) for port in f.inputs[after:]]


def _called(f: Function, *arrays: Array) -> list[Array]:
    """Results of a function of the robot."""
    results = np.empty(len(f.program.results), object)
    results[:] = inline(f.program, [x for array in arrays for x in array])
    return np.split(results, np.cumsum([port.size for port in f.program.outputs])[:-1])


#: Names of the inputs for the motion of driven joints.
DRIVEN = ("driven_position", "driven_velocity", "driven_acceleration")


@checked_arguments
def step_function(
    robot: Robot,
    controller: Any = None,
    *,
    step: float = 1e-3,
    integrator: IntegratorName = "rk4",
    tau: bool = False,
    wrenches: Iterable[str] = (),
    controlled: Iterable[str] = (),
    locked: Iterable[str] = (),
    parameters: bool = False,
) -> Function[tuple[Array, ...]]:
    """The state after a step, as one function of the state before it.

    It is the step of `simulate` and `rollout` with a controller, whose forces are held in the step,
    traced with symbols into one program, which can be exported as C or CUDA and has derivatives.
    `simulate` and `rollout` themselves call smaller functions, which are faster to compile. Like
    every function it does not check its arguments. It has no branches, and closes loops by three
    iterations of Newton's method in every state, where `simulate` iterates until the gap is below
    1e-12 m or rad.

    Parameters
    ----------
    robot : Robot
    controller : callable, optional
        As for `robodyn.closed_loop`. Default: no forces.
    step : float [s]
    integrator : str
        An explicit one: a key of `robodyn.simulation.integrators.EXPLICIT`.
    tau : bool
        Add the input ``"tau"`` (nv,) [N m, N] after ``v``: forces of joints, held in the step,
        which are added to those of the controller.
    wrenches : names of links
        Links with external wrenches, held in the step: inputs ``"wrench:LINK"`` (6,) [N, N m].
    controlled, locked : names of joints, or of axes
        Joints that follow paths, or stand still. Their motions are inputs; their elements of ``q``
        and ``v`` are not used.
    parameters : bool
        Add the input ``"parameters"`` (10 n,): inertial parameters of the n moving bodies that the
        step is done with, as `Robot.inertial_parameters` has them. The controller keeps the robot
        that it was given.

    Returns
    -------
    f : Function
        ``(t, q, v)``, or ``(t, q, v, tau)``, -> ``q_next`` (nq,) and ``v_next`` (nv,). Signals of
        the controller are further inputs, as of `robodyn.closed_loop`. Of a robot with a moving
        base so are its ``"base_pose"`` (k, 4, 4), ``"base_twist"`` and ``"base_acceleration"`` (k,
        6), at the k instants at which the integrator looks at accelerations: start, middle and end
        of the step by ``"rk4"``, start and middle by ``"midpoint"``, start and end by ``"heun"``,
        the start alone by the others. Then come parameters and wrenches, and for controlled joints,
        in the order of q and v, ``"driven_position"``, ``"driven_velocity"`` and
        ``"driven_acceleration"``, (k, n) each, at the same instants and always at the end of the
        step, which comes last.

    Raises
    ------
    SettingsError
        For an integrator that solves for its steps or chooses them, and as `robodyn.closed_loop`
        does.
    UnknownNameError
        If there is no such integrator, link or joint.
    ActuationError
        For joints that are named twice, or cannot be driven.
    ShapeError
        For a link that is named twice, and for what are no names.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> f = rd.step_function(robot, step=1e-3)
    >>> q, v = f(0.0, [0.3, 0.2], [0.0, 0.0])
    >>> run = rd.simulate(robot, q0=[0.3, 0.2], duration=1e-3)
    >>> bool(abs(q - run.q[-1]).max() < 1e-15)
    True
    >>> f = rd.step_function(robot, tau=True)
    >>> q, v = f(0.0, [0.3, 0.2], [0.0, 0.0], robot.gravity_forces([0.3, 0.2]))
    >>> bool(abs(q - [0.3, 0.2]).max() < 1e-15)     # it is held up
    True

    Robots with other masses, one a row:

    >>> f = rd.step_function(robot, parameters=True)
    >>> masses = robot.inertial_parameters * [[1.0], [1.5], [2.0]]
    >>> q, v = f(0.0, [0.3, 0.2], [0.0, 0.0], masses)
    >>> q.shape
    (3, 2)
    """
    method = integrators.explicit(integrator)
    if method is None:
        known = ", ".join(integrators.EXPLICIT)
        raise SettingsError(f"a step by {integrator!r} is no function: take one of {known}")
    if not 0.0 < step < math.inf:
        raise SettingsError(f"step is {step!r} s, expected a positive number")
    law = None
    if controller is not None:
        law = function_of_state(robot, controller).function_program
    links = _links(wrenches)
    driven = driven_places(robot, controlled, locked)
    functions = functions_that_move(robot, driven.all_speeds, links, parameters=parameters)
    return function_of(_program(robot, law, functions, driven, float(step), method, tau))


def _links(wrenches: Iterable[str]) -> tuple[str, ...]:
    """Names of links with wrenches, each of which has an input."""
    links = named("wrenches", wrenches, "names of links")
    for k, link in enumerate(links):
        if link in links[:k]:
            raise ShapeError(f"wrenches names {link!r} twice", name="wrenches", given=links)
    return links


def _ports(
    robot: Robot,
    law: Program | None,
    functions: StepFunctions,
    driven: DrivenPlaces,
    instants: Mapping[str, Sequence[float]],
    with_tau: bool,
) -> list[Port]:
    """Inputs of the step; signals of the controller, loads and driven joints come last."""
    nq, nv = robot.nq, robot.nv
    ports = [Port("t", (), "s"), Port("q", (nq,), "rad, m"), Port("v", (nv,), "rad/s, m/s")]
    ports += [Port("tau", (nv,), "N m, N")] if with_tau else []
    ports += law.inputs[3:] if law else ()
    for port in functions.dynamics.inputs[functions.before_loads :]:
        if port.name in instants:
            port = Port(port.name, (len(instants[port.name]), *port.shape), port.unit)
        if port.name != "t":
            ports.append(port)
    if driven.speeds:
        sizes = len(driven.coordinates), len(driven.speeds), len(driven.speeds)
        units = "rad, m", "rad/s, m/s", "rad/s^2, m/s^2"
        for name, size, unit in zip(DRIVEN, sizes, units, strict=True):
            ports.append(Port(name, (len(instants[name]), size), unit))
    return ports


def _program(
    robot: Robot,
    law: Program | None,
    functions: StepFunctions,
    driven: DrivenPlaces,
    h: float,
    method: Integrator,
    with_tau: bool,
) -> Program:
    """The state after a step of ``h`` seconds."""
    asked = instants_of(method)
    instants = dict.fromkeys(BASE, asked) | dict.fromkeys(DRIVEN, with_end(asked))
    ports = _ports(robot, law, functions, driven, instants, with_tau)
    graph = Graph()
    numbers = numbered(graph, ports)
    inputs = SymbolicInputs(numbers, instants, h)
    operations, start = SymbolicOperations(functions, driven, inputs), Instant(0.0)
    q, v, tau = inputs.array("q"), inputs.array("v"), np.zeros(robot.nv, object)
    driving = operations.drive(start, q, v)
    if law is not None:
        known = {**numbers, "q": [*q], "v": [*v]}
        tau[:] = inline(law, [x for port in law.inputs for x in known[port.name]])
    if with_tau:
        tau = tau + inputs.array("tau")
    first = operations.accelerations(start, q, v, tau, driving)
    q, v = step(operations, method, start, q, v, tau, Duration(1.0, h), first)
    outputs = (Port("q_next", q.shape, "rad, m"), Port("v_next", v.shape, "rad/s, m/s"))
    edges = tuple(edge_of(graph, x) for x in (*q, *v))
    rates = robot.function("integrate").program.rates
    return Program("step", tuple(ports), outputs, graph, edges, rates)
