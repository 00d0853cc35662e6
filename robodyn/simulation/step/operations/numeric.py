"""The operations of a step with numbers: of one state, or of many as batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite, sum_of_squares
from robodyn.closed_loops.constraints.open_loops import largest_gap
from robodyn.errors import AssemblyError, ShapeError
from robodyn.robot import Robot
from robodyn.simulation.integrators.method import coordinates_of
from robodyn.simulation.loads.loads import Loads
from robodyn.simulation.step.operations.step import CORRECTIONS, DIVERGED, Correct, close_loops
from robodyn.tolerances import LOOP_APART, LOOP_DRIFT, LOOP_OPEN

#: Corrections of position and velocity, and gaps.
Corrections = tuple[FloatArray, FloatArray, FloatArray]


class NumericOperations:
    """Operations with numbers, by methods of the robot, which also work where code returns NaN."""

    def __init__(self, loads: Loads) -> None:
        self.loads, self._robot, self._driven = loads, loads.robot, loads.driven
        self.coordinates = coordinates_of(loads.robot)

    def drive(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray | None:
        """Set driven joints to their paths; return their accelerations, ``None`` without any."""
        return self._driven.place(t, q, v) if self._driven else None

    def accelerations(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, driving: FloatArray | None
    ) -> FloatArray:
        """Accelerations of all speeds."""
        if self._robot.nc:  # before solvers of constraints fail
            check_bounds(q, v)
        return self.dynamics(t, q, v, tau, driving)[0]

    def dynamics(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, driving: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations, and forces, with those that drive joints."""
        if self.loads.friction is None:
            return self._smooth_dynamics(t, q, v, tau, driving)
        if self.loads.friction.stands:
            return np.zeros(len(v)), tau
        return self._with_modes(t, q, v, tau, driving)[:2]

    def holding(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, driving: FloatArray | None
    ) -> FloatArray:
        """Friction of what sticks; zero of what slides."""
        return self.coded_at(t, q, tau, driving)(v)[1]

    def coded_at(
        self, t: float, q: FloatArray, tau: FloatArray, driving: FloatArray | None
    ) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
        """Accelerations, and friction of what sticks, as a function of speeds."""
        friction = self.loads.friction
        assert friction is not None

        def found(v: FloatArray) -> tuple[FloatArray, FloatArray]:
            a, forces, holding = self._with_modes(t, q, v, tau, driving)
            if holding is None:
                loads = {} if self.loads.none_outside else self.loads.options(t, q, v)
                holding = friction.holding(q, v, a, forces, loads)
            return a, holding

        return found

    def _with_modes(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, driving: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Accelerations and forces of joints that stick and slide, and friction of what sticks.

        ``None`` instead of that where code computes them.
        """
        friction = self.loads.friction
        assert friction is not None
        if friction.by_code:
            found = self._coded(t, q, v, tau, driving, friction.inputs)
            if found is not None:
                return (*found, None)
        plain, base = self.sliding_at(t, q, v, driving), self.loads.options(t, q, v).get("base")
        return friction.dynamics(plain, q, v, tau, base, self._driven.speeds)

    def sliding_at(
        self, t: float, q: FloatArray, v: FloatArray, driving: FloatArray | None
    ) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
        """Dynamics under the friction of what slides, as a function of forces; nothing is held."""
        friction, at = self.loads.friction, list(self._driven.speeds)
        assert friction is not None
        sliding, *moves = friction.inputs

        def found(tau: FloatArray) -> tuple[FloatArray, FloatArray]:
            coded = self._coded(t, q, v, tau, driving, (sliding, *map(np.ones_like, moves)))
            if coded is not None:
                return coded
            more = friction.instead(q, v)
            a, forces = self._smooth_dynamics(t, q, v, tau + more, driving)
            own = tau.copy()
            own[at] = (forces - more)[at]
            return a, own

        return found

    def _coded(
        self,
        t: float,
        q: FloatArray,
        v: FloatArray,
        tau: FloatArray,
        driving: FloatArray | None,
        modes: tuple[FloatArray, ...],
    ) -> tuple[FloatArray, FloatArray] | None:
        """Accelerations and forces by the function of modes; ``None`` where it has none."""
        if self._of_modes is not None and driving is None:
            a = self._of_modes(q, v, tau, *modes)
            return (a, tau) if all_finite(a) else None
        if not self.loads.wrenches_alone:
            return None
        wrenches = self.loads.wrenches(t, q, v) if self.loads.external.wrenches else {}
        return self._by_code(q, v, tau, driving, wrenches, modes)

    @cached_property
    def _of_modes(self) -> Callable[..., FloatArray] | None:
        """The function of accelerations in a mode; ``None`` where it takes further loads."""
        loads, functions = self.loads, self.loads.functions
        if functions is None or self._driven or loads.gains is not None:
            return None
        return functions.dynamics if loads.none_outside else None

    def _smooth_dynamics(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, driving: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations, and forces, with those that drive joints, under the smooth law."""
        robot, driven = self._at(t), self._driven
        options = self.loads.options(t, q, v)
        if driving is None and not robot.nc:
            return robot.forward_dynamics(q, v, tau, **options), tau
        if q.ndim == 1 and self.loads.friction is None and self.loads.wrenches_alone:
            found = self._by_code(q, v, tau, driving, options.get("wrenches", {}))
            if found is not None:
                return found
        if driving is None:  # within a step, loops are slightly open
            driving = np.zeros(0)
        if self.loads.gains is not None:
            options["stabilization"] = self.loads.gains
        free = tau[..., driven.free]
        return robot.driven_dynamics(q, v, driving, free, driven.speeds, **options)

    def _by_code(
        self,
        q: FloatArray,
        v: FloatArray,
        tau: FloatArray,
        driving: FloatArray | None,
        wrenches: Mapping[str, Any],
        modes: Sequence[FloatArray] = (),
    ) -> tuple[FloatArray, FloatArray] | None:
        """Accelerations of one state by the function that machine code of steps calls.

        ``None`` where it returns NaN, and for arguments that only methods of the robot can check.
        """
        functions = self.loads.functions_with(tuple(wrenches))
        if functions is None:
            return None
        given = [*wrenches.values()]
        if any(type(x) is not np.ndarray or x.shape != (6,) for x in given):
            return None
        given += modes
        if driving is None:
            a = functions.dynamics(q, v, tau, *given)
            return (a, tau) if all_finite(a) else None
        a, forces = functions.dynamics(q, v, driving, tau[self._driven.free], *given)
        return (a, forces) if all_finite(a) and all_finite(forces) else None

    def _at(self, t: float) -> Robot:
        """The robot at a time; itself if it does not depend on time."""
        return self._robot.at(t) if self._robot.depends_on_time else self._robot

    # -- loops --------------------------------------------------------------------------------

    def close(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at the end of a step with its loops closed.

        Raises ShapeError: If the state is no longer finite.
        Raises AssemblyError: If the loops do not close.
        """
        check_bounds(q, v)
        if not self._robot.nc:
            return q, v
        if self.loads.gains is not None:
            self._check_gap(t, q, LOOP_OPEN, "take larger gains or shorter steps")
            return q, v
        return self.closed(t, q, v)

    def closed(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state at a time with its loops closed, also if loops are stabilised."""
        q, v = self._closed(t, q, v)
        hint = "joints are driven where they cannot go" if self._driven else "take shorter steps"
        self._check_gap(t, q, LOOP_APART, hint)
        check_bounds(q, v)
        return q, v

    def _closed(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The closed state without checks: by code, or by a solver that reveals the rank."""
        functions, held = self.loads.functions, self._driven.is_free
        if self.loads.friction is not None and self.loads.friction.any_sticks:
            return self._at(t).closed_state(q, v, held & self.loads.friction.moving)
        if functions is None or functions.corrections is None:
            return self._at(t).closed_state(q, v, held)
        closed, speeds = close_loops(self, t, q, v)
        if not all_finite(speeds):
            for place in map(tuple, np.argwhere(~np.isfinite(speeds).all(axis=-1))):
                own = self._at(t).of_rows(place[-1]) if place else self._at(t)
                closed[place], speeds[place] = own.closed_state(q[place], v[place], held)
        return closed, speeds

    def _check_gap(self, t: float, q: FloatArray, most: float, hint: str) -> None:
        """Check that gaps of loops are not too large for the motion to continue."""
        residual = self._at(t).loop_residual(q)
        if not np.abs(residual).max(initial=0.0) <= most:
            loop, size = largest_gap(self._robot.model, residual)
            error = AssemblyError(
                f"the loops of {self._robot.name!r} come apart by {size} ({loop!r}): {hint}",
                residual=residual,
                q=q,
            )
            error.motion = _largest(np.abs(residual).max(axis=-1))
            raise error

    def corrections(self, t: float, q: FloatArray, v: FloatArray) -> Corrections:
        """One step of Newton's method by straight-line code.

        Where it returns NaN, the corrections of speeds are NaN, and positions stay.
        """
        functions, time = self.loads.functions, (t,) if self._robot.depends_on_time else ()
        assert functions is not None
        assert functions.corrections is not None
        dq, dv, gap = functions.corrections(q, v, *time)
        if not all_finite(dq):
            there = np.isfinite(dq).all(axis=-1, keepdims=True)
            dq, dv = np.where(there, dq, 0.0), np.where(there, dv, np.nan)
        return dq, dv, gap

    def where_open(self, gap: FloatArray, moved: FloatArray, q: FloatArray) -> FloatArray:
        """Move the states of the batch whose loops are open."""
        return np.where((gap > LOOP_DRIFT)[..., None], moved, q)

    def while_open(self, correct: Correct, q: Any, found: Any) -> tuple[Any, Any]:
        """Repeat while loops of a state of the batch are open."""
        return while_any_open(correct, q, found)


def while_any_open(correct: Correct, q: Any, found: Any) -> tuple[Any, Any]:
    """`Operations.while_open` over arrays: repeat while loops of a state are open."""
    for _ in range(CORRECTIONS):
        if not np.any(found[2] > LOOP_DRIFT):
            break
        q, found = correct(q, found)
    return q, found


def check_bounds(q: FloatArray, v: FloatArray) -> None:
    """Check that a state is finite, and so small that its products are finite, too."""
    if not (sum_of_squares(q) < DIVERGED and sum_of_squares(v) < DIVERGED):
        error = ShapeError("q or v has outgrown what can be computed with", name="q")
        error.motion = _largest(np.abs(np.concatenate([q, v], axis=-1)).max(axis=-1))
        raise error


def _largest(sizes: FloatArray) -> tuple[int, ...]:
    """Index of the motion with the largest number or none; empty of a single motion."""
    place = np.argmax(np.nan_to_num(sizes, nan=np.inf))
    return tuple(int(k) for k in np.unravel_index(place, np.shape(sizes)))
