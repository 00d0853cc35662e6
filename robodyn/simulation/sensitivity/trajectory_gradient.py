"""The gradient of a cost of a motion by its start, its forces and the parameters of the robot.

A motion is a chain of steps ``x[k+1] = f(x[k], tau[k], p)``. The derivatives of a cost ``J`` at the
samples are given. The adjoint variables ``lam`` are computed backwards in time, with one product
of a matrix and a vector for each step, whatever the number of forces and parameters::

    lam[n] = dJ/dx[n]          lam[k] = dJ/dx[k] + A[k]^T lam[k+1]
    dJ/dtau[k] += B[k]^T lam[k+1]        dJ/dp = sum P[k]^T lam[k+1]

The forces of a controller change with the state: ``dtau[k] = C[k] dx[k]``. So do the forces that
drive joints along paths, which also change with the other forces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import numbers, refuse_not_finite, wrong_shape
from robodyn.errors import SettingsError
from robodyn.literals import IntegratorName, ParameterSet
from robodyn.robot import Robot
from robodyn.simulation.control.closed_loop import function_of_state
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.control.controller import check_controller
from robodyn.simulation.loads.driven_joints import PathOfTime
from robodyn.simulation.sensitivity import step_jacobian
from robodyn.simulation.sensitivity.step_jacobian import StepJacobian
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import STEP_JOIN

#: Number of steps that are differentiated together.
AT_ONCE = 500


@dataclass(frozen=True, eq=False)
class TrajectoryGradient:
    """Derivatives of a cost of a motion.

    Attributes
    ----------
    q0, v0 : ndarray, shape (..., nv)
        Derivatives with respect to the state at the start; those of positions are in tangent space.
    tau : ndarray, shape (n, ..., nv)
        Derivatives with respect to the forces that act from each sample to the next; zero for the
        last sample. With a controller, they are those with respect to forces that are added to its
        own. Zero at driven joints, whose forces follow from the rest.
    parameters : ndarray, shape (..., n), or None
        Derivatives with respect to ``robot.inertial_parameters`` or ``robot.dynamic_parameters``,
        if asked for.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> run = rd.simulate(rd.load("double_pendulum"), q0=[0.5, 0.2], duration=0.1, step=0.01)
    >>> last = np.zeros((11, 2))
    >>> last[-1, 0] = 1.0     # the cost is the shoulder's last angle
    >>> gradient = rd.trajectory_gradient(run, q=last)
    >>> gradient.q0.shape, gradient.tau.shape
    ((2,), (11, 2))
    """

    q0: FloatArray
    v0: FloatArray
    tau: FloatArray
    parameters: FloatArray | None = None

    def __repr__(self) -> str:
        return f"<TrajectoryGradient: {len(self.tau)} samples of {self.tau.shape[-1]} speeds>"


@checked_arguments
def trajectory_gradient(
    run: Trajectory,
    *,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    integrator: IntegratorName = "rk4",
    controller: Any = None,
    controlled: Mapping[str, PathOfTime] | None = None,
    locked: Iterable[str] = (),
    parameters: bool | ParameterSet = False,
) -> TrajectoryGradient:
    """The gradient of a cost of a simulated motion, exact for its steps, by a discrete adjoint.

    A cost is any function of the samples of the motion; it is given by its derivatives there.

    Parameters
    ----------
    run : Trajectory
        Of `robodyn.simulate` or `robodyn.rollout`, with a sample a step.
    q, v, tau : array_like, shape (n, ..., nv), optional
        Derivatives of the cost with respect to positions (in tangent space), velocities and forces
        of each sample. Default: zero.
    integrator : str
        That of the motion, an explicit one.
    controller : callable, optional
        That of the motion: forces then change with the state. One of `robodyn.controllers` or
        another one with ``symbolic = True``. Default: forces are the numbers that they were.
    controlled, locked
        As in the simulation of the motion. A locked joint stays where it starts; the start of a
        joint on a path has no effect.
    parameters : bool or {"inertial", "dynamic"}
        Also compute derivatives with respect to ``robot.inertial_parameters``; ``"dynamic"``: with
        respect to ``robot.dynamic_parameters``, which include rotors and friction. The parameters
        of a controller's model do not change with them.

    Returns
    -------
    gradient : TrajectoryGradient

    Raises
    ------
    ShapeError
    SettingsError
        If samples are not the steps of that integrator, forces are not those of that controller,
        the robot is not known, other joints were driven, wrenches were functions that are not
        symbolic, or events happened; and as `robodyn.step_derivatives`.
    SingularError
        Where a step has no derivative.

    Examples
    --------
    How the height of a pendulum after a second changes with its start and the forces:

    >>> import numpy as np
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> run = rd.simulate(robot, q0=[0.5, 0.2], duration=1.0, step=0.01)
    >>> by_q = np.zeros((101, 2))
    >>> by_q[-1] = robot.function("center_of_mass").jacobian("q")(run.q[-1])[2]
    >>> gradient = rd.trajectory_gradient(run, q=by_q)
    >>> ahead = rd.simulate(robot, q0=[0.5 + 1e-6, 0.2], duration=1.0, step=0.01)
    >>> rise = robot.center_of_mass(ahead.q[-1])[2] - robot.center_of_mass(run.q[-1])[2]
    >>> bool(abs(rise / 1e-6 - gradient.q0[0]) < 1e-4)
    True
    >>> gradient.tau.shape
    (101, 2)
    """
    robot = step_jacobian.robot_of_steps(run)
    given = [_over_samples(name, x, run) for name, x in (("q", q), ("v", v), ("tau", tau))]
    jacobian = step_jacobian.jacobian_of_steps(
        robot, run, integrator, controlled, locked, parameters
    )
    nv, last = robot.nv, len(run.t) - 1
    partial = np.zeros((*run.v.shape[:-1], 3 * nv + jacobian.parameters))
    partial[..., : 3 * nv] = np.concatenate(given, axis=-1)
    _drive(partial, run, jacobian)
    by_state, by_tau = partial[..., : 2 * nv], partial[..., 2 * nv : 3 * nv].copy()
    slopes = _feedback(robot, controller, run)

    def by_feedback(k: int) -> FloatArray | float:
        """Derivatives with respect to the state through the forces of the controller."""
        return 0.0 if slopes is None else np.einsum("...ij,...i->...j", slopes[k], by_tau[k])

    total = partial[..., 3 * nv :].sum(axis=0)
    lam = by_state[last] + by_feedback(last)
    for stop in range(last, 0, -AT_ONCE):
        start = max(0, stop - AT_ONCE)
        whole = step_jacobian.steps_along(robot, run, jacobian, start, stop, integrator)
        for k in range(stop - 1, start - 1, -1):
            change = np.einsum("...ij,...i->...j", whole[k - start], lam)
            by_tau[k] += change[..., 2 * nv : 3 * nv]
            total += change[..., 3 * nv :]
            lam = by_state[k] + change[..., : 2 * nv] + by_feedback(k)
    lam = jacobian.of_start(run.t[0], run.q[0], run.v[0], lam)
    return TrajectoryGradient(lam[..., :nv], lam[..., nv:], by_tau, total if parameters else None)


def _drive(partial: FloatArray, run: Trajectory, jacobian: StepJacobian) -> None:
    """Apply the chain rule to forces of driven joints, which depend on the state and other forces.

    partial (n, ..., 3 nv + parameters): Derivatives at samples; changed.
    """
    columns = [2 * run.v.shape[-1] + k for k in run.driven]
    if not partial[..., columns].any():
        return
    t = run.t.reshape(-1, *(1,) * (run.q.ndim - 1))
    forces = jacobian.driving_forces(t, run.q, run.v, run.tau)
    given = partial[..., columns]
    partial[..., columns] = 0.0
    partial += np.einsum("...ij,...i->...j", forces.derivative, given)


def _over_samples(name: str, given: ArrayLike | None, run: Trajectory) -> FloatArray:
    if given is None:
        return np.zeros(run.v.shape)
    x = np.asarray(numbers(name, given), float)
    if x.shape != run.v.shape:
        raise wrong_shape(
            name,
            x.shape,
            f"{run.v.shape}: the derivatives of the cost by each speed at each sample",
            run.v.shape,
        )
    refuse_not_finite(name, x, 1)
    return x


def _feedback(robot: Robot, controller: Any, run: Trajectory) -> FloatArray | None:
    """Derivatives of the forces of a controller with respect to the state at samples."""
    if controller is None:
        return None
    check_controller(controller)
    law = function_of_state(robot, controller)
    _check_forces(law, run)
    inputs = run.q, run.v, *_tables(law, run)
    slopes = [law.function.jacobian(name)(*inputs) for name in ("q", "v")]
    return np.concatenate(slopes, axis=-1)


def _tables(law: CompiledController, run: Trajectory) -> list[FloatArray]:
    """The time and signals at samples, to be broadcast over motions."""
    ones, n = (1,) * (run.q.ndim - 2), len(run.t)
    signals = (x.rows(run.t, 0, n).reshape(n, *ones, -1) for x in law.signals)
    return [run.t.reshape(n, *ones), *signals]


def _check_forces(law: CompiledController, run: Trajectory) -> None:
    off = np.abs(law.function(run.q, run.v, *_tables(law, run)) - run.tau)
    off[..., list(run.driven)] = 0.0  # their forces are those of their paths
    wrong = ~(off <= STEP_JOIN * (1.0 + np.abs(run.tau)))
    if wrong.any():
        k = int(np.argwhere(wrong)[0][0])
        raise SettingsError(
            f"the forces at {run.t[k]:.6g} s are not those of the controller: they differ by "
            f"{off[wrong][0]:.3g}, as where limits of efforts cut them"
        )
