"""Initial states of the motions that are compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import checked, numbers
from robodyn.errors import ShapeError
from robodyn.robot import Robot
from robodyn.simulation.loads.arguments import start_state
from robodyn.studies.compare.task import Task
from robodyn.tolerances import START_CLOSED

__all__ = ["starts_of"]


def starts_of(
    robot: Robot,
    task: Task,
    q0: ArrayLike | None,
    v0: ArrayLike | None,
    count: int,
    spread: ArrayLike,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Positions and velocities, shape (n, nq), (n, nv).

    Raises
    ------
    ShapeError
    """
    for name, given, least in (("starts", count, 1), ("seed", seed, 0)):
        if type(given) is not int or given < least:
            raise ShapeError(f"{name} is {given!r}, expected an integer from {least} on", name=name)
    width = np.array(numbers("spread", spread), float)
    if width.shape not in ((), (robot.nv,)) or not (np.isfinite(width) & (width >= 0.0)).all():
        raise ShapeError(
            f"spread is {spread!r}, expected a number >= 0, or {robot.nv} of them, one a speed",
            name="spread",
            given=spread,
            expected=(robot.nv,),
        )
    if task.start is not None:
        q0 = _closed(robot, task.start[0]) if q0 is None else checked("q0", q0, robot.nq)
        if v0 is None:
            rates = np.broadcast_to(task.start[1], (*q0.shape[:-1], robot.nv))
            v0 = _rates(robot, q0, rates)
    places = None if q0 is None else numbers("q0", q0)
    if places is not None and places.ndim == 2:
        if count != 1 or width.any():
            raise ShapeError(
                f"q0 has shape {places.shape}, these are the starts: give one position, (nq,), for "
                "starts= and spread=",
                name="starts",
            )
        if not len(places):
            raise ShapeError(
                f"q0 has shape {places.shape}: there is no start", name="q0", given=places.shape
            )
        v = np.zeros(robot.nv) if v0 is None else numbers("v0", v0)
        rows = np.broadcast_to(v, (len(places), v.shape[-1])) if v.ndim == 1 else v
        return start_state(robot, places, rows, 2)
    q, v = start_state(robot, q0, v0, 1)
    return _spread(robot, q, v, count, np.broadcast_to(width, (robot.nv,)), seed)


def _spread(
    robot: Robot, q: FloatArray, v: FloatArray, count: int, width: FloatArray, seed: int
) -> tuple[FloatArray, FloatArray]:
    """The first start, and normally distributed ones about it."""
    positions, velocities = [q], [v]
    free = np.ones(robot.nv)
    if robot.nc:
        free[:] = 0.0
        for name in robot.independent_joints:
            free[robot.joints[name].v] = 1.0
    for row in range(1, count):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(row,)))
        moved = robot.integrate(q, free * width * rng.standard_normal(robot.nv))
        if robot.nc:
            moved = robot.assemble(moved, hold=robot.independent_joints, near=q)
        positions.append(moved)
        velocities.append(_rates(robot, moved, v))
    return np.array(positions), np.array(velocities)


def _closed(robot: Robot, q: FloatArray) -> FloatArray:
    """A posture with closed loops and the motors at given positions."""
    if not robot.nc:
        return q
    robot = robot.at(0.0)
    if np.abs(robot.loop_residual(q)).max() < START_CLOSED:
        return q
    return np.asarray(robot.assemble(q, hold=robot.independent_joints))


def _rates(robot: Robot, q: FloatArray, v: FloatArray) -> FloatArray:
    """Speeds that are consistent with closed loops."""
    if not robot.nc or not v.any():
        return np.array(v, float)
    found = [
        robot.consistent_velocity(x, rates, hold=robot.independent_joints)
        for x, rates in zip(q.reshape(-1, robot.nq), v.reshape(-1, robot.nv), strict=True)
    ]
    return np.reshape(found, v.shape)
