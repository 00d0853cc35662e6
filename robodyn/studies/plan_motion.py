"""Motions of least cost, found by direct collocation and IPOPT (extra ``plan``).

Positions, speeds and motor forces at the nodes of a mesh, and in the middle between, are unknowns.
Between nodes, states are cubics that satisfy the equations of motion at both ends and in the middle
[Hargraves, Paris 1987; Kelly 2017, 4], which Simpson's rule integrates. The first shot is with
trapezoids on half of the mesh.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, checked, number
from robodyn.description.symbols import with_values
from robodyn.errors import (
    MissingExtraError,
    PlanError,
    SettingsError,
    ShapeError,
    UnknownNameError,
)
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import effort_bounds
from robodyn.simulation.simulate import simulate
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import AT_LIMIT

#: Integrands of costs that have names, of a `Point`.
COSTS: Mapping[str, Callable[[Any], Any]] = {
    "torque": lambda x: x.forces.T @ x.forces,
    "time": lambda x: 1.0,
}

#: Nodes of the first shot at least: with fewer, its equations are more than its unknowns.
FIRST_SHOT = 6

#: Steps of the simulation between nodes, and meshes that are tried for a tolerance.
CHECKED, MESHES = 16, 4


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """Result of `plan_motion`.

    Attributes
    ----------
    trajectory : Trajectory
        The motion that `robodyn.simulate` makes of the planned forces, on a finer mesh.
    reference : callable
        ``q, v, a = reference(t)`` of the plan, at rest before it begins and after it ends.
    forces : ndarray, shape (n, m) [N m, N]
        Of motors, at the ``times`` of nodes and in the middle between.
    times : ndarray, shape (n,) [s]
    q, v : ndarray, shape (n, nq), (n, nv)
    parameters : mapping of str to float
        Numbers of the robot that were unknown, by name.
    robot : Robot
        With these numbers.
    cost : float
    multipliers : mapping of str to ndarray
        Of the equations of motion, of limits, and of each constraint, by name: by how much the cost
        would fall if it gave way.
    deviation : float [rad, m]
        How far positions of the simulation come from those of the plan.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> plan = rd.plan_motion(robot, start=[0, 0], goal=[0.2, 0.1], duration=1.0, nodes=7)
    >>> sorted(plan.multipliers)[:3]
    ['duration', 'dynamics', 'forces']
    """

    trajectory: Trajectory
    reference: PlannedReference
    times: FloatArray
    q: FloatArray
    v: FloatArray
    forces: FloatArray
    parameters: Mapping[str, float]
    robot: Robot
    cost: float
    multipliers: Mapping[str, FloatArray]
    deviation: float


class PlannedReference:
    """The cubics of a plan: positions, speeds and accelerations at a time."""

    def __init__(
        self, robot: Robot, times: FloatArray, q: FloatArray, v: FloatArray, a: FloatArray
    ):
        self._robot, self._times = robot, times
        self._q, self._v, self._a = q, v, a

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, speeds and accelerations at a time [s]."""
        times, last = self._times[::2], len(self._times) - 1
        if not times[0] <= t <= times[-1]:
            k = 0 if t < times[0] else last
            return self._q[k], np.zeros_like(self._v[k]), np.zeros_like(self._a[k])
        k = 2 * min(int(np.searchsorted(times, t, side="right")) - 1, len(times) - 2)
        s = 2.0 * (t - self._times[k]) / (self._times[k + 2] - self._times[k])
        # of the quadratic through both ends and the middle, s from 0 to 2
        weights = np.array([(s - 1) * (s - 2) / 2, s * (2 - s), s * (s - 1) / 2])
        rows = slice(k, k + 3)
        h = self._times[k + 1] - self._times[k]
        whole = np.array([s - 0.75 * s**2 + s**3 / 6, s**2 - s**3 / 3, s**3 / 6 - s**2 / 4]) * h
        q = self._robot.integrate(self._q[k], whole @ self._v[rows])
        return q, self._v[k] + whole @ self._a[rows], weights @ self._a[rows]


