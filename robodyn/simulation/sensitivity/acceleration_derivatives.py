"""Accelerations in a motion, and their derivatives by what a step is given.

What drives and loads the robot is known beforehand: the motion of the base, joints along paths,
wrenches and the time. Accelerations, and forces of driven joints, follow from the rest::

    a, tau_d = HD(q, v, a_d, tau_f)
    da, dtau_d = HD_q dq + HD_v dv + HD_tau (dtau_f + dg_f) - (0, dg_d)
    dg = J^T (w_q dq + w_v dv) - Y dp

of driven joints d and free ones f, with the regressor Y, and the Jacobians J of links on which
wrenches act that are functions w of the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen import Function
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.control.wrench_function import WrenchLaw
from robodyn.simulation.loads.path_tables import Paths
from robodyn.simulation.sensitivity.dual_array import DualArray

__all__ = ["AccelerationSlopes", "along_speeds"]


class AccelerationSlopes:
    """Accelerations with derivatives, over all states of a batch.

    Parameters
    ----------
    robot : Robot
    paths : Paths
        What drives and loads it.
    law : WrenchLaw, optional
        Wrenches that are functions of the state, and not among those of the paths.
    parameters : bool
        Differentiate with respect to inertial parameters, too.
    """

    def __init__(self, robot: Robot, paths: Paths, law: WrenchLaw | None, parameters: bool) -> None:
        self._robot, self._paths, self._law, self._parameters = robot, paths, law, parameters
        self._driven = list(paths.driven.speeds)
        self._free = paths.driven.free.tolist()
        loaded = tuple(paths.wrenches) if law is None else law.links
        links: dict[str, Any] = {"wrenches": loaded} if loaded else {}
        if self._driven:
            options = {"controlled": paths.driven.speeds, **links}
            self._function = robot.function("hybrid_dynamics_derivatives", **options)
        else:
            self._function = robot.function("forward_dynamics_derivatives", **links)

    def accelerations(
        self, t: FloatArray, q: DualArray, v: DualArray, tau: FloatArray
    ) -> DualArray:
        """Accelerations of all speeds.

        Parameters
        ----------
        t : ndarray, shape (..., 1) [s]
        q, v : DualArray
            Driven joints are where their paths have them.
        tau : ndarray, shape (..., nv)
            Of the joints that are not driven.
        """
        found = self._found(t, q.value, v.value, tau)
        push = self._pushed(t, q, v, found["a"])
        return DualArray(found["a"], self._chained("a", found, q, v, push))

    def driving_forces(
        self, t: FloatArray, q: DualArray, v: DualArray, tau: FloatArray
    ) -> DualArray:
        """Generalised forces of the driven speeds, in their order."""
        found = self._found(t, q.value, v.value, tau)
        push = self._pushed(t, q, v, found["a"])
        slope = self._chained("tau", found, q, v, push) - push
        return DualArray(found["tau"][..., self._driven], slope[..., self._driven, :])

    def _chained(
        self, name: str, found: dict[str, Any], q: DualArray, v: DualArray, push: FloatArray
    ) -> FloatArray:
        """Derivatives of an output, with those by free forces and by what pushes beside them."""
        by_q, by_v, by_tau = (found[f"d {name} / d {x}"] for x in ("q", "v", "free"))
        slope = by_q @ q.slope + by_v @ v.slope + by_tau @ push[..., self._free, :]
        slope[..., [2 * self._robot.nv + k for k in self._free]] += by_tau
        return np.asarray(slope)

    def _pushed(self, t: FloatArray, q: DualArray, v: DualArray, a: FloatArray) -> FloatArray:
        """Change of generalised forces by wrenches and by inertial parameters, (..., nv, m)."""
        nv = self._robot.nv
        push = np.zeros_like(q.slope)
        if self._parameters:
            around = self.around(self._regressor, 3, t)
            push[..., 3 * nv :] = -self._regressor(q.value, v.value, a, *around)
        if self._law is not None:
            by_q, by_v = (self._law.slopes(x, t, q.value, v.value) for x in ("q", "v"))
            for link in self._law.links:
                jacobian = self._robot.function("frame_jacobian", frame=link)
                J = jacobian(q.value, *self.around(jacobian, 1, t))
                change = by_q[link] @ q.slope + by_v[link] @ v.slope
                push += np.swapaxes(J, -1, -2) @ change
        return push

    def of_inertia(self, t: FloatArray, q: FloatArray, x: FloatArray) -> FloatArray:
        """Change of accelerations at rest by inertial parameters, ``G dM x``.

        G are the accelerations that forces of joints that are not driven bring about, and ``dM x``
        the change of the forces that accelerate by x.
        """
        rest = np.zeros_like(x)
        around = self.around(self._regressor, 3, t)
        forces = self._regressor(q, rest, x, *around) - self._regressor(q, rest, rest, *around)
        by_tau = self._found(t, q, rest, rest)["d a / d free"]
        return np.asarray(by_tau @ forces[..., self._free, :])

    def placed(self, t: FloatArray, q: DualArray, v: DualArray, rates: Function | None) -> None:
        """Put driven joints where they have to be, in the arrays themselves.

        Parameters
        ----------
        t : ndarray, shape (..., 1) [s]
        q, v : DualArray
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

    def around(
        self,
        function: Function,
        own: int,
        t: FloatArray,
        wrenches: Mapping[str, FloatArray] | None = None,
    ) -> list[Array]:
        """Inputs of a function after its first ones, at times of shape (..., 1)."""
        names = [port.name for port in function.inputs[own:]]
        held = wrenches or self._paths.wrenches
        given: dict[str, Any] = {f"wrench:{link}": x for link, x in held.items()}
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
        wrenches = {} if self._law is None else self._law.at(t, q, v)
        around = self.around(function, 2 + len(given), t, wrenches)
        parts = function(q, v, *given, *around)
        found = dict(zip((port.name for port in function.outputs), parts, strict=True))
        forces = "tau_free" if self._driven else "tau"
        for name in ("a", "tau") if self._driven else ("a",):
            found[f"d {name} / d free"] = found[f"d {name} / d {forces}"]
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
