"""Independent coordinates and speeds of a state, and how all others follow small changes of them.

Near a state in which the loops are closed, changes of position and speed that keep them closed are

    dq = B z        dv = B' u + G z

with ``z`` and ``u`` the changes of independent coordinates and speeds: ``K dq = 0`` of the rows of
positions, ``K dv + (dK/dq dq) v = 0`` of all rows. Controlled joints do not change.
"""

from __future__ import annotations

import math

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.rank.mobility import Mobility
from robodyn.closed_loops.solvers import independent_speeds
from robodyn.errors import SingularError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.speed_selection import speed_indices, speed_names
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import DEPENDENT_SPEEDS


@dataclass(frozen=True, eq=False)
class Tangent:
    """Changes of states that keep loops closed.

    places, speeds: Indices in v of independent coordinates and of independent speeds; they differ
        where constraints bind speeds only.
    by_place (..., nv, number of places): ``B``.
    by_speed (..., nv, number of speeds): ``B'``.
    turning (..., nv, number of places): ``G``.
    """

    places: tuple[int, ...]
    speeds: tuple[int, ...]
    by_place: Array
    by_speed: Array
    turning: Array


@dataclass(frozen=True, eq=False)
class _Following:
    """The map from changes of independent speeds to those of dependent ones."""

    own: tuple[int, ...]
    others: tuple[int, ...]
    inverse: Array
    map: Array

    def dependent_rates(self, rates: Array) -> Array:
        """Changes of dependent speeds with ``K x = -rates``, shape (..., nv, columns)."""
        x = np.zeros((*rates.shape[:-2], self.map.shape[-2], rates.shape[-1]))
        x[..., list(self.others), :] = -self.inverse @ rates
        return x


