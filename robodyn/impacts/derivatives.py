"""Derivatives of the speeds after an impact with respect to the state before it.

With the mobility ``A = f X`` of the points along the axes ``f`` of impulses, and the jumps
``X = M^-1 f^T`` that these make, speeds afterwards are ``v+ = v + X p``, and the points part at
``f v+ = -e f v`` [W 6.11-6.14, 6.18]. Differentiated,

    A dp = -(1 + e) f dv - (e df v + df v+) - f dX p        dv+ = dv + dX p + X dp

in which ``dX p`` is how accelerations at rest change under the forces ``f^T p``; with the inertial
parameters, ``dX p = -M^-1 dM (v+ - v)``. Where joints are driven, whose speeds do not jump,
``M^-1`` is the inverse for the other speeds, with zeros beside it. With friction, ``dp`` is that of
`robodyn.impacts.friction.FrictionSlopes`. This is what a hybrid system needs to linearise a motion
with impacts: the state before the hit to that after it, at the same instant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.impacts.contact import Contact, MovingPoint, unit_direction
from robodyn.impacts.friction import FrictionSlopes, coefficient
from robodyn.impacts.impact_dynamics import ImpactDynamics
from robodyn.impacts.one_hit import checked_restitution, solved
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import ImpactDerivatives


def impact_derivatives(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    place: tuple[str, ArrayLike],
    direction: ArrayLike | None,
    restitution: float,
    against: Any,
    base: BaseMotion | None,
    controlled: Iterable[str] = (),
    friction: float | None = 0.0,
    parameters: bool = False,
) -> ImpactDerivatives:
    """See `robodyn.Robot.impact_derivatives`."""
    places, partner = dynamics.partner_of(place, against)
    e = checked_restitution(restitution, direction is None)
    mu = coefficient(friction, direction is None)
    moving = isinstance(partner, MovingPoint)
    other = places[1] if len(places) == 2 else None
    options = dynamics.options(place[0], other and other[0], controlled, moving)
    speeds = options.get("controlled", ())

    def solve() -> tuple[Array, ...]:
        q, v = dynamics.before(*state)
        c, p, slid = solved(dynamics, (q, v), places, partner, direction, e, mu, speeds, base)
        changes: _Impulses = _Along(c, e)
        if slid is not None and direction is not None:
            changes = FrictionSlopes(slid, c.velocity, c.mobility, unit_direction(direction), e)
        after = v + np.einsum("...k,k...n->...n", p, c.jumps)
        slopes = _Slopes(dynamics, c, q, places, base)
        f, df_p = slopes.forces(), slopes.of_forces(p)
        forces = np.einsum("k...n,...k->...n", f, p)
        by_q, inverse = dynamics.slopes_at_rest(q, forces, speeds, base)
        X = np.moveaxis(c.jumps, 0, -1)
        dX_p = by_q + inverse @ df_p
        F = np.moveaxis(f, 0, -2)
        dp_q = changes.of(slopes.of_speeds(v), slopes.of_speeds(after) + F @ dX_p)
        dp_v = changes.of(F, F)
        found = after, dX_p + X @ dp_q, np.eye(v.shape[-1]) + X @ dp_v
        if not parameters:
            return found
        dX_p_m = -inverse @ dynamics.slopes_of_inertia(q, after - v, base)
        rate = F @ dX_p_m
        return *found, dX_p_m + X @ changes.of(np.zeros_like(rate), rate)

    if direction is None or mu or parameters:
        return ImpactDerivatives(*solve())
    of_other = (partner.velocity, partner.rows) if isinstance(partner, MovingPoint) else ()
    beside = of_other if other is None else (other[1],)
    arrays = (*state, place[1], direction, e, *beside)
    found: ImpactDerivatives = dynamics.answered("impact_derivatives", options, arrays, base, solve)
    return found


class _Impulses(Protocol):
    """Protocol of objects that compute changes of the impulses of an impact."""

    def of(self, du: Array, rate: Array) -> Array:
        """With the velocity before, and that afterwards while impulses stay, (..., k, m)."""


@dataclass(frozen=True, eq=False)
class _Along:
    """Impulses along the axes of a contact, without friction."""

    contact: Contact
    restitution: float

    def of(self, du: Array, rate: Array) -> Array:
        """See `_Impulses`."""
        return self.contact.solved(-(rate + self.restitution * du))


class _Slopes:
    """Derivatives of points that meet, along the axes of impulses, with respect to positions."""

    def __init__(
        self,
        dynamics: ImpactDynamics,
        contact: Contact,
        q: Array,
        places: tuple[tuple[str, ArrayLike], ...],
        base: BaseMotion | None,
    ) -> None:
        self._dynamics, self._q, self._axes, self._base = dynamics, q, contact.axes, base
        self._points = [
            (sign, link, x)
            for sign, (link, _), x in zip((1.0, -1.0), places, contact.points, strict=False)
        ]

    def forces(self) -> Array:
        """Generalised impulses a unit of impulse, shape (k, ..., nv)."""
        J = sum(sign * x.J for sign, _, x in self._points)
        return np.asarray(np.einsum("k...i,...ij->k...j", self._axes, J))

    def of_forces(self, p: Array) -> Array:
        """Of the generalised impulse that ``p`` makes, shape (..., nv, nv)."""
        impulse = np.einsum("...k,k...i->...i", p, self._axes)
        return np.asarray(
            sum(
                sign * np.einsum("...i,...ijk->...jk", impulse, self._of_jacobian(link, x.arm))
                for sign, link, x in self._points
            )
        )

    def of_speeds(self, v: Array) -> Array:
        """Of speeds of parting along the axes, shape (..., k, nv), where joints have speeds v."""
        found = sum(sign * self._of_velocity(link, x.arm, v) for sign, link, x in self._points)
        return np.asarray(np.einsum("k...i,...ij->...kj", self._axes, found))

    def _of_jacobian(self, link: str, arm: Array) -> Array:
        """Of a point's Jacobian, shape (..., 3, nv, nv)."""
        J, dJ = self._dynamics.with_slope("frame_jacobian", link, (self._q,), self._base)
        turn = _cross_columns(J[..., 3:, :], arm)  # of the arm, with each speed
        found = dJ[..., :3, :, :] + np.cross(dJ[..., 3:, :, :], arm[..., None, None], axis=-3)
        both = np.cross(J[..., 3:, :, None], turn[..., :, None, :], axis=-3)
        return np.asarray(found + both)

    def _of_velocity(self, link: str, arm: Array, v: Array) -> Array:
        """Of a point's velocity, shape (..., 3, nv)."""
        V, dV = self._dynamics.with_slope("frame_twist", link, (self._q, v), self._base)
        J, _ = self._dynamics.with_slope("frame_jacobian", link, (self._q,), self._base)
        turn = _cross_columns(J[..., 3:, :], arm)
        found = dV[..., :3, :] + _cross_columns(dV[..., 3:, :], arm)
        return np.asarray(found + np.cross(V[..., 3:, None], turn, axis=-2))


def _cross_columns(A: Array, b: Array) -> Array:
    """Columns of a matrix times a vector, shape (..., 3, n)."""
    return np.asarray(np.cross(A, b[..., None], axis=-2))
