"""Iterations of iLQR: linearise a motion, solve the Riccati recursion, search along the line."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn import RobodynError, Robot, ShapeError, Trajectory, simulate
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, numbers, of_one_state
from robodyn.caller import warn
from robodyn.errors import ConvergenceWarning, InconsistentStateError, SingularError
from robodyn.simulation.limits.bounds import effort_bounds
from robodyn.simulation.loads.arguments import base_path, step_times, wrenches_on
from robodyn.simulation.loads.driven_joints import driven_joints
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.sensitivity.step_jacobian import StepJacobian

from ..support.plant import motor_speeds
from .forward_pass import ForwardPass, Samples
from .plan import Plan
from .plan_law import PlanLaw
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

    run: Samples | Trajectory
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
        self._every = list(motor_speeds(robot))
        self._motors = [k for k in self._every if k not in driven.speeds]
        self._planned = np.isin(self._every, self._motors)
        if not self._motors:
            left = " that no path drives" if driven else ""
            raise ShapeError(
                f"{robot.name!r} has no motors{left}, which a plan needs", name="robot"
            )
        self._most = _limits(robot, limits)[self._motors]
        self._law = PlanLaw(robot, self._times, tuple(self._motors), self._most)
        base, wrenches = base_path(given["base"], self._times), wrenches_on(given["wrenches"], ())
        loads = loads_on(robot, driven, base, wrenches)
        self._forward = ForwardPass(loads, given["integrator"], self._law)
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
        first = self._law.follow(self._first(self._holding(q0) if tau is None else tau))
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
        forces = motion.run.tau[:-1, self._motors]
        law = self._law.follow(np.clip(forces, -self._most, self._most))  # of cut, the last digit
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

    def _motion(self, run: Samples | Trajectory) -> _Motion:
        """A motion with its cost."""
        h, tau = np.diff(run.t), run.tau[:-1, self._every]
        n, nv, m = len(h), self._robot.nv, len(self._every)
        tau[:, ~self._planned] = 0.0
        at = self._cost.running_cost(run.t[:-1], run.q[:-1], run.v[:-1], tau)
        at = expanded("running_cost", at, n, 2 * nv + m)
        slope, curvature = at.slope, at.curvature
        if not self._planned.all():
            kept = np.concatenate([np.ones(2 * nv, bool), self._planned])
            slope, curvature = slope[:, kept], curvature[:, kept][:, :, kept]
        running = Expansion(h * at.value, h[:, None] * slope, h[:, None, None] * curvature)
        final = expanded("final_cost", self._cost.final_cost(run.q[-1:], run.v[-1:]), 1, 2 * nv)
        return _Motion(run, running, final)

    def _linearised(self, run: Samples | Trajectory) -> FloatArray:
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
        run = motion.run
        tables = run.q[:-1], run.v[:-1], run.tau[:-1, self._motors], forces.change, forces.gains
        self._law.lead(*tables)
        first = self._forward.motions(PARTS, run)
        for k, part in enumerate(PARTS):
            tried = self._tried(part, tables, run) if first is None else first[k]
            promised = -part * (forces.gain[0] + part * forces.gain[1])
            found = None if tried is None else self._motion(tried)
            if found is None or not motion.cost - found.cost >= ENOUGH * promised > 0.0:
                continue
            if first is None or not self._robot.nc or self._tried(part, tables, run) is not None:
                return found
        return None

    def _tried(
        self, part: float, tables: tuple[FloatArray, ...], run: Samples | Trajectory
    ) -> Trajectory | None:
        """The motion for a part of a change, as `simulate` has it; none where it breaks down."""
        law, start = self._law.lead(*tables, part=part), {"q0": run.q[0], "v0": run.v[0]}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of motions on the way
                return simulate(self._robot, law, **start, limits="ignore", **self._given)
        except RobodynError:
            return None


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
