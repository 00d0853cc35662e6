"""Steps of a robot under loads by an integrator, with numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError, SettingsError
from robodyn.literals import IntegratorName
from robodyn.simulation import integrators
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.integrators.method import Advance, Motion, Slopes, Solver, Start
from robodyn.simulation.loads.loads import Loads
from robodyn.simulation.step.compiled_motion import CompiledMotion, SingleStep
from robodyn.simulation.step.motion_start import closed_start
from robodyn.simulation.step.operations.numeric import NumericOperations
from robodyn.simulation.step.operations.step import end_of_step, step
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.tolerances import SAME_EVENT_TIME

#: Part of a step after which speeds of driven joints show which way they go.
SOON = 1e-3

#: Largest number of speeds for which derivatives of accelerations are compiled.
DERIVED = 16


class Stepper:
    """Moves a robot under loads in time, by an integrator.

    States may be batches: q, v and tau of shape (..., nq), (..., nv) and (..., nv).

    loads: Loads on the robot, and the robot itself.
    integrator: A key of `robodyn.simulation.INTEGRATORS`.
    tolerance [rad, m], optional: For methods that choose their steps.
    until [s], optional: Last time at which paths and wrenches are evaluated. Default: the end of
        each step.
    tell, optional: Called with an `EventRecord` of each choice that the method makes.
    Raises UnknownNameError: If there is no such method.
    Raises SettingsError: If the method cannot move this robot under these loads.
    """

    def __init__(
        self,
        loads: Loads,
        integrator: IntegratorName = "rk4",
        *,
        tolerance: float | None = None,
        until: float | None = None,
        tell: Callable[[EventRecord], None] | None = None,
    ) -> None:
        self.loads, self.robot, self.driven = loads, loads.robot, loads.driven
        self._until = until
        self._tell, self._row, self._told = tell, (), ""
        self._operations = NumericOperations(loads)
        self._explicit = integrators.explicit(integrator)
        self._method: Any = integrators.integrator(integrator, tolerance)
        #: Whether the steps are those of the caller, and not chosen by an error estimate.
        self.steps_are_given: bool = getattr(self._method, "tolerance", None) is None
        #: Whether the method is stable however stiff forces are.
        self.implicit: bool = integrator == "implicit"
        self._advance: Advance | None = None
        if isinstance(self._method, Solver):
            if refusal := self._method.refusal(loads):
                raise SettingsError(
                    f"integrator {integrator!r} {refusal}; take another one to move "
                    f"{self.robot.name!r}"
                )
            self._advance = self._method.begin()
        #: Steppers of each of many motions, whose steps differ.
        self._alone: list[Stepper] = []

    @property
    def order(self) -> int:
        """Order of the method."""
        return int(self._method.order)

    @property
    def stabilised(self) -> bool:
        """Whether loops are stabilised by gains."""
        return self.loads.gains is not None

    def for_motion(self, k: int) -> Stepper:
        """The stepper of one of many motions; itself if wrenches and robots are the same."""
        loads = self.loads.for_motion(k)
        if loads is self.loads:
            return self
        other = copy.copy(self)
        other.loads, other._operations = loads, NumericOperations(loads)
        if loads.robot is not self.robot:
            other.robot = loads.robot
            other.__dict__.pop("_slopes", None)
        return other

    @property
    def by_machine_code(self) -> bool:
        """Whether its steps can be machine code, as Python takes no part in them."""
        friction = self.loads.friction
        if self._explicit is None or self.loads.depend_on_state:
            return False
        if friction is not None and not friction.by_code:
            return False
        return self.loads.functions is not None

    def compiled(
        self,
        times: FloatArray,
        q: FloatArray,
        v: FloatArray,
        controller: CompiledController | None = None,
        efforts: FloatArray | None = None,
        tabled: int | None = None,
    ) -> CompiledMotion | None:
        """The motion from a state as machine code; ``None`` if Python takes part in its steps.

        It is also ``None`` for an empty batch, and for a robot without joints.

        q, v (..., nq), (..., nv): Closed, as the result of `start`.
        controller, optional
        efforts (nv,), optional: Limits to which its forces are cut.
        tabled, optional: Number of instants whose paths and loads are evaluated together.
        """
        if self._explicit is None or not self.by_machine_code or not q.size:
            return None
        states = q.reshape(-1, self.robot.nq), v.reshape(-1, self.robot.nv)
        return CompiledMotion(
            self.loads, self._explicit, times, *states, controller, efforts, tabled
        )

    def accelerations(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations, and the generalised forces, those of driven joints solved for.

        q, v, tau (..., nq), (..., nv), (..., nv): Driven joints have to be on their paths; their
            elements of ``tau`` are not used.
        Returns a, tau (..., nv)
        """
        driving = self.driven.accelerations(t) if self.driven else None
        return self._operations.dynamics(t, q, v, tau, driving)

    def holding(self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray) -> FloatArray:
        """Friction of what sticks [N m, N]; zero of what slides. Arguments as those of `step`."""
        driving = self.driven.accelerations(t) if self.driven else None
        return self._operations.holding(t, q, v, tau, driving)

    @property
    def loads_are_constant(self) -> bool:
        """Whether dynamics of a state are the same at all times."""
        changing = self.driven or callable(self.loads.external.wrenches)
        return not (changing or self.robot.base == "moving" or self.robot.depends_on_time)

    def settled(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, over: Any, step: float
    ) -> FloatArray:
        """Decide what sticks from ``t`` [s] on, and return the speeds.

        q, v, tau: As those of `step`.
        over: What no longer slides or sticks; see `StickSlip.settle`.
        step [s]: The length of a step.
        """
        friction, driving = self.loads.friction, None
        assert friction is not None
        later = v
        if self.driven:
            driving, later = self.driven.accelerations(t), self.driven.at(t + SOON * step, q, v)[1]
        plain, base = self._operations.sliding_at(t, q, v, driving), self.loads.external.base
        motion = None if base is None else base(t)
        if self._advance is not None:  # what it knows ahead is of the mode before
            self._advance = self._method.begin()
        instant = SAME_EVENT_TIME * step
        coded = None
        if friction.holds_by_code and self.loads.wrenches_alone:
            coded = self._operations.coded_at(t, q, tau, driving)
        return friction.settle(plain, q, v, tau, motion, over, later, instant, coded)

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

        t [s]: At the start of the step.
        q, v, tau (..., nq), (..., nv), (..., nv): Left as they are.
        h [s]: Length of the step.
        a (..., nv), optional: Accelerations at ``t``, where they are known.
        Returns q, v (..., nq), (..., nv)
        Raises ShapeError: If the state is no longer finite.
        Raises AssemblyError: If the loops do not close.
        """
        if self._advance is not None and q.ndim > 1:
            return self._each(t, q, v, tau, h)
        if self.loads.friction is not None:
            if self.loads.friction.stands:
                return q.copy(), v.copy()
            single = self._single if self.loads.friction.by_code else None
            if single is not None and single.step(q, v, tau, h):
                return single.q[0].copy(), single.v[0].copy()
        with np.errstate(over="ignore", invalid="ignore"):
            first = self.accelerations(t, q, v, tau)[0] if a is None else a
            if self._explicit is not None:
                return step(self._operations, self._explicit, t, q, v, tau, h, first)
            assert self._advance is not None
            return self._advance(self._motion(tau), Start(t, q, v, first), h)

    def _each(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, h: float
    ) -> tuple[FloatArray, FloatArray]:
        """Many states after a step, computed one by one, as the steps of the method differ."""
        q, v = q.copy(), v.copy()
        rows = list(np.ndindex(q.shape[:-1]))
        for k in range(len(self._alone), len(rows)):
            self._alone.append(copy.copy(self.for_motion(k)))
            self._alone[k]._advance = self._method.begin()
            self._alone[k]._row = rows[k]
        for one, row in zip(self._alone[: len(rows)], rows, strict=True):
            try:
                q[row], v[row] = one.step(t, q[row], v[row], tau[row], h)
            except RobodynError as error:
                error.motion = row
                raise
        return q, v

    @cached_property
    def _single(self) -> SingleStep | None:
        """Single steps by machine code; ``None`` where loads change with time."""
        if self._explicit is None or not (self.loads_are_constant and self.by_machine_code):
            return None
        return SingleStep(self.loads, self._explicit)

    @cached_property
    def _slopes(self) -> Slopes | None:
        """Derivatives of accelerations, if these depend on the state and forces alone."""
        robot = self.robot
        if robot.nc or self.driven or not self.loads.none or robot.nv > DERIVED:
            return None
        derivatives = robot.function("forward_dynamics_derivatives")

        def slopes(q: FloatArray, v: FloatArray, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
            _, by_q, by_v, _ = derivatives(q, v, tau)
            return by_q, by_v

        return slopes

    def _motion(self, tau: FloatArray) -> Motion:
        """The motion in a step, as methods that are not explicit need it."""
        operations, until = self._operations, -np.inf if self._until is None else self._until

        def acceleration(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
            q, v, driving = self.driven.at(t, q, v) if self.driven else (q, v, None)
            return operations.accelerations(t, q, v, tau, driving)

        def close(t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
            return end_of_step(operations, t, q.copy(), v.copy())

        return Motion(
            self.loads,
            acceleration,
            close,
            operations.coordinates,
            tau.copy(),
            until,
            self._slopes,
            self._chosen,
        )

    def _chosen(self, t: float, what: str) -> None:
        """Report a choice of the method, once if it repeats a step."""
        if self._tell is not None and what != self._told:
            self._tell(EventRecord(t, what, motion=self._row))
        self._told = what

    def start(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at the start of a motion; small gaps of loops are closed.

        Raises AssemblyError: If the loops are open; ``.q`` is a closed posture near by, where there
            is one.
        Raises InconsistentStateError: If speeds open the loops of a robot with no driven joints;
            ``.v`` are the nearest that do not. Where joints are driven their speeds are those of
            their paths, and all others follow. Speeds of zero start any motion: where constraints
            ask for motion they jump.
        """
        if self.driven:
            q, v, _ = self.driven.at(t, q, v)
        return closed_start(self._operations, t, q, v) if self.robot.nc else (q, v)
