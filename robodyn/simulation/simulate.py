"""Simulate a robot under a controller; one motion, or many at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, named, named_alone
from robodyn.force_elements.ground import Ground
from robodyn.force_elements.joint_stop import CompliantStops
from robodyn.literals import FrictionChoice, IntegratorName, LimitsChoice
from robodyn.progress import Progress, reporter
from robodyn.robot import Robot
from robodyn.simulation.checks.singular_passage import warn_of_passage
from robodyn.simulation.control.controller import Controller, check_controller
from robodyn.simulation.events.event import Event, EventFunction, as_events
from robodyn.simulation.events.joint_stops import RigidStops
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.limits.joint_limits import (
    Limits,
    LimitViolation,
    MotorLimits,
    first_violation,
)
from robodyn.simulation.loads import arguments
from robodyn.simulation.loads.driven_joints import PathOfTime, driven_joints
from robodyn.simulation.loads.prescribed_loads import BaseAt, WrenchFunction
from robodyn.simulation.motion.broken_motions import attaching_trajectory
from robodyn.simulation.motion.loop import Motion
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.motion.simulate_each import simulate_each
from robodyn.simulation.motion.zero_order_hold import (
    explaining_unstable_hold,
    warn_of_unstable_hold,
    warn_of_unstable_period,
)
from robodyn.simulation.trajectory.trajectory import Trajectory


@checked_arguments
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
    wrenches: Mapping[str, ArrayLike] | WrenchFunction | None = None,
    integrator: IntegratorName = "rk4",
    events: Sequence[Event | EventFunction] = (),
    limits: LimitsChoice | MotorLimits = "report",
    progress: Progress | bool | None = None,
    stabilization: tuple[float, float] | None = None,
    tolerance: float | None = None,
    every: int = 1,
    to: str | os.PathLike[str] | None = None,
    stops: RigidStops | CompliantStops | None = None,
    ground: Ground | Iterable[Ground] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
    friction: FrictionChoice | DryFriction = "smooth",
) -> Trajectory:
    """Move a robot through time.

    Parameters
    ----------
    robot : Robot
    controller : callable, optional
        ``tau = controller(t, q, v)``, held constant within a step, as a digital controller does.
        Default: no torque.
    q0, v0 : array_like, shape (nq,), (nv,), optional
        Start. Default: neutral, at rest. Speeds of a linkage have to fit its loops, see
        `Robot.consistent_velocity`; where joints are driven, all others follow them.
    duration, step : float [s]
        The last step is shortened if the duration is no multiple of the step. Steps also end at
        instants of a digital controller (`robodyn.controllers.Sampled`), which are no samples.
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
        External wrenches by link, shape (6,) [N, N m], or a function of ``(t, q, v)``. One of ``t``
        alone, which has no other parameter, is called before the motion, once for an instant.
    integrator : str
        A key of `robodyn.simulation.INTEGRATORS`: explicit methods of fixed steps (``"rk4"``,
        ``"semi_implicit"``, ...), ``"adaptive"`` ones within each step, the ``"variational"`` one,
        an ``"implicit"`` one for stiff motions, ``"auto"``, and scipy's (``"scipy:Radau"``, ...).
        docs/guides/motions/integrators.md says which to choose.
    events : sequence of Event, or of callables
        What happens within the motion, and what it changes then: see `robodyn.Event`. A plain
        function ``(t, q, v) -> float`` ends the motion where it reaches or crosses zero; the last
        sample is that instant, to 1e-12 of a step. Several at one instant, which is 1e-9 of a
        step long, happen in the order given.
    limits : {"ignore", "report", "enforce"} or MotorLimits
        What becomes of the limits that the file gives for positions, velocities and efforts of
        joints, and torques, currents and voltages of motors. ``"report"``: a motion that leaves
        them warns once (`robodyn.errors.LimitWarning`), and `Trajectory.limit_violations` says
        where.
        ``"enforce"``: also, what the controller returns is cut to the limits of efforts before it
        acts and is recorded. Positions are not stopped, and the forces that driven joints take are
        not cut: they are reported. ``"ignore"``: no warning. A limit of zero for a velocity, an
        effort or a torque counts as not given. `MotorLimits` enforces limits that depend on speed.
    progress : callable or bool, optional
        Called with the finished part, 0 to 1. ``True``: a bar on standard error, if that is a
        terminal.
    stabilization : (alpha, beta), optional [1/s]
        Loops, and constraints of speeds, are held closed by ``-2 alpha rate - beta^2 gap`` among
        the accelerations [W 5.198], Baumgarte's way; gaps fade with the time constant ``1 /
        alpha`` where both gains are equal. Default: every step ends with loops closed anew. A tree
        has nothing to stabilise.
    tolerance : float, optional [rad, m]
        What a step may be wrong by, for integrators that choose their own steps between samples.
        Default: 1e-8.
    every : int
        Every so many steps are kept as samples, and the first and last one always; limits are
        looked at there.
    to : path, optional
        A folder to write samples to while the motion goes on, which must not be there yet: the
        arrays of the trajectory stay in it, and take no memory. Until the motion is complete, and
        if it breaks off, its name ends in ``.partial``. `Trajectory.load` reads it.
    stops : RigidStops or CompliantStops, optional
        What stands at the limits of joints. Default: nothing, joints pass their limits.
    ground : Ground or iterable of Ground, optional
        Planes that resist points of links, beside those that the robot has, as those of
        ``robot.with_(ground=)``. Rigid ones are events, see `robodyn.events.landings`.
    parameters : mapping of name to float, or to array_like, shape (n,), optional
        Other parameters of the robot, as in ``robot.with_(parameters=)``. With arrays n robots
        move from the same start, one for each row, and the trajectory is that of a `rollout`.
    friction : {"smooth", "exact"} or DryFriction
        Dry friction of joints, cut ones too, and of motors. ``"smooth"``: as `robodyn.load` says, a
        joint creeps where it should stick. ``"exact"``: joints stick and slide as modes that change
        at exact instants, `Trajectory.events`; one that sticks stands still to the last digit.
        `DryFriction` has static friction beside it. That of the ground is smooth in any case, and
        contacts do not slide, as a warning says.

    Warns
    -----
    LimitWarning
        If joints leave their limits; see ``limits``.
    EnergyWarning
        If energy does not add up, as steps were too long for the integrator.
    SampleWarning
        Before the motion: if a digital controller is unstable at its period near the start.

    Returns
    -------
    trajectory : Trajectory
        One sample a step, or what ``every`` says, the start included; and at each event one just
        before it and, if it changes something, one just after it. `Trajectory.events` lists them.

    Raises
    ------
    ShapeError, UnknownNameError
    AssemblyError
        If loops are open at the start; ``.q`` is a closed posture near by, where there is one.
    InconsistentStateError
        If ``v0`` opens loops and no joint is driven; ``.v`` are the nearest speeds that do not.
    PathError
        If the velocity or acceleration of a path is not the derivative of its position.
    SimulationError
        If a position or velocity is no longer finite, if loops cannot stay closed, as driven
        joints leave what the linkage can do, or if accelerations are not determined where the
        motion has come; ``.trajectory`` is what came before ``.time``, ``.__cause__`` the error.
        Also if ``to`` cannot be written to any more, as where a disk is full.
    SimulationInterrupted
        For Ctrl-C, a `KeyboardInterrupt` that ``except KeyboardInterrupt`` catches too:
        ``.trajectory`` is what was simulated until then. Machine code sees it after some steps,
        at most 50 000 of one robot.
    FileError
        If the folder ``to`` is there already, or cannot be made.
    Exception
        What a function of yours raises, as it is; its ``.trajectory`` is the motion until then.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import ComputedTorque, PointToPoint
    >>> robot = rd.load("double_pendulum")
    >>> controller = ComputedTorque(robot, PointToPoint([0.0, 0.0], [1.0, 0.5], 1.0))
    >>> run = rd.simulate(robot, controller, duration=1.5)
    >>> bool(abs(run.q[-1] - [1.0, 0.5]).max() < 1e-3)
    True
    """
    return _simulated(many=False, **locals())


@checked_arguments
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
    wrenches: Mapping[str, ArrayLike] | WrenchFunction | None = None,
    integrator: IntegratorName = "rk4",
    limits: LimitsChoice | MotorLimits = "report",
    progress: Progress | bool | None = None,
    stabilization: tuple[float, float] | None = None,
    every: int = 1,
    to: str | os.PathLike[str] | None = None,
    stops: RigidStops | CompliantStops | None = None,
    events: Sequence[Event | EventFunction] = (),
    tolerance: float | None = None,
    ground: Ground | Iterable[Ground] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Trajectory:
    """Many motions at once, as batches of the compiled functions.

    Parameters
    ----------
    robot : Robot
    controller : callable or None
        Called with ``(t, q, v)`` of all motions, shapes (n, nq), (n, nv); one that numba has
        compiled, with those of each motion alone.
    q0, v0 : array_like, shape (n, nq), (n, nv)
        Where both are float32, motions are computed and recorded in float32. Closed linkages,
        events, rigid stops, integrators that are not explicit and wrenches that are functions of
        the state need float64: such motions are computed and recorded in that.
    duration, step, base, controlled, locked, wrenches, integrator, limits, progress, stabilization
    every, to, tolerance, ground
        As in `simulate`. Integrators that are not explicit move each motion by itself, and call a
        function for ``wrenches`` with the state of one.
    parameters : mapping of name to array_like, shape (n,), or to float, optional
        Parameters of the robot in each motion, as in ``robot.with_(parameters=)``: one program
        moves all of them. The controller keeps the robot that it was given. The trajectory's robot
        is all of these robots at once, and that of `Trajectory.motion` the one that moved there.
    stops, events
        As in `simulate`. Rigid stops and events act at other instants in each motion: then each
        moves by itself, the controller is called with shapes (1, nq), (1, nv), and samples are
        those at the steps. What comes after the end of a motion is not a number (NaN).

    Warns
    -----
    LimitWarning
        As in `simulate`.
    EnergyWarning
        As in `simulate`. Of more than 64 motions, some are looked at: every so many, the first one
        among them.

    Returns
    -------
    trajectory : Trajectory
        Arrays of shape (steps + 1, n, ...).

    Raises
    ------
    SimulationError, SimulationInterrupted, Exception
        As in `simulate`; ``.trajectory`` is what there is of all motions. Where some motions break
        down the others go on to their end before the error, whose ``.motions`` are those that did;
        their samples are not a number (NaN) from there on.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> q0 = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    >>> run = rd.rollout(robot, None, q0, 0 * q0, duration=0.1)
    >>> run.q.shape
    (101, 100, 2)
    """
    return _simulated(many=True, friction="smooth", **locals())


def _simulated(
    robot: Robot,
    controller: Controller | None,
    q0: ArrayLike | None,
    v0: ArrayLike | None,
    *,
    many: bool,
    parameters: Mapping[str, ArrayLike] | None,
    duration: float,
    step: float,
    base: BaseAt | None,
    controlled: Mapping[str, PathOfTime] | None,
    locked: Iterable[str],
    wrenches: Mapping[str, ArrayLike] | WrenchFunction | None,
    events: Sequence[Event | EventFunction],
    progress: Progress | bool | None,
    ground: Ground | Iterable[Ground],
    stops: RigidStops | CompliantStops | None,
    friction: FrictionChoice | DryFriction,
    **options: Any,
) -> Trajectory:
    """The motion of one state, or of each of many, or of many robots.

    What is left in ``options`` is that of `MotionOptions` of the same name.
    """
    robot = arguments.on_ground(robot, ground)
    if isinstance(stops, CompliantStops):
        robot, stops = arguments.with_stops(robot, stops), None
    robot = robot.with_(parameters=parameters) if parameters else robot
    q, v = arguments.start_state(robot, q0, v0, 2 if many else 1)
    q, v = arguments.start_of_rows(robot, q, v)
    times = arguments.step_times(duration, step)
    path = arguments.base_path(base, times)
    driven = driven_joints(robot, controlled, locked, times)
    along, names = by_name("controlled", controlled), named_alone("locked", locked)
    mode = Mode(robot, controller, path, along, names, driven, driven, robot)
    happening = as_events(named("events", events, "functions or robodyn.Event objects"))
    own = MotionOptions(
        wrenches=arguments.wrenches_on(wrenches, q.shape[:-1]),
        stops=stops,
        friction=arguments.dry_friction(friction, robot, q.shape[:-1]),
        events=happening,
        report=reporter(progress),
        times=times,
        batch=q.shape[:-1],
        **options,
    )
    if many and not happening and arguments.is_single_precision(q0, v0):
        own = own.in_single_precision(robot, driven, path)
        q, v = q.astype(own.dtype), v.astype(own.dtype)
    return _run(mode, q, v, own)


def _run(mode: Mode, q: FloatArray, v: FloatArray, options: MotionOptions) -> Trajectory:
    """Simulate a motion of one state or of a batch, with warnings if it is not accurate."""
    if mode.controller is not None:
        check_controller(mode.controller)
    limits = Limits(mode.robot, options.limits)
    has_events = bool(options.events or options.stops or options.friction)
    motion = None
    if has_events and options.batch:
        run = simulate_each(mode, q, v, options)
    else:
        times = options.times
        step = float(times[1] - times[0]) if len(times) > 1 else 0.0
        told = warn_of_unstable_period(mode, q, v) if step else False
        mode = mode.started(times)
        with explaining_unstable_hold(mode, step):
            motion = Motion(mode, options).run(q, v)
            with attaching_trajectory(motion.so_far):
                run = motion.trajectory()
    with attaching_trajectory(lambda: run):  # it is whole, whatever interrupts the checks
        if motion is not None:
            if has_events or told or not warn_of_unstable_hold(mode, run, step):
                motion.check_steps(run)
            warn_of_passage(run)
        options.report(1.0)
        limits.warn_of_violations(lambda: _limits_left(run))
    return run


def _limits_left(run: Trajectory) -> tuple[int, LimitViolation | None]:
    """How many limits a motion leaves, and the first one; of a single phase it alone is made."""
    if run.robot is not None and not run.phases:
        return first_violation(run.robot, run.t, run.q, run.v, run.tau)
    found = run.limit_violations
    return len(found), next(iter(found), None)
