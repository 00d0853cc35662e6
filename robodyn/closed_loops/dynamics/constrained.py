"""Dynamics under constraints whose rank may change: solved numerically, revealing the rank.

Forward dynamics, and inverse dynamics: forces of motors, and motions they cannot produce. States in
single precision are computed in double: rounding would hide which rows are redundant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, finite, together
from robodyn.closed_loops.assembly.projection import Projection
from robodyn.closed_loops.constraints.consistency import Consistency
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.constraints.precision import (
    all_numbers,
    in_double,
    is_single,
    largest,
    result_type,
)
from robodyn.closed_loops.rank.programs import LoopPrograms, Regularity
from robodyn.closed_loops.solvers import actuate, constrained_hybrid, solve_terms
from robodyn.errors import ActuationError, SingularError
from robodyn.evaluator import Evaluator, Request, Wrenches
from robodyn.literals import ConstraintMethod
from robodyn.model.losses import refuse_losses
from robodyn.model.model import Model
from robodyn.model.speed_selection import Roles, speed_names
from robodyn.model.states import listed, overflow, too_large
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.results import ConstrainedDynamics, HybridDynamics
from robodyn.tolerances import CONTROLLED_ACCELERATION, LOOP_ACCELERATION, LOOP_DRIFT

_DOUBLE = np.dtype(float)

#: What is done where the rank of loops is revealed.
NUMERICALLY = (
    "constrained_dynamics, and dynamics near singular postures and of redundant loops, are"
)


class ConstrainedSolve:
    """Forward and hybrid dynamics from mass matrix, bias forces and constraint rows."""

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        rows: ConstraintRows,
        space: ConfigurationSpace,
        consistency: Consistency,
        projection: Projection,
    ) -> None:
        self._model, self._evaluator, self._rows, self._space = model, evaluator, rows, space
        self._consistency, self._projection = consistency, projection

    def dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
        method: ConstraintMethod,
    ) -> ConstrainedDynamics:
        """`forward` of a state with closed loops; of any, where they are stabilised."""
        if stabilization is not None or wrenches or base or not self._evaluator.of_state_alone:
            if stabilization is None:
                self._consistency.check(q, v)
            return self.forward(q, v, tau, wrenches, base, stabilization, method)

        def made(
            terms: tuple[Array, ...], q: ArrayLike, v: ArrayLike, tau: ArrayLike
        ) -> ConstrainedDynamics:
            gap, single = terms[-1], terms[0].dtype == np.float32  # solved in double precision
            if single or not (gap.max(initial=0.0) if gap.ndim else gap) <= LOOP_DRIFT:
                self._consistency.check(q, v)
                return self.forward(q, v, tau, None, None, None, method)
            return self._solved(terms, method, _DOUBLE, {"q": q, "v": v, "tau": tau})

        found: ConstrainedDynamics = self._evaluator.answer(
            "constrained_terms", (q, v, tau), method="constrained_dynamics", make=made,
            of_inputs=True,
        )  # fmt: skip
        return found

    def forward(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
        method: ConstraintMethod,
    ) -> ConstrainedDynamics:
        """Accelerations and multipliers under given forces; see `Robot.constrained_dynamics`."""
        kind = result_type(base is None, q, v, tau)
        force, v = self._space.speeds("tau", tau), in_double(v)
        q = in_double(q) if stabilization is not None else self._projection.posture(q)
        finite(q=q, v=v, tau=force)
        together(q=q, v=v, tau=force)
        terms = self._evaluator.results(
            "constrained_terms", (q, v, force), base=base, wrenches=wrenches
        )
        if stabilization is not None:
            k = self._rows.stabilised_bias(q, v, stabilization)
            own = np.ascontiguousarray(np.broadcast_to(k, terms[3].shape), float)
            terms = (*terms[:3], own, terms[4])
        return self._solved(terms, method, kind, {"q": q, "v": v, "tau": force})

    def _solved(
        self,
        terms: tuple[Array, ...],
        method: ConstraintMethod,
        kind: np.dtype[Any],
        given: Mapping[str, ArrayLike],
    ) -> ConstrainedDynamics:
        """Accelerations and multipliers by the terms of their equations, unless they overflow."""
        refuse_losses(self._model, NUMERICALLY)
        M, force, K, k, _ = terms
        try:
            found = solve_terms(M, force, K, k, method)
        except SingularError as error:
            raise self._massless(M, K, error, range(self._space.nv)) from None
        a, multipliers = found.a, found.multipliers
        if not (all_finite(a) and all_finite(multipliers)) and too_large(given):
            wrong = ~np.isfinite(np.concatenate([a, multipliers], axis=-1)).all(axis=-1)
            raise overflow(self._model, "constrained_dynamics", given, wrong)
        if kind is not _DOUBLE:
            a, multipliers = a.astype(kind), multipliers.astype(kind)
        return ConstrainedDynamics(a, multipliers, found.rank, found.residual, found.method)

    def hybrid(
        self,
        q: ArrayLike,
        v: ArrayLike,
        roles: Roles,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
    ) -> HybridDynamics:
        """Dynamics with some joints driven; multipliers of least norm."""
        refuse_losses(self._model, NUMERICALLY)
        kind = result_type(base is None and roles.single, q, v)
        q = in_double(q) if stabilization is not None else self._projection.posture(q)
        v = in_double(v)
        finite(q=q, v=v)
        h = self._evaluator.call("bias_forces", (q, v), base=base, wrenches=wrenches)
        k = self._rows.stabilised_bias(q, v, stabilization)
        M, K = self._evaluator.call("mass_matrix", (q,)), self._rows.jacobian(q)
        tolerance = CONTROLLED_ACCELERATION if kind == np.float64 else LOOP_ACCELERATION[1]
        driven = list(roles.controlled)
        try:
            found = constrained_hybrid(M, h, K, k, driven, roles.a, roles.tau, tolerance=tolerance)
        except SingularError as error:
            free = [k for k in range(self._space.nv) if k not in roles.controlled]
            raise self._massless(M, K, error, free) from None
        except ActuationError as error:
            raise self._contradiction(error) from None
        return HybridDynamics(*(x.astype(kind) for x in found))

    def _contradiction(self, error: ActuationError) -> ActuationError:
        joints = self._model.joints
        direction = np.abs(np.asarray(error.direction))
        names = [n for n in self._model.joint_names if direction[joints[n].v].max(initial=0) > 1e-9]
        return ActuationError(
            f"the accelerations of {', '.join(names)} of {self._model.mechanism.name!r} contradict "
            f"each other: its loops tie them together ({error})",
            direction=error.direction,
        )

    def _massless(
        self, M: Array, K: Array, error: SingularError, free: Sequence[int]
    ) -> SingularError:
        """The same error with the names of the joints that move no mass, of the free ones."""
        row = (error.rows or (0,))[0]
        M, K = (x[np.unravel_index(row % math.prod(x.shape[:-2]), x.shape[:-2])] for x in (M, K))
        M, K = M[np.ix_(free, free)], K[:, list(free)]
        sizes, Vh = np.linalg.svd(K)[1:]
        Z = Vh[int(np.sum(sizes > 1e-9 * sizes.max(initial=0.0))) :].T
        inertia, motions = np.linalg.eigh(Z.T @ M @ Z)
        idle = (Z @ motions)[:, inertia <= 1e-9 * np.abs(inertia).max(initial=0.0)]
        moved = [k for i, k in enumerate(free) if np.abs(idle[i]).max(initial=0.0) > 1e-6]
        names = speed_names(self._model, moved)
        where = f", in states {listed(error.rows)} of the batch" if error.rows else ""
        return SingularError(
            f"joints {', '.join(names)} of {self._model.mechanism.name!r} can move together "
            f"without moving mass{where}: their accelerations are not determined; give their links "
            "inertia",
            joints=names,
            rows=error.rows,
        )


class LoopMotors:
    """Forces at the motors of a closed linkage for given accelerations."""

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        rows: ConstraintRows,
        space: ConfigurationSpace,
        programs: LoopPrograms,
        consistency: Consistency,
        regularity: Regularity,
        projection: Projection,
    ) -> None:
        self._model, self._evaluator = model, evaluator
        self._rows, self._space, self._programs = rows, space, programs
        self._consistency, self._regularity = consistency, regularity
        self._projection = projection

    def forces(self, asked: Request) -> Array:
        """Generalised forces of all joints, shape (..., nv), zero for those without motor."""
        q, v, a = asked.arrays
        names = self._programs.motors(asked.options.get("actuated"))
        rows = self._programs.by_motors(self._programs.motor_speeds(names))
        if rows is not None:
            tau, gap = self._evaluator.results(
                "inverse_dynamics", asked.arrays, base=asked.base, wrenches=asked.wrenches, **rows
            )
            if all_numbers(tau):
                self._check_gap(gap, a)
                return np.asarray(tau)
        self._consistency.check(q, v)
        self._regularity.check(q, v)
        refuse_losses(self._model, NUMERICALLY)
        alone = self._evaluator.of_state_alone and not (asked.base or asked.wrenches)
        if alone and np.ndim(asked.found) > 1:
            return self._completed(asked, names)
        return self.solve(q, v, a, asked.wrenches, asked.base, names)[0]

    def _completed(self, asked: Request, names: tuple[str, ...]) -> Array:
        """Forces of a batch: states for which the program gave NaN are solved for."""
        tau = np.array(asked.found)
        left = np.isnan(tau).any(axis=-1)
        batch = left.shape
        q, v, a = (np.broadcast_to(x, (*batch, np.shape(x)[-1]))[left] for x in asked.arrays)
        tau[left] = self.solve(q, v, a, None, None, names)[0]
        return tau

    def solve(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        names: tuple[str, ...],
    ) -> tuple[Array, Array]:
        """Forces of the motors, and multipliers of least norm, for any rank of the loops."""
        wanted = self._space.speeds("a", a)
        finite(q=q, v=v, a=wanted)
        together(q=q, v=v, a=wanted)
        kind = result_type(base is None, q, v, a)
        q, v = self._projection.posture(q), in_double(v)
        K, k = self._rows.jacobian(q), self._rows.bias(q, v)
        self._check_gap(np.einsum("...ij,...j->...i", K, wanted) + k, a)
        g = self._evaluator.call("inverse_dynamics", (q, v, wanted), base=base, wrenches=wrenches)
        scale = float(np.abs(g).max(initial=0.0))
        try:
            slack = {} if kind == np.float64 else {"tolerance": LOOP_ACCELERATION[1]}
            tau, multipliers = actuate(g, K, self._matrix(q, names), scale=scale, **slack)
        except ActuationError as error:
            raise self._cannot(names, error) from None
        return tau.astype(kind), multipliers.astype(kind)

    def _matrix(self, q: Array, names: tuple[str, ...]) -> Array:
        """The speeds of these joints, or generalised forces of a unit of force at each of them."""
        speeds = self._programs.motor_speeds(names)
        if speeds is not None:
            return np.array(speeds, int)
        return self._evaluator.call("actuation_matrix", (q,), actuated=names)

    def _cannot(self, names: tuple[str, ...], error: ActuationError) -> ActuationError:
        direction = np.asarray(error.direction)
        moving = ", ".join(
            f"{direction[k]:.3g} at {name}"
            for k in np.flatnonzero(np.abs(direction) > 1e-6)
            for name in speed_names(self._model, (int(k),))
        )
        return ActuationError(
            f"motors at {', '.join(names) or 'no joint'} of "
            f"{self._model.mechanism.name!r} cannot produce these accelerations: with them at rest "
            f"the linkage can still move ({moving}), and that takes a force",
            direction=error.direction,
        )

    def _check_gap(self, gap: Array, a: ArrayLike) -> None:
        """Refuse accelerations that open the loops."""
        broken = LOOP_ACCELERATION[1] if is_single(a) else LOOP_ACCELERATION[0]
        if largest(gap) <= broken:
            return
        finite(a=a)
        size = max(1.0, largest(np.asarray(a)))
        if not largest(gap) <= broken * size:
            raise ActuationError(
                f"these accelerations would open the loops of {self._model.mechanism.name!r} (by "
                f"{np.abs(gap).max():.3g} m/s^2 or rad/s^2): no motors can produce them; "
                "consistent_acceleration makes them fit"
            )
