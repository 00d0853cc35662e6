"""Simulate a robot under a controller; one motion, or many at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from numpy.typing import ArrayLike

from robodyn.arrays import expect, named
from robodyn.robot import Robot
from robodyn.simulation.arguments import base_path, start_state, step_times
from robodyn.simulation.callbacks import Controller, Event
from robodyn.simulation.driven import PathOfTime, driven_joints
from robodyn.simulation.limits import Limits
from robodyn.simulation.loop import run_motion
from robodyn.simulation.progress import Progress, reporter
from robodyn.simulation.record import Record
from robodyn.simulation.stepper import BaseAt, Stepper, WrenchesAt
from robodyn.simulation.surroundings import Given
from robodyn.simulation.trajectory import Trajectory

__all__ = ["rollout", "simulate"]


def simulate(
    robot: Robot,
    controller: Controller | None = None,
    *,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    duration: float = 1.0,
    step: float = 1e-3,
    base: BaseAt | None = None,
    controlled: Mapping[str, PathOfTime] | None = None,
    locked: Iterable[str] = (),
    wrenches: Mapping[str, ArrayLike] | WrenchesAt | None = None,
    integrator: str = "rk4",
    events: Sequence[Event] = (),
    limits: str = "report",
    progress: Progress | bool | None = None,
    stabilization: tuple[float, float] | None = None,
    every: int = 1,
    to: str | os.PathLike[str] | None = None,
) -> Trajectory:
    """Move a robot through time.

    Parameters
    ----------
    robot : Robot
    controller : callable, optional
        ``tau = controller(t, q, v)``, held constant within a step, as a digital controller does.
        Default: no torque.
    q0, v0 : array_like, shape (nq,), (nv,), optional
        Start. Default: neutral, at rest.
    duration, step : float [s]
        The last step is shortened if the duration is no multiple of the step.
    base : callable, optional
        Time -> `BaseMotion`, for a robot with a moving base: a `BasePath` or any function.
    controlled : mapping of joint name to JointPath or callable
        Joints driven along a path, ``t -> (position, velocity, acceleration)``, in the coordinates
        and speeds of their kind (see `JointPath`). They have no state of their own: the rest moves
        by equations that depend on time [W 5.101], and the torques that driving them takes
        [W 5.100] stand in the trajectory's ``tau``. What the controller returns for them is not
        used. ``"floating_base"`` is a floating base, ``"joint[k]"`` one axis of a joint: the path
        of its k-th speed, with one position, the integral of that speed.
    locked : names of joints, or of axes
        Held where they start; ``"joint[k]"``: its k-th speed is zero.
    wrenches : mapping or callable, optional
        External wrenches by link, shape (6,) [N, N m]; a callable gets ``(t, q, v)``.
    integrator : str
        A key of `robodyn.simulation.INTEGRATORS`.
    events : sequence of callables
        ``(t, q, v) -> float``; the motion ends where one of them reaches or crosses zero. The last
        sample is that instant, to 1e-12 of a step.
    limits : {"ignore", "report", "enforce"}
        What becomes of the limits that the file gives for positions, velocities and efforts of
        joints and torques of motors. ``"report"``: a motion that leaves them warns once
        (`robodyn.errors.LimitWarning`), and `Trajectory.limit_violations` says where.
        ``"enforce"``: also, what the controller returns is cut to the limits of efforts before it
        acts and is recorded. Positions are not stopped, and the forces that driven joints take are
        not cut: they are reported. ``"ignore"``: no warning. A limit of zero for a velocity, an
        effort or a torque counts as not given.
    progress : callable or bool, optional
        Called with the finished part, 0 to 1. ``True``: a bar on standard error, if that is a
        terminal.
    stabilization : (alpha, beta), optional [1/s]
        Loops, and constraints of speeds, are held closed by ``-2 alpha rate - beta^2 gap`` among
        the accelerations [W 5.198], Baumgarte's way; gaps fade with the time constant ``1 /
        alpha`` where both gains are equal. Default: every step ends with loops closed anew. A tree
        has nothing to stabilise.
    every : int
        Every so many steps are kept as samples, and the first and last one always.
    to : path, optional
        A folder to write samples to while the motion goes on, which must not be there yet: the
        arrays of the trajectory stay in it, and take no memory. Until the motion is complete, and
        if it breaks off, its name ends in ``.partial``. `Trajectory.load` reads it.

    Returns
    -------
    trajectory : Trajectory
        One sample a step, or what ``every`` says, the start included.

    Raises
    ------
    ShapeError, UnknownNameError
    PathError
        If the velocity or acceleration of a path is not the derivative of its position.
    SimulationError
        If a position or velocity is no longer finite, if loops cannot stay closed, as driven
        joints leave what the linkage can do, or if accelerations are not determined where the
        motion has come; ``.trajectory`` is what came before ``.time``, ``.__cause__`` the error.
        Also if ``to`` cannot be written to any more, as where a disk is full.
    FileError
        If the folder ``to`` is there already, or cannot be made.
    """
    expect("robot", robot, Robot)
    q, v = start_state(robot, q0, v0, 1)
    times = step_times(duration, step)
    path = base_path(base, times)
    driven = driven_joints(robot, controlled, locked, times)
    stepper = Stepper(
        robot,
        integrator,
        driven=driven,
        base=path,
        wrenches=wrenches,
        stabilization=stabilization,
    )
    bounds = Limits(robot, limits)
    given = Given(path, wrenches)
    record = Record(robot, given, len(times), driven=driven.speeds, every=every, to=to)
    stops = named("events", events, "functions")
    return run_motion(stepper, controller, q, v, times, stops, record, reporter(progress), bounds)


def rollout(
    robot: Robot,
    controller: Controller | None,
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    duration: float = 1.0,
    step: float = 1e-3,
    base: BaseAt | None = None,
    controlled: Mapping[str, PathOfTime] | None = None,
    locked: Iterable[str] = (),
    wrenches: Mapping[str, ArrayLike] | WrenchesAt | None = None,
    integrator: str = "rk4",
    limits: str = "report",
    progress: Progress | bool | None = None,
    stabilization: tuple[float, float] | None = None,
    every: int = 1,
    to: str | os.PathLike[str] | None = None,
) -> Trajectory:
    """Many motions at once, as batches of the compiled functions.

    Parameters
    ----------
    robot : Robot
    controller : callable or None
        Called with ``(t, q, v)`` of all motions, shapes (n, nq), (n, nv).
    q0, v0 : array_like, shape (n, nq), (n, nv)
    duration, step, base, controlled, locked, wrenches, integrator, limits, progress, stabilization
    every, to
        As in `simulate`.

    Returns
    -------
    trajectory : Trajectory
        Arrays of shape (steps + 1, n, ...).
    """
    expect("robot", robot, Robot)
    q, v = start_state(robot, q0, v0, 2)
    times = step_times(duration, step)
    path = base_path(base, times)
    driven = driven_joints(robot, controlled, locked, times)
    stepper = Stepper(
        robot,
        integrator,
        driven=driven,
        base=path,
        wrenches=wrenches,
        stabilization=stabilization,
    )
    bounds = Limits(robot, limits)
    given, batch = Given(path, wrenches), q.shape[:-1]
    record = Record(robot, given, len(times), batch, driven=driven.speeds, every=every, to=to)
    return run_motion(stepper, controller, q, v, times, (), record, reporter(progress), bounds)
