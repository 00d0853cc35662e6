"""What acts on a simulated robot while no command is fresh, and follows trajectories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import robodyn as rd
from robodyn.ros.engine.settings import Settings

__all__ = ["Reference", "controller_torque"]

Array = NDArray[np.float64]
#: Positions, speeds and accelerations of the motors' coordinates.
Reference = tuple[Array, Array, Array]
Law = Callable[[Array, Array, Reference], Array]


def controller_torque(
    robot: rd.Robot, settings: Settings, coordinates: Array, speeds: Array
) -> Law:
    """The law ``(q, v, reference) -> tau`` that the settings name.

    Parameters
    ----------
    robot : Robot
    settings : Settings
    coordinates, speeds : ndarray of int, shape (n,)
        Where the motors stand in q and v; everything else gets no force.

    Raises
    ------
    ShapeError
        For a number of gains that is neither one nor one a motor.
    """
    k = np.array(settings.spread("stiffness", len(speeds)), float)
    d = np.array(settings.spread("damping", len(speeds)), float)
    still = np.zeros(robot.nv)

    def only_motors(tau: Array) -> Array:
        out = np.zeros(robot.nv)
        out[speeds] = tau[speeds]
        return out

    def none(q: Array, v: Array, reference: Reference) -> Array:
        return still

    def gravity(q: Array, v: Array, reference: Reference) -> Array:
        return only_motors(robot.inverse_dynamics(q, still, still))

    def pd(q: Array, v: Array, reference: Reference) -> Array:
        tau = gravity(q, v, reference)
        tau[speeds] += k * (reference[0] - q[coordinates]) + d * (reference[1] - v[speeds])
        return tau

    def computed_torque(q: Array, v: Array, reference: Reference) -> Array:
        x, dx, ddx = reference
        wanted = ddx + d * (dx - v[speeds]) + k * (x - q[coordinates])
        return only_motors(
            robot.inverse_dynamics(q, v, _accelerations(robot, q, v, speeds, wanted))
        )

    laws: dict[str, Law] = {
        "none": none, "gravity": gravity, "pd": pd, "computed_torque": computed_torque
    }  # fmt: skip
    return laws[settings.controller]


def _accelerations(robot: rd.Robot, q: Array, v: Array, speeds: Array, wanted: Array) -> Array:
    """Accelerations of all speeds when motors have those that are wanted, loops staying closed."""
    a = np.zeros(robot.nv)
    if not robot.nc:
        a[speeds] = wanted
        return a
    K, k = robot.loop_jacobian(q), robot.loop_bias(q, v)
    a[speeds] = wanted
    others = np.setdiff1d(np.arange(robot.nv), speeds)
    found: Any = np.linalg.lstsq(K[:, others], -k - K @ a, rcond=1e-9)[0]
    a[others] = found
    open_by = K @ a + k
    if np.abs(open_by).max(initial=0.0) > 1e-9 * max(1.0, float(np.abs(a).max(initial=0.0))):
        a -= np.linalg.pinv(K, rcond=1e-9) @ open_by  # more motors than motions
    return a
