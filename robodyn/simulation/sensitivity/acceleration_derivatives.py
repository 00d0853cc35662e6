"""Accelerations in a motion, and their derivatives with respect to the inputs of a step.

The motion of the base, paths of driven joints and wrenches are functions of time. Accelerations,
and forces of driven joints, depend on the rest::

    a, tau_d = HD(q, v, a_d, tau_f)
    da, dtau_d = HD_q dq + HD_v dv + HD_tau (dtau_f + dg_f) - (0, dg_d)
    dg = J^T (w_q dq + w_v dv) - Y dp

of driven joints d and free ones f, with the regressor Y, and the Jacobians J of links on which
wrenches act that are functions w of the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen import Function
from robodyn.literals import ParameterSet
from robodyn.simulation.control.wrench_function import WrenchLaw
from robodyn.simulation.loads.loads import Loads
from robodyn.simulation.loads.tables import LoadsAt
from robodyn.simulation.sensitivity.dual_array import DualArray


class AccelerationDerivatives:
    """Accelerations of all states of a batch, with their derivatives.

    law, optional: Wrenches that are functions of the state, which the loads do not contain.
    parameters {"inertial", "dynamic"}: Differentiate with respect to these parameters, too.
    """

    def __init__(
        self, loads: Loads, law: WrenchLaw | None, parameters: bool | ParameterSet
    ) -> None:
        self._robot, self._law, self._parameters = loads.robot, law, parameters
        robot, driven, wrenches = loads.robot, loads.driven, loads.external.wrenches
        assert not callable(wrenches)
        self._driven, self._free = list(driven.speeds), driven.free.tolist()
        loaded = tuple(wrenches) if law is None else law.links
        links: dict[str, Any] = {"wrenches": loaded} if loaded else {}
        if self._driven:
            options = {"controlled": driven.speeds, **links}
            self._function = robot.function("hybrid_dynamics_derivatives", **options)
        else:
            self._function = robot.function("forward_dynamics_derivatives", **links)

    def accelerations(self, at: LoadsAt, q: DualArray, v: DualArray, tau: FloatArray) -> DualArray:
        """Accelerations of all speeds.

        at: Loads at the instants of the batch.
        q, v: Driven joints have to be on their paths.
        tau (..., nv): Forces of the joints that are not driven.
        """
        found = self._found(at, q.value, v.value, tau)
        push = self._pushed(at, q, v, found["a"])
        return DualArray(found["a"], self._chained("a", found, q, v, push))

    def driving_forces(self, at: LoadsAt, q: DualArray, v: DualArray, tau: FloatArray) -> DualArray:
        """Generalised forces of the driven speeds, in their order."""
        found = self._found(at, q.value, v.value, tau)
        push = self._pushed(at, q, v, found["a"])
        derivative = self._chained("tau", found, q, v, push) - push
        return DualArray(found["tau"][..., self._driven], derivative[..., self._driven, :])

    def _chained(
        self, name: str, found: dict[str, Any], q: DualArray, v: DualArray, push: FloatArray
    ) -> FloatArray:
        """Derivatives of an output with respect to the state and all generalised forces."""
        by_q, by_v, by_tau = (found[f"d {name} / d {x}"] for x in ("q", "v", "free"))
        derivative = by_q @ q.derivative + by_v @ v.derivative + by_tau @ push[..., self._free, :]
        derivative[..., [2 * self._robot.nv + k for k in self._free]] += by_tau
        return np.asarray(derivative)

    def _pushed(self, at: LoadsAt, q: DualArray, v: DualArray, a: FloatArray) -> FloatArray:
        """Derivatives of generalised forces through wrenches and parameters, (..., nv, m)."""
        nv = self._robot.nv
        push = np.zeros_like(q.derivative)
        if self._parameters:
            around = at.inputs(self._regressor, 3)
            push[..., 3 * nv :] = -self._regressor(q.value, v.value, a, *around)
        if self._law is not None:
            by_q, by_v = (self._law.slopes(x, _time(at), q.value, v.value) for x in ("q", "v"))
            for link in self._law.links:
                jacobian = self._robot.function("frame_jacobian", frame=link)
                J = jacobian(q.value, *at.inputs(jacobian, 1))
                change = by_q[link] @ q.derivative + by_v[link] @ v.derivative
                push += np.swapaxes(J, -1, -2) @ change
        return push

    def of_inertia(self, at: LoadsAt, q: FloatArray, x: FloatArray) -> FloatArray:
        """Derivative of accelerations at rest with respect to parameters, ``G dM x``.

        ``G`` is the derivative of accelerations with respect to the forces of joints that are not
        driven, and ``dM x`` that of the forces for accelerations x.
        """
        rest = np.zeros_like(x)
        around = at.inputs(self._regressor, 3)
        forces = self._regressor(q, rest, x, *around) - self._regressor(q, rest, rest, *around)
        by_tau = self._found(at, q, rest, rest)["d a / d free"]
        return np.asarray(by_tau @ forces[..., self._free, :])

    def _found(self, at: LoadsAt, q: FloatArray, v: FloatArray, tau: FloatArray) -> dict[str, Any]:
        """Outputs of the derivatives of dynamics; ``free``: of a with respect to free forces."""
        function = self._function
        given: list[Array] = [tau]
        if self._driven:
            given = [at.driven[2], tau[..., self._free]]
        if self._law is not None:
            at = _loaded(at, self._law.at(_time(at), q, v))
        parts = function(q, v, *given, *at.inputs(function, 2 + len(given)))
        found = dict(zip((port.name for port in function.outputs), parts, strict=True))
        forces = "tau_free" if self._driven else "tau"
        for name in ("a", "tau") if self._driven else ("a",):
            found[f"d {name} / d free"] = found[f"d {name} / d {forces}"]
        return found

    @cached_property
    def _regressor(self) -> Function:
        dynamic = self._parameters == "dynamic"
        return self._robot.function("dynamic_regressor" if dynamic else "regressor")


def _time(at: LoadsAt) -> FloatArray:
    """The instants, shape (..., 1) [s]."""
    return at.varying["t"][..., None]


def _loaded(at: LoadsAt, wrenches: Mapping[str, FloatArray]) -> LoadsAt:
    """The loads with further wrenches, by link."""
    constant = {f"wrench:{link}": x for link, x in wrenches.items()}
    return replace(at, constant=constant)
