"""One step of a robot in time: the only place where a motion is carried on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.closed_loops.constraints.constraint_rows import gains
from robodyn.errors import SettingsError, ShapeError
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.control.compiled_law import Law
from robodyn.simulation.control.memory_law import MemoryLaw
from robodyn.simulation.control.numba_law import NumbaLaw
from robodyn.simulation.integrators.method import (
    Acceleration,
    Advance,
    Motion,
    Slopes,
    Solver,
    Surroundings,
    coordinates_of,
)
from robodyn.simulation.loads.driven import Driven
from robodyn.simulation.loads.loads import BaseAt, Loads, WrenchesAt
from robodyn.simulation.loads.step_functions import Functions
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.step.loop_closing import LoopKeeper
from robodyn.simulation.step.machine_code.variant import DIVERGED
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.tolerances import LOOP_OPEN

__all__ = ["Stepper"]

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
    tell : callable, optional
        Takes an `EventRecord` of each choice that the method makes on its way.

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
        tell: Callable[[EventRecord], None] | None = None,
    ) -> None:
        held = None if stabilization is None else gains(stabilization)
        self.robot = robot
        self.driven = Driven(robot.nv) if driven is None else driven
        self.base = base
        self._acting = Loads(robot, self.driven, base, wrenches, held)
        self._until = until
        self._tell, self._row, self._told = tell, (), ""
        self._coordinates = coordinates_of(robot)
        self._loops = LoopKeeper(robot, self.driven, lambda: self._functions, self._coordinates)
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

    @property
    def order(self) -> int:
        """Of the method."""
        return int(self._method.order)

    @property
    def stabilised(self) -> bool:
        """Loops are held closed by gains."""
        return self._acting.gains is not None

    def of_row(self, row: int, rows: int) -> Stepper:
        """The same for one of many motions, if wrenches differ from motion to motion."""
        acting = self._acting.of_row(row, rows)
        if acting is self._acting:
            return self
        other = copy.copy(self)
        other._acting = acting
        return other

    @property
    def by_machine_code(self) -> bool:
        """Whether its steps can be machine code: Python takes no part in them."""
        if self._explicit is None or self._acting.of_the_state:
            return False
        return self._functions is not None

    def compiled(
        self,
        times: FloatArray,
        q: FloatArray,
        v: FloatArray,
        law: Law | MemoryLaw | NumbaLaw | None = None,
        efforts: FloatArray | None = None,
        tabled: int | None = None,
    ) -> CompiledMotion | None:
        """The motion from a state as machine code; none where Python takes part in its steps.

        Nor is there any where nothing moves: of no motions at all, or of a robot without joints.

        Parameters
        ----------
        times : ndarray, shape (n,) [s]
        q, v : ndarray, shape (..., nq), (..., nv)
            Closed, as `start` has them.
        law : Law, MemoryLaw or NumbaLaw, optional
            A controller that is machine code too.
        efforts : ndarray, shape (nv,), optional
            What its forces are cut to.
        tabled : int, optional
            Instants whose paths are asked for at the same time.
        """
        functions = self._functions if self.by_machine_code else None
        if self._explicit is None or functions is None or not q.size:
            return None
        states = q.reshape(-1, self.robot.nq), v.reshape(-1, self.robot.nv)
        return CompiledMotion(
            self.robot,
            functions,
            self._explicit,
            self._acting.paths,
            times,
            *states,
            law,
            efforts,
            tabled,
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
        return self._acting.accelerations(t, q, v, tau, wanted)

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
            return self._acting.accelerations(t, q, v, tau, wanted)[0]

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
        if self.stabilised and self.robot.nc:
            time = self._acting.time(t)
            self._loops.check(q, time, LOOP_OPEN, "take larger gains or shorter steps")
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
            self._alone[k]._row = rows[k]
        for one, row in zip(self._alone[: len(rows)], rows, strict=True):
            q[row], v[row] = one.step(t, q[row], v[row], tau[row], h)
        return q, v

    @cached_property
    def _slopes(self) -> Slopes | None:
        """Derivatives of accelerations, where these follow from the state and forces alone."""
        robot = self.robot
        if robot.nc or self.driven or not self._acting.nothing or robot.nv > DERIVED:
            return None
        derivatives = robot.function("forward_dynamics_derivatives")
        return lambda q, v, tau: derivatives(q, v, tau)[1:3]

    def _refuse(self, name: str) -> None:
        """Refuse what a method that is not explicit cannot move.

        Raises
        ------
        SettingsError
            If the method cannot move this robot.
        """
        around = Surroundings(bool(self.driven), self.base is not None, self.stabilised)
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
            self._acting.wrenches_at,
            until,
            self._slopes,
            self._chosen,
        )

    def _chosen(self, t: float, what: str) -> None:
        """Tell what a method has chosen, once where it looks at a step several times."""
        if self._tell is not None and what != self._told:
            self._tell(EventRecord(t, what, motion=self._row))
        self._told = what

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
        return self._loops.start(q, v, self._acting.time(t)) if self.robot.nc else (q, v)

    def closed(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at ``t`` [s] with its loops closed by joints that are not driven.

        Raises
        ------
        AssemblyError
            If they do not close.
        """
        if not self.robot.nc:
            return q, v
        q, v = self._loops.closed(q, v, self._acting.time(t))
        _check_bounds(q, v)
        return q, v

    @cached_property
    def _functions(self) -> Functions | None:
        """The functions that a step calls, where it is machine code."""
        return self._acting.functions()


def _check_bounds(q: FloatArray, v: FloatArray) -> None:
    """Refuse a state with numbers that are not finite, or whose products would not be."""
    if not (np.vdot(q, q) < DIVERGED and np.vdot(v, v) < DIVERGED):
        raise ShapeError("q or v has outgrown what can be computed with", name="q")
