"""A step of a motion and its derivatives: `step_derivatives`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, refuse_not_finite, shaped, together
from robodyn.errors import SettingsError
from robodyn.literals import IntegratorName, ParameterSet
from robodyn.robot import Robot
from robodyn.simulation.loads.arguments import base_path, wrenches_on
from robodyn.simulation.loads.driven_joints import PathOfTime, driven_joints
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.loads.prescribed_loads import BaseAt, WrenchFunction
from robodyn.simulation.sensitivity.step_jacobian import StepJacobian


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """The state after a step, and its derivatives: ``dx' = A dx + B dtau + P dp``.

    A change of state ``dx = (dq, dv)`` has 2 nv numbers, with ``dq`` in tangent space: it leads
    from ``q`` to ``robot.integrate(q, dq)``.

    Attributes
    ----------
    q, v : ndarray, shape (..., nq), (..., nv) [rad, m], [rad/s, m/s]
        The state after the step.
    A : ndarray, shape (..., 2 nv, 2 nv)
        Derivatives with respect to the state before the step.
    B : ndarray, shape (..., 2 nv, nv)
        Derivatives with respect to the forces, which are held in the step.
    P : ndarray, shape (..., 2 nv, n), or None
        Derivatives with respect to parameters, if asked for.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> step = rd.step_derivatives(robot, [0.1, 0.2], [0, 0], [0, 0], step=0.001)
    >>> step.A.shape, step.B.shape
    ((4, 4), (4, 2))
    """

    q: FloatArray
    v: FloatArray
    A: FloatArray
    B: FloatArray
    P: FloatArray | None = None

    def __repr__(self) -> str:
        *batch, n, nv = self.B.shape
        of = f", each of {tuple(batch)} steps" if batch else ""
        return f"<StepDerivatives: A ({n}, {n}), B ({n}, {nv}){of}>"


@checked_arguments
def step_derivatives(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    step: float = 1e-3,
    integrator: IntegratorName = "rk4",
    parameters: bool | ParameterSet = False,
    base: BaseAt | None = None,
    controlled: Mapping[str, PathOfTime] | None = None,
    locked: Iterable[str] = (),
    wrenches: Mapping[str, ArrayLike] | WrenchFunction | None = None,
    t: ArrayLike = 0.0,
) -> StepDerivatives:
    """A step of `robodyn.simulate` and its exact derivatives in tangent space.

    These are the derivatives of the numerical step, including the integrator and the closing of
    loops, not those of the exact motion.

    Parameters
    ----------
    robot : Robot
    q, v, tau : array_like, shape (..., nq), (..., nv), (..., nv)
        States, and forces that are held in the step [N m, N].
    step : float [s]
    integrator : str
        An explicit one: a key of `robodyn.simulation.integrators.EXPLICIT`.
    parameters : bool or {"inertial", "dynamic"}
        Also compute derivatives with respect to ``robot.inertial_parameters``; ``"dynamic"``: with
        respect to ``robot.dynamic_parameters``, which include rotors and friction.
    base : callable, optional
        Time [s] -> `BaseMotion`, of a robot with a moving base. Default: at rest.
    controlled, locked
        Driven joints, as in `robodyn.simulate`. Their positions and speeds are functions of time:
        the state after a step does not depend on their elements of ``q``, ``v`` and ``tau``. A
        locked joint stays at its q.
    wrenches : mapping of link name to array_like, shape (6,) or (..., 6), or callable, optional
        External wrenches in the step [N, N m]. A function of ``(t, q, v)`` or ``t`` has to be
        symbolic (``symbolic = True``): it does nothing but arithmetic with them.
    t : array_like, shape (...) [s]
        Time at the start of the step, for the base, paths, and robots that depend on time.

    Returns
    -------
    derivatives : StepDerivatives
        For a closed linkage, only changes of the state that keep loops closed have a meaning.

    Raises
    ------
    ShapeError
    SettingsError
        For other integrators, for a function of wrenches that is not symbolic, and if the rank of
        the loops changes.
    UnknownNameError, ActuationError, PathError
        For joints that cannot be driven, as in `robodyn.simulate`.
    SingularError
        If results are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> d = rd.step_derivatives(robot, [0.3, 0.2], [0.0, 0.0], [0.0, 0.0], step=0.01)
    >>> d
    <StepDerivatives: A (4, 4), B (4, 2)>
    >>> ahead = rd.step_derivatives(robot, [0.3, 0.2], [1e-6, 0.0], [0.0, 0.0], step=0.01)
    >>> bool(np.allclose((ahead.q - d.q) / 1e-6, d.A[:2, 2], atol=1e-8))
    True
    """
    q = checked("q", q, robot.nq, of=robot.name)
    v, tau = (checked(name, x, robot.nv, of=robot.name) for name, x in (("v", v), ("tau", tau)))
    clock = shaped("t", t)
    batch = together(q=q, v=v, tau=tau, t=clock[..., None])
    if not 0.0 < step < np.inf:
        raise SettingsError(f"step is {step!r} s, expected a positive number")
    start = np.broadcast_to(clock, batch)
    refuse_not_finite("t", start, 0)
    ends = (start.min(), start.max()) if start.size else (0.0, 0.0)
    span = np.array([ends[0], ends[1] + step])
    driven = driven_joints(robot, controlled, locked, span)
    loads = loads_on(robot, driven, base_path(base, span), wrenches_on(wrenches, batch))
    jacobian = StepJacobian(loads, integrator, parameters=parameters)
    h = np.full((*batch, 1), float(step))
    moved, speed = jacobian(start[..., None], q, v, tau, h)
    whole = np.concatenate([moved.derivative, speed.derivative], axis=-2)
    A, B, P = np.split(whole, [2 * robot.nv, 3 * robot.nv], axis=-1)
    return StepDerivatives(moved.value, speed.value, A, B, P if parameters else None)
