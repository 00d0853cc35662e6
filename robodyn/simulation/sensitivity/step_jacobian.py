"""What a step leads to, and its derivatives by all that it is given.

The integrator's own text is run with values that know their derivatives (`DualArray`). What it
calls are the compiled functions of the robot and their derivatives (`AccelerationSlopes`), over all
states of a batch, chained in tangent space::

    q' = integrate(q, u)       dq' = T(q') (I_q dq + I_u du)

where T takes rates of coordinates back to speeds. Driven joints are put where their paths have
them, as in the step itself: there they change with nothing. Loops are closed as a step closes them,
by Newton's steps ``M dq = K^T x, K dq = -gap`` that are differentiated one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen import Function
from robodyn.errors import SettingsError, ShapeError, SingularError
from robodyn.motion.base_motion import BasePath
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.control.wrench_function import wrench_law
from robodyn.simulation.integrators.method import Coordinates, Integrator
from robodyn.simulation.loads.driven import Driven
from robodyn.simulation.loads.path_tables import Paths
from robodyn.simulation.loads.step_functions import Functions, functions_of
from robodyn.simulation.sensitivity.acceleration_derivatives import AccelerationSlopes, along_speeds
from robodyn.simulation.sensitivity.dual_array import DualArray
from robodyn.simulation.step.machine_code.variant import NEWTON
from robodyn.tolerances import LOOP_DRIFT

__all__ = ["StepJacobian"]


class StepJacobian:
    """Steps of a robot, with derivatives.

    Parameters
    ----------
    robot : Robot
    integrator : str
        An explicit one.
    base : BasePath, optional
        Of a robot with a moving base. Default: at rest.
    driven : Driven, optional
        Joints along paths of time.
    wrenches : mapping of link name to ndarray, shape (..., 6), or callable, optional
        Held in the step [N, N m], or a symbolic function ``(t, q, v)``.
    parameters : bool
        Differentiate with respect to inertial parameters, too.

    Raises
    ------
    ShapeError
        For the path of a base that does not move.
    SettingsError
        For an integrator that is not explicit, wrenches that are a function which is not symbolic,
        and where loops have no straight-line code.
    """

    def __init__(
        self,
        robot: Robot,
        integrator: str,
        base: BasePath | None = None,
        *,
        driven: Driven | None = None,
        wrenches: Mapping[str, FloatArray] | Callable[..., Any] | None = None,
        parameters: bool = False,
    ) -> None:
        self._robot, self._parameters = robot, parameters
        law = wrench_law(robot, wrenches) if callable(wrenches) else None
        held = {} if callable(wrenches) else wrenches or {}
        driven = Driven(robot.nv) if driven is None else driven
        _check_base(robot, base)
        paths = Paths(driven, base, held, None)
        #: Its text is run with `DualArray` in place of arrays.
        self._method: Any = _explicit(integrator)
        self._functions = _functions(robot, paths)
        self._dynamics = AccelerationSlopes(robot, paths, law, parameters)

    def __call__(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray, h: FloatArray
    ) -> tuple[DualArray, DualArray]:
        """The state after a step, with derivatives by q, v, tau and, if wanted, the parameters.

        Parameters
        ----------
        t, h : ndarray, shape (..., 1) [s]
            Start and length of the step.
        q, v, tau : ndarray, shape (..., nq), (..., nv), (..., nv)

        Returns
        -------
        q, v : DualArray
            With slopes of shape (..., nv, 3 nv + parameters).

        Raises
        ------
        SingularError
            Where the numbers are not finite.
        """
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, tau, h)))
        tau = np.broadcast_to(tau, (*batch, self._robot.nv))
        if 0 in batch:  # no states
            slope = np.zeros((*tau.shape, 3 * self._robot.nv + self.parameters))
            return DualArray(np.zeros((*batch, self._robot.nq)), slope), DualArray(tau, slope)

        def acceleration(t: FloatArray, q: DualArray, v: DualArray) -> DualArray:
            self._placed(t, q, v)
            return self._dynamics.accelerations(t, q, v, tau)

        with np.errstate(all="ignore"):
            start, speed = self.start(t, q, v, batch)
            first = self._dynamics.accelerations(t, start, speed, tau)
            end = self._method.step(acceleration, self._coordinates, t, start, speed, h, first)
            self._placed(t + h, *end)
            moved, speed = self._closed(t + h, *end)
        self._check(moved, speed)
        return moved, speed

    def start(
        self, t: FloatArray, q: FloatArray, v: FloatArray, batch: tuple[int, ...]
    ) -> tuple[DualArray, DualArray]:
        """The state before a step: driven joints are where they have to be, whatever is given."""
        nv, count = self._robot.nv, self.parameters
        seeds = np.broadcast_to(np.eye(nv, 3 * nv + count), (*batch, nv, 3 * nv + count))
        start = DualArray(np.array(np.broadcast_to(q, (*batch, self._robot.nq))), seeds.copy())
        speed = DualArray(np.array(np.broadcast_to(v, (*batch, nv))), np.roll(seeds, nv, axis=-1))
        self._placed(t, start, speed)
        return start, speed

    @property
    def parameters(self) -> int:
        """How many inertial parameters there are derivatives by."""
        return self._robot.inertial_parameters.size if self._parameters else 0

    def of_start(self, t: float, q: FloatArray, v: FloatArray, lam: FloatArray) -> FloatArray:
        """Derivatives by a state that is given, from those by the one that a motion starts from."""
        time = np.full((*q.shape[:-1], 1), t)
        start, speed = self.start(time, q, v, q.shape[:-1])
        slope = np.concatenate([start.slope, speed.slope], axis=-2)
        return np.asarray(np.einsum("...ij,...i->...j", slope, lam))[..., : lam.shape[-1]]

    def driving_forces(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> DualArray:
        """Forces of driven speeds at the start of steps, with the derivatives that a step has."""
        start = self.start(t, q, v, tau.shape[:-1])
        return self._dynamics.driving_forces(t, *start, tau)

    def _placed(self, t: FloatArray, q: DualArray, v: DualArray) -> None:
        self._dynamics.placed(t, q, v, self._rates)

    def _check(self, *parts: DualArray) -> None:
        finite = np.all([np.isfinite(x.slope).all(axis=(-2, -1)) for x in parts], axis=0)
        if not finite.all():
            rows = tuple(int(k) for k in np.flatnonzero(~np.ravel(finite)))
            raise SingularError(
                f"steps of {self._robot.name!r} have no derivative in states {list(rows[:5])}: "
                "postures are singular there, or numbers are not finite",
                rows=rows,
            )

    def _closed(self, t: FloatArray, q: DualArray, v: DualArray) -> tuple[DualArray, DualArray]:
        """The state with its loops closed, as `close_loops` does it."""
        if self._functions.corrections is None:
            return q, v
        for n in range(NEWTON + 1):
            dq, dv, gap = self._corrections(t, q, v)
            drifted = gap > LOOP_DRIFT
            if n == NEWTON or not np.any(drifted):
                break
            moved = self._coordinates.move(q, dq)
            q = DualArray(
                np.where(drifted[..., None], moved.value, q.value),
                np.where(drifted[..., None, None], moved.slope, q.slope),
            )
        return self._coordinates.move(q, dq), v + dv

    def _corrections(
        self, t: FloatArray, q: DualArray, v: DualArray
    ) -> tuple[DualArray, DualArray, FloatArray]:
        around = self._dynamics.around(self._closing[0], 2, t)
        (dq, dv, gap), by_q, by_v = (f(q.value, v.value, *around) for f in self._closing)
        found = []
        for k, x in enumerate((dq, dv)):
            slope = by_q[k] @ q.slope + by_v[k] @ v.slope
            if self._parameters:
                nv = self._robot.nv
                slope[..., 3 * nv :] -= self._dynamics.of_inertia(t, q.value, x)
            found.append(DualArray(x, slope))
        return found[0], found[1], gap

    @cached_property
    def _closing(self) -> tuple[Function, Function, Function]:
        """Corrections that close loops, and their derivatives by q and v."""
        corrections = self._functions.corrections
        assert corrections is not None
        return corrections, corrections.jacobian("q"), corrections.jacobian("v")

    @cached_property
    def _rates(self) -> Function | None:
        """Rates of coordinates by speeds; None where coordinates add."""
        integrate = self._functions.integrate
        return None if integrate is None else Function(integrate.program.rates["q"])

    @cached_property
    def _coordinates(self) -> Any:
        """`Coordinates` of `DualArray`."""
        f = self._functions
        if f.integrate is None or f.rate is None:
            return Coordinates(lambda q, u: q + u, lambda u, v: v, flat=True)
        integrate, rate = f.integrate, f.rate
        rates = self._rates
        assert rates is not None
        of_q, of_step = (integrate.jacobian(name) for name in ("q", "dv"))
        of_u, of_v = (rate.jacobian(name) for name in ("u", "v"))

        def move(q: Any, u: Any) -> Any:
            value = integrate(q.value, u.value)
            raw = of_q(q.value, u.value) @ q.slope + of_step(q.value, u.value) @ u.slope
            return DualArray(value, along_speeds(rates(value), raw))

        def speed(u: Any, v: Any) -> Any:
            slope = of_u(u.value, v.value) @ u.slope + of_v(u.value, v.value) @ v.slope
            return DualArray(rate(u.value, v.value), slope)

        return Coordinates(move, speed)


def _explicit(integrator: str) -> Integrator:
    method = integrators.explicit(integrator)
    if method is None:
        known = ", ".join(integrators.EXPLICIT)
        raise SettingsError(
            f"a step by {integrator!r} has no derivative here: simulate with one of {known}"
        )
    return method


def _check_base(robot: Robot, base: BasePath | None) -> None:
    if base is not None and robot.base != "moving":
        raise ShapeError(
            f"base= given, but {robot.name!r} has a {robot.base} base; load it with base='moving'",
            name="base",
        )


def _functions(robot: Robot, paths: Paths) -> Functions:
    functions = functions_of(robot, paths.driven, paths.wrenches, False)
    if functions is None:
        raise SettingsError(
            f"derivatives of steps of {robot.name!r} are not known: the rank of its loops changes, "
            "so that there is no straight-line code"
        )
    return functions
