"""One step of a robot in time: the only place where a motion is carried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, numbers
from robodyn.closed_loops.constraint_rows import gains
from robodyn.errors import AssemblyError, ShapeError
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.driven import Driven
from robodyn.simulation.integrators.method import coordinates_of

__all__ = ["BaseAt", "Stepper", "WrenchesAt"]

BaseAt = Callable[[float], BaseMotion]
WrenchesAt = Callable[[float, FloatArray, FloatArray], Mapping[str, ArrayLike]]

#: Gaps of loops [m, rad] with which no motion starts.
OPEN = 1e-3

#: Gaps that are left after loops were closed again, with which none goes on.
APART = 1e-6

#: Sum of squares of a state that is no motion any more [m^2, rad^2, ...]: its fourth power, as in
#: constraints over speeds and their determinants, is still a number.
DIVERGED = 1e60


class Stepper:
    """A robot, what drives and loads it, and the method that moves it in time.

    States may be batches: q, v and tau of shape (..., nq), (..., nv) and (..., nv).

    Parameters
    ----------
    robot : Robot
    integrator : str
        A key of `robodyn.simulation.INTEGRATORS`.
    driven : Driven, optional
        Joints along paths of time.
    base : callable, optional
        Time [s] -> `BaseMotion`, for a robot with a moving base.
    wrenches : mapping or callable, optional
        External wrenches by link, shape (..., 6) [N, N m]; a callable gets ``(t, q, v)``.

    stabilization : (alpha, beta), optional [1/s]
        Loops are held closed by these gains [W 5.198], instead of being closed after each step.

    Raises
    ------
    UnknownNameError
        If there is no such method.
    ShapeError
        If gains are no numbers, or negative.
    """

    def __init__(
        self,
        robot: Robot,
        integrator: str = "rk4",
        *,
        driven: Driven | None = None,
        base: BaseAt | None = None,
        wrenches: Mapping[str, ArrayLike] | WrenchesAt | None = None,
        stabilization: tuple[float, float] | None = None,
    ) -> None:
        self.robot = robot
        self._gains = None if stabilization is None else gains(stabilization)
        self.driven = Driven(robot.nv) if driven is None else driven
        self.base = base
        self._method = integrators.integrator(integrator)
        self._coordinates = coordinates_of(robot)
        self._wrenches: Any = wrenches
        if not callable(wrenches):
            given = by_name("wrenches", wrenches)
            self._wrenches = {
                link: numbers(f"wrench:{link}", x).copy() for link, x in given.items()
            }
        self._has_options = base is not None or bool(self._wrenches) or robot.depends_on_time

    def accelerations(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations, and the generalised forces, those of driven joints solved for.

        Parameters
        ----------
        t : float [s]
        q, v, tau : ndarray, shape (..., nq), (..., nv), (..., nv)
            Driven joints are where their paths have them; what ``tau`` holds for them is not used.

        Returns
        -------
        a, tau : ndarray, shape (..., nv)
        """
        wanted = self.driven.accelerations(t) if self.driven else None
        return self._dynamics(t, q, v, tau, wanted)

    def step(
        self,
        t: float,
        q: FloatArray,
        v: FloatArray,
        tau: FloatArray,
        h: float,
        a: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """The state after a step, in which the forces are held; loops are closed afterwards.

        Parameters
        ----------
        t : float [s]
            At the start of the step.
        q, v, tau : ndarray, shape (..., nq), (..., nv), (..., nv)
            Left as they are.
        h : float [s]
            Length of the step.
        a : ndarray, shape (..., nv), optional
            Accelerations at ``t``, where they are known.

        Returns
        -------
        q, v : ndarray, shape (..., nq), (..., nv)

        Raises
        ------
        ShapeError
            If the state is no longer finite.
        AssemblyError
            If the loops do not close.
        """
        driven, checked = self.driven, bool(self.robot.nc)

        def acceleration(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            wanted = None
            if driven:
                q, v, wanted = driven.at(t, q, v)
            if checked:  # before the solvers of constraints see it
                _check_bounds(q, v)
            return self._dynamics(t, q, v, tau, wanted)[0]

        with np.errstate(over="ignore", invalid="ignore"):
            first = self.accelerations(t, q, v, tau)[0] if a is None else a
            q, v = self._method.step(acceleration, self._coordinates, t, q, v, h, first)
        if driven:
            q, v, _ = driven.at(t + h, q, v)
        _check_bounds(q, v)
        if self._gains is not None:
            self._check_gap(t + h, q, OPEN, "take larger gains or shorter steps")
            return q, v
        return self.closed(t + h, q, v)

    def start(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at the start of a motion; small gaps of loops are closed.

        Raises
        ------
        AssemblyError
            If the loops are open.
        """
        if self.driven:
            q, v, _ = self.driven.at(t, q, v)
        if not self.robot.nc:
            return q, v
        residual = self.robot.loop_residual(q, t=self._time(t))
        gap = np.abs(residual).max()
        if gap > OPEN:
            raise AssemblyError(
                f"the loops of {self.robot.name!r} are open by {gap:.3g} (m or rad) at the start: "
                "take q0 from robot.assemble, robot.neutral or robot.random, and with driven "
                "joints, hold them",
                residual=residual,
                q=q,
            )
        return self.closed(t, q, v)

    def closed(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at ``t`` [s] with its loops closed by joints that are not driven.

        Raises
        ------
        AssemblyError
            If they do not close.
        """
        if not self.robot.nc:
            return q, v
        time = self._time(t)
        q, v = self.robot.closed_state(q, v, self.driven.is_free, t=time)
        hint = "joints are driven where they cannot go" if self.driven else "take shorter steps"
        self._check_gap(t, q, APART, hint)
        _check_bounds(q, v)
        return q, v

    def _check_gap(self, t: float, q: FloatArray, most: float, hint: str) -> None:
        """Refuse loops that are open by more than a motion can go on with."""
        if not self.robot.nc:
            return
        residual = self.robot.loop_residual(q, t=self._time(t))
        gap = np.abs(residual).max(initial=0.0)
        if not gap <= most:
            raise AssemblyError(
                f"the loops of {self.robot.name!r} come apart by {gap:.3g} (m or rad): {hint}",
                residual=residual,
                q=q,
            )

    def _time(self, t: float) -> float | None:
        """The time, for methods of a robot that depends on it."""
        return t if self.robot.depends_on_time else None

    def _dynamics(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, wanted: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations and forces, with the accelerations of driven joints that are wanted."""
        robot, driven = self.robot, self.driven
        if wanted is None and robot.nc:  # within a step loops are open a little
            wanted = np.zeros(0)
        if not self._has_options:
            if wanted is None:
                return robot.forward_dynamics(q, v, tau), tau
            free = tau[..., driven.free]
            if self._gains is None:
                return robot.driven_dynamics(q, v, wanted, free, driven.speeds)
            return robot.driven_dynamics(
                q, v, wanted, free, driven.speeds, stabilization=self._gains
            )
        options: dict[str, Any] = {
            "base": self.base(t) if self.base else None,
            "wrenches": self._wrenches_at(t, q, v),
            "t": self._time(t),
        }
        if wanted is None:
            return robot.forward_dynamics(q, v, tau, **options), tau
        free = tau[..., driven.free]
        options["stabilization"] = self._gains
        return robot.driven_dynamics(q, v, wanted, free, driven.speeds, **options)

    def _wrenches_at(self, t: float, q: FloatArray, v: FloatArray) -> Mapping[str, ArrayLike]:
        if not callable(self._wrenches):
            return self._wrenches  # type: ignore[no-any-return]
        given = self._wrenches(t, q.copy(), v.copy())
        if not isinstance(given, Mapping):
            raise ShapeError(
                f"wrenches returned {type(given).__name__} at t = {t:.6g} s, expected a mapping of "
                "link name to six numbers [N, N m]",
                name="wrenches",
                given=given,
            )
        return given


def _check_bounds(q: FloatArray, v: FloatArray) -> None:
    """Refuse a state with numbers that are not finite, or whose products would not be."""
    if not (np.vdot(q, q) < DIVERGED and np.vdot(v, v) < DIVERGED):
        raise ShapeError("q or v has outgrown what can be computed with", name="q")