class Tangents:
    """Finds `Tangent`s of states."""

    def __init__(
        self, model: Model, evaluator: Evaluator, rows: ConstraintRows, mobility: Mobility
    ) -> None:
        self._model, self._evaluator, self._rows = model, evaluator, rows
        self._mobility = mobility

    def at(
        self,
        q: Array,
        v: Array,
        controlled: tuple[int, ...] = (),
        independent: tuple[str, ...] | None = None,
    ) -> Tangent:
        """The tangent of states, shape (..., nq), (..., nv).

        controlled: Speeds that do not change.
        independent, optional: Default: joints whose motion determines that of all others at the
            neutral posture, or, of those that controlled ones leave, at the first of the postures.
        Raises SingularError: If they do not determine the motion of the others.
        """
        free = tuple(k for k in range(self._model.bodies.nv) if k not in controlled)
        if not self._rows.names:
            return self._of_tree(v.shape[:-1], free, independent)
        K = np.asarray(self._rows.jacobian(q), float)
        speeds = self._following(K, free, independent)
        places = speeds
        if not self._rows.all_of_positions:
            rows = self._rows.position_rows()
            places = self._following(np.asarray(rows.jacobian(q), float), free, None, speeds.own)
        turning = speeds.dependent_rates(self._rates(q, v) @ places.map)
        return Tangent(places.own, speeds.own, places.map, speeds.map, turning)

    def _of_tree(
        self, batch: tuple[int, ...], free: tuple[int, ...], independent: tuple[str, ...] | None
    ) -> Tangent:
        if independent is not None:
            self._check_number(self._named(independent, free), free, len(free))
        B = np.eye(self._model.bodies.nv)[:, list(free)]
        B = np.broadcast_to(B, (*batch, *B.shape))
        return Tangent(free, free, B, B, np.zeros(B.shape))

    def _rates(self, q: Array, v: Array) -> Array:
        """``d (K v + psi) / d q`` with v held, shape (..., nc, nv)."""
        nv, rows = self._model.bodies.nv, len(self._rows.names)
        found = np.zeros((*v.shape[:-1], rows, nv))
        if v.any():
            found += np.einsum("...cvj,...v->...cj", self._slope("loop_jacobian", q), v)
        if self._rows.has_offset:
            found += self._slope("loop_velocity_offset", q)
        return found

    def _slope(self, name: str, q: Array) -> Array:
        """Derivative of a quantity of the rows by q."""
        f = self._evaluator.derivative(name, "q")
        return np.asarray(f(q, *self._evaluator.environment(name, None)), float)

    def _following(
        self,
        K: Array,
        free: tuple[int, ...],
        independent: tuple[str, ...] | None,
        preferred: tuple[int, ...] = (),
    ) -> _Following:
        nv = self._model.bodies.nv
        known, batch = self._mobility.analysis.independent, K.shape[:-2]
        if math.prod(batch):
            first = K[(0,) * len(batch)]
        else:  # of no states
            first = np.asarray(self._rows.jacobian(self._mobility.analysis.q), float)
        if independent is not None:
            own = self._named(independent, free)
            default = self._chosen(first, free, known)
            self._check_number(own, default, len(default))
        elif len(free) == nv and not preferred:
            own = known
        else:
            own = self._chosen(first, free, preferred or known)
        others = tuple(k for k in free if k not in own)
        inverse = self._inverse(K, own, others)
        B = np.zeros((*K.shape[:-2], nv, len(own)))
        B[..., list(own), :] = np.eye(len(own))
        B[..., list(others), :] = -inverse @ K[..., list(own)]
        return _Following(own, others, inverse, B)

    def _chosen(
        self, K: Array, free: tuple[int, ...], preferred: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Independent ones among some speeds, the preferred ones if possible."""
        at = [free.index(k) for k in preferred if k in free]
        M = self._model.some_mass_matrix[np.ix_(free, free)]
        return tuple(free[k] for k in independent_speeds(K[:, list(free)], at, M))

    def _inverse(self, K: Array, own: tuple[int, ...], others: tuple[int, ...]) -> Array:
        """Pseudoinverse of the columns of dependent speeds, which must have full rank."""
        setup = self._model.setup
        units, measures = np.array(setup.row_units), np.array(setup.speed_units)
        if K.shape[-2] != len(units):
            units = units[list(setup.position_rows)]
        columns = (K / units[:, None] * measures)[..., list(others)]
        if not others:
            return np.zeros((*K.shape[:-2], 0, K.shape[-2]))
        U, sizes, Vt = np.linalg.svd(columns, full_matrices=False)
        few = sizes.shape[-1] < len(others)
        if few or (sizes[..., -1] <= DEPENDENT_SPEEDS * sizes[..., 0]).any():
            named = ", ".join(speed_names(self._model, own))
            raise SingularError(
                f"{named} do not determine the motion of {self._model.mechanism.name!r} in this "
                "posture: name others that do with independent=",
                joints=speed_names(self._model, own),
            )
        inverse = np.swapaxes(Vt, -1, -2) @ (np.swapaxes(U, -1, -2) / sizes[..., None])
        return np.asarray(inverse * measures[list(others)][:, None] / units)

    def _named(self, names: tuple[str, ...], free: tuple[int, ...]) -> tuple[int, ...]:
        own = [k for name in names for k in speed_indices(self._model, name)]
        for k in own:
            if k not in free:
                (name,) = speed_names(self._model, [k])
                raise SingularError(
                    f"{name!r} of {self._model.mechanism.name!r} is controlled, so that it is not "
                    "independent",
                    joints=(name,),
                )
        return tuple(sorted({*own}))

    def _check_number(self, own: tuple[int, ...], default: tuple[int, ...], expected: int) -> None:
        if len(own) != expected:
            given = speed_names(self._model, own)
            raise SingularError(
                f"{len(own)} speeds are named as independent ({', '.join(given)}), but "
                f"{self._model.mechanism.name!r} has {expected} here; independent are "
                f"{', '.join(speed_names(self._model, default))}",
                joints=given,
            )
