"""The state after a step, or all steps of a motion, with derivatives.

They are with respect to state, forces and parameters, by dual arrays and `DualOperations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError, ShapeError, SingularError
from robodyn.literals import IntegratorName, ParameterSet
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.loads.driven_joints import PathOfTime, driven_joints
from robodyn.simulation.loads.loads import Loads, LoadsAt, loads_on
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads
from robodyn.simulation.sensitivity.dual_operations import DualArray, DualOperations, wrench_law
from robodyn.simulation.step.operations.step import step
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import STEP_JOIN


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
        self, loads: Loads, integrator: IntegratorName, *, parameters: bool | ParameterSet = False
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
        method = integrators.explicit(integrator)
        if method is None:
            known = ", ".join(integrators.EXPLICIT)
            raise SettingsError(
                f"a step by {integrator!r} has no derivative here: simulate with one of {known}"
            )
        if loads.functions is None:
            raise SettingsError(
                f"derivatives of steps of {loads.robot.name!r} are not known: the rank of its "
                "loops changes, so that there is no straight-line code"
            )
        self._method = method
        self._operations = DualOperations(loads, loads.functions, law, parameters)

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
            none = np.zeros((*batch, self._robot.nq))
            return DualArray(none, derivative), DualArray(tau, derivative)
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
        return self._operations.driving_forces(at, start, speed, tau)

    def _check(self, *parts: DualArray) -> None:
        finite = np.all([np.isfinite(x.derivative).all(axis=(-2, -1)) for x in parts], axis=0)
        if not finite.all():
            rows = tuple(int(k) for k in np.flatnonzero(~np.ravel(finite)))
            raise SingularError(
                f"steps of {self._robot.name!r} have no derivative in states {list(rows[:5])}: "
                "postures are singular there, or numbers are not finite",
                rows=rows,
            )


def robot_of_steps(run: Trajectory) -> Robot:
    """The robot of a motion without events, whose samples are the ends of steps.

    Raises ShapeError, SettingsError: If there are events, or if the trajectory does not know its
        robot.
    """
    if run.robot is None:
        raise SettingsError("the trajectory does not know its robot: it was read from a file")
    if run.t.ndim != 1 or not len(run.t):
        raise ShapeError("the trajectory has no samples along time", name="run", given=run.t.shape)
    if len(run.events) > 0:
        raise SettingsError(
            "derivatives of a motion are not known where events happened within it: "
            f"{run.events[0].name!r} at {run.events[0].time:.6g} s"
        )
    return run.robot


def jacobian_of_steps(
    robot: Robot,
    run: Trajectory,
    integrator: IntegratorName,
    controlled: Mapping[str, PathOfTime] | None = None,
    locked: Iterable[str] = (),
    parameters: bool | ParameterSet = False,
) -> StepJacobian:
    """Derivatives of the steps of a motion under its loads.

    controlled, locked: Those of the motion.
    parameters {"inertial", "dynamic"}
    Raises SettingsError: If other joints than these were driven, if loads are known at samples
        only, and as `StepJacobian`.
    """
    driven = driven_joints(robot, controlled, locked, run.t)
    if driven.speeds != tuple(run.driven):
        names = np.array(run.joint_names)
        was, now = (", ".join(names[list(x)]) or "none" for x in (run.driven, driven.speeds))
        raise SettingsError(
            f"driven along paths or locked in the motion: {was}; given here: {now}. Give "
            "controlled= and locked= of the motion, of which it keeps no paths"
        )
    around = run.surroundings
    if not isinstance(around, PrescribedLoads) and (around.base is not None or around.wrenches):
        raise SettingsError(
            "the motion of the base and wrenches are known at samples only, and not in between: "
            "take the trajectory that robodyn.simulate returned"
        )
    wrenches = around.wrenches
    base = around.base if isinstance(around, PrescribedLoads) else None
    loads = loads_on(robot, driven, base, wrenches)
    return StepJacobian(loads, integrator, parameters=parameters)


def steps_along(
    robot: Robot,
    run: Trajectory,
    jacobian: StepJacobian,
    start: int,
    stop: int,
    integrator: IntegratorName,
) -> FloatArray:
    """Derivatives of some steps, shape (n, ..., 2 nv, 3 nv + parameters).

    Raises SettingsError: If a step does not end at the next sample.
    """
    here, ahead = slice(start, stop), slice(start + 1, stop + 1)
    ones = (1,) * (run.q.ndim - 1)
    t, h = (x.reshape(-1, *ones) for x in (run.t[here], run.t[ahead] - run.t[here]))
    q, v = jacobian(t, run.q[here], run.v[here], run.tau[here], h)
    moved = robot.difference(run.q[ahead], q.value)
    for off, size in ((moved, run.v[here] * h), (v.value - run.v[ahead], run.v[ahead])):
        wrong = np.abs(off) > STEP_JOIN * (1.0 + np.abs(size))
        if wrong.any():
            k = start + int(np.argwhere(wrong)[0][0])
            raise SettingsError(
                f"a step by {integrator!r} from sample {k} at {run.t[k]:.6g} s ends "
                f"{np.abs(off[wrong][0]):.3g} away from the next sample: give the integrator of "
                "the motion, and simulate it with every=1"
            )
    return np.concatenate([q.derivative, v.derivative], axis=-2)
