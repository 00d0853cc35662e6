"""Search for motions of least cost from many starts at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, ShapeError
from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import named_alone, numbers
from robodyn.literals import IntegratorName
from robodyn.simulation.loads.driven_joints import PathOfTime
from robodyn.simulation.loads.prescribed_loads import WrenchesAt

from .iterative_lqr import check_search
from .plan import Plan
from .plan_search import PlanSearch, Start
from .quadratic_cost import Cost


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
    base: Any = None,
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
    check_search(iterations, tolerance)
    search = PlanSearch(
        robot,
        cost,
        limits,
        duration=duration,
        step=step,
        integrator=integrator,
        base=base,
        controlled=controlled,
        locked=named_alone("locked", locked),
        wrenches=wrenches,
    )
    starts = {f"start {k}": start for k, start in enumerate(_starts(q0, v0, tau))}
    return search.plans(starts, iterations, tolerance)


def _starts(q0: ArrayLike, v0: ArrayLike | None, tau: ArrayLike | None) -> list[Start]:
    """The starts of all searches.

    Raises
    ------
    ShapeError
    """
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
    found = []
    for k in range(next(iter(several.values()), 1)):
        one = {name: x[k] if name in several else x for name, x in arrays.items()}
        found.append(Start(one["q0"], one.get("v0"), one.get("tau")))
    return found
