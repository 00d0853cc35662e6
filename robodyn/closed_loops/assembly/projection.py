"""Projections of states, velocities and accelerations onto the constraints of loops."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import finite, together
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.constraints.precision import is_single, largest
from robodyn.closed_loops.solvers import project_velocity
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.tolerances import LOOP_DRIFT, SINGLE_PRECISION_CLOSURE

#: Newton steps that correct drift, at most.
NEWTON = 4


def unit_motions(M: Array, moving: Array) -> Array:
    """Motions ``B`` with ``B^T M B = 1`` of the n speeds that may change, shape (..., nv, n)."""
    L = np.linalg.cholesky(M[..., moving[:, None], moving])
    B = np.zeros((*M.shape[:-1], len(moving)))
    B[..., moving, :] = np.swapaxes(np.linalg.inv(L), -1, -2)
    return B


def least_change(K: Array, error: Array, unit: Array) -> Array:
    """The change ``x`` of least kinetic energy with ``K x = -error``, shape (..., nv).

    ``x = -M^-1 K^T (K M^-1 K^T)^+ error``: what impulses in the joints that close the loops would
    do. To possible speeds it is orthogonal, so that the energy that a projection of the speeds
    takes is of second order in what they are wrong by; any other projection takes or gives some of
    first order, step by step. Only motions of `unit_motions` (..., nv, n) are added.
    """
    inverse = np.linalg.pinv(K @ unit, rcond=1e-9)
    return np.asarray(-(unit @ (inverse @ error[..., None]))[..., 0])


class Projection:
    """Nearest states, velocities and accelerations with closed loops."""

    def __init__(
        self, model: Model, evaluator: Evaluator, rows: ConstraintRows, space: ConfigurationSpace
    ) -> None:
        self._model, self._evaluator, self._rows, self._space = model, evaluator, rows, space
        self._most = max(model.settings.closure_tolerance, SINGLE_PRECISION_CLOSURE)

    @cached_property
    def _all_move_mass(self) -> bool:
        return not self._model.undetermined(())

    @cached_property
    def _units(self) -> Array:
        setup = self._model.setup
        return np.array(setup.row_units)[list(setup.position_rows)]

    def state(self, q: ArrayLike, v: ArrayLike, free: Array | None) -> tuple[Array, Array]:
        """A closed state near one that has drifted a little; see `Robot.closed_state`."""
        x, w = self._space.positions("q", q), self._space.speeds("v", v).copy()
        finite(q=x, v=w)
        together(q=x, v=w)
        moving = np.arange(self._space.nv) if free is None else np.flatnonzero(free)
        unit = self._unit_motions(x, moving)
        positions = self._rows.position_rows()
        for _ in range(NEWTON):
            open_by = positions.residual(x)
            if not np.abs(open_by).max(initial=0.0) > LOOP_DRIFT:
                break
            x = self._space.integrate(x, least_change(positions.jacobian(x), open_by, unit))
        K = self._rows.jacobian(x)
        rate = self._rows.violation_rate(x, w, K)
        return x, w + least_change(K, rate, unit) if rate.any() else w

    def posture(self, q: ArrayLike) -> Array:
        """A posture in double precision, closed if its gaps are within the tolerance of states.

        Rounding of coordinates decides otherwise which rows follow from others.
        """
        x = np.asarray(self._space.positions("q", q), float)
        finite(q=x)
        if not self._rows.names:
            return x
        positions, unit = self._rows.position_rows(), None
        for _ in range(NEWTON):
            gap = positions.residual(x)
            if largest(gap) <= LOOP_DRIFT:
                break
            far = np.linalg.norm(gap / self._units, axis=-1) > self._most
            is_open = ~far & (np.abs(gap).max(axis=-1, initial=0.0) > LOOP_DRIFT)
            if not is_open.any():
                break
            unit = self._unit_motions(x, np.arange(self._space.nv)) if unit is None else unit
            moved = self._space.integrate(x, least_change(positions.jacobian(x), gap, unit))
            x = np.where(is_open[..., None], moved, x)
        return x

    def _unit_motions(self, q: Array, moving: Array) -> Array:
        """Motions of unit kinetic energy; unit speeds instead, if some speeds move no mass."""
        M = self._energy_norm(q)
        try:
            if M is not None:
                return unit_motions(np.asarray(M, float), moving)
        except np.linalg.LinAlgError:
            pass  # some speed moves no mass just there
        return np.eye(self._space.nv)[:, moving]

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

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, free: Array) -> Array:
        """The possible acceleration nearest to ``a`` in kinetic energy; the others are kept."""
        wanted = self._space.speeds("a", a)
        finite(q=q, v=v, a=wanted)
        together(q=q, v=v, a=wanted)
        K, k = self._rows.jacobian(q), self._rows.bias(q, v)
        found = project_velocity(K, wanted, self._energy_norm(q), free=free, rhs=k)
        return found.astype(np.float32) if is_single(k) and is_single(a) else found

    def _energy_norm(self, q: ArrayLike) -> Array | None:
        """The mass matrix, if every speed moves mass."""
        return self._evaluator.call("mass_matrix", (q,)) if self._all_move_mass else None
