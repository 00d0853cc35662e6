"""Projections onto what the loops of a linkage allow: of states, velocities, accelerations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import finite, together
from robodyn.closed_loops.constraint_rows import ConstraintRows
from robodyn.closed_loops.precision import is_single
from robodyn.closed_loops.solvers import project_velocity
from robodyn.configuration_space import ConfigurationSpace
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model

__all__ = ["Projection"]


#: Drift [m, rad] that is not mended, and Newton steps that mend it.
DRIFT, NEWTON = 1e-12, 4


class Projection:
    """The nearest that a linkage with closed loops can do.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    rows : ConstraintRows
    space : ConfigurationSpace
    """

    def __init__(
        self, model: Model, evaluator: Evaluator, rows: ConstraintRows, space: ConfigurationSpace
    ) -> None:
        self._evaluator, self._rows, self._space = evaluator, rows, space
        self._all_move_mass = not model.undetermined(())

    def state(self, q: ArrayLike, v: ArrayLike, free: Array | None) -> tuple[Array, Array]:
        """A closed state near one that has drifted a little; see `Robot.closed_state`."""
        x, w = self._space.positions("q", q), self._space.speeds("v", v).copy()
        finite(q=x, v=w)
        together(q=x, v=w)
        moving = np.ones(self._space.nv) if free is None else free.astype(float)
        positions = self._rows.position_rows()
        for _ in range(NEWTON):
            open_by = positions.residual(x)
            if not np.abs(open_by).max(initial=0.0) > DRIFT:
                break
            inverse = np.linalg.pinv(positions.jacobian(x) * moving, rcond=1e-9)
            x = self._space.integrate(x, -np.einsum("...ij,...j->...i", inverse, open_by))
        K = self._rows.jacobian(x)
        rate = self._rows.violation_rate(x, w, K)
        inverse = np.linalg.pinv(K * moving, rcond=1e-9)
        return x, w - np.einsum("...ij,...j->...i", inverse, rate)

    def velocity(self, q: ArrayLike, v: ArrayLike, free: Array) -> Array:
        """The possible velocity nearest to ``v`` in kinetic energy; the others are kept."""
        speeds = self._space.speeds("v", v)
        finite(q=q, v=speeds)
        together(q=q, v=speeds)
        K = self._rows.jacobian(q)
        psi = self._rows.offset(q) if self._rows.has_offset else None
        found = project_velocity(K, speeds, self._energy_norm(q), free=free, rhs=psi)
        single = K.dtype == np.float32 and np.asarray(v).dtype == np.float32
        return found.astype(np.float32) if single else found

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The possible acceleration nearest to ``a`` in kinetic energy."""
        wanted = self._space.speeds("a", a)
        finite(q=q, v=v, a=wanted)
        together(q=q, v=v, a=wanted)
        K, k = self._rows.jacobian(q), self._rows.bias(q, v)
        found = project_velocity(K, wanted, self._energy_norm(q), rhs=k)
        return found.astype(np.float32) if is_single(k) and is_single(a) else found

    def _energy_norm(self, q: ArrayLike) -> Array | None:
        """The mass matrix, if every speed moves mass."""
        return self._evaluator.call("mass_matrix", (q,)) if self._all_move_mass else None
