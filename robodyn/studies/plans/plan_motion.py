"""Motions of least cost, found by direct collocation and IPOPT (extra ``plan``).

Positions, speeds and motor forces at the nodes of a mesh, and in the middle between, are unknowns.
Between nodes, states are cubics that satisfy the equations of motion at both ends and in the middle
[Hargraves, Paris 1987; Kelly 2017, 4], which Simpson's rule integrates. The first shot is with
trapezoids on half of the mesh, and smoother friction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from robodyn.arguments import checked_arguments
from robodyn.description.contact import Contact
from robodyn.errors import MissingExtraError, PlanError, SettingsError
from robodyn.robot import Robot
from robodyn.studies.plans.control_problem import (
    ControlProblem,
    beside,
    control_problem,
    refuse_too_short,
)
from robodyn.studies.plans.failure import failure
from robodyn.studies.plans.first_motion import again, smoother, straight
from robodyn.studies.plans.planned_motion import PlannedMotion, planned
from robodyn.studies.plans.transcription import Solution, Transcription

#: Nodes of the first shot at least: with fewer, its equations are more than its unknowns.
FIRST_SHOT = 6

#: Meshes that are tried for a tolerance.
MESHES = 4


@checked_arguments
def plan_motion(
    robot: Robot,
    *,
    start: Any,
    goal: Any = None,
    duration: Any,
    cost: Any = "torque",
    constraints: Iterable[tuple[Any, ...]] = (),
    parameters: Mapping[str, Any] | None = None,
    nodes: int = 50,
    periodic: bool = False,
    phases: Iterable[Mapping[str, Contact]] | None = None,
    initial: PlannedMotion | None = None,
    tolerance: float | None = None,
) -> PlannedMotion:
    """Plan a motion of least cost.

    Limits of positions, speeds and motor forces are kept at all nodes and between. Closed linkages
    are planned fastest in minimal coordinates, and in those of the tree if forces in joints count.

    Parameters
    ----------
    robot : Robot
    start, goal : array_like, shape (nq,), (q, v), or mapping of joint name to position, optional
        Where the motion begins and ends, at rest if no speeds are given. A mapping leaves joints
        that it does not name free: at rest they are all the same. Speeds of a floating base at the
        goal follow from contacts and momentum, if it is not named; of cycles all speeds are free.
    duration : float or (float, float) [s]
        Given, or between two; with ``phases`` a list with one for each.
    cost : str, callable, or mapping of either to a weight
        What is integrated over the time: ``"torque"`` (squares of motor forces), ``"time"``, or a
        function of a point of the motion with the attributes ``q``, ``v``, ``a``, ``tau``,
        ``forces``, ``contact_forces``, columns of symbols of CasADi, and the methods
        ``quantity(name, **options)``, as of `Robot.function`, and ``joint_wrench(joint)``.
    constraints : iterable of (name, function, lower, upper) or (..., "start") or (..., "goal")
        Functions of such a point, between bounds all along, or at one end alone.
    parameters : mapping of str to (float, float) or list of float, optional
        Numbers of the robot that have names (`symbol`, ``symbols=`` of `load`) and are unknown, as
        masses and springs are, between two values each. Of a list it is one of these: next to what
        it would be between them, all are tried. A point has them as ``parameters``.
    nodes : int
        Of the mesh, in each phase.
    periodic : bool
        It ends with the positions and speeds with which it begins.
    phases : iterable of mapping of link name to Contact, optional
        Contacts of one phase after the other. Forces stay within friction cones; contacts that are
        made are plastic impacts. Default: one phase, with the contacts of the robot.
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
    try:
        import casadi
    except ImportError as error:
        raise MissingExtraError("casadi", "plan", "plans of motions") from error
    given = control_problem(
        robot, start, goal, duration, cost, constraints, parameters, periodic, phases
    )  # fmt: skip
    if nodes < 3:
        raise SettingsError(f"nodes is {nodes}, expected 3 at least")
    refuse_too_short(given)
    found = straight(given) if initial is None else again(given, initial)
    postures = [x.q[0] for x in found[0]]

    def solved(nodes: int, simpson: bool, given: ControlProblem = given) -> Solution:
        mesh = Transcription(casadi, given, postures, nodes, simpson)
        mesh.check_ends()
        rows, bounds, guess = mesh.rows(), mesh.bounds(), mesh.guess(*found)
        end = mesh.blocks.solve(mesh.cost(), rows, bounds, guess)
        if end.status:
            raise failure(mesh, rows, end)
        return mesh.solution(end)

    if initial is None:
        with contextlib.suppress(PlanError):  # a mesh of half the nodes may be too coarse
            half = max(nodes // 2, FIRST_SHOT)
            first = solved(half, any(x.nc for x in given.robots), smoother(given))
            found = first.phases, first.parameters
    for k in range(MESHES):
        finer = (nodes - 1) * 2**k + 1
        solution = solved(finer, True)
        found = solution.phases, solution.parameters
        if any(x.size for x in given.tables):
            each = beside(given, solution.parameters)
            solution = _cheapest([partial(solved, finer, True, x) for x in each])
        plan = planned(given, solution)
        if tolerance is None or plan.deviation <= tolerance:
            return plan
    raise PlanError(
        f"the motion deviates by {plan.deviation:.3g} rad or m from the plan on a mesh of "
        f"{len(solution.phases[0].times) // 2 + 1} nodes, and tolerance is {tolerance:.3g}: give "
        "more nodes, or follow the plan with a controller",
        residuals={"deviation": plan.deviation},
    )


def _cheapest(searches: Sequence[Callable[[], Solution]]) -> Solution:
    """The solution of least cost; the last error if none finds one."""
    found, told = [], None
    for search in searches:
        try:
            found.append(search())
        except PlanError as error:
            told = error
    if not found and told is not None:
        raise told
    return min(found, key=lambda x: x.cost)
