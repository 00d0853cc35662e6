"""Simulate a robot under a controller; one motion, or many at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import expect, finite, named
from robodyn.errors import AssemblyError, ShapeError, SimulationError
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.motion.derivative_check import instants
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.driven import CHECKED, Driven, PathOfTime
from robodyn.simulation.progress import Progress, reporter
from robodyn.simulation.scene import BaseAt, Controller, Scene, WrenchesAt
from robodyn.simulation.trajectory import Trajectory

__all__ = ["rollout", "simulate"]

Array = NDArray[np.float64]
Event = Callable[[float, Array, Array], float]
#: Sum of squares of a state that is no motion any more [m^2, rad^2, ...]: its fourth power, as in
#: constraints over speeds and their determinants, is still a number.
DIVERGED = 1e60


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
    progress: Progress | bool | None = None,
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
        Joints driven along a path, ``t -> (position, velocity, acceleration)``. They have no state
        of their own: the rest moves by equations that depend on time [W 5.101], and the torques
        that driving them takes [W 5.100] stand in the trajectory's ``tau``. What the controller
        returns for them is not used.
    locked : names of joints
        Held where they start.
    wrenches : mapping or callable, optional
        External wrenches by link, shape (6,) [N, N m]; a callable gets ``(t, q, v)``.
    integrator : str
        A key of `robodyn.simulation.INTEGRATORS`.
    events : sequence of callables
        ``(t, q, v) -> float``; the motion ends where one of them reaches or crosses zero. The last
        sample is that instant, to 1e-12 of a step.
    progress : callable or bool, optional
        Called with the finished part, 0 to 1. ``True``: a bar on standard error, if that is a
        terminal.

    Returns
    -------
    trajectory : Trajectory
        One sample a step, the start included.

    Raises
    ------
    ShapeError, UnknownNameError
    PathError
        If the velocity or acceleration of a path is not the derivative of its position.
    SimulationError
        If a position or velocity is no longer finite, or if loops cannot stay closed, as driven
        joints leave what the linkage can do; ``.trajectory`` is what came before.
    """
    expect("robot", robot, Robot)
    q = robot.neutral() if q0 is None else np.array(q0, float)
    v = np.zeros(robot.nv) if v0 is None else np.array(v0, float)
    _check_state(robot, q, v, 1)
    times = _times(duration, step)
    driven = Driven(robot, controlled, locked, times, q)
    scene = Scene(robot, controller, _checked(base, times), wrenches, driven)
    return _run(scene, q, v, times, integrator, named("events", events, "functions"), progress)


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
    progress: Progress | bool | None = None,
) -> Trajectory:
    """Many motions at once, as batches of the compiled functions.

    Parameters
    ----------
    robot : Robot
    controller : callable or None
        Called with ``(t, q, v)`` of all motions, shapes (n, nq), (n, nv).
    q0, v0 : array_like, shape (n, nq), (n, nv)
    duration, step, base, controlled, locked, wrenches, integrator, progress
        As in `simulate`.

    Returns
    -------
    trajectory : Trajectory
        Arrays of shape (steps + 1, n, ...).
    """
    expect("robot", robot, Robot)
    q, v = np.array(q0, float), np.array(v0, float)
    _check_state(robot, q, v, 2)
    times = _times(duration, step)
    driven = Driven(robot, controlled, locked, times, q)
    scene = Scene(robot, controller, _checked(base, times), wrenches, driven)
    return _run(scene, q, v, times, integrator, (), progress)


def _checked(base: BaseAt | None, times: Array) -> BasePath | None:
    """The path of the base, if it does not contradict itself."""
    if base is None:
        return None
    path = base if isinstance(base, BasePath) else BasePath(base)
    at, interval = instants(times, CHECKED)
    path.check(at, interval=interval)
    return path


def _check_state(robot: Robot, q: Array, v: Array, ndim: int) -> None:
    for name, x, size in (("q0", q, robot.nq), ("v0", v, robot.nv)):
        if x.ndim != ndim or x.shape[-1] != size:
            expected = (size,) if ndim == 1 else ("n", size)
            raise ShapeError(
                f"{name} has shape {x.shape}, expected {expected}",
                name=name,
                given=x.shape,
                expected=expected,
            )
        if not np.all(np.isfinite(x)):
            raise ShapeError(f"{name} holds numbers that are not finite", name=name, given=x)
    if q.shape[:-1] != v.shape[:-1]:
        raise ShapeError(f"q0 {q.shape} and v0 {v.shape} differ in number", name="v0")


def _times(duration: float, step: float) -> Array:
    """Instants from 0 to ``duration``, ``step`` apart; the last two may be nearer."""
    try:
        duration, step = float(duration), float(step)
    except (TypeError, ValueError):
        raise ShapeError(
            f"duration is {duration!r} and step {step!r}, expected numbers [s]", name="step"
        ) from None
    if not (math.isfinite(duration) and math.isfinite(step) and step > 0.0 and duration >= 0.0):
        raise ShapeError(
            f"duration is {duration} s and step {step} s, expected step > 0, duration >= 0",
            name="step",
            given=step,
        )
    count = duration / step
    try:
        # a quotient that is whole but for rounding is whole
        return np.append(step * np.arange(math.ceil(count * (1.0 - 1e-12))), duration)
    except (MemoryError, OverflowError, ValueError):
        raise ShapeError(
            f"{count:.3g} steps of {step} s do not fit into memory: take a longer step",
            name="step",
            given=step,
        ) from None


