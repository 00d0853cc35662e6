"""Where the search for a plan begins."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import AssemblyError, ShapeError
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.studies.plans.control_problem import ControlProblem
from robodyn.studies.plans.planned_motion import PlannedMotion
from robodyn.studies.plans.transcription import PhasePoints

#: Points of a straight way in each phase.
POINTS = 9

#: How many times as fast joints are, in the first shot, where friction is half of what it can be.
SMOOTHER = 10.0


def straight(problem: ControlProblem) -> tuple[tuple[PhasePoints, ...], FloatArray]:
    """The straight way from start to goal, at rest at both, and the numbers that the robot has."""
    robot = problem.robots[0]
    q0 = np.where(np.isnan(problem.start[0]), robot.neutral(), problem.start[0])
    q1 = q0 if problem.goal is None else np.where(np.isnan(problem.goal[0]), q0, problem.goal[0])
    times = np.array([sum(x) / 2.0 for x in problem.durations])
    motors = robot.actuation_matrix(robot.neutral()).shape[1]
    whole, begin, phases = times.sum(), 0.0, []
    for robot, T in zip(problem.robots, times, strict=True):
        own = np.linspace(0.0, T, POINTS)
        s = ((begin + own) / whole)[:, None]
        way = robot.difference(q0, q1)
        q = np.array([robot.integrate(q0, x * way) for x in 3 * s**2 - 2 * s**3])
        v = 6 * (s - s**2) / whole * way
        if robot.nc:
            q, v = _closed(robot, q, v)
        phases.append(PhasePoints(own, q, v, np.zeros((POINTS, motors))))
        begin += T
    return tuple(phases), np.array([robot.symbols[x] for x in problem.names])


def smoother(problem: ControlProblem) -> ControlProblem:
    """The same of robots whose friction changes its sign less suddenly."""
    return replace(problem, robots=tuple(map(_smoother, problem.robots)))


@once_per_robot
def _smoother(robot: Robot) -> Robot:
    mechanism, settings = robot.mechanism, robot.model.settings
    rough = any(x.friction for x in mechanism.joints) or any(
        x.coulomb for _, x in mechanism.actuators
    )
    if not (rough and settings.passive):
        return robot
    return Robot(mechanism, replace(settings, friction_speed=SMOOTHER * settings.friction_speed))


def again(
    problem: ControlProblem, initial: PlannedMotion
) -> tuple[tuple[PhasePoints, ...], FloatArray]:
    """An earlier plan, and its numbers where they have the same names."""
    phases = initial.reference.phases
    if len(phases) != len(problem.robots) or phases[0].q.shape[1] != problem.robots[0].nq:
        raise ShapeError(
            f"initial has {len(phases)} phases of {phases[0].q.shape[1]} coordinates, and the plan "
            f"{len(problem.robots)} of {problem.robots[0].nq}",
            name="initial",
        )
    points = tuple(PhasePoints(x.times - x.times[0], x.q, x.v, x.forces) for x in phases)
    known = {**problem.robots[0].symbols, **initial.parameters}
    return points, np.array([known[name] for name in problem.names])


def _closed(robot: Robot, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A motion with closed loops, as far as they can be."""
    with contextlib.suppress(AssemblyError):
        q = np.array([robot.assemble(x) for x in q])
        v = np.asarray(robot.consistent_velocity(q, v))
    return q, v
