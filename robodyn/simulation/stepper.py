"""One step of a robot in time: the only place where a motion is carried on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite, by_name, numbers
from robodyn.closed_loops.constraint_rows import gains
from robodyn.codegen import Function
from robodyn.errors import (
    AssemblyError,
    InconsistentStateError,
    SettingsError,
    ShapeError,
    SingularError,
)
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.compiled_motion import CompiledMotion
from robodyn.simulation.driven import Driven
from robodyn.simulation.integrators.method import (
    Acceleration,
    Advance,
    Motion,
    Slopes,
    Solver,
    Surroundings,
    coordinates_of,
)
from robodyn.simulation.law import Law
from robodyn.simulation.loop_closer import close_loops
from robodyn.simulation.path_tables import Paths
from robodyn.simulation.step_functions import Functions, functions_of

__all__ = ["BaseAt", "Stepper", "WrenchesAt"]

BaseAt = Callable[[float], BaseMotion]
WrenchesAt = Callable[[float, FloatArray, FloatArray], Mapping[str, ArrayLike]]

#: Gaps of loops [m, rad] with which no motion starts.
OPEN = 1e-3

#: Rates of gaps [1/s], a unit of speed, that a gap at the start explains, as parts of it.
SLACK = 10.0

#: Gaps that are left after loops were closed again, with which none goes on.
APART = 1e-6

#: Sum of squares of a state that is no motion any more [m^2, rad^2, ...]: its fourth power, as in
#: constraints over speeds and their determinants, is still a number.
DIVERGED = 1e60


#: Speeds up to which derivatives of accelerations are compiled; of more it takes long.
DERIVED = 16


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
    tolerance : float, optional [rad, m]
        For methods that choose their steps.
    until : float, optional [s]
        Paths and wrenches are not asked for times after this. Default: the end of each step.

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
        tolerance: float | None = None,
        until: float | None = None,
    ) -> None:
        self.robot = robot
        self._gains = None if stabilization is None else gains(stabilization)
        self.driven = Driven(robot.nv) if driven is None else driven
        self.base = base
        self._until = until
        self._coordinates = coordinates_of(robot)
        self._wrenches: Any = wrenches
        if not callable(wrenches):
            given = by_name("wrenches", wrenches)
            self._wrenches = {
                link: numbers(f"wrench:{link}", x).copy() for link, x in given.items()
            }
        self._explicit = integrators.explicit(integrator)
        self._method = cast(Any, integrators.integrator(integrator, tolerance))
        #: Steps are those of the caller, and not chosen by an error between them.
        self.steps_are_given: bool = getattr(self._method, "tolerance", None) is None
        self._advance: Advance | None = None
        if self._explicit is None:
            self._refuse(integrator)
            self._advance = cast(Solver, self._method).begin()
        #: The same for each of many motions, whose steps are not the same.
        self._alone: list[Stepper] = []
        self._has_options = base is not None or bool(self._wrenches) or robot.depends_on_time

    @property
    def order(self) -> int:
        """Of the method."""
        return int(self._method.order)

    @property
    def stabilised(self) -> bool:
        """Loops are held closed by gains."""
        return self._gains is not None

    def of_row(self, row: int, rows: int) -> Stepper:
        """The same for one of many motions, if wrenches differ from motion to motion."""
        if callable(self._wrenches) or all(x.ndim == 1 for x in self._wrenches.values()):
            return self
        other = copy.copy(self)
        one = {k: np.broadcast_to(x, (rows, 6))[row] for k, x in self._wrenches.items()}
        other._wrenches = one
        return other

    def compiled(
        self,
        times: FloatArray,
        q: FloatArray,
        v: FloatArray,
        law: Law | None = None,
        efforts: FloatArray | None = None,
        tabled: int | None = None,
    ) -> CompiledMotion | None:
        """The motion from a state as machine code; none where Python takes part in its steps.

        Parameters
        ----------
        times : ndarray, shape (n,) [s]
        q, v : ndarray, shape (..., nq), (..., nv)
            Closed, as `start` has them.
        law : Law, optional
            A controller that is machine code too.
        efforts : ndarray, shape (nv,), optional
            What its forces are cut to.
        tabled : int, optional
            Instants whose paths are asked for at the same time.
        """
        if self._explicit is None:
            return None
        functions = None if callable(self._wrenches) else self._functions
        if functions is None:
            return None
        states = q.reshape(-1, self.robot.nq), v.reshape(-1, self.robot.nv)
        paths = Paths(self.driven, self.base, self._wrenches, self._gains)
        return CompiledMotion(
            self.robot, functions, self._explicit, paths, times, *states, law, efforts, tabled
        )

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
        if self._advance is not None and q.ndim > 1:
            return self._each(t, q, v, tau, h)

        def accelerated(
            t: float, q: FloatArray, v: FloatArray, wanted: FloatArray | None
        ) -> FloatArray:
            if checked:  # before the solvers of constraints see it
                _check_bounds(q, v)
            return self._dynamics(t, q, v, tau, wanted)[0]

        def acceleration(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            return accelerated(t, *(driven.at(t, q, v) if driven else (q, v, None)))

        def of_stage(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            wanted = None
            if driven:  # in the stage itself: other coordinates may move by driven speeds
                q[...], v[...], wanted = driven.at(t, q, v)
            return accelerated(t, q, v, wanted)

        with np.errstate(over="ignore", invalid="ignore"):
            first = self.accelerations(t, q, v, tau)[0] if a is None else a
            if self._explicit is not None:
                space = self._coordinates
                q, v = self._explicit.step(of_stage, space, t, q, v, h, first)
        if self._advance is not None:
            return self._advance(self._motion(acceleration, tau), t, q, v, h, first)
        return self._ended(t + h, q, v)

    def _ended(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at the end of a step, with driven joints in place and loops closed."""
        if self.driven:
            q, v, _ = self.driven.at(t, q, v)
        _check_bounds(q, v)
        if self._gains is not None:
            self._check_gap(t, q, OPEN, "take larger gains or shorter steps")
            return q, v
        return self.closed(t, q, v)

    def _each(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, h: float
    ) -> tuple[FloatArray, FloatArray]:
        """Many states after a step, one by one, as steps of such methods differ."""
        q, v = q.copy(), v.copy()
        rows = list(np.ndindex(q.shape[:-1]))
        for k in range(len(self._alone), len(rows)):
            self._alone.append(copy.copy(self.of_row(k, len(rows))))
            self._alone[k]._advance = self._method.begin()
        for one, row in zip(self._alone[: len(rows)], rows, strict=True):
            q[row], v[row] = one.step(t, q[row], v[row], tau[row], h)
        return q, v

    @cached_property
    def _slopes(self) -> Slopes | None:
        """Derivatives of accelerations, where these follow from the state and forces alone."""
        robot = self.robot
        if robot.nc or self.driven or self._has_options or not self._coordinates.flat:
            return None
        if robot.nv > DERIVED:
            return None
        of_q, of_v = _derivatives(robot.function("forward_dynamics"))
        return lambda q, v, tau: (of_q(q, v, tau), of_v(q, v, tau))

    def _refuse(self, name: str) -> None:
        """Refuse what a method that is not explicit cannot move.

        Raises
        ------
        SettingsError
            If the method cannot move this robot.
        """
        around = Surroundings(bool(self.driven), self.base is not None, self._gains is not None)
        refusal = self._method.refusal(self.robot, around)
        if refusal:
            raise SettingsError(
                f"integrator {name!r} {refusal}; take another one to move {self.robot.name!r}"
            )

    def _motion(self, acceleration: Acceleration, tau: FloatArray) -> Motion:
        """What a method that is not explicit is told of one motion."""
        until = -np.inf if self._until is None else self._until
        return Motion(
            self.robot,
            acceleration,
            self._ended,
            self._coordinates,
            tau.copy(),
            self._wrenches_at,
            until,
            self._slopes,
        )

    def start(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at the start of a motion; small gaps of loops are closed.

        Raises
        ------
        AssemblyError
            If the loops are open; ``.q`` is a closed posture near by, where there is one.
        InconsistentStateError
            If speeds open the loops of a robot with no driven joints; ``.v`` are the nearest that
            do not. Where joints are driven their speeds are those of their paths, and all others
            follow. Speeds of zero start any motion: where constraints ask for motion they jump.
        """
        if self.driven:
            q, v, _ = self.driven.at(t, q, v)
        if not self.robot.nc:
            return q, v
        residual = self.robot.loop_residual(q, t=self._time(t))
        gap = np.abs(residual).max()
        if gap > OPEN:
            nearest = self._nearest(t, q)
            shown = "" if nearest is None else f"; a closed posture near it is {nearest.tolist()}"
            raise AssemblyError(
                f"the loops of {self.robot.name!r} are open by {gap:.3g} (m or rad) at the start: "
                "take q0 from robot.assemble, robot.neutral or robot.random, and with driven "
                f"joints, hold them{shown}",
                residual=residual,
                q=q if nearest is None else nearest,
            )
        closed = self.closed(t, q, v)
        if not self.driven:
            self._check_speeds(t, v, *closed, float(gap))
        return closed

    def _check_speeds(
        self, t: float, v: FloatArray, q: FloatArray, nearest: FloatArray, gap: float
    ) -> None:
        """Refuse speeds that open loops by more than closing them from a gap explains."""
        robot = self.robot
        v = np.where(v.any(axis=-1, keepdims=True), v, nearest)
        try:
            robot.check_state(q, v, t=self._time(t))
        except SingularError:  # which is no matter of speeds
            return
        except InconsistentStateError as error:
            allowed = robot._model.settings.closure_tolerance + SLACK * gap
            if np.abs(error.rate).max() <= allowed * np.sqrt(1.0 + np.vdot(error.v, error.v)):
                return
            row = error.rows[0] if error.rows else 0
            q, fits = q.reshape(-1, robot.nq)[row], nearest.reshape(-1, robot.nv)[row]
            of = f" of motion {row}" if error.rows else ""
            raise InconsistentStateError(
                f"at the start{of}, {error}; the nearest speeds that fit are {fits.tolist()}",
                residual=error.residual,
                rate=error.rate,
                q=q,
                v=fits,
                loops=error.loops,
                rows=error.rows,
            ) from error

    def _nearest(self, t: float, q: FloatArray) -> FloatArray | None:
        """A closed posture near one state; none of many, or if none is found."""
        if q.ndim > 1:
            return None
        try:
            return self.robot.assemble(q, beyond_limits=True, t=self._time(t))
        except AssemblyError:
            return None

    def closed(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at ``t`` [s] with its loops closed by joints that are not driven.

        Raises
        ------
        AssemblyError
            If they do not close.
        """
        if not self.robot.nc:
            return q, v
        q, v = self._closed(t, q, v)
        hint = "joints are driven where they cannot go" if self.driven else "take shorter steps"
        self._check_gap(t, q, APART, hint)
        _check_bounds(q, v)
        return q, v

    def _closed(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same without a look at it: by code, or revealing the rank where there is none."""
        functions, time = self._functions, self._time(t)
        if functions is not None and functions.corrections is not None:
            given = () if time is None else (time,)
            closed = close_loops(functions.corrections, self._coordinates, q, v, *given)
            if all_finite(closed[0]) and all_finite(closed[1]):
                return closed
        return self.robot.closed_state(q, v, self.driven.is_free, t=time)

    @cached_property
    def _functions(self) -> Functions | None:
        """The functions that a step calls, where it is machine code."""
        links = () if callable(self._wrenches) else self._wrenches
        return functions_of(self.robot, self.driven, links, self.stabilised)

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


@lru_cache(maxsize=16)
def _derivatives(f: Function) -> tuple[Function, Function]:
    """Of accelerations, with respect to q and v: once for each function."""
    return f.jacobian("q"), f.jacobian("v")


def _check_bounds(q: FloatArray, v: FloatArray) -> None:
    """Refuse a state with numbers that are not finite, or whose products would not be."""
    if not (np.vdot(q, q) < DIVERGED and np.vdot(v, v) < DIVERGED):
        raise ShapeError("q or v has outgrown what can be computed with", name="q")
