"""One step of a robot under its controller as one function."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.arrays import expect, named
from robodyn.codegen import Function
from robodyn.errors import SettingsError
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.closed_loop import numbered, traced_law
from robodyn.simulation.integrators.method import Coordinates
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import edge_of

__all__ = ["step_function"]

#: Newton steps that close loops; a motion drifts little in a step.
CORRECTIONS = 2


def step_function(
    robot: Robot,
    controller: Any = None,
    *,
    step: float = 1e-3,
    integrator: str = "rk4",
    wrenches: Iterable[str] = (),
) -> Function:
    """The state after a step, as one function of the state before it.

    The text of the integrator, the controller, whose forces are held in the step, and the
    corrections that close loops are written down over symbols. So the step is C and CUDA code and
    has derivatives; `simulate` and `rollout` do the same step by a loop over smaller functions,
    which is faster to compile. As every function it does not look at what it is given; a step here
    closes loops by two of Newton's steps, whatever they leave.

    Parameters
    ----------
    robot : Robot
    controller : callable, optional
        As for `robodyn.closed_loop`. Default: no forces.
    step : float [s]
    integrator : str
        An explicit one: ``"rk4"``, ``"semi_implicit"``, ``"euler"``, ``"midpoint"``, ``"heun"``.
    wrenches : names of links
        External wrenches act on them, held in the step: inputs ``"wrench:LINK"`` (6,) [N, N m].

    Returns
    -------
    f : Function
        ``(t, q, v)`` -> ``q_next`` (nq,) and ``v_next`` (nv,). Signals of the controller are
        further inputs, as of `robodyn.closed_loop`. Of a robot with a moving base so are its
        ``"base_pose"`` (k, 4, 4), ``"base_twist"`` and ``"base_acceleration"`` (k, 6), at the k
        instants at which the integrator looks at accelerations: start, middle and end of the step
        by ``"rk4"``, start and middle by ``"midpoint"``, start and end by ``"heun"``, the start
        alone by the others. Wrenches come last.

    Raises
    ------
    SettingsError
        For an integrator that solves for its steps or chooses them, and as `robodyn.closed_loop`
        does.
    UnknownNameError
        If there is no such integrator or link.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> f = rd.step_function(robot, step=1e-3)
    >>> q, v = f(0.0, [0.3, 0.2], [0.0, 0.0])
    >>> run = rd.simulate(robot, q0=[0.3, 0.2], duration=1e-3)
    >>> bool(abs(q - run.q[-1]).max() < 1e-15)
    True
    """
    expect("robot", robot, Robot)
    method = integrators.explicit(integrator)
    if method is None:
        known = ", ".join(integrators.EXPLICIT)
        raise SettingsError(f"a step by {integrator!r} is no function: take one of {known}")
    if not (isinstance(step, int | float | np.number) and 0.0 < step < math.inf):
        raise SettingsError(f"step is {step!r} s, expected a positive number")
    law = traced_law(robot, controller)
    links = named("wrenches", wrenches)
    return Function(_Writer(robot, law, links, float(step), method).program())


def _parts(method: Any) -> list[float]:
    """Parts of a step at which a method looks at accelerations, the start first."""
    seen = {0.0: None}

    def acceleration(t: float, q: Array, v: Array) -> Array:
        seen[t] = None
        return v

    zero = np.zeros(1)
    flat = Coordinates(lambda q, u: q + u, lambda u, v: v, flat=True)
    method.step(acceleration, flat, 0.0, zero, zero, 1.0, zero)
    return list(seen)


class _Writer:
    """The program while it is written."""

    def __init__(
        self, robot: Robot, law: Function | None, links: tuple[str, ...], h: float, method: Any
    ) -> None:
        self._robot, self._law, self._h, self._method = robot, law, h, method
        self._options = {"wrenches": links} if links else {}
        self._parts = _parts(method)
        self._graph = Graph()
        nq, nv = robot.nq, robot.nv
        ports = [Port("t", (), "s"), Port("q", (nq,), "rad, m"), Port("v", (nv,), "rad/s, m/s")]
        ports += law.inputs[3:] if law else ()
        for port in robot.function("forward_dynamics", **self._options).inputs[3:]:
            if port.name.startswith("base_"):
                ports.append(Port(port.name, (len(self._parts), *port.shape), port.unit))
            elif port.name != "t":
                ports.append(port)
        self._ports = ports
        self._numbers = numbered(self._graph, self._ports)

    def program(self) -> Program:
        """The state after a step."""
        q, v = (self._array(name) for name in ("q", "v"))
        tau = self._torques()

        def acceleration(part: float, q: Array, v: Array) -> Array:
            """At a part of the step."""
            around = self._around(part)
            return self._called("forward_dynamics", q, v, tau, *around, **self._options)[0]

        def after(t: float, q: Array, v: Array) -> Array:
            return acceleration(t / self._h, q, v)

        first = acceleration(0.0, q, v)
        q, v = self._method.step(after, self._coordinates(), 0.0, q, v, self._h, first)
        q, v = self._closed(q, v)
        outputs = (Port("q_next", q.shape, "rad, m"), Port("v_next", v.shape, "rad/s, m/s"))
        edges = tuple(edge_of(self._graph, x) for x in (*q, *v))
        rates = self._robot.function("integrate").program.rates
        return Program("step", tuple(self._ports), outputs, self._graph, edges, rates)

    def _array(self, name: str) -> Array:
        array = np.empty(len(self._numbers[name]), object)
        array[:] = self._numbers[name]
        return array

    def _around(self, part: float) -> list[Array]:
        """What dynamics take besides state and forces, at a part of the step."""
        found = []
        for port in self._robot.function("forward_dynamics", **self._options).inputs[3:]:
            if port.name == "t":
                found.append(self._time(part))
                continue
            x = self._array(port.name)
            if port.name.startswith("base_"):
                nearest = int(np.argmin(np.abs(np.array(self._parts) - part)))
                x = x.reshape(len(self._parts), -1)[nearest]
            found.append(x)
        return found

    def _time(self, part: float) -> Array:
        return np.array(self._array("t") + part * self._h, object)

    def _torques(self) -> Array:
        """Forces of the controller."""
        tau = np.zeros(self._robot.nv, object)
        if self._law is not None:
            numbers = [x for port in self._law.inputs for x in self._numbers[port.name]]
            tau[:] = inline(self._law.program, numbers)
        return tau

    def _called(self, name: str, *arrays: Array, **options: Any) -> list[Array]:
        """Results of a function of the robot."""
        program = self._robot.function(name, **options).program
        results = np.empty(len(program.results), object)
        results[:] = inline(program, [x for array in arrays for x in array])
        return np.split(results, np.cumsum([port.size for port in program.outputs])[:-1])

    def _coordinates(self) -> Coordinates:
        joints = (self._robot.joints[name] for name in self._robot.joint_names)
        if all(joint.kind.coordinates.flat for joint in joints):
            return Coordinates(lambda q, u: q + u, lambda u, v: v, flat=True)
        return Coordinates(
            lambda q, u: self._called("integrate", q, u)[0],
            lambda u, v: self._called("tangent_rate", u, v)[0],
        )

    def _closed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The state with its loops closed."""
        if not self._robot.nc:
            return q, v
        move = self._coordinates().move
        end = [self._time(1.0)] if self._robot.depends_on_time else []
        for _ in range(CORRECTIONS):
            dq, dv, _ = self._called("loop_corrections", q, v, *end, controlled=())
            q = move(q, dq)
        return q, v + dv
