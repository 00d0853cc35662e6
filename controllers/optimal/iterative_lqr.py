"""Trajectory optimisation by the iterative linear-quadratic regulator (iLQR)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError
from robodyn.arguments import checked_arguments
from robodyn.arrays import named_alone, number
from robodyn.literals import IntegratorName
from robodyn.simulation.loads.driven_joints import PathOfTime
from robodyn.simulation.loads.prescribed_loads import WrenchesAt

from .plan import Plan
from .plan_search import PlanSearch, Start
from .quadratic_cost import Cost


@checked_arguments
def iterative_lqr(
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
    cost : Cost
        Such as `QuadraticCost`.
    q0, v0 : array_like, shape (nq,), (nv,)
        Start. Default: at rest.
    duration, step : float [s]
        Forces are held in a step.
    tau : array_like, shape (n, nv), optional [N m, N]
        Forces to start with, one row for each step. Default: those that hold the robot at rest at
        its start, as far as its motors can.
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

    Returns
    -------
    plan : Plan

    Warns
    -----
    ConvergenceWarning
        If it has not converged; the plan is the best motion that was found.

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
    return search.plans({"": Start(q0, v0, tau)}, iterations, tolerance)[0]


def check_search(iterations: Any, tolerance: Any) -> None:
    """Check the number of iterations and the tolerance.

    Raises
    ------
    SettingsError
    """
    whole = isinstance(iterations, int | np.integer) and not isinstance(iterations, bool)
    if not (whole and iterations >= 0):
        raise SettingsError(f"iterations is {iterations!r}, expected a whole number >= 0")
    if not 0.0 <= number("tolerance", tolerance) < np.inf:
        raise SettingsError(f"tolerance is {tolerance!r}, expected a number >= 0")
