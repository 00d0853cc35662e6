"""One step of a robot under its controller as one function."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.codegen import Function
from robodyn.errors import SettingsError, ShapeError
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.control.closed_loop import function_of_state, numbered
from robodyn.simulation.integrators.method import Coordinates
from robodyn.simulation.loads.driven import driven_places
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import edge_of

__all__ = ["step_function"]

#: Newton steps that close loops; a motion drifts little in a step.
CORRECTIONS = 2


@checked_arguments
def step_function(
    robot: Robot,
    controller: Any = None,
    *,
    step: float = 1e-3,
    integrator: str = "rk4",
    wrenches: Iterable[str] = (),
    controlled: Iterable[str] = (),
    locked: Iterable[str] = (),
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
    controlled, locked : names of joints, or of axes
        That follow paths, or stand still. Where paths have them are inputs, too; what ``q`` and
        ``v`` hold for them is not looked at.

    Returns
    -------
    f : Function
        ``(t, q, v)`` -> ``q_next`` (nq,) and ``v_next`` (nv,). Signals of the controller are
        further inputs, as of `robodyn.closed_loop`. Of a robot with a moving base so are its
        ``"base_pose"`` (k, 4, 4), ``"base_twist"`` and ``"base_acceleration"`` (k, 6), at the k
        instants at which the integrator looks at accelerations: start, middle and end of the step
        by ``"rk4"``, start and middle by ``"midpoint"``, start and end by ``"heun"``, the start
        alone by the others. Then come wrenches, and for controlled joints, in the order of q and v,
        ``"driven_position"``, ``"driven_velocity"`` and ``"driven_acceleration"``, (k, n) each, at
        the same instants and always at the end of the step, which comes last.

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
    """
    method = integrators.explicit(integrator)
    if method is None:
        known = ", ".join(integrators.EXPLICIT)
        raise SettingsError(f"a step by {integrator!r} is no function: take one of {known}")
    if not (isinstance(step, int | float | np.number) and 0.0 < step < math.inf):
        raise SettingsError(f"step is {step!r} s, expected a positive number")
    law = None
    if controller is not None:
        law = function_of_state(robot, controller).function_program
    links = _links(wrenches)
    driven = _Driven(*driven_places(robot, controlled, locked), _parts(method))
    return Function(_Writer(robot, law, links, driven, float(step), method).program())


def _links(wrenches: Iterable[str]) -> tuple[str, ...]:
    """Names of links, each of which has an input of its own."""
    links = named("wrenches", wrenches, "names of links")
    for k, link in enumerate(links):
        if link in links[:k]:
            raise ShapeError(f"wrenches names {link!r} twice", name="wrenches", given=links)
    return links


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


@dataclass(frozen=True, eq=False)
class _Driven:
    """Joints whose motion is known beforehand.

    Attributes
    ----------
    coordinates, speeds : list of int
        Of those that follow paths.
    still : list of int
        Speeds of those that stand still.
    looks : list of float
        Parts of the step at which accelerations are looked at.
    """

    coordinates: list[int]
    speeds: list[int]
    still: list[int]
    looks: list[float]

    @property
    def all_speeds(self) -> tuple[int, ...]:
        """Driven and locked, ascending."""
        return tuple(sorted([*self.speeds, *self.still]))

    @property
    def parts(self) -> list[float]:
        """Parts of the step at which paths are asked for."""
        return self.looks if self.looks[-1] == 1.0 else [*self.looks, 1.0]

    @property
    def ports(self) -> list[Port]:
        """Inputs."""
        if not self.speeds:
            return []
        sizes = len(self.coordinates), len(self.speeds), len(self.speeds)
        units = "rad, m", "rad/s, m/s", "rad/s^2, m/s^2"
        rows = zip(("position", "velocity", "acceleration"), sizes, units, strict=True)
        return [Port(f"driven_{x}", (len(self.parts), n), unit) for x, n, unit in rows]


