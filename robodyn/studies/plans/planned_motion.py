"""What `plan_motion` returns, and its check by simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.symbols import with_values
from robodyn.robot import Robot
from robodyn.simulation.events import Event, become
from robodyn.simulation.simulate import simulate
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.studies.plans.control_problem import ControlProblem
from robodyn.studies.plans.transcription import Solution

#: Steps of the simulation between nodes.
CHECKED = 16


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """Result of `plan_motion`.

    Attributes
    ----------
    trajectory : Trajectory
        The motion that `robodyn.simulate` makes of the planned forces, on a finer mesh.
    reference : callable
        ``q, v, a = reference(t)`` of the plan, at rest before it begins and after it ends.
    forces : ndarray, shape (n, m) [N m, N]
        Of motors, at the ``times`` of nodes and in the middle between.
    times : ndarray, shape (n,) [s]
        Of several phases one after the other: the end of one is the begin of the next.
    q, v : ndarray, shape (n, nq), (n, nv) [rad, m], [rad/s, m/s]
    parameters : mapping of str to float
        Numbers of the robot that were unknown, by name.
    robot : Robot
        With these numbers.
    cost : float
    multipliers : mapping of str to ndarray
        Of the equations of motion, of limits, and of each constraint, by name, shape (n, m) at the
        ``times``: by how much the cost would fall if it gave way.
    deviation : float [rad, m]
        How far positions of the simulation come from those of the plan.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> plan = rd.plan_motion(robot, start=[0, 0], goal=[0.2, 0.1], duration=1.0, nodes=7)
    >>> sorted(plan.multipliers)[:2]
    ['dynamics', 'forces']
    """

    trajectory: Trajectory
    reference: PlannedReference
    times: FloatArray
    q: FloatArray
    v: FloatArray
    forces: FloatArray
    parameters: Mapping[str, float]
    robot: Robot
    cost: float
    multipliers: Mapping[str, FloatArray]
    deviation: float


class PlannedReference:
    """The cubics of a plan: positions, speeds and accelerations at a time.

    phases: Points of each.
    """

    def __init__(self, phases: Sequence[Cubics]):
        self.phases = phases

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, speeds and accelerations at a time [s]."""
        for phase in self.phases[:-1]:
            if t < phase.times[-1]:
                return phase(t)
        return self.phases[-1](t)


@dataclass(frozen=True, eq=False)
class Cubics:
    """One phase: times of its points from the begin of the motion, and what is there."""

    robot: Robot
    times: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray
    forces: FloatArray

    def _at(self, t: float) -> tuple[slice, float]:
        """The points of the interval of a time, and where it is, from 0 to 2."""
        times = self.times[::2]
        k = 2 * min(max(int(np.searchsorted(times, t, side="right")) - 1, 0), len(times) - 2)
        return slice(k, k + 3), 2.0 * (t - self.times[k]) / (self.times[k + 2] - self.times[k])

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, speeds and accelerations; at rest before and after."""
        if not self.times[0] <= t <= self.times[-1]:
            k = 0 if t < self.times[0] else -1
            return self.q[k], np.zeros_like(self.v[k]), np.zeros_like(self.a[k])
        rows, s = self._at(t)
        h = self.times[rows.start + 1] - self.times[rows.start]
        whole = np.array([s - 0.75 * s**2 + s**3 / 6, s**2 - s**3 / 3, s**3 / 6 - s**2 / 4]) * h
        q = self.robot.integrate(self.q[rows.start], whole @ self.v[rows])
        v = self.v[rows.start] + whole @ self.a[rows]
        return q, v, _quadratic(s) @ self.a[rows]

    def forces_at(self, t: float) -> FloatArray:
        """Forces of motors."""
        rows, s = self._at(t)
        return np.asarray(_quadratic(s) @ self.forces[rows])


def _quadratic(s: float) -> FloatArray:
    """Weights of the quadratic through both ends and the middle, s from 0 to 2."""
    return np.array([(s - 1) * (s - 2) / 2, s * (2 - s), s * (s - 1) / 2])


def planned(problem: ControlProblem, solution: Solution) -> PlannedMotion:
    """The plan with the motion that its forces make."""
    found = dict(zip(problem.names, solution.parameters.tolist(), strict=True))
    robots = [_with_numbers(robot, found) for robot in problem.robots]
    phases, begin = [], 0.0
    for robot, x in zip(robots, solution.phases, strict=True):
        q = np.array([robot.integrate(row, np.zeros(robot.nv)) for row in x.q])  # unit quaternions
        v = x.v
        if robot.nc:
            q = np.array([robot.assemble(row) for row in q])
            v = robot.consistent_velocity(q, v)
        B = robot.actuation_matrix(q)
        a = robot.forward_dynamics(q, v, (B @ x.forces[..., None])[..., 0])
        phases.append(Cubics(robot, begin + x.times, q, v, a, x.forces))
        begin = phases[-1].times[-1]
    run, deviation = _simulated(phases)
    times, q, v, forces = (
        np.concatenate([getattr(x, name) for x in phases]) for name in ("times", "q", "v", "forces")
    )
    own = times, q, v, forces, found, robots[0]
    reference = PlannedReference(phases)
    return PlannedMotion(run, reference, *own, solution.cost, solution.multipliers, deviation)


def _with_numbers(robot: Robot, found: Mapping[str, float]) -> Robot:
    if not found:
        return robot
    return Robot(with_values(robot.mechanism, {**robot.symbols, **found}), robot.model.settings)


def _simulated(phases: Sequence[Cubics]) -> tuple[Trajectory, float]:
    """The motion that the forces make, and how far it comes from the plan."""
    ends = [x.times[-1] for x in phases]
    step = min(x.times[2] - x.times[0] for x in phases) / CHECKED

    def law(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces are held for a step: those in the middle of it."""
        t += 0.5 * step
        phase = phases[min(int(np.searchsorted(ends, t, side="right")), len(ends) - 1)]
        return np.asarray(phase.robot.actuation_matrix(q) @ phase.forces_at(t))

    first = phases[0]
    events: Any = [
        Event(float(end), become(x.robot)) for end, x in zip(ends[:-1], phases[1:], strict=True)
    ]
    run = simulate(
        first.robot, law, q0=first.q[0], v0=first.v[0], duration=float(ends[-1]), step=step,
        integrator="rk4", limits="ignore", events=events,
    )  # fmt: skip
    deviation = 0.0
    for x in phases:
        inside = x.times[:-1] if x is not phases[-1] else x.times
        reached = run.resample(np.clip(inside, 0.0, run.t[-1])).q
        apart = x.robot.difference(x.q[: len(inside)], reached)
        deviation = max(deviation, float(np.abs(apart).max(initial=0.0)))
    return run, deviation
