"""What a step leads to, and its derivatives by all that it is given.

The integrator's own text is run with values that know their derivatives (`Moved`). What it calls
are the compiled functions of the robot and their derivatives, over all states of a batch, chained
in tangent space::

    a = FD(q, v, tau)          da = FD_q dq + FD_v dv + FD_tau (dtau - Y dp)
    q' = integrate(q, u)       dq' = T(q') (I_q dq + I_u du)

where Y is the regressor and T takes rates of coordinates back to speeds. Loops are closed as a step
closes them, by Newton's steps ``M dq = K^T x, K dq = -gap`` that are differentiated one by one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen import Function
from robodyn.errors import SettingsError, ShapeError, SingularError
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.driven import Driven
from robodyn.simulation.integrators.method import Coordinates, Integrator
from robodyn.simulation.moved import Moved
from robodyn.simulation.step_code.plan import DRIFT, NEWTON
from robodyn.simulation.step_functions import Functions, functions_of

__all__ = ["StepSlopes"]


class StepSlopes:
    """Steps of a robot, with derivatives.

    Parameters
    ----------
    robot : Robot
    integrator : str
        An explicit one.
    base : BasePath, optional
        Of a robot with a moving base. Default: at rest.
    parameters : bool
        Differentiate with respect to inertial parameters, too.

    Raises
    ------
    ShapeError
        For the path of a base that does not move.
    SettingsError
        For an integrator that is not explicit, a robot that depends on time, and where loops have
        no straight-line code.
    """

    def __init__(
        self, robot: Robot, integrator: str, base: BasePath | None = None, parameters: bool = False
    ) -> None:
        self._robot, self._parameters = robot, parameters
        self._base = _base(robot, base)
        #: Its text is run with `Moved` in place of arrays.
        self._method: Any = _explicit(integrator)
        self._functions = _functions(robot)
        self._slopes = robot.function("forward_dynamics_derivatives")

    def __call__(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray, h: FloatArray
    ) -> tuple[Moved, Moved]:
        """The state after a step, with derivatives by q, v, tau and, if wanted, the parameters.

        Parameters
        ----------
        t, h : ndarray, shape (..., 1) [s]
            Start and length of the step.
        q, v, tau : ndarray, shape (..., nq), (..., nv), (..., nv)

        Returns
        -------
        q, v : Moved
            With slopes of shape (..., nv, 3 nv + parameters).

        Raises
        ------
        SingularError
            Where the numbers are not finite.
        """
        nv, batch = self._robot.nv, np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, tau, h)))
        count = self._robot.inertial_parameters.size if self._parameters else 0
        seeds = np.broadcast_to(np.eye(nv, 3 * nv + count), (*batch, nv, 3 * nv + count))
        tau = np.broadcast_to(tau, (*batch, nv))
        start = Moved(np.broadcast_to(q, (*batch, self._robot.nq)), seeds)
        speed = Moved(np.broadcast_to(v, (*batch, nv)), np.roll(seeds, nv, axis=-1))

        def acceleration(t: FloatArray, q: Moved, v: Moved) -> Moved:
            return self._accelerated(t, q, v, tau)

        with np.errstate(all="ignore"):
            first = acceleration(t, start, speed)
            end = self._method.step(acceleration, self._coordinates, t, start, speed, h, first)
            moved, speed = self._closed(*end)
        self._check(moved, speed)
        return moved, speed

    def _check(self, *parts: Moved) -> None:
        finite = np.all([np.isfinite(x.slope).all(axis=(-2, -1)) for x in parts], axis=0)
        if not finite.all():
            rows = tuple(int(k) for k in np.flatnonzero(~np.ravel(finite)))
            raise SingularError(
                f"steps of {self._robot.name!r} have no derivative in states {list(rows[:5])}: "
                "postures are singular there, or numbers are not finite",
                rows=rows,
            )

    def _accelerated(self, t: FloatArray, q: Moved, v: Moved, tau: FloatArray) -> Moved:
        nv, around = self._robot.nv, self._around(t)
        a, by_q, by_v, by_tau = self._slopes(q.value, v.value, tau, *around)
        slope = by_q @ q.slope + by_v @ v.slope
        slope[..., 2 * nv : 3 * nv] += by_tau
        if self._parameters:
            slope[..., 3 * nv :] -= by_tau @ self._regressor(q.value, v.value, a, *around)
        return Moved(a, slope)

    def _around(self, t: FloatArray) -> list[Array]:
        """Inputs besides the state: the motion of a base at times, shape (..., 1)."""
        if self._base is None:
            return []
        motion, batch = self._base.at(t.reshape(-1)), t.shape[:-1]
        parts = (getattr(motion, name) for name in ("pose", "twist", "acceleration"))
        return [x.reshape(*batch, *x.shape[1:]) for x in parts]

    @cached_property
    def _regressor(self) -> Function:
        return self._robot.function("regressor")

    def _closed(self, q: Moved, v: Moved) -> tuple[Moved, Moved]:
        """The state with its loops closed, as `close_loops` does it."""
        if self._functions.corrections is None:
            return q, v
        for n in range(NEWTON + 1):
            dq, dv, gap = self._corrections(q, v)
            drifted = gap > DRIFT
            if n == NEWTON or not np.any(drifted):
                break
            moved = self._coordinates.move(q, dq)
            q = Moved(
                np.where(drifted[..., None], moved.value, q.value),
                np.where(drifted[..., None, None], moved.slope, q.slope),
            )
        return self._coordinates.move(q, dq), v + dv

    def _corrections(self, q: Moved, v: Moved) -> tuple[Moved, Moved, FloatArray]:
        (dq, dv, gap), by_q, by_v = (f(q.value, v.value) for f in self._closing)
        found = []
        for k, x in enumerate((dq, dv)):
            slope = by_q[k] @ q.slope + by_v[k] @ v.slope
            if self._parameters:
                slope[..., 3 * self._robot.nv :] -= self._of_inertia(q.value, x)
            found.append(Moved(x, slope))
        return found[0], found[1], gap

    def _of_inertia(self, q: FloatArray, x: FloatArray) -> FloatArray:
        """By how much a correction is less for each inertial parameter.

        It is ``G dM x`` with the accelerations G that forces bring about, and ``dM x`` the change
        of the forces that accelerate by x.
        """
        rest = np.zeros_like(x)
        around = self._around(np.zeros(1))
        by_tau = self._slopes(q, rest, rest, *around)[3]
        forces = self._regressor(q, rest, x, *around) - self._regressor(q, rest, rest, *around)
        return np.asarray(by_tau @ forces)

    @cached_property
    def _closing(self) -> tuple[Function, Function, Function]:
        """Corrections that close loops, and their derivatives by q and v."""
        corrections = self._functions.corrections
        assert corrections is not None
        return corrections, corrections.jacobian("q"), corrections.jacobian("v")

    @cached_property
    def _coordinates(self) -> Any:
        """`Coordinates` of `Moved`."""
        f = self._functions
        if f.integrate is None or f.rate is None:
            return Coordinates(lambda q, u: q + u, lambda u, v: v, flat=True)
        integrate, rate = f.integrate, f.rate
        rates = Function(integrate.program.rates["q"])
        of_q, of_step = (integrate.jacobian(name) for name in ("q", "dv"))
        of_u, of_v = (rate.jacobian(name) for name in ("u", "v"))

        def move(q: Any, u: Any) -> Any:
            value = integrate(q.value, u.value)
            raw = of_q(q.value, u.value) @ q.slope + of_step(q.value, u.value) @ u.slope
            R = rates(value)
            turned = np.swapaxes(R, -1, -2)
            return Moved(value, np.linalg.solve(turned @ R, turned @ raw))

        def speed(u: Any, v: Any) -> Any:
            slope = of_u(u.value, v.value) @ u.slope + of_v(u.value, v.value) @ v.slope
            return Moved(rate(u.value, v.value), slope)

        return Coordinates(move, speed)


def _explicit(integrator: str) -> Integrator:
    method = integrators.explicit(integrator)
    if method is None:
        known = ", ".join(integrators.EXPLICIT)
        raise SettingsError(
            f"a step by {integrator!r} has no derivative here: simulate with one of {known}"
        )
    return method


def _base(robot: Robot, base: BasePath | None) -> BasePath | None:
    """The path of a moving base."""
    if base is not None and robot.base != "moving":
        raise ShapeError(
            f"base= given, but {robot.name!r} has a {robot.base} base; load it with base='moving'",
            name="base",
        )
    if base is None and robot.base == "moving":
        return BasePath(lambda t: BaseMotion.at_rest())
    return base


def _functions(robot: Robot) -> Functions:
    if robot.depends_on_time:
        raise SettingsError(
            f"derivatives of steps of {robot.name!r} are not known: joints or constraints depend "
            "on time"
        )
    functions = functions_of(robot, Driven(robot.nv), (), False)
    if functions is None:
        raise SettingsError(
            f"derivatives of steps of {robot.name!r} are not known: the rank of its loops changes, "
            "so that there is no straight-line code"
        )
    return functions