class _Writer:
    """The program while it is written."""

    def __init__(
        self,
        robot: Robot,
        law: Program | None,
        links: tuple[str, ...],
        driven: _Driven,
        h: float,
        method: Any,
    ) -> None:
        self._robot, self._law, self._h, self._method = robot, law, h, method
        self._options = {"wrenches": links} if links else {}
        self._driven, self._graph = driven, Graph()
        nq, nv = robot.nq, robot.nv
        ports = [Port("t", (), "s"), Port("q", (nq,), "rad, m"), Port("v", (nv,), "rad/s, m/s")]
        ports += law.inputs[3:] if law else ()
        for port in robot.function("forward_dynamics", **self._options).inputs[3:]:
            if port.name.startswith("base_"):
                ports.append(Port(port.name, (len(driven.looks), *port.shape), port.unit))
            elif port.name != "t":
                ports.append(port)
        self._ports = ports + driven.ports
        self._numbers = numbered(self._graph, self._ports)

    def program(self) -> Program:
        """The state after a step."""
        q, v = (self._array(name) for name in ("q", "v"))
        self._place(0.0, q, v)
        tau = self._torques(q, v)

        def after(t: float, q: Array, v: Array) -> Array:
            self._place(t / self._h, q, v)
            return self._acceleration(t / self._h, q, v, tau)

        first = self._acceleration(0.0, q, v, tau)
        q, v = self._method.step(after, self._coordinates(), 0.0, q, v, self._h, first)
        self._place(1.0, q, v)
        q, v = self._closed(q, v)
        outputs = (Port("q_next", q.shape, "rad, m"), Port("v_next", v.shape, "rad/s, m/s"))
        edges = tuple(edge_of(self._graph, x) for x in (*q, *v))
        rates = self._robot.function("integrate").program.rates
        return Program("step", tuple(self._ports), outputs, self._graph, edges, rates)

    def _acceleration(self, part: float, q: Array, v: Array, tau: Array) -> Array:
        """At a part of the step."""
        around, speeds = self._around(part), self._driven.all_speeds
        if not speeds:
            return self._called("forward_dynamics", q, v, tau, *around, **self._options)[0]
        wanted = np.zeros(self._robot.nv, object)
        if self._driven.speeds:
            wanted[self._driven.speeds] = self._at("driven_acceleration", self._driven.parts, part)
        given = wanted[list(speeds)], np.delete(tau, speeds)
        options = {"controlled": speeds, **self._options}
        return self._called("hybrid_dynamics", q, v, *given, *around, **options)[0]

    def _place(self, part: float, q: Array, v: Array) -> None:
        """Put driven joints where they have to be, in the arrays themselves."""
        v[self._driven.still] = 0.0
        if self._driven.speeds:
            q[self._driven.coordinates] = self._at("driven_position", self._driven.parts, part)
            v[self._driven.speeds] = self._at("driven_velocity", self._driven.parts, part)

    def _at(self, name: str, parts: list[float], part: float) -> Array:
        """The row of an input that belongs to a part of the step."""
        nearest = int(np.argmin(np.abs(np.array(parts) - part)))
        return np.asarray(self._array(name).reshape(len(parts), -1)[nearest])

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
            moves = port.name.startswith("base_")
            looks = self._driven.looks
            found.append(self._at(port.name, looks, part) if moves else self._array(port.name))
        return found

    def _time(self, part: float) -> Array:
        return np.array(self._array("t") + part * self._h, object)

    def _torques(self, q: Array, v: Array) -> Array:
        """Forces of the controller at the start."""
        tau = np.zeros(self._robot.nv, object)
        if self._law is not None:
            known = {**self._numbers, "q": [*q], "v": [*v]}
            tau[:] = inline(self._law, [x for p in self._law.inputs for x in known[p.name]])
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
        held = self._driven.all_speeds
        for _ in range(CORRECTIONS):
            dq, dv, _ = self._called("loop_corrections", q, v, *end, controlled=held)
            q = move(q, dq)
        return q, v + dv
