"""Inverse dynamics of closed linkages: forces of motors, and motions they cannot produce."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import finite, named, together
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
from robodyn.closed_loops.rank.regularity import Regularity
from robodyn.closed_loops.rank.straight_line import Code, StraightLine
from robodyn.closed_loops.solvers import actuate
from robodyn.codegen import CallForm, Function
from robodyn.errors import ActuationError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import has_own_speeds, speed_indices, speed_names
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.tolerances import LOOP_ACCELERATION

__all__ = ["LoopMotors"]


class LoopMotors:
    """Forces at the motors of a closed linkage for given accelerations.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    rows : ConstraintRows
    space : ConfigurationSpace
    code : StraightLine
    consistency : Consistency
    regularity : Regularity
    projection : Projection
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        rows: ConstraintRows,
        space: ConfigurationSpace,
        code: StraightLine,
        consistency: Consistency,
        regularity: Regularity,
        projection: Projection,
    ) -> None:
        self._model, self._evaluator = model, evaluator
        self._rows, self._space, self._code = rows, space, code
        self._consistency, self._regularity = consistency, regularity
        self._projection = projection

    def names(self, actuated: Iterable[str] | None) -> tuple[str, ...]:
        """Joints at which forces act: those named, else those with motors and a floating base."""
        if actuated is not None:
            return named("actuated", actuated)
        base = self._model.joint_names[: self._model.settings.base == "floating"]
        return (*base, *self._model.actuated_joints)

    def _speeds(self, names: tuple[str, ...]) -> tuple[int, ...] | None:
        """The speeds of these joints; ``None`` if some follow others, and have none."""
        if not has_own_speeds(self._model, names):
            return None
        return tuple(sorted({k for name in names for k in speed_indices(self._model, name)}))

    def function(self, **options: Any) -> Function:
        """Straight-line inverse dynamics; impossible accelerations give NaN.

        With ``closure_tolerance`` among the options states that are not closed do, too.

        Raises
        ------
        ActuationError
            If motors do not hold all motions.
        """
        return self.code.having(**options, possible=LOOP_ACCELERATION).function

    @property
    def code(self) -> Code:
        """Straight-line inverse dynamics by the robot's motors.

        Raises
        ------
        ActuationError
            If motors do not hold all motions.
        """
        speeds = self._speeds(self.names(None))
        code = None if speeds is None else self._code.inverse(speeds)
        if code is None:
            why = "are at joints that follow others"
            why = "do not hold all motions" if speeds is not None else why
            raise ActuationError(
                f"motors of {self._model.mechanism.name!r} {why}: there is no straight-line code "
                "for inverse_dynamics; call the method"
            )
        return code

    def _checked(self, speeds: tuple[int, ...] | None) -> Code | None:
        """Inverse dynamics that are NaN if loops are open or nearly singular."""
        code = None if speeds is None else self._code.inverse(speeds)
        if code is None:
            return None
        return code.having(
            closure_tolerance=self._consistency.tolerance,
            probe=self._code.motor_probe(code),
        )

    @property
    def checked(self) -> Code | None:
        """Inverse dynamics by the robot's motors, also NaN for impossible accelerations."""
        code = self._checked(self._speeds(self.names(None)))
        return None if code is None else code.having(possible=LOOP_ACCELERATION)

    def forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        actuated: Iterable[str] | None,
        form: CallForm,
    ) -> Array:
        """Generalised forces of all joints, shape (..., nv), zero for those without motor.

        Calls of the robot's method that have this form may go to the function.
        """
        names, coded = self.names(actuated), None
        code, arrays = self._checked(self._speeds(names)), (q, v, a)
        if code is not None:
            if actuated is None:
                possible = code.having(possible=LOOP_ACCELERATION)
                found = possible.results(self._evaluator, arrays, wrenches, base, form=form)
                if found is not None:
                    return found[0]
                if self._evaluator.of_state_alone and not (base or wrenches):
                    coded = np.asarray(possible.function(*arrays))
            tau, gap = self._evaluator.results(
                "inverse_dynamics", arrays, base=base, wrenches=wrenches, **code.options
            )
            if all_numbers(tau):
                self._check_gap(gap, a)
                return np.asarray(tau)
        self._consistency.check(q, v)
        self._regularity.check(q, v)
        if coded is not None and coded.ndim > 1:
            return self._completed(coded, (q, v, a), names)
        return self.solve(q, v, a, wrenches, base, names)[0]

    def _completed(
        self, tau: Array, state: tuple[ArrayLike, ArrayLike, ArrayLike], names: tuple[str, ...]
    ) -> Array:
        """Forces of a batch for which the code gave NaN in some states, which are solved here."""
        left = np.isnan(tau).any(axis=-1)
        q, v, a = (np.broadcast_to(x, (*left.shape, np.shape(x)[-1]))[left] for x in state)
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
            found = actuate(g, K, self._matrix(q, names), scale=scale, **slack)
        except ActuationError as error:
            raise self._cannot(names, error) from None
        return found.tau.astype(kind), found.multipliers.astype(kind)

    def _matrix(self, q: Array, names: tuple[str, ...]) -> Array:
        """The speeds of these joints, or generalised forces of a unit of force at each of them."""
        speeds = self._speeds(names)
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
