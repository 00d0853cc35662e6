"""The state after a step, with derivatives with respect to state, forces and parameters.

The step is computed with dual arrays, by `DualOperations`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError, SingularError
from robodyn.literals import IntegratorName, ParameterSet
from robodyn.simulation import integrators
from robodyn.simulation.control.wrench_function import wrench_law
from robodyn.simulation.integrators.method import Integrator
from robodyn.simulation.loads.loads import Loads
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads
from robodyn.simulation.loads.step_functions import StepFunctions
from robodyn.simulation.loads.tables import LoadsAt
from robodyn.simulation.sensitivity.acceleration_derivatives import AccelerationDerivatives
from robodyn.simulation.sensitivity.dual_array import DualArray
from robodyn.simulation.sensitivity.dual_operations import DualOperations
from robodyn.simulation.step.operations.step import step


class StepJacobian:
    """Steps of a robot, with derivatives.

    loads: The loads in the step, and the robot. Wrenches are constant in the step, or a symbolic
        function ``(t, q, v)``.
    integrator: Name of an explicit method.
    parameters {"inertial", "dynamic"}: Differentiate with respect to these parameters, too.
    Raises SettingsError: For an integrator that is not explicit, wrenches that are a function which
        is not symbolic, parameters where gravity of planets depends on them, and where loops have
        no straight-line code.
    """

    def __init__(
        self,
        loads: Loads,
        integrator: IntegratorName,
        *,
        parameters: bool | ParameterSet = False,
    ) -> None:
        self._robot, self._parameters = loads.robot, parameters
        planets = loads.robot.model.setup.planets
        if parameters and planets:
            raise SettingsError(
                f"{planets[0].name!r} draws {loads.robot.name!r} by its masses: derivatives by "
                "inertial parameters do not have that. Differentiate "
                "robot.function('inverse_dynamics', parameters=True), or compare simulations of "
                "robot.with_(parameters=)"
            )
        law, wrenches = None, loads.external.wrenches
        if callable(wrenches):
            law = wrench_law(loads.robot, wrenches)
            loads = replace(loads, external=PrescribedLoads(loads.external.base))
        self._method, functions = _explicit(integrator), _functions(loads)
        self._dynamics = AccelerationDerivatives(loads, law, parameters)
        self._operations = DualOperations(loads, functions, self._dynamics, bool(parameters))

    def __call__(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray, h: FloatArray
    ) -> tuple[DualArray, DualArray]:
        """The state after a step, with derivatives by q, v, tau and, if wanted, the parameters.

        t, h (..., 1) [s]: Start and length of the step.
        Returns q, v: With derivatives of shape (..., nv, 3 nv + parameters).
        Raises SingularError: Where the numbers are not finite.
        """
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, tau, h)))
        tau = np.broadcast_to(tau, (*batch, self._robot.nv))
        if 0 in batch:  # no states
            derivative = np.zeros((*tau.shape, 3 * self._robot.nv + self.parameters))
            return DualArray(np.zeros((*batch, self._robot.nq)), derivative), DualArray(
                tau, derivative
            )

        with np.errstate(all="ignore"):
            start, speed, at = self._started(t, q, v, batch)
            first = self._operations.accelerations(t, start, speed, tau, at)
            moved, speed = step(self._operations, self._method, t, start, speed, tau, h, first)
        self._check(moved, speed)
        return moved, speed

    def _started(
        self, t: FloatArray, q: FloatArray, v: FloatArray, batch: tuple[int, ...]
    ) -> tuple[DualArray, DualArray, LoadsAt]:
        """The state at the start of a step, with driven joints on their paths, and the loads."""
        nv, count = self._robot.nv, self.parameters
        seeds = np.broadcast_to(np.eye(nv, 3 * nv + count), (*batch, nv, 3 * nv + count))
        start = DualArray(np.array(np.broadcast_to(q, (*batch, self._robot.nq))), seeds.copy())
        speed = DualArray(np.array(np.broadcast_to(v, (*batch, nv))), np.roll(seeds, nv, axis=-1))
        return start, speed, self._operations.drive(t, start, speed)

    @property
    def parameters(self) -> int:
        """Number of parameters with respect to which steps are differentiated."""
        if self._parameters == "dynamic":
            return len(self._robot.dynamic_parameter_names)
        return self._robot.inertial_parameters.shape[-1] if self._parameters else 0

    def of_start(self, t: float, q: FloatArray, v: FloatArray, lam: FloatArray) -> FloatArray:
        """Derivatives with respect to a given start, from those on the paths of driven joints."""
        time = np.full((*q.shape[:-1], 1), t)
        start, speed, _ = self._started(time, q, v, q.shape[:-1])
        derivative = np.concatenate([start.derivative, speed.derivative], axis=-2)
        return np.asarray(np.einsum("...ij,...i->...j", derivative, lam))[..., : lam.shape[-1]]

    def driving_forces(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> DualArray:
        """Forces of driven speeds at the start of steps, with derivatives as of `__call__`."""
        start, speed, at = self._started(t, q, v, tau.shape[:-1])
        return self._dynamics.driving_forces(at, start, speed, tau)

    def _check(self, *parts: DualArray) -> None:
        finite = np.all([np.isfinite(x.derivative).all(axis=(-2, -1)) for x in parts], axis=0)
        if not finite.all():
            rows = tuple(int(k) for k in np.flatnonzero(~np.ravel(finite)))
            raise SingularError(
                f"steps of {self._robot.name!r} have no derivative in states {list(rows[:5])}: "
                "postures are singular there, or numbers are not finite",
                rows=rows,
            )


def _explicit(integrator: IntegratorName) -> Integrator:
    method = integrators.explicit(integrator)
    if method is None:
        known = ", ".join(integrators.EXPLICIT)
        raise SettingsError(
            f"a step by {integrator!r} has no derivative here: simulate with one of {known}"
        )
    return method


def _functions(loads: Loads) -> StepFunctions:
    if loads.functions is None:
        raise SettingsError(
            f"derivatives of steps of {loads.robot.name!r} are not known: the rank of its loops "
            "changes, so that there is no straight-line code"
        )
    return loads.functions