def _run(
    scene: Scene,
    q: Array,
    v: Array,
    times: Array,
    method: str,
    events: tuple[Event, ...],
    progress: Progress | bool | None,
) -> Trajectory:
    tableau = integrators.integrator(method)
    for what, given in (("controller", scene.controller), *(("event", e) for e in events)):
        if given is not None and not callable(given):
            raise ShapeError(f"the {what} is {given!r}, expected a function (t, q, v)", name=what)
    robot, report, record = scene.robot, reporter(progress), _Record(scene)
    last, t, ended = len(times) - 1, 0.0, False
    q, v = scene.started(t, q, v)
    for k in range(last + 1):
        tau = scene.torque(t, q, v)
        with record.kept(t):
            a, forces = scene.motion(t, q, v, tau)
        record.add(t, q, v, a, forces)
        if k % 50 == 0:
            report(k / max(last, 1))
        if k == last or ended:
            break

        def after(
            h: float, t: float = t, q: Array = q, v: Array = v, a: Array = a, tau: Array = tau
        ) -> tuple[Array, Array]:
            def acceleration(t: float, q: Array, v: Array) -> Array:
                q, v = _bounded(*scene.driven.imposed(t, q, v))
                return scene.motion(t, q, v, tau)[0]

            state = integrators.step(tableau, acceleration, robot, t, q, v, h, a)
            return _bounded(*scene.settled(t + h, *_bounded(*state)))

        h = times[k + 1] - t
        with record.kept(t + h), np.errstate(over="ignore", invalid="ignore"):
            q_next, v_next = after(h)
            finite(q=q_next, v=v_next)
        if events:
            with record.kept(t + h):
                h, ended = _until(events, t, q, v, h, after)
                q_next, v_next = after(h) if ended else (q_next, v_next)
        t, q, v = (t + h if ended else times[k + 1]), q_next, v_next
    report(1.0)
    return record.trajectory()


def _bounded(q: Array, v: Array) -> tuple[Array, Array]:
    """The state, if dynamics can still be asked for there: products of its numbers are finite."""
    if not (np.vdot(q, q) < DIVERGED and np.vdot(v, v) < DIVERGED):
        raise ShapeError("q or v has outgrown what can be computed with", name="q")
    return q, v


def _until(
    events: tuple[Event, ...],
    t: float,
    q: Array,
    v: Array,
    h: float,
    after: Callable[[float], tuple[Array, Array]],
) -> tuple[float, bool]:
    """Part of a step of ``h`` [s] after which the first event has happened, and whether one has."""
    before = [float(event(t, q, v)) for event in events]

    def happened(part: float) -> bool:
        state = after(part)
        # an event that starts at zero happens when it comes back
        return any(
            g != 0.0 and g * float(event(t + part, *state)) <= 0.0
            for g, event in zip(before, events, strict=True)
        )

    if not happened(h):
        return h, False
    low, high = 0.0, h
    while high - low > 1e-12 * h:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if happened(middle) else (middle, high)
    return high, True


@dataclass
class _Record:
    """Samples of a trajectory while it grows."""

    scene: Scene
    rows: list[tuple[float, Array, Array, Array, Array]] = field(default_factory=list)

    def add(self, *sample: float | Array) -> None:
        self.rows.append(sample)  # type: ignore[arg-type]

    @contextmanager
    def kept(self, t: float) -> Iterator[None]:
        """Keep what came before, where the motion until ``t`` [s] breaks down."""
        name = self.scene.robot.name
        try:
            yield
        except ShapeError as error:
            if error.name not in ("q", "v", "tau", "force"):  # others are what a user gave
                raise
            problem = (
                f"the motion of {name!r} is no longer finite at t = {t:.6g} s: the step is too "
                f"long, or torques are not finite ({error})"
            )
        except AssemblyError as error:
            problem = f"at t = {t:.6g} s {error}"
        else:
            return
        raise SimulationError(
            problem, trajectory=self.trajectory() if self.rows else None, time=t
        ) from None

    def trajectory(self) -> Trajectory:
        """What was recorded, with its energy."""
        t, q, v, a, tau = (np.array(column) for column in zip(*self.rows, strict=True))
        robot, base = self.scene.robot, self._base(t, q.ndim - 2)
        energy = robot.kinetic_energy(q, v, base=base) + robot.potential_energy(q, base=base)
        names: list[str] = []
        for name in robot.joint_names:
            at = robot.joints[name].v
            width = at.stop - at.start
            names += [name] if width == 1 else [f"{name}[{k}]" for k in range(width)]
        open_by = np.abs(robot.loop_residual(q)).max(axis=-1) if robot.nc else 0.0 * energy
        return Trajectory(t, q, v, a, tau, energy, open_by, tuple(names), robot)

    def _base(self, t: Array, inner: int) -> BaseMotion | None:
        """Motion of the base at all samples, over ``inner`` axes of simultaneous motions."""
        if self.scene.base is None:
            return None
        stacked = self.scene.base.at(t)
        axes = tuple(range(1, 1 + inner))
        parts = (stacked.pose, stacked.twist, stacked.acceleration)
        return BaseMotion(*(np.expand_dims(x, axes) for x in parts))
