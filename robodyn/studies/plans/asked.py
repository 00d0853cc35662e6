"""What a plan is asked for: ends, durations, costs, constraints and parameters, checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, checked, number, shaped
from robodyn.description.contact import Contact
from robodyn.errors import PlanError, SettingsError, ShapeError, UnknownNameError
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import speed_bounds
from robodyn.simulation.loads.column_names import speed_names
from robodyn.studies.plans.point import Constraint
from robodyn.tolerances import AT_LIMIT

#: Integrands of costs that have names, of a point.
COSTS: Mapping[str, Callable[[Any], Any]] = {
    "torque": lambda x: x.forces.T @ x.forces,
    "time": lambda x: 1.0,
}

#: Positions and speeds of an end, NaN where they are free.
End = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Asked:
    """The arguments of `plan_motion`.

    robots, durations: One a phase; shortest and longest times [s].
    goal: ``None`` if it is free.
    costs: Functions of a point, and their weights.
    names, ranges: Of parameters, shape (n, 2).
    """

    robots: tuple[Robot, ...]
    start: End
    goal: End | None
    durations: tuple[tuple[float, float], ...]
    costs: tuple[tuple[Callable[[Any], Any], float], ...]
    constraints: tuple[Constraint, ...]
    names: tuple[str, ...]
    ranges: FloatArray
    periodic: bool


def asked(
    robot: Robot,
    start: Any,
    goal: Any,
    duration: Any,
    cost: Any,
    constraints: Iterable[Any],
    parameters: Mapping[str, Any] | None,
    periodic: bool,
    phases: Iterable[Mapping[str, Contact]] | None,
) -> Asked:
    """The arguments of `plan_motion`, checked."""
    if robot.depends_on_time or robot.base == "moving":
        raise SettingsError(f"{robot.name!r} depends on time, which a plan does not")
    if not robot.actuated_joints:
        raise SettingsError(f"{robot.name!r} has no motors")
    robots = (robot,) if phases is None else tuple(robot.with_(contacts=x) for x in phases)
    if not robots:
        raise SettingsError("phases is empty, expected the contacts of each phase")
    names, ranges = _parameters(robot, parameters or {})
    limited = [_constraint(x) for x in constraints]
    for name, count in Counter(x[0] for x in limited).items():
        if count > 1:
            raise SettingsError(f"{count} constraints are called {name!r}: give each its own name")
    return Asked(
        robots,
        _end(robot, "start", start),
        None if goal is None else _end(robot, "goal", goal),
        _durations(duration, None if phases is None else len(robots)),
        tuple(_costs(cost)),
        tuple(limited),
        names,
        ranges,
        periodic,
    )


def _end(robot: Robot, what: str, given: Any) -> End:
    if isinstance(given, Mapping):
        q = np.full(robot.nq, np.nan)
        for name, x in by_name(what, given).items():
            q[robot.joints[name].q] = x
        v = np.zeros(robot.nv)
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


def _constraint(given: Any) -> Constraint:
    try:
        name, function, *bounds = given
        lower, upper = (np.atleast_1d(np.asarray(x, float)) for x in bounds)
        if not (isinstance(name, str) and callable(function)):
            raise TypeError
    except (TypeError, ValueError):
        raise ShapeError(
            f"a constraint is {given!r}, expected (name, function, lower, upper)",
            name="constraints",
        ) from None
    if not (lower <= upper).all():
        raise SettingsError(f"constraint {name!r} is between {lower} and {upper}: the lesser first")
    return name, function, lower, upper


def _parameters(robot: Robot, given: Mapping[str, Any]) -> tuple[tuple[str, ...], FloatArray]:
    for name in by_name("parameters", given):
        if name not in robot.symbols:
            raise UnknownNameError("symbol", name, robot.symbols, repr(robot.name))
    names = tuple(x for x in robot.symbols if x in given)  # in their order
    rows = [shaped(f"parameters[{x!r}], between two values,", given[x], 2) for x in names]
    ranges = np.vstack([np.zeros((0, 2)), *rows])
    if len(ranges) != len(names) or not (ranges[:, 0] <= ranges[:, 1]).all():
        raise SettingsError("each of parameters= is between two values, the lesser first")
    return names, ranges


def refuse_too_short(asked: Asked) -> None:
    """Check that limits of velocity let joints reach the goal in the longest time.

    Raises PlanError: With the joint that needs the most.
    """
    robot, goal = asked.robots[0], asked.goal
    if goal is None or not robot.joints.coordinates_add:
        return
    way = np.nan_to_num(np.abs(goal[0] - asked.start[0]))
    needed = way / speed_bounds(robot)
    longest, k = sum(high for _, high in asked.durations), int(needed.argmax())
    if needed[k] > longest * (1.0 + AT_LIMIT):
        raise PlanError(
            f"{speed_names(robot)[k]!r} has {way[k]:.4g} rad or m to go, for which its limit of "
            f"velocity needs {needed[k]:.4g} s, and the motion has {longest:.4g} s: give more time",
            residuals={"duration": float(needed[k] - longest)},
        )
