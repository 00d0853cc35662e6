"""A plan, and its search by the iterations of iLQR.

Each linearises a motion, solves the Riccati recursion, and searches along the line.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robodyn import RobodynError, Robot, ShapeError, Trajectory, get_num_threads, simulate
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, numbers, of_one_state
from robodyn.caller import warn
from robodyn.errors import (
    ConvergenceWarning,
    InconsistentStateError,
    SimulationError,
    SingularError,
)
from robodyn.simulation.limits.bounds import joint_bounds_alone
from robodyn.simulation.loads.arguments import base_path, step_times, wrenches_on
from robodyn.simulation.loads.driven_joints import driven_joints
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.sensitivity.step_jacobian import StepJacobian

from ..support.motor_torques import standing_forces, stands
from ..support.plant import motor_speeds
from .descent import Descent, MotionCost
from .forward_pass import ForwardPass, PlanLaw, Samples, Tables
from .quadratic_cost import Cost, Expansion, check_cost, expanded
from .riccati import Forces, best_forces


@dataclass(frozen=True, eq=False)
class Plan:
    """A motion and the forces that make it.

    Attributes
    ----------
    run : Trajectory
        The motion, as `robodyn.simulate` computes it from these forces, one sample for each step.
    gains : ndarray, shape (n, m, 2 nv)
        Gains of the optimal feedback near the motion, from deviations of positions and speeds to
        changes of the forces of the m motors; zero for forces at a limit.
    costs : ndarray, shape (iterations + 1,)
        Costs of the successive motions.
    converged : bool
        The gradient of the cost with respect to forces is small, except for forces at limits.
    reason : str
        Why the search ended.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import QuadraticCost, iterative_lqr
    >>> robot = rd.load("double_pendulum")
    >>> cost = QuadraticCost(robot, goal=[0.5, 0.0])
    >>> plan = iterative_lqr(robot, cost, q0=[0.0, 0.0], duration=0.5, step=0.05)
    >>> plan.converged, bool(plan.costs[-1] <= plan.costs[0])
    (True, True)
    """

    run: Trajectory
    gains: FloatArray
    costs: FloatArray
    converged: bool
    reason: str

    def __repr__(self) -> str:
        return (
            f"<Plan of {self.run.t[-1]:g} s: cost {self.costs[-1]:.6g} after "
            f"{len(self.costs) - 1} iterations, {self.reason}>"
        )


#: Fractions of a change of forces that are tried, one after the other.
PARTS = np.asarray(0.5 ** np.arange(10), float)

#: A change is accepted if it reduces the cost by at least this fraction of the expected reduction.
ENOUGH = 1e-3

#: Number of steps that are differentiated together; those of one motion always are.
TOGETHER = 4096

#: Arrays of a sample.
STATES = ("q", "v", "tau")


class Start(NamedTuple):
    """Start of a search.

    Attributes
    ----------
    q0, v0 : array_like, shape (nq,), (nv,)
        The state; at rest if no speeds are given.
    tau : array_like, shape (n, nv), or None
        Forces, one row for each step. ``None``: those that hold the robot.
    """

    q0: ArrayLike
    v0: ArrayLike | None
    tau: ArrayLike | None


class PlanSearch:
    """The search for a motion of least cost: robot, cost, limits and steps."""

    def __init__(self, robot: Robot, cost: Cost, limits: ArrayLike | None, **given: Any) -> None:
        check_cost(robot, cost)
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
        #: Whether threads may be used: not with functions of users, which may not be thread-safe.
        self._in_threads = base is None and not driven and not callable(wrenches)
        self._forward = ForwardPass(loads, given["integrator"], self._law)
        self._jacobian = StepJacobian(loads, given["integrator"])

    def plans(self, starts: Mapping[str, Start], iterations: int, tolerance: float) -> list[Plan]:
        """The best motion from each start; all searches run together.

        The result of a search does not depend on the others, nor on the number of threads.

        Parameters
        ----------
        starts : mapping of str to Start
            By names for errors and warnings.
        """
        searches = [
            Descent(self._motion(self._begun(name, start)), self._forces, iterations, tolerance)
            for name, start in starts.items()
        ]
        going = moved = searches
        with ThreadPoolExecutor(get_num_threads()) as pool:
            each = pool.map if len(searches) > 1 and self._in_threads else map
            while going:
                groups = self._groups(moved)
                derivatives = chain.from_iterable(each(self._differentiated, groups))
                for x, found in zip(moved, derivatives, strict=True):
                    x.derivatives = found
                proposed = zip(going, each(Descent.change, going), strict=True)
                changes = [(x, forces) for x, forces in proposed if forces is not None]
                going = [x for x, _ in changes]
                better = self._better(changes)
                moved = [x for (x, _), found in zip(changes, better, strict=True) if x.take(found)]
        return [
            self._plan(name, start, found)
            for (name, start), found in zip(starts.items(), searches, strict=True)
        ]

    def _begun(self, name: str, start: Start) -> Trajectory:
        """The motion under the first forces.

        Raises
        ------
        SimulationError
            If the robot cannot move under them.
        """
        given = self._holding(start.q0) if start.tau is None else start.tau
        first = self._law.follow(self._first(given))
        try:
            return self._simulated(first, start.q0, start.v0)
        except SimulationError as error:
            if not name:
                raise
            told: dict[str, Any] = {"trajectory": error.trajectory, "time": error.time}
            raise SimulationError(f"{name}: {error}", **told) from error

    def _plan(self, name: str, start: Start, found: Descent) -> Plan:
        """The plan that a search has found, with a warning if it has not converged."""
        if not found.converged:
            of = f" from {name}" if name else ""
            warn(ConvergenceWarning(f"the plan for {self._robot.name!r}{of}: {found.reason}"))
        forces = found.motion.run.tau[:-1, self._motors]
        law = self._law.follow(np.clip(forces, -self._most, self._most))  # exactly within limits
        run = simulate(self._robot, law, q0=start.q0, v0=start.v0, **self._given)
        return Plan(run, found.gains, np.array(found.costs), found.converged, found.reason)

    def _holding(self, q0: ArrayLike) -> FloatArray:
        """Forces that hold the robot at its start, as far as motors can, one row for each step."""
        robot, rows = self._robot, np.zeros((len(self._times) - 1, self._robot.nv))
        base, still = self._given["base"], np.zeros(robot.nv)
        options = {} if base is None else {"base": base(0.0)}
        if robot.depends_on_time:
            options["t"] = 0.0
        q = of_one_state("q0", q0, robot.nq)
        try:
            if stands(robot):
                tau = standing_forces(robot.at(0.0), q, still, still, tuple(self._motors))
            else:
                tau = robot.inverse_dynamics(q, still, still, **options)
            rows[:, self._motors] = tau[self._motors]
        except (InconsistentStateError, SingularError):
            pass  # simulate will report what is wrong
        return rows

    def _first(self, tau: ArrayLike) -> FloatArray:
        """Initial forces of motors, one row for each step."""
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

    def _motion(self, run: Samples | Trajectory) -> MotionCost:
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
        return MotionCost(run, running, final)

    def _groups(self, searches: Sequence[Descent]) -> list[list[Samples | Trajectory]]:
        """Samples of motions in groups, whose steps are differentiated together."""
        steps = max(1, len(self._times) - 1)
        threads = get_num_threads() if self._in_threads else 1
        size = min(max(1, TOGETHER // steps), -(-len(searches) // threads))
        runs = [x.motion.run for x in searches]
        return [runs[k : k + size] for k in range(0, len(runs), max(size, 1))]

    def _differentiated(self, runs: Sequence[Samples | Trajectory]) -> list[FloatArray]:
        """Derivatives of steps with respect to state and motors, shape (n, 2 nv, 2 nv + m)."""
        nv, count = self._robot.nv, len(runs)
        columns = [*range(2 * nv), *(2 * nv + k for k in self._motors)]
        t, h = (np.tile(x, count)[:, None] for x in (self._times[:-1], np.diff(self._times)))
        q, v, tau = (np.concatenate([getattr(x, name)[:-1] for x in runs]) for name in STATES)
        moved, speed = self._jacobian(t, q, v, tau, h)
        found = np.concatenate([moved.derivative, speed.derivative], axis=1)[:, :, columns]
        return [np.ascontiguousarray(x) for x in np.split(found, count)]

    def _forces(self, motion: MotionCost, F: FloatArray, damping: float) -> Forces | None:
        tau = motion.run.tau[:-1, self._motors]
        room = -self._most - tau, self._most - tau
        return best_forces(F, motion.running, motion.final, *room, damping)

    def _better(self, changes: Sequence[tuple[Descent, Forces]]) -> list[MotionCost | None]:
        """For each search a better motion by its change of forces; ``None`` if there is none.

        Whole changes of all searches are tried together, then fractions where these fail.
        """
        motions = [x.motion for x, _ in changes]
        tables = [self._tables(x.motion, forces) for x, forces in changes]
        whole: list[Samples | None] | None = None
        if len(changes) > 1 and not self._robot.nc:
            whole = self._forward.motions([x.run for x in motions], tables, np.ones(len(tables)))
        found = []
        for k, (x, forces) in enumerate(changes):
            tried = None if whole is None else whole[k]
            at_once = self._cheaper(x.motion, forces, 1.0, tried)
            found.append(at_once or self._along(x.motion, forces, tables[k]))
        return found

    def _tables(self, motion: MotionCost, forces: Forces) -> Tables:
        """Arguments of `PlanLaw.lead` to change the forces of a motion."""
        run = motion.run
        planned = run.tau[:-1, self._motors]
        return run.q[:-1], run.v[:-1], planned, forces.change, forces.gains

    def _cheaper(
        self, motion: MotionCost, forces: Forces, part: float, tried: Samples | Trajectory | None
    ) -> MotionCost | None:
        """A motion with its cost, if a fraction of a change has reduced it enough."""
        promised = -part * (forces.gain[0] + part * forces.gain[1])
        found = None if tried is None else self._motion(tried)
        if found is None or not motion.cost - found.cost >= ENOUGH * promised > 0.0:
            return None
        return found

    def _along(self, motion: MotionCost, forces: Forces, tables: Tables) -> MotionCost | None:
        """The motion with the largest fraction of a change that reduces the cost enough."""
        run = motion.run
        count = len(PARTS)
        first = self._forward.motions([run] * count, [tables] * count, PARTS)
        for k, part in enumerate(PARTS):
            tried = self._tried(part, tables, run) if first is None else first[k]
            found = self._cheaper(motion, forces, part, tried)
            if found is None:
                continue
            if first is None or not self._robot.nc or self._tried(part, tables, run) is not None:
                return found
        return None

    def _tried(self, part: float, tables: Tables, run: Samples | Trajectory) -> Trajectory | None:
        """The motion for a fraction of a change, by `simulate`; ``None`` if it breaks down."""
        try:
            return self._simulated(self._law.lead(*tables, part=part), run.q[0], run.v[0])
        except RobodynError:
            return None

    def _simulated(self, law: PlanLaw, q0: ArrayLike, v0: ArrayLike | None) -> Trajectory:
        """A motion on the way, of which nothing is said."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return simulate(self._robot, law, q0=q0, v0=v0, limits="ignore", **self._given)


def _limits(robot: Robot, given: ArrayLike | None) -> FloatArray:
    """Largest forces, shape (nv,) [N m, N]."""
    if given is None:
        return joint_bounds_alone(robot, "limits= [N m, N]")
    limits = np.asarray(numbers("limits", given), float)
    if limits.shape not in ((), (robot.nv,)) or not np.all(limits > 0.0):
        raise ShapeError(
            f"limits is {given!r}, expected a positive number or {robot.nv}: the largest forces",
            name="limits",
            given=given,
            expected=(robot.nv,),
        )
    return np.array(np.broadcast_to(limits, (robot.nv,)))
