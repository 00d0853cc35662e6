"""One step of a robot of which some joints are driven and the others get forces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import robodyn as rd
from robodyn.ros.engine.drives import Drives
from robodyn.simulation import integrators

__all__ = ["accelerations", "independent", "settle", "step_once"]

Array = NDArray[np.float64]

#: Gaps of loops [m, rad] that count as open.
OPEN = 1e-7


def accelerations(
    robot: rd.Robot, q: Array, v: Array, tau: Array, drives: Drives, wanted: Array
) -> tuple[Array, Array]:
    """Accelerations, and forces with those that driving takes.

    Forward dynamics is affine in the forces. With loops, the forces of the driven joints are found
    from its value for each of them, in one batch of machine code.
    """
    if not drives:
        return robot.forward_dynamics(q, v, tau), tau
    if not robot.nc:
        return robot.driven_dynamics(q, v, wanted, tau[drives.free], drives.key)
    n, driven = len(drives), drives.speeds
    forces = np.tile(tau, (n + 1, 1))
    forces[:, driven] = 0.0
    forces[np.arange(1, n + 1), driven] = 1.0
    rows = robot.forward_dynamics(np.tile(q, (n + 1, 1)), np.tile(v, (n + 1, 1)), forces)
    effect = (rows[1:] - rows[0]).T
    solved = np.linalg.lstsq(effect[driven], wanted - rows[0][driven], rcond=1e-12)[0]
    total = forces[0].copy()
    total[driven] = solved
    return rows[0] + effect @ solved, total


def step_once(
    robot: rd.Robot,
    method: str,
    t: float,
    q: Array,
    v: Array,
    h: float,
    tau: Array,
    drives: Drives,
    bandwidth: float,
) -> tuple[Array, Array]:
    """State after ``h`` [s]; ``tau`` is held, driven joints have the accelerations wanted."""

    def acceleration(t: float, q: Array, v: Array) -> Array:
        wanted = drives.accelerations(t, q, v, bandwidth)
        return accelerations(robot, q, v, tau, drives, wanted)[0]

    first = acceleration(t, q, v)
    if method == "semi_implicit":
        faster = v + h * first
        return robot.integrate(q, h * faster), faster
    return integrators.step(integrators.integrator(method), acceleration, robot, t, q, v, h, first)


def settle(robot: rd.Robot, q: Array, v: Array, drives: Drives) -> tuple[Array, Array]:
    """The state with loops closed by the joints that are not driven.

    Raises
    ------
    AssemblyError
        If they cannot.
    """
    if not robot.nc:
        return q, v
    free = np.ones(robot.nv, bool)
    free[drives.speeds] = False
    q, v = robot.closed_state(q, v, free)
    gap = np.abs(robot.loop_residual(q)).max()
    if not gap < OPEN:
        raise rd.AssemblyError(f"the loops opened by {gap:.3g} (m or rad)", q=q)
    return q, v


def independent(robot: rd.Robot, q: Array, drives: Drives) -> bool:
    """Whether the loops let all driven joints move independently of each other."""
    if not robot.nc or not drives:
        return True
    K = robot.loop_jacobian(q)
    both = np.vstack([K, np.eye(robot.nv)[drives.speeds]])
    rank = np.linalg.matrix_rank(K, tol=1e-9 * np.linalg.norm(K, 2))
    return bool(
        np.linalg.matrix_rank(both, tol=1e-9 * np.linalg.norm(both, 2)) == rank + len(drives)
    )
