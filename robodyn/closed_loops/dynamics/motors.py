"""Inverse dynamics of closed linkages: forces of motors, and motions they cannot produce."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import finite, together
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
from robodyn.closed_loops.dynamics.constrained import NUMERICALLY
from robodyn.closed_loops.rank.programs import LoopPrograms
from robodyn.closed_loops.rank.regularity import Regularity
from robodyn.closed_loops.solvers import actuate
from robodyn.errors import ActuationError
from robodyn.evaluator import Evaluator, Request, Wrenches
from robodyn.model.losses import refuse_losses
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_names
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.tolerances import LOOP_ACCELERATION


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
