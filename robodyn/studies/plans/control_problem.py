"""The optimal control problem of a plan: ends, durations, costs, constraints and parameters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, checked, number
from robodyn.description.contact import Contact
from robodyn.errors import PlanError, SettingsError, ShapeError, UnknownNameError
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import limited_motors, motor_bounds, speed_bounds
from robodyn.simulation.loads.column_names import speed_names
from robodyn.studies.plans.point import Constraint
from robodyn.tolerances import AT_LIMIT

#: Integrands of costs that have names, of a point.
COSTS: Mapping[str, Callable[[Any], Any]] = {
    "torque": lambda x: x.forces.T @ x.forces,
    "time": lambda x: 1.0,
}

#: What may stand after the bounds of a constraint.
ENDS: tuple[list[str], ...] = ([], ["start"], ["goal"])

#: Positions and speeds of an end, NaN where they are free.
End = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class ControlProblem:
    """An optimal control problem, as the arguments of `plan_motion` state it, checked.

    robots, durations: One a phase; shortest and longest times [s].
    goal: ``None`` if it is free.
    costs: Functions of a point, and their weights.
    names, ranges, tables: Of parameters, shape (n, 2); values that each may have, empty for any.
    """

    robots: tuple[Robot, ...]
    start: End
    goal: End | None
    durations: tuple[tuple[float, float], ...]
    costs: tuple[tuple[Callable[[Any], Any], float], ...]
    constraints: tuple[Constraint, ...]
    names: tuple[str, ...]
    ranges: FloatArray
    tables: tuple[FloatArray, ...]
    periodic: bool


def control_problem(
    robot: Robot,
    start: Any,
    goal: Any,
    duration: Any,
    cost: Any,
    constraints: Iterable[Any],
    parameters: Mapping[str, Any] | None,
    periodic: bool,
    phases: Iterable[Mapping[str, Contact]] | None,
) -> ControlProblem:
    """The arguments of `plan_motion`, checked."""
    if robot.depends_on_time or robot.base == "moving":
        raise SettingsError(f"{robot.name!r} depends on time, which a plan does not")
    if not robot.actuated_joints:
        raise SettingsError(f"{robot.name!r} has no motors")
    robots = (robot,) if phases is None else tuple(robot.with_(contacts=x) for x in phases)
    if not robots:
        raise SettingsError("phases is empty, expected the contacts of each phase")
    if parameters and (phases is not None or robot.contacts):
        raise SettingsError("parameters are not unknowns beside contacts: give them numbers")
    names, ranges, tables = _parameters(robot, parameters or {})
    return ControlProblem(
        robots,
        _end(robot, "start", start, moving=periodic),
        None if goal is None else _end(robot, "goal", goal),
        _durations(duration, None if phases is None else len(robots)),
        tuple(_costs(cost)),
        tuple(_constraints([*constraints, *_coupled_motors(robot)])),
        names,
        ranges,
        tables,
        periodic,
    )


def _end(robot: Robot, what: str, given: Any, moving: bool = False) -> End:
    """Positions and speeds; of a mapping, joints are at rest unless they may be moving."""
    if isinstance(given, Mapping):
        q = np.full(robot.nq, np.nan)
        for name, x in by_name(what, given).items():
            q[robot.joints[name].q] = x
        v = np.full(robot.nv, np.nan if moving else 0.0)
        base = (
            robot.joints["floating_base"] if what == "goal" and robot.base == "floating" else None
        )
        if base is not None and np.isnan(q[base.q]).all():
            v[base.v] = np.nan  # which follow from contacts, or from momentum
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
    fast = np.abs(v) > speed_bounds(robot) * (1.0 + AT_LIMIT)
    if fast.any():
        raise SettingsError(
            f"{what} is beyond limits of velocity in v{np.flatnonzero(fast).tolist()}, which the "
            "motion keeps"
        )
    return q, v


def _durations(given: Any, phases: int | None) -> tuple[tuple[float, float], ...]:
    """Shortest and longest times of each phase; ``None`` phases are one without a list."""
    each: Sequence[Any] = [given]
    if phases is not None:
        if not isinstance(given, list | tuple) or len(given) != phases:
            raise ShapeError(
                f"duration is {given!r}, expected one for each of {phases} phases", name="duration"
            )
        each = given
    found = []
    for one in each:
        pair = one if isinstance(one, tuple | list) else (one, one)
        if len(pair) != 2:
            raise ShapeError(
                f"duration is {one!r}, expected seconds, or two between which it is free",
                name="duration",
            )
        low, high = number("duration", pair[0]), number("duration", pair[1])
        if not 0.0 < low <= high < math.inf:
            raise SettingsError(f"duration is {one!r}, expected times above 0")
        found.append((low, high))
    return tuple(found)


def _costs(given: Any) -> Iterable[tuple[Callable[[Any], Any], float]]:
    for what, weight in given.items() if isinstance(given, Mapping) else [(given, 1.0)]:
        if isinstance(what, str) and what not in COSTS:
            raise SettingsError(f"cost is {what!r}, expected {', '.join(COSTS)}, or a function")
        if not (isinstance(what, str) or callable(what)):
            raise ShapeError(f"cost is {what!r}, expected a name or a function", name="cost")
        yield COSTS[what] if isinstance(what, str) else what, number("cost", weight)


def _constraints(given: Iterable[Any]) -> Iterator[Constraint]:
    known: set[str] = set()
    for one in given:
        try:
            name, function, lower, upper, *rest = one
            lower, upper = (np.atleast_1d(np.asarray(x, float)) for x in (lower, upper))
            if not (isinstance(name, str) and callable(function)) or rest not in ENDS:
                raise TypeError
        except (TypeError, ValueError):
            raise ShapeError(
                f"a constraint is {one!r}, expected (name, function, lower, upper), and then "
                "'start' or 'goal' if it is of this end alone",
                name="constraints",
            ) from None
        if not (lower <= upper).all():
            raise SettingsError(
                f"constraint {name!r} is between {lower} and {upper}: the lesser first"
            )
        if name in known:
            raise SettingsError(f"two constraints are called {name!r}")
        known.add(name)
        yield Constraint(name, function, lower, upper, *rest)


def _coupled_motors(robot: Robot) -> Iterator[tuple[Any, ...]]:
    """The limits of torques of motors that a transmission couples."""
    places = np.arange(len(robot.gear_ratios))
    moved = np.concatenate([places[robot.model.gearing.places[x]] for x in robot.actuated_joints])
    for x in limited_motors(robot):
        rows = x.torques(np.eye(len(places)))[moved].T
        top = motor_bounds(x)
        function = lambda point, rows=rows: type(point.forces)(rows) @ point.forces  # noqa: E731
        yield f"torques of the motors of {', '.join(x.joints)}", function, -top, top


def _parameters(
    robot: Robot, given: Mapping[str, Any]
) -> tuple[tuple[str, ...], FloatArray, tuple[FloatArray, ...]]:
    """Names in the order of the robot, ranges, and tables, which are empty for all between two."""
    for name in by_name("parameters", given):
        if name not in robot.symbols:
            raise UnknownNameError("symbol", name, robot.symbols, repr(robot.name))
    names = tuple(x for x in robot.symbols if x in given)
    ranges, tables = [], []
    for name in names:
        flat, between = np.ndim(given[name]) == 1, isinstance(given[name], tuple)
        size = len(given[name]) if flat else 0
        if not size or (between and size != 2):
            raise ShapeError(
                f"parameters[{name!r}] is {given[name]!r}, expected two values between which it "
                "is, (low, high), or a list of all that it may have",
                name="parameters",
            )
        values = checked(f"parameters[{name!r}]", given[name], None).astype(float)
        if between and values[0] > values[1]:
            raise SettingsError(f"parameters[{name!r}] is between two values, the lesser first")
        ranges.append((values.min(), values.max()))
        tables.append(np.zeros(0) if between else np.unique(values))
    return names, np.reshape(ranges, (-1, 2)), tuple(tables)


def beside(problem: ControlProblem, relaxed: FloatArray) -> Iterator[ControlProblem]:
    """The same with parameters of tables fixed, each at the values next to the one it had."""
    choices = []
    for k, (table, x) in enumerate(zip(problem.tables, relaxed, strict=True)):
        if not table.size:
            choices.append([tuple(problem.ranges[k])])
            continue
        after = int(np.clip(np.searchsorted(table, x), 1, len(table) - 1)) if len(table) > 1 else 0
        choices.append([(y, y) for y in np.unique(table[max(after - 1, 0) : after + 1]).tolist()])
    for some in itertools.product(*choices):
        yield replace(problem, ranges=np.reshape(some, (-1, 2)))


def refuse_too_short(problem: ControlProblem) -> None:
    """Check that limits of velocity let joints reach the goal in the longest time.

    Raises PlanError: With the joint that needs the most.
    """
    robot, goal = problem.robots[0], problem.goal
    if goal is None or not robot.joints.coordinates_add:
        return
    way = np.nan_to_num(np.abs(goal[0] - problem.start[0]))
    needed = way / speed_bounds(robot)
    longest, k = sum(high for _, high in problem.durations), int(needed.argmax())
    if needed[k] > longest * (1.0 + AT_LIMIT):
        raise PlanError(
            f"{speed_names(robot)[k]!r} has {way[k]:.4g} rad or m to go, for which its limit of "
            f"velocity needs {needed[k]:.4g} s, and the motion has {longest:.4g} s: give more time",
            residuals={"duration": float(needed[k] - longest)},
        )
