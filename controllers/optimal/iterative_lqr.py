"""Trajectory optimisation by the iterative linear-quadratic regulator (iLQR)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import PlannedMotion, Robot, SettingsError, ShapeError
from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import named_alone, numbers
from robodyn.literals import IntegratorName
from robodyn.simulation.loads.arguments import step_times
from robodyn.simulation.loads.driven_joints import PathOfTime
from robodyn.simulation.loads.prescribed_loads import BaseAt, WrenchesAt

from .plan_search import Plan, PlanSearch, Start
from .quadratic_cost import Cost


@checked_arguments
def iterative_lqr(
    robot: Robot,
    cost: Any,
    *,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    duration: float,
    step: float = 0.02,
    tau: ArrayLike | PlannedMotion | None = None,
    limits: ArrayLike | None = None,
    integrator: IntegratorName = "rk4",
    base: BaseAt | None = None,
    controlled: Mapping[str, PathOfTime] | None = None,
    locked: Iterable[str] = (),
    wrenches: Mapping[str, ArrayLike] | WrenchesAt | None = None,
    iterations: int = 200,
    tolerance: float = 1e-8,
    constraints: Iterable[tuple[str, Callable[..., Any], Any, Any]] = (),
    goal: Any = None,
) -> Plan:
    """Find the forces of motors that move a robot at the least cost.

    This is the iterative linear quadratic regulator [Li and Todorov 2004; Tassa, Mansard and
    Todorov 2014]. In each iteration, all steps of a motion are differentiated together, the
    backward pass (`riccati`) finds the best linear change of forces within the limits of motors,
    and the robot is simulated with the whole change or a fraction of it, so that the cost is
    reduced. The result is a local minimum; to find another one, start from other forces.
    `multistart_lqr` searches from many starts at once.

    Parameters
    ----------
    robot : Robot
    cost : Cost, str, callable, or mapping of either to a weight
        Such as `QuadraticCost`, or as of `robodyn.plan_motion`.
    q0, v0 : array_like, shape (nq,), (nv,)
        Start. Default: at rest.
    duration, step : float [s]
        Forces are held in a step.
    tau : array_like, shape (n, nv), or PlannedMotion, optional [N m, N]
        Forces to start with, one row for each step, or a plan of `robodyn.plan_motion` that has
        them. Default: those that hold the robot at rest at its start, as far as its motors can.
    limits : array_like, shape () or (nv,), optional [N m, N]
        Largest forces. Default: the effort limits of the joints, and torque limits of their motors
        through their gears.
    integrator : str
        Name of an explicit method.
    base : callable, optional
        Time [s] -> `BaseMotion`, of a robot with a moving base.
    controlled, locked
        Driven and locked joints, as in `robodyn.simulate`. The plan does not contain their motors,
        and the cost gets zero for their forces.
    wrenches : mapping of link name to array_like, shape (6,), or callable, optional
        External wrenches [N, N m]; a callable as of `robodyn.step_derivatives`.
    iterations : int
        Largest number of iterations.
    tolerance : float
        It has converged if a step of Newton's method would reduce the cost by less than this
        fraction.
    constraints, goal
        As of `robodyn.plan_motion`, kept where each step begins, and reached at the end: terms of
        an augmented Lagrangian, which are part of the costs of the plan. Need the extra ``plan``.

    Returns
    -------
    plan : Plan

    Warns
    -----
    ConvergenceWarning
        If it has not converged, or misses a constraint or the goal; the plan is the best motion
        that was found.

    Raises
    ------
    ShapeError
        For arrays of another shape, and a cost of another robot.
    SettingsError
        For negative iterations or tolerance, and as `robodyn.step_derivatives`.
    SimulationError
        If the robot cannot move under the first forces.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import QuadraticCost, iterative_lqr
    >>> robot = rd.load("double_pendulum")
    >>> cost = QuadraticCost(robot, [np.pi, 0.0], state=0.1, effort=1e-3, final=1000.0)
    >>> plan = iterative_lqr(robot, cost, q0=[0.0, 0.0], duration=1.5)
    >>> plan.converged, bool(np.abs(plan.run.q[-1] - [np.pi, 0.0]).max() < 0.02)
    (True, True)
    """
    given = dict(locals())
    del given["constraints"], given["goal"], given["tau"], given["cost"]
    if isinstance(tau, PlannedMotion):
        tau = _held(robot, tau, step_times(duration, step))
    own = callable(getattr(cost, "running_cost", None)) or not _of_plans(cost)
    constraints = tuple(constraints)
    if own and not constraints and goal is None:
        return _plans({"": Start(q0, v0, tau)}, cost=cost, **given)[0]
    from .augmented_cost import AugmentedCost, constrained_plan

    augmented = AugmentedCost(robot, cost, constraints, goal, step_times(duration, step))

    def search(forces: FloatArray | None) -> Plan:
        begun = Start(q0, v0, tau if forces is None else forces)
        return _plans({"": begun}, cost=augmented, **given)[0]

    return constrained_plan(augmented, search)


def _of_plans(cost: Any) -> bool:
    """Whether a cost is one as of `plan_motion`."""
    return isinstance(cost, str | Mapping) or callable(cost)


def _held(robot: Robot, plan: PlannedMotion, times: FloatArray) -> FloatArray:
    """Forces of a plan in the middle of each step, shape (n, nv)."""
    middle = (times[1:] + times[:-1]) / 2.0
    each = [np.interp(middle, plan.times, column) for column in plan.forces.T]
    B = robot.actuation_matrix(robot.neutral())
    return np.asarray(np.transpose(each) @ B.T)


def _plans(
    starts: Mapping[str, Start],
    robot: Robot,
    cost: Cost,
    *,
    limits: ArrayLike | None,
    iterations: int,
    tolerance: float,
    locked: Iterable[str],
    **given: Any,
) -> list[Plan]:
    """The plans from some starts; ``given``: other arguments, of which the start is in these."""
    if not iterations >= 0:
        raise SettingsError(f"iterations is {iterations!r}, expected a whole number >= 0")
    if not 0.0 <= tolerance < np.inf:
        raise SettingsError(f"tolerance is {tolerance!r}, expected a number >= 0")
    options = {name: x for name, x in given.items() if name not in Start._fields}
    search = PlanSearch(robot, cost, limits, locked=named_alone("locked", locked), **options)
    return search.plans(starts, iterations, tolerance)


@checked_arguments
def multistart_lqr(
    robot: Robot,
    cost: Cost,
    *,
    q0: ArrayLike,
    v0: ArrayLike | None = None,
    duration: float,
    step: float = 0.02,
    tau: ArrayLike | None = None,
    limits: ArrayLike | None = None,
    integrator: IntegratorName = "rk4",
    base: BaseAt | None = None,
    controlled: Mapping[str, PathOfTime] | None = None,
    locked: Iterable[str] = (),
    wrenches: Mapping[str, ArrayLike] | WrenchesAt | None = None,
    iterations: int = 200,
    tolerance: float = 1e-8,
) -> list[Plan]:
    """Find motions of least cost from many starts, the same as `iterative_lqr` finds for each.

    Starts are states, initial forces, or both: n of each, or one that is the same for all. Robots
    move from all starts at once, and their steps are differentiated together, by several threads if
    there are many. From different initial forces, searches may find several local minima, of which
    the best can be chosen.

    Parameters
    ----------
    robot : Robot
    cost : Cost
    q0, v0 : array_like, shape (n, nq) or (nq,), (n, nv) or (nv,)
        Default: at rest.
    duration, step : float [s]
    tau : array_like, shape (n, steps, nv) or (steps, nv), optional [N m, N]
        Default: forces that hold the robot where it starts.
    limits, integrator, base, controlled, locked, wrenches, iterations, tolerance
        As of `iterative_lqr`.

    Returns
    -------
    plans : list of Plan
        One for each start.

    Warns
    -----
    ConvergenceWarning
        For each search that has not converged.

    Raises
    ------
    ShapeError
        Also where numbers of starts differ.
    SettingsError
    SimulationError
        If the robot cannot move from a start under the first forces; it names the start.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import QuadraticCost, multistart_lqr
    >>> robot = rd.load("double_pendulum")
    >>> cost = QuadraticCost(robot, [np.pi, 0.0], state=0.1, effort=1e-3, final=1000.0)
    >>> plans = multistart_lqr(robot, cost, q0=[[0.0, 0.0], [0.5, 0.0]], duration=1.5)
    >>> [plan.converged for plan in plans]
    [True, True]
    """
    return _plans(_starts(q0, v0, tau), **locals())


def _starts(q0: ArrayLike, v0: ArrayLike | None, tau: ArrayLike | None) -> dict[str, Start]:
    """The starts of all searches, by their names in messages."""
    given = {"q0": (q0, 1), "v0": (v0, 1), "tau": (tau, 2)}
    arrays: dict[str, FloatArray] = {}
    for name, (x, of_one) in given.items():
        if x is None:
            continue
        arrays[name] = np.asarray(numbers(name, x), float)
        if arrays[name].ndim not in (of_one, of_one + 1):
            raise ShapeError(
                f"{name} has shape {arrays[name].shape}, expected {of_one} axes, or {of_one + 1} "
                "with one row a start first",
                name=name,
                given=arrays[name].shape,
            )
    several = {name: len(x) for name, x in arrays.items() if x.ndim > given[name][1]}
    if len({*several.values()}) > 1:
        told = ", ".join(f"{name} {count}" for name, count in several.items())
        raise ShapeError(f"numbers of starts differ: {told}", name=next(iter(several)))
    found = {}
    for k in range(next(iter(several.values()), 1)):
        one = {name: x[k] if name in several else x for name, x in arrays.items()}
        found[f"start {k}"] = Start(one["q0"], one.get("v0"), one.get("tau"))
    return found
