"""The constraint rows of a robot: residual, Jacobian and bias, of loops, couplings and users."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import mismatch
from robodyn.errors import SingularError
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.states import refuse_dead_points, refuse_open_linkages
from robodyn.parts.configuration_space import ConfigurationSpace


def gains(stabilization: Any) -> tuple[float, float]:
    """The gains of a stabilisation, ``(alpha, beta)`` [1/s].

    Raises ShapeError: If they are not two numbers that are finite and not negative.
    """
    try:
        alpha, beta = (float(x) for x in stabilization)
        if not (0.0 <= alpha < math.inf and 0.0 <= beta < math.inf):
            raise ValueError
    except (TypeError, ValueError):
        raise mismatch(
            "stabilization", stabilization, "two numbers alpha, beta [1/s], finite and not negative"
        ) from None
    return alpha, beta


class ConstraintRows:
    """Constraint rows ``K v + psi = 0`` and ``K a + k = 0``; a tree has none of them.

    names: ``"loop[k]"``, one a row.
    """

    def __init__(self, model: Model, evaluator: Evaluator, space: ConfigurationSpace) -> None:
        self._model, self._evaluator, self._space = model, evaluator, space
        self.names: tuple[str, ...] = model.setup.row_names

    @property
    def has_offset(self) -> bool:
        """Whether constraints prescribe motion (psi is not always zero)."""
        return self._model.setup.moves_by_itself

    @property
    def all_of_positions(self) -> bool:
        """Whether all rows constrain positions too."""
        return len(self._model.setup.position_rows) == len(self.names)

    @functools.cached_property
    def _of_positions(self) -> Any:
        rows = self._model.setup.position_rows
        return slice(None) if len(rows) == len(self.names) else list(rows)

    def of_states(self, batch: tuple[int, ...], states: Any) -> ConstraintRows:
        """The rows at the times of some states, counted over the axes of a batch."""
        other = copy.copy(self)
        other._evaluator = self._evaluator.of_states(batch, states)
        return other

    def residual(self, q: ArrayLike, out: Array | None = None) -> Array:
        """How far the loops are from closing, shape (..., nc) [m, rad]."""
        return self._evaluator.call("loop_residual", (q,), out=out)

    def jacobian(self, q: ArrayLike, out: Array | None = None) -> Array:
        """``K``, shape (..., nc, nv)."""
        return self._evaluator.call("loop_jacobian", (q,), out=out)

    def bias(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """``k``, shape (..., nc)."""
        return self._evaluator.call("loop_bias", (q, v), out=out)

    def offset(self, q: ArrayLike, out: Array | None = None) -> Array:
        """``psi``, shape (..., nc): zero unless a user's constraint moves by itself."""
        return self._evaluator.call("loop_velocity_offset", (q,), out=out)

    def violation_rate(self, q: ArrayLike, v: ArrayLike, K: Array) -> Array:
        """Rate of the violation of constraints, shape (..., nc): ``K v + psi``."""
        rate = np.einsum("...ij,...j->...i", K, np.asarray(v))
        return np.asarray(rate + self.offset(q) if self.has_offset else rate)

    def stabilised_bias(
        self, q: ArrayLike, v: ArrayLike, stabilization: tuple[float, float] | None
    ) -> Array:
        """``k + 2 alpha (K v + psi) + beta^2 residual``, shape (..., nc) [W 5.198]."""
        k = self.bias(q, v)
        if stabilization is None:
            return k
        alpha, beta = gains(stabilization)
        rate = self.violation_rate(q, v, self.jacobian(q))
        return np.asarray(k + 2.0 * alpha * rate + beta**2 * self.residual(q))

    def measured_jacobian(self, q: ArrayLike) -> Array:
        """``K`` without units, shape (..., nc, nv): lengths are parts of the longest link."""
        setup = self._model.setup
        K = self.with_slopes(q, np.asarray(self.jacobian(q), float))
        return np.asarray(K / np.array(setup.row_units)[:, None] * np.array(setup.speed_units))

    def position_rows(self) -> PositionRows:
        """Constraint rows of positions, by compiled functions."""
        residual, jacobian = map(self._evaluator.caller, ("loop_residual", "loop_jacobian"))
        places = functools.partial(self._evaluator.call, "dependent_places")
        return self._where_closed(residual, jacobian, lambda q: places((q,)))

    def interpreted_position_rows(self) -> PositionRows:
        """Constraint rows of positions, without a compiler: for a few calls."""
        geometry = Geometry(self._evaluator.interpreted("loop_geometry"))
        follow = self._model.bodies.linkages
        places = self._evaluator.interpreted("dependent_places") if follow else None
        return self._where_closed(geometry.residual, geometry.jacobian, places)

    def _where_closed(self, residual: Any, jacobian: Any, places: Any) -> PositionRows:
        """Rows of positions: no numbers where loops that are solved in closed form do not close."""
        if not self._model.bodies.linkages:
            return PositionRows(residual, jacobian, self._of_positions)

        def masked(q: ArrayLike) -> Array:
            gap = np.asarray(residual(q))
            closed = np.isfinite(places(q)).all(axis=(-1, -2))
            return np.where(closed[..., None], gap, np.nan)

        return PositionRows(masked, jacobian, self._of_positions)

    def interpreted_gaps(
        self, q: Array, placed: tuple[tuple[str, tuple[float, ...]], ...]
    ) -> tuple[Array, Array]:
        """Poses of frames placed on links, (n, 4, 4), and all rows, (nc,), without a compiler."""
        found: tuple[Array, Array] = self._evaluator.interpreted("loop_gaps", placed=placed)(q)
        return found

    def interpreted_jacobian(self, q: Array) -> Array:
        """``K`` without a compiler, shape (..., nc, nv).

        At time zero, of a linkage that depends on time: so its analysis looks at it.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            K = np.asarray(self._evaluator.interpreted("loop_geometry", t=0.0)(q)[2])
        return self.with_slopes(q, K)

    def refuse_open_linkages(self, q: ArrayLike) -> None:
        """Refuse postures in which loops that are solved in closed form do not close."""
        if self._model.bodies.linkages:
            x = np.asarray(q, float)
            refuse_open_linkages(self._model, x, self._evaluator.call("dependent_places", (x,)))
            refuse_dead_points(self._model, self._evaluator.call("dependent_speed_map", (x,)))

    def with_slopes(self, q: ArrayLike, K: Array) -> Array:
        """K, if it is finite in all rows.

        Raises SingularError: Also `InconsistentStateError`, where loops in closed form do not
            close.
        """
        lost = np.isnan(K).any(axis=(*range(K.ndim - 2), K.ndim - 1))
        if np.any(lost) and np.isfinite(q).all():
            self.refuse_open_linkages(q)
            names = [self.names[k] for k in np.flatnonzero(lost)]
            raise SingularError(
                f"constraints {', '.join(names)} of {self._model.mechanism.name!r} have no slopes "
                "in this posture: a disc that rolls lies flat, or a function divides by zero; take "
                "another posture, or load with near= to start elsewhere"
            )
        return K


class Geometry:
    """Poses of frames, residuals and their derivatives, of which the last ones are kept.

    function: Of q, to all three.
    """

    def __init__(self, function: Callable[[ArrayLike], tuple[Array, Array, Array]]) -> None:
        self._function = function
        self._known: tuple[Any, Any] = None, None

    def __call__(self, q: ArrayLike) -> tuple[Array, Array, Array]:
        """All three at one posture, or at some of them."""
        key = np.shape(q), np.asarray(q).tobytes()
        if self._known[0] != key:
            self._known = key, self._function(q)
        found: tuple[Array, Array, Array] = self._known[1]
        return found

    def residual(self, q: ArrayLike) -> Array:
        """Of all rows, shape (..., nc)."""
        return self(q)[1]

    def jacobian(self, q: ArrayLike) -> Array:
        """Their derivatives, shape (..., nc, nv)."""
        return self(q)[2]


class PositionRows:
    """The holonomic constraint rows, which positions have to satisfy.

    residual, jacobian: Of all rows, as functions of q.
    rows: Those of positions.
    """

    def __init__(self, residual: Any, jacobian: Any, rows: Any) -> None:
        self._residual, self._jacobian, self._rows = residual, jacobian, rows

    def residual(self, q: ArrayLike) -> Array:
        """Residual of these rows [m, rad]."""
        return np.asarray(self._residual(q)[..., self._rows])

    def jacobian(self, q: ArrayLike) -> Array:
        """Derivatives of the residual with respect to a step of the coordinates."""
        return np.asarray(self._jacobian(q)[..., self._rows, :])
