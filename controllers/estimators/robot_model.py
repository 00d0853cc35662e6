"""A robot as an estimator sees it: how its state moves, what sensors show, and derivatives."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from robodyn import Inertia, Pose, Robot, SettingsError, UnknownNameError, step_function
from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.codegen.constants_as_inputs import function_of
from robodyn.description.pose import frame_argument
from robodyn.simulation.control.closed_loop import numbered
from robodyn.simulation.loads.column_names import speed_names
from robodyn.state_space import StateSpace
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of

from ..support.plant import speeds_of
from ..support.symbols import at_speeds, times
from .readings import Readings

#: Steps of Newton's method that close the loops of an estimate, as in `robodyn.step_function`.
CORRECTIONS = 3

#: Positions, speeds, and numbers beside them: unknown forces, then a mass.
Place = tuple[FloatArray, FloatArray, FloatArray]


class RobotModel:
    """Equations of a robot with unknown forces on joints and an unknown mass.

    In numbers or in symbols. The state of n numbers is displacements and speeds of independent
    joints, then what is unknown, which does not change by itself.

    Attributes
    ----------
    states : tuple of str
        Their names; ``others`` are those of what is unknown.
    half : int
        Independent speeds.
    """

    def __init__(
        self, robot: Robot, sensors: Iterable[str], dt: float, forces: Iterable[str], payload: Any
    ) -> None:
        self.robot, self.dt, self.readings = robot, dt, Readings(robot, sensors)
        self._pushed = [k for name in forces for k in speeds_of(robot, [name])]
        self._speeds = _independent(robot)
        self._fixed, self._column, labels = np.zeros(0), np.zeros(0), speed_names(robot)
        others = [f"force:{labels[k]}" for k in self._pushed]
        if payload is not None:
            link, X = frame_argument("payload", payload, "payload")
            if link not in robot.link_names:
                raise UnknownNameError("link", link, robot.link_names, repr(robot.name))
            heavier = robot.with_(payload={link: Inertia(1.0, Pose(tuple(X[:3, 3].tolist())))})
            self._fixed = robot.inertial_parameters
            self._column = heavier.inertial_parameters - self._fixed
            others.append(f"mass:{link}")
        own = [labels[k] for k in self._speeds]
        self.others, self.half = tuple(others), len(own)
        self._functions: dict[tuple[str, str], Any] = {}
        names = *(f"q:{x}" for x in own), *(f"v:{x}" for x in own), *others
        unread = self._unread()
        self._kept = [k for k, x in enumerate(names) if x not in unread]
        self.states = tuple(names[k] for k in self._kept)
        self._all = len(names)

    def _unread(self) -> set[str]:
        """States on which nothing depends: charges of windings that no sensor shows."""
        windings = [x.winding for x in self.robot.model.setup.windings]
        if not windings:
            return set()
        options: Any = self._options
        moved, shown = self._function("forward_dynamics", **options), self._measure()
        read = {*moved.program.needed, *shown.program.needed}
        return {f"q:{x}" for x in windings if self.robot.joints[x].q.start not in read}

    # -- functions --------------------------------------------------------------------------------

    def _function(self, name: str, by: str = "", **options: Any) -> Any:
        """A function of the robot, or its derivative by an input; made once."""
        if (name, by) not in self._functions:
            of_robot: Any = self.robot.function
            if by:
                made = self._function(name, **options).jacobian(by)
            else:
                made = _of_mass(of_robot(name, **options), self._fixed, self._column)
            self._functions[name, by] = made
        return self._functions[name, by]

    @property
    def _options(self) -> dict[str, bool]:
        return {"parameters": True} if len(self._column) else {}

    def _of_dynamics(self, at: Place, tau: FloatArray, by: str = "") -> FloatArray:
        """Accelerations, or their derivative by an input."""
        f = self._function("forward_dynamics", by, **self._options)
        return np.asarray(f(*at[:2], self._acting(at, tau), *self._mass(at)))

    def _acting(self, at: Place, tau: FloatArray) -> FloatArray:
        forces = at[2][..., : len(self._pushed)]
        return tau + at_speeds(self._pushed, forces, self.robot.nv) if self._pushed else tau

    def _mass(self, at: Place) -> tuple[FloatArray, ...]:
        """The unknown mass, where there is one."""
        return (at[2][..., -1:],) if len(self._column) else ()

    def tangent(self, at: Place) -> tuple[FloatArray, ...]:
        """How positions and speeds of a linkage follow independent ones; none of a tree."""
        if not self.robot.nc:
            return ()
        return tuple(self._function("tangent", independent=tuple(self._speeds))(*at[:2]))

    # -- motion -----------------------------------------------------------------------------------

    @cached_property
    def _step(self) -> Any:
        f = step_function(self.robot, step=self.dt, tau=True, parameters=bool(self._options))
        return _of_mass(f, self._fixed, self._column)

    def after_step(self, at: Place, tau: FloatArray) -> Place:
        """The state a sample later, under forces that are held."""
        q, v = self._step(0.0, *at[:2], self._acting(at, tau), *self._mass(at))
        return q, v, at[2]

    def moved(self, at: Place, step: FloatArray, tangent: tuple[FloatArray, ...]) -> Place:
        """A state a step away, shape (..., n); loops stay closed."""
        (q, v, other), n = at, self.half
        step = at_speeds(self._kept, step, self._all)
        z, u, other = step[..., :n], step[..., n : 2 * n], other + step[..., 2 * n :]
        if not tangent:
            return self._placed(q, z), v + u, other
        B, G = tangent
        q, v = self._placed(q, times(B, z)), v + times(B, u) + times(G, z)
        names = speed_names(self.robot)
        held = tuple(names[k].split("[")[0] for k in self._speeds)
        corrections = self._function("loop_corrections", controlled=tuple(dict.fromkeys(held)))
        for _ in range(CORRECTIONS):
            q = self._placed(q, corrections(q, v)[0])
        dq, dv, _ = corrections(q, v)
        return self._placed(q, dq), v + dv, other

    def _placed(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        return q + dq if self.robot.joints.coordinates_add else self.robot.integrate(q, dq)

    # -- readings ---------------------------------------------------------------------------------

    def _measure(self, by: str = "") -> Any:
        return self._function("measure", by, sensors=self.readings.names, **self._options)

    def expected(self, at: Place, tau: FloatArray) -> FloatArray:
        """What sensors show, shape (..., p)."""
        found = self._measure()(*self._read(at, tau))
        return np.concatenate(found if isinstance(found, tuple) else (found,), axis=-1)

    def _read(self, at: Place, tau: FloatArray) -> list[FloatArray]:
        """Inputs of the function of the sensors."""
        arrays = dict(zip(("q", "v"), at[:2], strict=True))
        names = [port.name for port in self._measure().inputs]
        if "a" in names:
            arrays["a"] = self._of_dynamics(at, tau)
        if "mass" in names:
            (arrays["mass"],) = self._mass(at)
        return [arrays[name] for name in names]

    # -- derivatives ------------------------------------------------------------------------------

    def _slopes(
        self, at: Place, tau: FloatArray, tangent: tuple[FloatArray, ...], slope: Any
    ) -> FloatArray:
        """Derivative of numbers by the state; ``slope`` is that by an input of the dynamics."""
        by_q, by_v = slope("q"), slope("v")
        parts = [by_q, by_v]
        if tangent:
            B, G = tangent
            parts = [by_q @ B + by_v @ G, by_v @ B]
        if self._pushed:
            parts.append(slope("tau")[..., self._pushed])
        if len(self._column):
            parts.append(slope("mass"))
        return np.concatenate(parts, axis=-1)

    def rates(self, at: Place, tau: FloatArray, tangent: tuple[FloatArray, ...]) -> FloatArray:
        """``A`` of small errors in continuous time, shape (..., n, n)."""
        n, own = self.half, self._speeds
        pushed = self._slopes(at, tau, tangent, lambda by: self._of_dynamics(at, tau, by))
        A = np.zeros((*pushed.shape[:-2], pushed.shape[-1], pushed.shape[-1]), pushed.dtype)
        A[..., range(n), range(n, 2 * n)] = 1.0
        A[..., n : 2 * n, :] = pushed[..., own, :]
        if not self.robot.joints.coordinates_add:  # axes turn in which errors are seen
            bend = self._function("tangent_rate", "u")(np.zeros(self.robot.nv), at[1])
            i, j = np.ix_(own, own)
            A[..., :n, :n] = A[..., :n, :n] + 2.0 * bend[..., i, j]
        return np.asarray(A[..., self._kept, :][..., self._kept])

    def shown(self, at: Place, tau: FloatArray, tangent: tuple[FloatArray, ...]) -> FloatArray:
        """``C``: how readings change with the state, shape (..., p, n)."""
        given = self._read(at, tau)
        inputs, nv = [port.name for port in self._measure().inputs], self.robot.nv
        sizes = {"q": nv, "v": nv, "tau": nv, "mass": 1}

        def of_readings(by: str) -> FloatArray:
            found = self._measure(by)(*given)
            return np.concatenate(found if isinstance(found, tuple) else (found,), axis=-2)

        by_a = of_readings("a") if "a" in inputs else None

        def slope(by: str) -> FloatArray:
            count = len(self.readings.columns)
            found = np.zeros((count, sizes[by])) if by not in inputs else of_readings(by)
            return found if by_a is None else found + by_a @ self._of_dynamics(at, tau, by)

        return np.asarray(self._slopes(at, tau, tangent, slope)[..., self._kept])

    def linear_model(self, at: Place) -> StateSpace:
        """The linear model near a state without forces of motors."""
        tau = np.zeros(self.robot.nv)
        tangent = self.tangent(at)
        A, C = self.rates(at, tau, tangent), self.shown(at, tau, tangent)
        B, D = np.zeros((len(A), 0)), np.zeros((len(C), 0))
        return StateSpace(A, B, C, D, states=self.states, outputs=self.readings.columns)


def _of_mass(f: Function, fixed: FloatArray, column: FloatArray) -> Function:
    """A function of inertial parameters as one of a mass: ``fixed + mass column``."""
    program = f.program
    if "parameters" not in [port.name for port in program.inputs]:
        return f
    ports = [Port("mass", (1,), "kg") if x.name == "parameters" else x for x in program.inputs]
    graph = Graph()
    numbers = numbered(graph, ports)
    (mass,) = numbers.pop("mass")
    numbers["parameters"] = [x + mass * y if y else x for x, y in zip(fixed, column, strict=True)]
    results = inline(program, [x for port in program.inputs for x in numbers[port.name]])
    edges = tuple(edge_of(graph, x) for x in results)
    made = Program(f.name, tuple(ports), program.outputs, graph, edges, program.rates)
    return function_of(made)


def _independent(robot: Robot) -> list[int]:
    """Indices of independent speeds, which are those of independent coordinates.

    Raises
    ------
    SettingsError
        If they are others, or a part of a joint alone.
    """
    if not robot.nc:
        return [*range(robot.nv)]
    names = speed_names(robot)
    states = robot.linearize(robot.neutral(), np.zeros(robot.nv), None).states
    places, speeds = ([x[2:] for x in states if x[0] == letter] for letter in "qv")
    own = [names.index(x) for x in speeds]
    parts = dict.fromkeys(x.split("[")[0] for x in speeds)
    charges = {x.winding for x in robot.model.setup.windings}
    moving = [x for x in speeds if x not in charges]
    if places != moving or {*speeds_of(robot, parts)} != {*own}:
        raise SettingsError(
            f"the estimate of {robot.name!r} would be corrected along {', '.join(places)} and "
            f"{', '.join(speeds)}: constraints on speeds, and joints of which a part is "
            "independent, have no ExtendedKalmanFilter"
        )
    return own
