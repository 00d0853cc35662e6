"""Costs and constraints of `robodyn.plan_motion`, for the search of `iterative_lqr`.

Constraints and a goal become terms of the cost, an augmented Lagrangian [Nocedal, Wright 2006,
17.4]: of a number ``c`` between two bounds with the multiplier ``y`` and the penalty ``p`` it is
``p/2 d^2 - y^2/(2 p)``, with the distance ``d`` of ``c + y/p`` from the bounds. After each search,
``p d`` is the next multiplier, and the penalty grows where constraints are not missed by less.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from robodyn import Robot, SettingsError, Trajectory
from robodyn.array_types import Array, FloatArray
from robodyn.caller import warn
from robodyn.errors import ConvergenceWarning, MissingExtraError
from robodyn.studies.plans.control_problem import control_problem
from robodyn.studies.plans.point import Point, check_sizes
from robodyn.tolerances import CONSTRAINT_MISSED

from ..support.plant import motor_speeds
from .plan_search import Plan
from .quadratic_cost import Cost, Expansion, check_cost, without_negative

#: First penalty, the largest, and by what it grows where constraints are missed by more than a part
#: of what they were missed by before.
FIRST, MOST, GROWS, PART = 10.0, 1e8, 10.0, 0.25

#: Searches, each with other multipliers.
ROUNDS = 30


class AugmentedCost:
    """A cost with constraints and a goal, of which iLQR knows the terms.

    cost: A `Cost`, or one as of `robodyn.plan_motion`, as are constraints and goal.
    times (n + 1,): Of the steps of the motion [s].
    """

    def __init__(
        self,
        robot: Robot,
        cost: Any,
        constraints: Iterable[Any],
        goal: Any,
        times: FloatArray,
    ) -> None:
        try:
            import casadi
        except ImportError as error:
            raise MissingExtraError("casadi", "plan", "costs and constraints of plans") from error
        if robot.contacts:
            raise SettingsError(
                f"{robot.name!r} has contacts, whose forces iterative_lqr does not know: give it a "
                "cost with running_cost and final_cost, and no constraints or goal"
            )
        self.robot, self._ca, self._times = robot, casadi, times
        self._own: Cost | None = cost if hasattr(cost, "running_cost") else None
        if self._own is not None:
            check_cost(robot, self._own)
        planned = {"time": 0.0} if self._own is not None else cost
        given = control_problem(
            robot, {}, goal, float(times[-1]), planned, constraints, None, False, None
        )
        for x in given.constraints:
            if x.end is not None:
                raise SettingsError(
                    f"constraint {x.name!r} is of the {x.end} alone, and iterative_lqr keeps those "
                    "that hold all along: give goal=, or a final cost"
                )
        self._samples, self._bounds, self.names = self._running(given)
        self._end = None if given.goal is None else self._of_goal(*given.goal)
        self._along = _Terms(*self._bounds, len(times) - 1)
        count = 0 if self._end is None else self._end.size1_out(0)
        self._final = _Terms(np.zeros(count), np.zeros(count), 1)

    def running_cost(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> Expansion:
        """Costs per second at samples; see `Cost`."""
        value, slope, curvature, c, J = self._evaluated(q, v, tau)
        if self._own is None:
            own = Expansion(value, slope, without_negative(curvature))
        else:
            own = self._own.running_cost(t, q, v, tau)
        return self._along.added(own, c, J, np.searchsorted(self._times, t - 1e-12))

    def final_cost(self, q: FloatArray, v: FloatArray) -> Expansion:
        """Costs of states at the end; see `Cost`."""
        n = 2 * self.robot.nv
        own = Expansion(np.zeros(len(q)), np.zeros((len(q), n)), np.zeros((len(q), n, n)))
        if self._own is not None:
            own = self._own.final_cost(q, v)
        if self._end is None:
            return own
        c, J = _rows(self._end.map(len(q))(q.T, v.T), len(q))
        return self._final.added(own, c, J, np.zeros(len(q), int))

    def update(self, run: Trajectory) -> tuple[float, str]:
        """Take other multipliers; by how much what is missed most is missed, and its name."""
        tau = run.tau[:-1, list(motor_speeds(self.robot))]
        *_, c, _ = self._evaluated(run.q[:-1], run.v[:-1], tau)
        found = [(x, name) for x, name in zip(self._along.update(c), self.names, strict=True)]
        if self._end is not None:
            end, _ = _rows(self._end.map(1)(run.q[-1:].T, run.v[-1:].T), 1)
            found += [(x, "the goal") for x in self._final.update(end)]
        return max(found, default=(0.0, ""))

    # -- equations --------------------------------------------------------------------------------

    def _evaluated(self, q: FloatArray, v: FloatArray, tau: FloatArray) -> tuple[FloatArray, ...]:
        """Cost with slope and curvature, constraints with slopes, at samples."""
        n = len(q)
        value, slope, curvature, *rows = self._samples.map(n)(q.T, v.T, tau.T)
        return (value.full()[0], slope.full().T, _apart(curvature, n), *_rows(rows, n))

    def _moved(self) -> tuple[Any, Any, Any]:
        """Symbols of a position and a step along speeds, and where this leads."""
        ca, robot = self._ca, self.robot
        q, step = ca.SX.sym("q", robot.nq), ca.SX.sym("dq", robot.nv)
        return q, step, robot.function("integrate").casadi()(q, step)

    def _running(self, given: Any) -> tuple[Any, tuple[FloatArray, FloatArray], list[str]]:
        """Function of samples; bounds of constraints, and the name of each of their numbers."""
        ca, robot = self._ca, self.robot
        q, step, moved = self._moved()
        motors = list(motor_speeds(robot))
        v, u, tau = ca.SX.sym("v", robot.nv), ca.SX.sym("u", len(motors)), ca.SX(robot.nv, 1)
        tau[motors] = u
        B = np.asarray(robot.actuation_matrix(robot.neutral()), float)
        known = {
            "q": moved, "v": v, "tau": tau, "forces": ca.DM(np.linalg.pinv(B)) @ tau,
            "a": robot.function("forward_dynamics").casadi()(moved, v, tau),
            "contact_forces": {}, "parameters": {}, "a_controlled": ca.SX(0, 1), "tau_free": tau,
        }  # fmt: skip
        point = Point(ca, robot, known, 0)
        cost = ca.SX(sum(weight * function(point) for function, weight in given.costs))
        each = [ca.vertcat(ca.SX(x.function(point))) for x in given.constraints]
        sizes = [x.numel() for x in each]
        check_sizes(given.constraints, sizes)
        c, z = ca.vertcat(*each), ca.vertcat(step, v, u)
        curvature, slope = ca.hessian(cost, z)
        results = [cost, slope, curvature, c, ca.jacobian(c, z)]
        found = [ca.substitute(x, step, ca.SX.zeros(robot.nv)) for x in results]
        bounds = [
            np.concatenate([np.zeros(0), *(np.broadcast_to(getattr(x, side), (n,)) for x, n in zip(
                given.constraints, sizes, strict=True))])
            for side in ("lower", "upper")
        ]  # fmt: skip
        names = [
            f"constraint {x.name!r}"
            for x, n in zip(given.constraints, sizes, strict=True)
            for _ in range(n)
        ]
        return ca.Function("samples", [q, v, u], found), (bounds[0], bounds[1]), names

    def _of_goal(self, goal: FloatArray, speeds: FloatArray) -> Any:
        """Function of the end: what is left to the goal, and its slopes."""
        ca, robot = self._ca, self.robot
        q, step, moved = self._moved()
        v, known = ca.SX.sym("v", robot.nv), np.isfinite(goal)
        way = robot.function("difference").casadi()(ca.DM(np.nan_to_num(goal)), moved)
        wanted = [
            k for block in robot.model.blocks if known[block.q].all()
            for k in range(block.v.start, block.v.stop)
        ]  # fmt: skip
        rates = np.flatnonzero(np.isfinite(speeds))
        left = v[rates.tolist()] - ca.DM(speeds[rates])
        c, z = ca.vertcat(way[wanted], left), ca.vertcat(step, v)
        found = [
            ca.substitute(x, step, ca.SX.zeros(robot.nv)) for x in (c, ca.jacobian(c, z))
        ]  # fmt: skip
        return ca.Function("end", [q, v], found)


class _Terms:
    """The terms of constraints, each between two bounds, at samples."""

    def __init__(self, lower: FloatArray, upper: FloatArray, count: int) -> None:
        self._lower, self._upper = lower, upper
        self._multipliers = np.zeros((count, len(lower)))
        self._penalty, self._missed = FIRST, np.inf

    def added(self, own: Expansion, c: FloatArray, J: FloatArray, at: Array) -> Expansion:
        """A cost with these terms, of constraints and their slopes at some of the samples."""
        y, p = self._multipliers[at], self._penalty
        out = self._beyond(c + y / p)
        active = p * ((out != 0.0) | (self._lower == self._upper))
        return Expansion(
            own.value + np.sum(0.5 * p * out**2 - 0.5 / p * y**2, axis=-1),
            own.slope + p * np.einsum("nk,nkz->nz", out, J),
            own.curvature + np.einsum("nk,nky,nkz->nyz", active, J, J),
        )

    def update(self, c: FloatArray) -> FloatArray:
        """Take other multipliers; by how much each constraint is missed at most."""
        self._multipliers = self._penalty * self._beyond(c + self._multipliers / self._penalty)
        missed = np.asarray(np.abs(self._beyond(c)).max(axis=0, initial=0.0))
        most = float(missed.max(initial=0.0))
        if most > PART * self._missed:
            self._penalty = min(GROWS * self._penalty, MOST)
        self._missed = most
        return missed

    def _beyond(self, x: FloatArray) -> FloatArray:
        return np.asarray(x - np.clip(x, self._lower, self._upper))


def _apart(stacked: Any, n: int) -> FloatArray:
    """Matrices of n samples that stand side by side, one after the other."""
    found = stacked.full()
    rows, columns = found.shape
    return np.swapaxes(found.reshape(rows, n, columns // n), 0, 1)


def _rows(found: Any, n: int) -> tuple[FloatArray, FloatArray]:
    """Numbers of constraints at samples, and their slopes."""
    c, J = found
    return c.full().T, _apart(J, n)


def constrained_plan(cost: AugmentedCost, search: Callable[[FloatArray | None], Plan]) -> Plan:
    """The plan of searches with other multipliers, until constraints are kept.

    search: From forces to begin with, the plan of least cost.
    """
    forces, missed, name = None, np.inf, ""
    for _ in range(ROUNDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            plan = search(forces)
        missed, name = cost.update(plan.run)
        if missed <= CONSTRAINT_MISSED:
            break
        motors = list(motor_speeds(cost.robot))
        forces = np.zeros_like(plan.run.tau[:-1])
        forces[:, motors] = plan.run.tau[:-1, motors]
    reason = plan.reason
    if missed > CONSTRAINT_MISSED:
        reason = f"{name} is missed by {missed:.3g}"
    elif plan.converged:
        return plan
    warn(ConvergenceWarning(f"the plan for {cost.robot.name!r}: {reason}"))
    return dataclasses.replace(plan, converged=False, reason=reason)
