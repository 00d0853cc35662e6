"""Simulate a robot under a controller; one motion, or many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.base_motion import BaseMotion
from robodyn.errors import ShapeError, SimulationError
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.trajectory import Trajectory

__all__ = ["rollout", "simulate"]

Array = NDArray[np.float64]
Controller = Callable[[float, Array, Array], ArrayLike]
Event = Callable[[float, Array, Array], float]
Progress = Callable[[float], None]


def simulate(
    robot: Robot,
    controller: Controller | None = None,
    *,
    q0: ArrayLike | None = None,
    v0: ArrayLike | None = None,
    duration: float = 1.0,
    step: float = 1e-3,
    base: Callable[[float], BaseMotion] | None = None,
    wrenches: Mapping[str, ArrayLike] | Callable[..., Mapping[str, ArrayLike]] | None = None,
    integrator: str = "rk4",
    events: Sequence[Event] = (),
    progress: Progress | None = None,
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
    base : callable, optional
        Time -> `BaseMotion`, for a robot with a moving base.
    wrenches : mapping or callable, optional
        External wrenches by link, shape (6,) [N, N m]; a callable gets ``(t, q, v)``.
    integrator : str
        A key of `robodyn.simulation.INTEGRATORS`.
    events : sequence of callables
        ``(t, q, v) -> float``; the motion ends with the step in which one of them changes sign.
    progress : callable, optional
        Called with the finished part, 0 to 1.

    Returns
    -------
    trajectory : Trajectory
        One sample a step, the start included.

    Raises
    ------
    ShapeError
    SimulationError
        If a position or velocity is no longer finite; ``.trajectory`` is what came before.
    """
    q = robot.neutral() if q0 is None else np.array(q0, float)
    v = np.zeros(robot.nv) if v0 is None else np.array(v0, float)
    _check_state(robot, q, v, 1)
    return _run(
        robot, controller, q, v, duration, step, base, wrenches, integrator, events, progress
    )


def rollout(
    robot: Robot,
    controller: Controller | None,
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    duration: float = 1.0,
    step: float = 1e-3,
    base: Callable[[float], BaseMotion] | None = None,
    wrenches: Mapping[str, ArrayLike] | Callable[..., Mapping[str, ArrayLike]] | None = None,
    integrator: str = "rk4",
    progress: Progress | None = None,
) -> Trajectory:
    """Many motions at once, as batches of the compiled functions.

    Parameters
    ----------
    robot : Robot
    controller : callable or None
        Called with ``(t, q, v)`` of all motions, shapes (n, nq), (n, nv).
    q0, v0 : array_like, shape (n, nq), (n, nv)
    duration, step, base, wrenches, integrator, progress
        As in `simulate`.

    Returns
    -------
    trajectory : Trajectory
        Arrays of shape (steps + 1, n, ...).
    """
    q, v = np.array(q0, float), np.array(v0, float)
    _check_state(robot, q, v, 2)
    return _run(robot, controller, q, v, duration, step, base, wrenches, integrator, (), progress)


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


def _run(
    robot: Robot,
    controller: Controller | None,
    q: Array,
    v: Array,
    duration: float,
    h: float,
    base: Callable[[float], BaseMotion] | None,
    wrenches: Any,
    method: str,
    events: Sequence[Event],
    progress: Progress | None,
) -> Trajectory:
    if not (np.isfinite(duration) and np.isfinite(h) and h > 0.0 and duration >= 0.0):
        raise ShapeError(
            f"duration is {duration} s and step {h} s, expected step > 0, duration >= 0",
            name="step",
            given=h,
        )
    tableau = integrators.integrator(method)
    steps = round(duration / h)
    at = _forces(robot, base, wrenches)
    record = _Record(robot, steps + 1, q, v)
    signs = [np.sign(event(0.0, q, v)) for event in events]
    for k in range(steps + 1):
        t = k * h
        tau = np.zeros(v.shape) if controller is None else np.asarray(controller(t, q, v), float)
        if tau.shape != v.shape:
            raise ShapeError(
                f"the controller returned shape {tau.shape} at t = {t:.6g} s, expected {v.shape}",
                name="tau",
                given=tau.shape,
                expected=v.shape,
            )

        def acceleration(t: float, q: Array, v: Array, tau: Array = tau) -> Array:
            return robot.forward_dynamics(q, v, tau, **at(t, q, v))

        a = acceleration(t, q, v)
        record.add(k, t, q, v, a, tau, at(t, q, v).get("base"))
        if progress is not None and (k % 50 == 0 or k == steps):
            progress(k / steps if steps else 1.0)
        fired = any(
            np.sign(event(t, q, v)) * sign < 0 for event, sign in zip(events, signs, strict=True)
        )
        if k == steps or fired:
            break
        q, v = integrators.step(tableau, acceleration, robot, t, q, v, h, a)
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
            raise SimulationError(
                f"the motion of {robot.name!r} is no longer finite at t = {t + h:.6g} s: the step "
                f"of {h} s is too long, or torques are not finite",
                trajectory=record.trajectory(k + 1),
                time=t + h,
            )
    return record.trajectory(k + 1)


def _forces(
    robot: Robot, base: Callable[[float], BaseMotion] | None, wrenches: Any
) -> Callable[[float, Array, Array], dict[str, Any]]:
    """Keyword arguments of the dynamics at a time."""

    def at(t: float, q: Array, v: Array) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if base is not None:
            found["base"] = base(t)
        if wrenches is not None:
            found["wrenches"] = wrenches(t, q, v) if callable(wrenches) else wrenches
        return found

    return at


class _Record:
    """Arrays of a trajectory while it grows."""

    def __init__(self, robot: Robot, n: int, q: Array, v: Array) -> None:
        self.robot = robot
        self.t = np.empty(n)
        self.q, self.v = np.empty((n, *q.shape)), np.empty((n, *v.shape))
        self.a, self.tau = np.empty_like(self.v), np.empty_like(self.v)
        self.energy = np.empty((n, *q.shape[:-1]))

    def add(
        self, k: int, t: float, q: Array, v: Array, a: Array, tau: Array, base: BaseMotion | None
    ) -> None:
        """Sample ``k``."""
        self.t[k], self.q[k], self.v[k], self.a[k], self.tau[k] = t, q, v, a, tau
        self.energy[k] = self.robot.kinetic_energy(q, v, base=base)
        self.energy[k] += self.robot.potential_energy(q, base=base)

    def trajectory(self, n: int) -> Trajectory:
        """Return the first ``n`` samples."""
        t, q, v, a, tau, energy = (
            x[:n] for x in (self.t, self.q, self.v, self.a, self.tau, self.energy)
        )
        names = []
        for name in self.robot.joint_names:
            at = self.robot.joints[name].v
            width = at.stop - at.start
            names += [name] if width == 1 else [f"{name}[{k}]" for k in range(width)]
        return Trajectory(t, q, v, a, tau, energy, np.zeros_like(energy), tuple(names))
