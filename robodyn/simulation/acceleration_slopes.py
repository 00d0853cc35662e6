"""Accelerations in a motion, and their derivatives by what a step is given.

What drives and loads the robot is known beforehand: the motion of the base, joints along paths,
wrenches and the time. Accelerations, and forces of driven joints, follow from the rest::

    a, tau_d = HD(q, v, a_d, tau_f)
    da, dtau_d = HD_q dq + HD_v dv + HD_tau (dtau_f - Y_f dp) + (0, Y_d dp)

of driven joints d and free ones f, with the regressor Y.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen import Function
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.moved import Moved
from robodyn.simulation.path_tables import Paths

__all__ = ["AccelerationSlopes", "along_speeds"]


class AccelerationSlopes:
    """Accelerations with derivatives, over all states of a batch.

    Parameters
    ----------
    robot : Robot
    paths : Paths
        What drives and loads it.
    parameters : bool
        Differentiate with respect to inertial parameters, too.
    """

    def __init__(self, robot: Robot, paths: Paths, parameters: bool) -> None:
        self._robot, self._paths, self._parameters = robot, paths, parameters
        self._driven = list(paths.driven.speeds)
        self._free = paths.driven.free.tolist()
        links: dict[str, Any] = {"wrenches": tuple(paths.wrenches)} if paths.wrenches else {}
        if self._driven:
            options = {"controlled": paths.driven.speeds, **links}
            self._function = robot.function("hybrid_dynamics_derivatives", **options)
        else:
            self._function = robot.function("forward_dynamics_derivatives", **links)

    def accelerations(self, t: FloatArray, q: Moved, v: Moved, tau: FloatArray) -> Moved:
        """Accelerations of all speeds.

        Parameters
        ----------
        t : ndarray, shape (..., 1) [s]
        q, v : Moved
            Driven joints are where their paths have them.
        tau : ndarray, shape (..., nv)
            Of the joints that are not driven.
        """
        found = self._found(t, q.value, v.value, tau)
        a, by_q, by_v, by_tau = (found[k] for k in ("a", "d a / d q", "d a / d v", "free"))
        return Moved(a, self._chained(t, q, v, a, by_q @ q.slope + by_v @ v.slope, by_tau))

    def driving_forces(self, t: FloatArray, q: Moved, v: Moved, tau: FloatArray) -> Moved:
        """Generalised forces of the driven speeds, in their order."""
        rows, found = self._driven, self._found(t, q.value, v.value, tau)
        by_q, by_v, by_tau = (found[f"d tau / d {k}"][..., rows, :] for k in ("q", "v", "tau_free"))
        slope = self._chained(t, q, v, found["a"], by_q @ q.slope + by_v @ v.slope, by_tau)
        if self._parameters:
            forces = self._regressor(
                q.value, v.value, found["a"], *self.around(self._regressor, 3, t)
            )
            slope[..., 3 * self._robot.nv :] += forces[..., rows, :]
        return Moved(found["tau"][..., rows], slope)

    def _chained(
        self,
        t: FloatArray,
        q: Moved,
        v: Moved,
        a: FloatArray,
        slope: FloatArray,
        by_tau: FloatArray,
    ) -> FloatArray:
        """Derivatives with those by free forces and by parameters."""
        nv, free = self._robot.nv, self._free
        slope[..., [2 * nv + k for k in free]] += by_tau
        if self._parameters:
            forces = self._regressor(q.value, v.value, a, *self.around(self._regressor, 3, t))
            slope[..., 3 * nv :] -= by_tau @ forces[..., free, :]
        return slope

    def of_inertia(self, t: FloatArray, q: FloatArray, x: FloatArray) -> FloatArray:
        """Change of accelerations at rest by inertial parameters, ``G dM x``.

        G are the accelerations that forces of joints that are not driven bring about, and ``dM x``
        the change of the forces that accelerate by x.
        """
        rest = np.zeros_like(x)
        around = self.around(self._regressor, 3, t)
        forces = self._regressor(q, rest, x, *around) - self._regressor(q, rest, rest, *around)
        by_tau = self._found(t, q, rest, rest)["free"]
        return np.asarray(by_tau @ forces[..., self._free, :])

    def placed(self, t: FloatArray, q: Moved, v: Moved, rates: Function | None) -> None:
        """Put driven joints where they have to be, in the arrays themselves.

        Parameters
        ----------
        t : ndarray, shape (..., 1) [s]
        q, v : Moved
        rates : Function or None
            Rates of coordinates by speeds; None where coordinates add.
        """
        if not self._driven:
            return
        coordinates, speeds = self._paths.driven.places
        x, dx, _ = self._motion(t)
        v.value[..., speeds], v.slope[..., speeds, :] = dx, 0.0
        if rates is None:
            q.value[..., coordinates], q.slope[..., coordinates, :] = x, 0.0
        elif len(coordinates):
            raw = rates(q.value) @ q.slope
            q.value[..., coordinates], raw[..., coordinates, :] = x, 0.0
            q.slope[...] = along_speeds(rates(q.value), raw)

    def around(self, function: Function, own: int, t: FloatArray) -> list[Array]:
        """Inputs of a function after its first ones, at times of shape (..., 1)."""
        names = [port.name for port in function.inputs[own:]]
        given: dict[str, Any] = {f"wrench:{link}": x for link, x in self._paths.wrenches.items()}
        if "t" in names:
            given["t"] = t[..., 0]
        if "base_pose" in names:
            given |= self._base(t)
        return [given[name] for name in names]

    def _base(self, t: FloatArray) -> dict[str, Array]:
        """The motion of the base."""
        at, back = np.unique(t, return_inverse=True)
        path, batch = self._paths.base, t.shape[:-1]
        motions = [BaseMotion.at_rest() if path is None else path(float(x)) for x in at]
        found = {}
        for name in ("pose", "twist", "acceleration"):
            x = np.array([getattr(motion, name) for motion in motions])
            found[f"base_{name}"] = x[back.reshape(-1)].reshape(*batch, *x.shape[1:])
        return found

    def _motion(self, t: FloatArray) -> list[Array]:
        """Positions, velocities and accelerations of driven joints, as of `Driven.state`."""
        at, back = np.unique(t, return_inverse=True)
        states = [self._paths.driven.state(float(x)) for x in at]
        parts = (np.array([state[k] for state in states]) for k in range(3))
        return [x[back.reshape(-1)].reshape(*t.shape[:-1], -1) for x in parts]

    def _found(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> dict[str, Any]:
        """Outputs of the derivatives of dynamics; under ``free`` that of a by free forces."""
        function = self._function
        given: list[Array] = [tau]
        if self._driven:
            given = [self._motion(t)[2], tau[..., self._free]]
        around = self.around(function, 2 + len(given), t)
        parts = function(q, v, *given, *around)
        found = dict(zip((port.name for port in function.outputs), parts, strict=True))
        found["free"] = found["d a / d tau_free" if self._driven else "d a / d tau"]
        return found

    @cached_property
    def _regressor(self) -> Function:
        return self._robot.function("regressor")


def along_speeds(rates: FloatArray, raw: FloatArray) -> FloatArray:
    """Changes of coordinates as motions along the speeds, shape (..., nv, m).

    Parameters
    ----------
    rates : ndarray, shape (..., nq, nv)
        Rates of coordinates by speeds.
    raw : ndarray, shape (..., nq, m)
    """
    turned = np.swapaxes(rates, -1, -2)
    return np.asarray(np.linalg.solve(turned @ rates, turned @ raw))
