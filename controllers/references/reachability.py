"""Time-optimal path parameterisation by TOPP-RA, from the package toppra (an extra)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn import MissingExtraError, PathError, Robot
from robodyn.array_types import FloatArray

from .path_torques import path_torques

#: Positions as a function of arc length, and their first and second derivatives.
Way = tuple[Callable[..., FloatArray], Callable[..., FloatArray], Callable[..., FloatArray]]

#: As friction depends on speed, speeds are iterated: number of iterations, and their precision.
ROUNDS, PRECISION = 12, 1e-3


def quickest(
    s: FloatArray, way: Way, limits: dict[str, FloatArray], robot: Robot | None
) -> tuple[FloatArray, FloatArray]:
    """The greatest speeds along the path at points, and the accelerations between them."""
    motion = tuple(f(s) for f in way)
    speeds = np.zeros(len(s))
    rates = np.zeros(len(s) - 1)
    before = np.inf
    for _ in range(ROUNDS):
        rows = _rows(motion, limits, robot, speeds)
        speeds, rates = _reachable(s, way, rows, limits.get("velocity"))
        time = float(np.sum(2.0 * np.diff(s) / (speeds[1:] + speeds[:-1])))
        if robot is None or abs(time - before) <= PRECISION * time:
            break
        before = time
    return speeds, rates


def _rows(
    motion: tuple[FloatArray, ...],
    limits: dict[str, FloatArray],
    robot: Robot | None,
    speeds: FloatArray,
) -> tuple[FloatArray, ...]:
    """Rows ``abs(a u + b x + c) <= limit`` at points: u the acceleration, x the squared speed.

    Inverse dynamics, also of the motors of a linkage, is ``M a + h(v) + g + f(v)``, of which h is
    even in v and friction f odd: it is that of the speeds from the round before.
    """
    q, dq, ddq = motion
    columns: list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]] = []
    if "acceleration" in limits:
        columns.append((dq, ddq, 0.0 * q, limits["acceleration"]))
    if robot is not None:
        zero, v = 0.0 * q, dq * speeds[:, None]
        torques = path_torques(robot)
        c = torques(q, zero, zero)
        a = torques(q, zero, dq) - c
        back, forth = (torques(q, sign * dq, ddq) for sign in (-1.0, 1.0))
        b = 0.5 * (back + forth) - c
        f = 0.5 * (torques(q, v, zero) - torques(q, -v, zero))
        columns.append((a, b, c + f, limits["torque"]))
    parts = [np.concatenate(x, axis=-1) for x in zip(*columns, strict=True)]
    return tuple(x[..., np.isfinite(parts[-1])] for x in parts)


def _reachable(
    s: FloatArray, way: Way, rows: tuple[FloatArray, ...], velocity: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """The two passes of TOPP-RA.

    Raises
    ------
    PathError
        If no speed at a point allows the motion to continue.
    """
    try:
        from toppra import algorithm, constraint, interpolator
    except ImportError:
        raise MissingExtraError("toppra", "toppra", "the quickest motion along a path") from None

    class Path(interpolator.AbstractGeometricPath):  # type: ignore[misc]
        def __call__(self, at: Any, order: int = 0) -> Any:
            return way[order](at)

        dof = property(lambda self: way[0](0.0).size)
        path_interval = property(lambda self: s[[0, -1]])
        waypoints = property(lambda self: (s, self(s)))

    class Limits(constraint.LinearConstraint):  # type: ignore[misc]
        def compute_constraint_params(self, path: Any, gridpoints: Any) -> Any:
            a, b, c, most = rows
            both = np.concatenate([np.eye(len(most)), -np.eye(len(most))])
            sides = (a, b, c, both, np.concatenate([most, most]), None, None)
            return constraint.canlinear_colloc_to_interpolate(*sides, gridpoints, identical=True)

    bounds = Limits()
    bounds.dof, bounds.identical = len(rows[3]), True
    bounds.set_discretization_type(1)
    constraints = [bounds]
    if velocity is not None:
        constraints.append(
            constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=-1))
        )
    solver = algorithm.TOPPRA(constraints, Path(), gridpoints=s, solver_wrapper="seidel")
    _, speeds, _ = solver.compute_parameterization(0.0, 0.0)
    if speeds is None or not np.isfinite(speeds).all() or not (speeds[1:] + speeds[:-1]).all():
        sets = solver.compute_controllable_sets(0.0, 0.0)
        open_at = np.flatnonzero(np.isnan(sets).any(axis=1))
        where = f" {s[open_at[-1]]:.4g} of {s[-1]:.4g} along the way" if len(open_at) else ""
        raise PathError(
            f"no speed along the path keeps within the limits:{where or ' at its start'}"
        )
    return speeds, np.diff(speeds**2) / (2.0 * np.diff(s))