@checked_arguments
def plan_motion(
    robot: Robot,
    *,
    start: Any,
    goal: Any = None,
    duration: Any,
    cost: Any = "torque",
    constraints: Iterable[tuple[str, Callable[..., Any], Any, Any]] = (),
    parameters: Mapping[str, Any] | None = None,
    nodes: int = 50,
    periodic: bool = False,
    initial: PlannedMotion | None = None,
    tolerance: float | None = None,
) -> PlannedMotion:
    """Plan a motion of least cost.

    Limits of positions, speeds and motor forces are kept at all nodes and between. Closed linkages
    are planned fastest in minimal coordinates.

    Parameters
    ----------
    robot : Robot
    start, goal : array_like, shape (nq,), (q, v), or mapping of joint name to position, optional
        Where the motion begins and ends, at rest if no speeds are given. A mapping leaves joints
        that it does not name free: at rest they are all the same.
    duration : float or (float, float) [s]
        Given, or between two.
    cost : str, callable, or mapping of either to a weight
        What is integrated over the time: ``"torque"`` (squares of motor forces), ``"time"``, or a
        function of a point of the motion with the attributes ``q``, ``v``, ``a``, ``tau``,
        ``forces``, columns of symbols of CasADi.
    constraints : iterable of (name, function, lower, upper)
        Functions of such a point, between bounds all along. ``robot.function(...).casadi()`` gives
        quantities of the robot.
    parameters : mapping of str to (float, float), optional
        Numbers of the robot that have names (`symbol`, ``symbols=`` of `load`) and are unknown, as
        masses and springs are, between two values each. A point has them as ``parameters``.
    nodes : int
        Of the mesh.
    periodic : bool
        It ends with the positions and speeds with which it begins.
    initial : PlannedMotion, optional
        Where the search begins. Default: the straight way.
    tolerance : float, optional [rad, m]
        Largest deviation: the mesh is halved until it holds, three times at most. Of motions that
        are unstable without a controller, a simulation leaves every plan.

    Returns
    -------
    plan : PlannedMotion

    Raises
    ------
    PlanError
        If no motion is found, with what is left of constraints by name, or the tolerance is missed.
    ShapeError, SettingsError, UnknownNameError
        Before the search: for starts and goals that are none, or beyond limits.
    MissingExtraError
        Without CasADi.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> plan = rd.plan_motion(robot, start=[0, 0], goal=[0.5, 0.2], duration=1.0, nodes=21)
    >>> bool(plan.deviation < 1e-2)
    True
    """
    problem = _Problem(robot, start, goal, duration, cost, constraints, parameters or {}, periodic)
    if nodes < 3:
        raise SettingsError(f"nodes is {nodes}, expected 3 at least")
    if initial is not None:
        numbers = np.array([initial.parameters.get(x, robot.symbols[x]) for x in problem.names])
        found = (initial.times, initial.q, initial.v, initial.forces, numbers)
    else:
        found = problem.straight()
        with contextlib.suppress(PlanError):  # a mesh of half the nodes may be too coarse
            found = problem.solved(max(nodes // 2, FIRST_SHOT), found, trapezoids=True).points
    for k in range(MESHES):
        solution = problem.solved((nodes - 1) * 2**k + 1, found, trapezoids=False)
        plan, found = problem.checked(solution), solution.points
        if tolerance is None or plan.deviation <= tolerance:
            return plan
    raise PlanError(
        f"the motion deviates by {plan.deviation:.3g} rad or m from the plan on a mesh of "
        f"{len(solution.points[0]) // 2 + 1} nodes, and tolerance is {tolerance:.3g}: give more "
        "nodes, or follow the plan with a controller",
        residuals={"deviation": plan.deviation},
    )


#: Times, positions, speeds, forces and parameters.
Points = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class _Solution:
    points: Points
    cost: float
    multipliers: Mapping[str, FloatArray]


class _Problem:
    """What is looked for, and how good a candidate is."""

    def __init__(
        self,
        robot: Robot,
        start: Any,
        goal: Any,
        duration: Any,
        cost: Any,
        constraints: Iterable[tuple[str, Callable[..., Any], Any, Any]],
        parameters: Mapping[str, Any],
        periodic: bool,
    ) -> None:
        try:
            import casadi
        except ImportError as error:
            raise MissingExtraError("casadi", "plan", "plans of motions") from error
        if robot.depends_on_time or robot.base == "moving":
            raise SettingsError(f"{robot.name!r} depends on time, which a plan does not")
        self._ca, self.robot = casadi, robot
        self.periodic = periodic
        self.start = self._end("start", start)
        self.goal = None if goal is None else self._end("goal", goal)
        given = duration if isinstance(duration, tuple | list) else (duration, duration)
        if len(given) != 2:
            raise ShapeError(
                f"duration is {duration!r}, expected seconds, or two between which it is free",
                name="duration",
            )
        low, high = given
        self.duration = number("duration", low), number("duration", high)
        if not 0.0 < self.duration[0] <= self.duration[1] < math.inf:
            raise SettingsError(f"duration is {duration!r}, expected times above 0")
        self.costs = self._costs(cost)
        self.constraints = [self._constraint(x) for x in constraints]
        self.motors = robot.actuation_matrix(robot.neutral()).shape[1]
        #: Accelerations are unknowns of their own where no loops have forces.
        self.free = 0 if robot.nc else robot.nv
        if not self.motors:
            raise SettingsError(f"{robot.name!r} has no motors")
        for name in by_name("parameters", parameters):
            if name not in robot.symbols:
                raise UnknownNameError("symbol", name, robot.symbols, repr(robot.name))
        self.names = tuple(x for x in robot.symbols if x in parameters)  # in their order
        self.ranges = np.array([parameters[x] for x in self.names], float).reshape(-1, 2)
        if not (self.ranges[:, 0] <= self.ranges[:, 1]).all():
            raise SettingsError("each of parameters= is between two values, the lesser first")
        self.point = self._point()

    # -- arguments ------------------------------------------------------------------------------

    def _end(self, what: str, given: Any) -> tuple[FloatArray, FloatArray]:
        """Positions and speeds of an end, NaN where they are free."""
        robot = self.robot
        if isinstance(given, Mapping):
            q = np.full(robot.nq, np.nan)
            for name, x in by_name(what, given).items():
                q[robot.joints[name].q] = x
            v = np.zeros(robot.nv)
        else:
            pair = isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1
            q, v = given if pair else (given, np.zeros(robot.nv))
            q = checked(what, q, robot.nq, of=robot.name).astype(float)
            v = checked(what, v, robot.nv, of=robot.name).astype(float)
            if q.ndim != 1 or v.ndim != 1:
                raise ShapeError(f"{what} has shape {q.shape}, expected one state", name=what)
            robot.check_state(q, v)
        beyond = (q < robot.lower_limits - AT_LIMIT) | (q > robot.upper_limits + AT_LIMIT)
        if beyond.any():
            raise SettingsError(
                f"{what} is beyond limits of position in q{np.flatnonzero(beyond).tolist()}, which "
                "the motion keeps"
            )
        return q, v

    def _costs(self, given: Any) -> list[tuple[Callable[[Any], Any], float]]:
        pairs = given.items() if isinstance(given, Mapping) else [(given, 1.0)]
        found = []
        for what, weight in pairs:
            if isinstance(what, str) and what not in COSTS:
                raise SettingsError(f"cost is {what!r}, expected {', '.join(COSTS)}, or a function")
            if not (isinstance(what, str) or callable(what)):
                raise ShapeError(f"cost is {what!r}, expected a name or a function", name="cost")
            found.append((COSTS[what] if isinstance(what, str) else what, number("cost", weight)))
        return found

    @staticmethod
    def _constraint(given: Any) -> tuple[str, Callable[..., Any], FloatArray, FloatArray]:
        try:
            name, function, lower, upper = given
            bounds = (
                np.atleast_1d(np.asarray(lower, float)),
                np.atleast_1d(np.asarray(upper, float)),
            )
            if not (isinstance(name, str) and callable(function)):
                raise TypeError
        except (TypeError, ValueError):
            raise ShapeError(
                f"a constraint is {given!r}, expected (name, function, lower, upper)",
                name="constraints",
            ) from None
        return name, function, bounds[0], bounds[1]

    # -- equations ------------------------------------------------------------------------------

    def _point(self) -> Any:
        """Of a state and unknowns: its rates, the cost's integrand, equations and constraints.

        Without loops ``inverse_dynamics`` is what motors give: its expressions are the shorter.
        """
        ca, robot = self._ca, self.robot
        q, v = ca.SX.sym("q", robot.nq), ca.SX.sym("v", robot.nv)
        known: Any = {"symbols": self.names} if self.names else {}
        p = ca.SX.sym("p", len(self.names))
        numbers = ca.vertsplit(p) if self.names else []
        forces, own_a = ca.SX.sym("f", self.motors), ca.SX.sym("a", self.free)
        B = robot.function("actuation_matrix").casadi()(q)
        tau = ca.reshape(B, robot.nv, self.motors) @ forces
        if self.free:
            a, left = (
                own_a,
                robot.function("inverse_dynamics", **known).casadi()(q, v, own_a, *numbers) - tau,
            )
        else:
            a, left = (
                robot.function("forward_dynamics", **known).casadi()(q, v, tau, *numbers),
                ca.SX(0, 1),
            )
        rates = robot.function("coordinate_rates").casadi()(q, v)
        named = dict(zip(self.names, numbers, strict=True))
        at = SimpleNamespace(q=q, v=v, a=a, tau=tau, forces=forces, parameters=named)
        integrand = sum(weight * function(at) for function, weight in self.costs)
        own = [ca.vertcat(ca.SX(function(at))) for _, function, _, _ in self.constraints]
        for (name, _, lower, upper), x in zip(self.constraints, own, strict=True):
            for bound in (lower, upper):
                if bound.shape[0] not in (1, x.shape[0]):
                    raise ShapeError(
                        f"constraint {name!r} returns {x.shape[0]} numbers, and a bound has "
                        f"{bound.shape[0]}",
                        name="constraints",
                    )
        self.sizes = [x.shape[0] for x in own]
        outputs = [ca.vertcat(rates, a), ca.SX(integrand), left, ca.vertcat(*own)]
        return ca.Function("point", [ca.vertcat(q, v), ca.vertcat(forces, own_a), p], outputs)

    def straight(self) -> Points:
        """The straight way from start to goal."""
        robot = self.robot
        q0 = np.where(np.isnan(self.start[0]), robot.neutral(), self.start[0])
        q1 = q0 if self.goal is None else np.where(np.isnan(self.goal[0]), q0, self.goal[0])
        times = np.linspace(0.0, sum(self.duration) / 2.0, 5)
        step = robot.difference(q0, q1)
        q = np.array([robot.integrate(q0, s * step) for s in np.linspace(0.0, 1.0, 5)])
        if robot.nc:
            q = np.array([robot.assemble(x) for x in q])
        v = np.tile(step / times[-1], (5, 1))
        numbers = np.array([robot.symbols[x] for x in self.names])
        return times, q, v, np.zeros((5, self.motors)), numbers

    def solved(self, nodes: int, guess: Points, trapezoids: bool) -> _Solution:
        """The motion of least cost on a mesh of so many nodes."""
        ca, robot = self._ca, self.robot
        count = nodes if trapezoids else 2 * nodes - 1
        n = robot.nq + robot.nv
        m = self.motors + self.free
        X, U, T = ca.MX.sym("x", n, count), ca.MX.sym("u", m, count), ca.MX.sym("T")
        P = ca.MX.sym("p", len(self.names))
        rates, L, left, c = self.point.map(count)(X, U, ca.repmat(P, 1, count))
        groups = dict(self._equations(X, rates, T, nodes, trapezoids))
        if self.free:
            groups["motors"] = left
        bounds = [(np.zeros(x.shape), np.zeros(x.shape)) for x in groups.values()]
        first = 0
        for (name, _, lower, upper), size in zip(self.constraints, self.sizes, strict=True):
            groups[f"constraint {name}"] = c[first : first + size, :]
            first += size
            wide = [
                np.repeat(np.broadcast_to(x, (size,))[:, None], count, 1) for x in (lower, upper)
            ]
            bounds.append((wide[0], wide[1]))
        if self.periodic:
            groups["periodic"] = X[:, -1] - X[:, 0]
            bounds.append((np.zeros((n, 1)), np.zeros((n, 1))))
        h = T / (nodes - 1)
        if trapezoids:
            cost = h * (ca.sum2(L) - (L[0] + L[-1]) / 2)
        else:
            cost = h / 6 * (2 * ca.sum2(L[0, ::2]) - L[0] - L[-1] + 4 * ca.sum2(L[0, 1::2]))
        z = ca.veccat(X, U, P, T)
        g = ca.veccat(*groups.values())
        solver = ca.nlpsol("plan", "ipopt", {"x": z, "f": cost, "g": g}, self._options())
        lower, upper = self._bounds(count)
        found = solver(
            x0=self._guess(guess, count), lbx=lower, ubx=upper,
            lbg=np.concatenate([x.ravel("F") for x, _ in bounds]),
            ubg=np.concatenate([x.ravel("F") for _, x in bounds]),
        )  # fmt: skip
        x = np.array(found["x"]).ravel()
        sizes = {name: int(np.prod(group.shape)) for name, group in groups.items()}
        if not solver.stats()["success"]:
            raise self._failure(solver.stats(), found, sizes, bounds)
        cuts = np.cumsum([*sizes.values()])[:-1]
        by_group = np.split(np.array(found["lam_g"]).ravel(), cuts)
        multipliers = dict(zip(sizes, by_group, strict=True))
        states = x[: n * count].reshape(count, n)
        numbers = x[(n + m) * count : -1]
        forces = x[n * count : (n + m) * count].reshape(count, m)[:, : self.motors]
        multipliers |= self._limits(np.array(found["lam_x"]).ravel(), count)
        times = np.linspace(0.0, x[-1], count)
        points = times, states[:, : robot.nq], states[:, robot.nq :], forces, numbers
        return _Solution(points, float(found["f"]), multipliers)

    def _options(self) -> dict[str, Any]:
        options = {
            "print_time": False,
            "ipopt.print_level": 0,
            "ipopt.sb": "yes",
            "error_on_fail": False,
        }
        return options

    def _equations(
        self, X: Any, rates: Any, T: Any, nodes: int, trapezoids: bool
    ) -> Iterator[tuple[str, Any]]:
        h = T / (nodes - 1)
        if trapezoids:
            yield "dynamics", X[:, 1:] - X[:, :-1] - h / 2 * (rates[:, 1:] + rates[:, :-1])
            return
        x, f = X[:, ::2], rates[:, ::2]
        yield "dynamics", x[:, 1:] - x[:, :-1] - h / 6 * (f[:, :-1] + 4 * rates[:, 1::2] + f[:, 1:])
        middle = (x[:, 1:] + x[:, :-1]) / 2 + h / 8 * (f[:, :-1] - f[:, 1:])
        yield "middles", X[:, 1::2] - middle

    def _bounds(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Of all unknowns."""
        robot = self.robot
        most = np.full(self.motors, np.inf)
        efforts = effort_bounds(robot)
        if len(efforts) == robot.nv and not robot.model.gearing.elsewhere:
            B = robot.actuation_matrix(robot.neutral())
            most = np.array([efforts[int(np.argmax(np.abs(column)))] for column in B.T])
        high = np.tile(np.append(robot.upper_limits, robot.velocity_limits), (count, 1))
        low = np.tile(np.append(robot.lower_limits, -robot.velocity_limits), (count, 1))
        for row, end in ((0, self.start), (-1, self.goal)):
            if end is not None:
                fixed = np.append(*end)
                known = np.isfinite(fixed)
                low[row, known] = high[row, known] = fixed[known]
        forces = np.tile(np.append(most, np.full(self.free, np.inf)), count)
        lower, upper = self.duration
        return (
            np.concatenate([low.ravel(), -forces, self.ranges[:, 0], [lower]]),
            np.concatenate([high.ravel(), forces, self.ranges[:, 1], [upper]]),
        )

    def _limits(self, multipliers: FloatArray, count: int) -> dict[str, FloatArray]:
        """Multipliers of bounds, by what they bound."""
        nq, n, m = self.robot.nq, self.robot.nq + self.robot.nv, self.motors + self.free
        states = multipliers[: n * count].reshape(count, n)
        return {
            "positions": states[:, :nq],
            "velocities": states[:, nq:],
            "forces": multipliers[n * count : (n + m) * count].reshape(count, m)[:, : self.motors],
            "parameters": multipliers[(n + m) * count : -1],
            "duration": multipliers[-1:],
        }

    def _guess(self, points: Points, count: int) -> FloatArray:
        """Unknowns on another mesh."""
        times, *arrays, numbers = points
        at = np.linspace(times[0], times[-1], count)
        q, v, f = (np.stack([np.interp(at, times, c) for c in x.T], axis=1) for x in arrays)
        for block in self.robot.model.blocks:
            if block.kind.coordinates.quaternion:
                own = slice(block.q.stop - 4, block.q.stop)
                q[:, own] /= np.linalg.norm(q[:, own], axis=1)[:, None]
        a = np.gradient(v, at, axis=0)[:, : self.free]
        by_point = np.hstack([q, v]).ravel(), np.hstack([f, a]).ravel()
        return np.concatenate([*by_point, numbers, [times[-1]]])

    def _failure(
        self, stats: Any, found: Any, sizes: Mapping[str, int], bounds: Sequence[Any]
    ) -> PlanError:
        """What is left of constraints where the search has ended."""
        g = np.array(found["g"]).ravel()
        weights = np.abs(np.array(found["lam_g"]).ravel())
        residuals, first, told = {}, 0, []
        for (name, size), (lower, upper) in zip(sizes.items(), bounds, strict=True):
            own = slice(first, first + size)
            first += size
            missed = np.maximum(lower.ravel("F") - g[own], g[own] - upper.ravel("F"))
            residuals[name] = float(missed.max(initial=0.0))
            told.append((residuals[name], float(weights[own].max(initial=0.0)), name))
        worst = ", ".join(f"{name} by {x:.3g}" for x, _, name in sorted(told)[::-1] if x > 1e-6)
        return PlanError(
            f"no motion was found ({stats['return_status']}): "
            + (f"missed are {worst}" if worst else "all constraints hold, but the cost still falls")
            + "; give more time, wider limits, or another initial motion",
            residuals=residuals,
        )

    # -- check ----------------------------------------------------------------------------------

    def checked(self, solution: _Solution) -> PlannedMotion:
        """The plan with the motion that its forces make."""
        robot, (times, q, v, forces, numbers) = self.robot, solution.points
        found = dict(zip(self.names, numbers.tolist(), strict=True))
        if found:
            whole = {**robot.symbols, **found}
            robot = Robot(with_values(robot.mechanism, whole), robot.model.settings)
        q = np.array([robot.integrate(x, np.zeros(robot.nv)) for x in q])  # unit quaternions
        if robot.nc:  # loops drift apart between nodes
            q = np.array([robot.assemble(x) for x in q])
            v = robot.consistent_velocity(q, v)
        B = robot.actuation_matrix(q)
        a = robot.forward_dynamics(q, v, (B @ forces[..., None])[..., 0])
        reference = PlannedReference(robot, times, q, v, a)
        table, step = _Quadratics(times, forces), times[2] / CHECKED

        def law(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            """Forces are held for a step: those in the middle of it."""
            return np.asarray(robot.actuation_matrix(q) @ table(t + 0.5 * step))

        run = simulate(
            robot, law, q0=q[0], v0=v[0], duration=times[-1], step=step, integrator="rk4",
            limits="ignore",
        )  # fmt: skip
        reached = run.q[:: CHECKED // 2][: len(q)]
        apart = robot.difference(q[: len(reached)], reached)
        deviation = float(np.abs(apart).max(initial=0.0))
        own = times, q, v, forces, found, robot
        return PlannedMotion(run, reference, *own, solution.cost, solution.multipliers, deviation)


class _Quadratics:
    """Forces between nodes: quadratics through both ends and the middle."""

    def __init__(self, times: FloatArray, forces: FloatArray) -> None:
        self._times, self._forces = times, forces

    def __call__(self, t: float) -> FloatArray:
        times = self._times[::2]
        k = 2 * min(max(int(np.searchsorted(times, t, side="right")) - 1, 0), len(times) - 2)
        s = 2.0 * (t - self._times[k]) / (self._times[k + 2] - self._times[k])
        weights = np.array([(s - 1) * (s - 2) / 2, s * (2 - s), s * (s - 1) / 2])
        return np.asarray(weights @ self._forces[k : k + 3])
