"""Iterations of iLQR: linearise a motion, solve the Riccati recursion, search along the line."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, ShapeError, SimulationError, Trajectory, rollout, simulate
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, numbers, of_one_state
from robodyn.caller import warn
from robodyn.errors import ConvergenceWarning, InconsistentStateError, SingularError
from robodyn.simulation.limits.bounds import effort_bounds
from robodyn.simulation.loads.arguments import base_path, step_times, wrenches_on
from robodyn.simulation.loads.driven_joints import driven_joints
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.sensitivity.step_jacobian import StepJacobian

from ..support.linear_feedback import state_error
from ..support.plant import motor_speeds
from .plan import Plan
from .quadratic_cost import Cost, Expansion, expanded
from .riccati import Forces, best_forces

__all__ = ["PlanSearch"]

#: Parts of a change of forces that are tried, one after the other.
PARTS = 0.5 ** np.arange(10)

#: A change is taken if it makes this part of the gain that it promises.
ENOUGH = 1e-3

#: Damping: at the start, least (below it, zero), largest, and the factor by which it changes.
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING, DAMPING_FACTOR = 1e-3, 1e-8, 1e10, 5.0


@dataclass(frozen=True, eq=False)
class _Motion:
    """A motion with what it costs."""

    run: Trajectory
    running: Expansion
    final: Expansion

    @property
    def cost(self) -> float:
        return float(self.running.value.sum() + self.final.value.sum())


class PlanSearch:
    """The search for a motion of least cost: robot, cost, limits and steps."""

    def __init__(self, robot: Robot, cost: Cost, limits: ArrayLike | None, **given: Any) -> None:
        _check_cost(robot, cost)
        self._robot, self._cost, self._given = robot, cost, given
        self._times = step_times(given["duration"], given["step"])
        driven = driven_joints(robot, given["controlled"], given["locked"], self._times)
        self._error = state_error(robot)
        self._motors = [k for k in motor_speeds(robot) if k not in driven.speeds]
        if not self._motors:
            left = " that no path drives" if driven else ""
            raise ShapeError(
                f"{robot.name!r} has no motors{left}, which a plan needs", name="robot"
            )
        self._most = _limits(robot, limits)[self._motors]
        base, wrenches = base_path(given["base"], self._times), wrenches_on(given["wrenches"], ())
        loads = loads_on(robot, driven, base, wrenches)
        self._jacobian = StepJacobian(loads, given["integrator"])

    def plan(
        self,
        q0: ArrayLike,
        v0: ArrayLike | None,
        tau: ArrayLike | None,
        iterations: int,
        tolerance: float,
    ) -> Plan:
        """The best motion that is found from some forces."""
        first = self._law(self._first(self._holding(q0) if tau is None else tau))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of motions on the way
            run = simulate(self._robot, first, q0=q0, v0=v0, limits="ignore", **self._given)
        motion = self._motion(run)
        F = self._linearised(motion.run)
        costs, damping, converged = [motion.cost], FIRST_DAMPING, False
        reason = f"not converged in {iterations} iterations"
        undamped: _Motion | None = None
        for _ in range(iterations):
            forces = self._forces(motion, F, damping)
            promised = 0.0 if forces is None else -sum(forces.gain)
            if forces is not None and promised <= tolerance * abs(motion.cost):
                # damping hides slopes along which the cost is flat: it is left out to judge them
                exact = forces if damping == 0.0 else self._forces(motion, F, 0.0)
                small = exact is None or -sum(exact.gain) <= tolerance * abs(motion.cost)
                if small and damping <= FIRST_DAMPING:
                    converged, reason = True, "converged"
                    break
                if not small and motion is undamped:
                    reason = "no change of forces makes it cheaper"
                    break
                undamped, damping = motion, _less(damping) if small else 0.0
                continue
            better = None if forces is None else self._better(motion, forces)
            if better is None:
                damping = max(damping * DAMPING_FACTOR, FIRST_DAMPING)
                if damping > MAX_DAMPING:
                    reason = "no change of forces makes it cheaper"
                    break
                continue
            motion, F, damping = better, self._linearised(better.run), _less(damping)
            costs.append(motion.cost)
        if not converged:
            warn(ConvergenceWarning(f"the plan for {self._robot.name!r}: {reason}"))
        best = self._forces(motion, F, 0.0) or self._forces(motion, F, MAX_DAMPING)
        assert best is not None
        law = self._law(motion.run.tau[:-1, self._motors])
        run = simulate(self._robot, law, q0=q0, v0=v0, **self._given)
        return Plan(run, best.gains, np.array(costs), converged, reason)

    def _holding(self, q0: ArrayLike) -> FloatArray:
        """Forces that hold the robot where it starts, as far as motors can, a row a step."""
        robot, rows = self._robot, np.zeros((len(self._times) - 1, self._robot.nv))
        base, still = self._given["base"], np.zeros(robot.nv)
        options = {} if base is None else {"base": base(0.0)}
        if robot.depends_on_time:
            options["t"] = 0.0
        q = of_one_state("q0", q0, robot.nq)
        try:
            rows[:, self._motors] = robot.inverse_dynamics(q, still, still, **options)[self._motors]
        except (InconsistentStateError, SingularError):
            pass  # simulate says what is wrong, and nothing else can be held there
        return rows

    def _first(self, tau: ArrayLike) -> FloatArray:
        """Forces of motors to begin with, a row a step."""
        n, nv = len(self._times) - 1, self._robot.nv
        given = checked("tau", tau, nv)
        others = np.delete(given, self._motors, axis=-1)
        if given.shape != (n, nv) or others.any():
            raise ShapeError(
                f"tau has shape {given.shape}, expected ({n}, {nv}): a row a step, with zeros "
                "where there is no motor",
                name="tau",
                given=given.shape,
                expected=(n, nv),
            )
        return np.clip(given[:, self._motors], -self._most, self._most)

    def _law(
        self, table: FloatArray, run: Trajectory | None = None, gains: FloatArray | None = None
    ) -> Callable[[float, FloatArray, FloatArray], FloatArray]:
        """Tabulated forces and gains times the deviation of states from a motion, within limits.

        Parameters
        ----------
        table : ndarray, shape (n, m) or (n, motions, m)
        run : Trajectory, optional
        gains : ndarray, shape (n, m, 2 nv), optional
        """
        times, motors, most = self._times.tolist(), self._motors, self._most
        pulls = None if gains is None else np.swapaxes(gains, -1, -2)

        def law(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            tau, k = np.zeros(v.shape), bisect_right(times, t) - 1
            if k == len(table):
                return tau
            u = table[k]
            if pulls is not None and run is not None:
                u = u + self._error(q, v, run.q[k], run.v[k]) @ pulls[k]
            tau[..., motors] = np.minimum(np.maximum(u, -most), most)
            return tau

        return law

    def _motion(self, run: Trajectory) -> _Motion:
        """A motion with its cost."""
        h, every = np.diff(run.t), list(motor_speeds(self._robot))
        n, nv, m = len(h), self._robot.nv, len(every)
        planned = np.isin(every, self._motors)
        tau = np.where(planned, run.tau[:-1, every], 0.0)
        at = self._cost.running_cost(run.t[:-1], run.q[:-1], run.v[:-1], tau)
        at = expanded("running_cost", at, n, 2 * nv + m)
        kept = np.concatenate([np.ones(2 * nv, bool), planned])
        slope, curvature = at.slope[:, kept], at.curvature[:, kept][:, :, kept]
        running = Expansion(h * at.value, h[:, None] * slope, h[:, None, None] * curvature)
        final = expanded("final_cost", self._cost.final_cost(run.q[-1:], run.v[-1:]), 1, 2 * nv)
        return _Motion(run, running, final)

    def _linearised(self, run: Trajectory) -> FloatArray:
        """Derivatives of all steps by state and forces of motors, shape (n, 2 nv, 2 nv + m)."""
        nv, t = self._robot.nv, run.t[:, None]
        h = np.diff(t, axis=0)
        q, v = self._jacobian(t[:-1], run.q[:-1], run.v[:-1], run.tau[:-1], h)
        columns = [*range(2 * nv), *(2 * nv + k for k in self._motors)]
        return np.ascontiguousarray(
            np.concatenate([q.derivative, v.derivative], axis=1)[:, :, columns]
        )

    def _forces(self, motion: _Motion, F: FloatArray, damping: float) -> Forces | None:
        tau = motion.run.tau[:-1, self._motors]
        room = -self._most - tau, self._most - tau
        return best_forces(F, motion.running, motion.final, *room, damping)

    def _better(self, motion: _Motion, forces: Forces) -> _Motion | None:
        """The motion with the largest part of a change of forces that lowers the cost enough."""
        tau = motion.run.tau[:-1, self._motors]
        tables = tau[:, None] + PARTS[:, None] * forces.change[:, None]
        for part, run in zip(PARTS, self._tried(tables, motion.run, forces.gains), strict=True):
            promised = -part * (forces.gain[0] + part * forces.gain[1])
            found = None if run is None else self._motion(run)
            if found is not None and motion.cost - found.cost >= ENOUGH * promised > 0.0:
                return found
        return None

    def _tried(
        self, tables: FloatArray, run: Trajectory, gains: FloatArray
    ) -> Iterator[Trajectory | None]:
        """Motions under laws near one, one a row of the tables; none where one breaks down."""
        law, count = self._law(tables, run, gains), tables.shape[1]
        start = (np.repeat(x[:1], count, axis=0) for x in (run.q, run.v))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of motions on the way
                runs = rollout(self._robot, law, *start, limits="ignore", **self._given)
        except SimulationError:
            rows = (tables[:, [k]] for k in range(count))
            alone = (self._tried(x, run, gains) for x in rows) if count > 1 else ()
            yield from chain.from_iterable(alone) if count > 1 else (None,)
            return
        yield from (runs.motion(k) for k in range(count))


def _check_cost(robot: Robot, cost: Cost) -> None:
    """Refuse what says no costs, or those of another robot."""
    if not all(callable(getattr(cost, name, None)) for name in ("running_cost", "final_cost")):
        raise ShapeError(
            f"cost is {type(cost).__name__}, expected a robodyn.controllers.QuadraticCost, or "
            "another object with running_cost and final_cost",
            name="cost",
            given=cost,
        )
    of = getattr(cost, "robot", robot)
    if (of.nq, of.nv, motor_speeds(of)) != (robot.nq, robot.nv, motor_speeds(robot)):
        raise ShapeError(
            f"cost is one of {of.name!r}, whose coordinates or motors are not those of "
            f"{robot.name!r}",
            name="cost",
            given=of.name,
            expected=robot.name,
        )


def _less(damping: float) -> float:
    return damping / DAMPING_FACTOR if damping > MIN_DAMPING else 0.0


def _limits(robot: Robot, given: ArrayLike | None) -> FloatArray:
    """Largest forces, shape (nv,) [N m, N]."""
    if given is None:
        return effort_bounds(robot)
    limits = np.asarray(numbers("limits", given), float)
    if limits.shape not in ((), (robot.nv,)) or not np.all(limits > 0.0):
        raise ShapeError(
            f"limits is {given!r}, expected a positive number or {robot.nv}: the largest forces",
            name="limits",
            given=given,
            expected=(robot.nv,),
        )
    return np.array(np.broadcast_to(limits, (robot.nv,)))
