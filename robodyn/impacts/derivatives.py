"""Derivatives of the speeds after an impact with respect to the state before it.

With the mobility ``A = f X`` of the points along the axes ``f`` of impulses, and the jumps
``X = M^-1 f^T`` that these make, speeds afterwards are ``v+ = v + X p``, and the points part at
``f v+ = -e f v`` [W 6.11-6.14, 6.18]. Differentiated,

    A dp = -(1 + e) f dv - (e df v + df v+) - f dX p        dv+ = dv + dX p + X dp

in which ``dX p`` is how accelerations at rest change under the forces ``f^T p``; with the inertial
parameters, ``dX p = -M^-1 dM (v+ - v)``. Where joints are driven, whose speeds do not jump,
``M^-1`` is the inverse for the other speeds, with zeros beside it. With friction, ``dp`` is that of
`friction_slopes`. This is what a hybrid system
needs to linearise a motion with impacts: the state before the hit to that after it, at the same
instant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.impacts.contact import Contact, unit_direction
from robodyn.impacts.friction import check_energy, coefficient, with_friction
from robodyn.impacts.friction_slopes import FrictionSlopes
from robodyn.impacts.impact_dynamics import ImpactDynamics, each_axis
from robodyn.impacts.one_hit import checked_restitution, of_partner
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
    q, v = dynamics.before(*state)
    places, partner = dynamics.partner_of(place, against)
    axes = each_axis(v) if direction is None else unit_direction(direction)[None]
    axes = np.broadcast_to(axes, (len(axes), *v.shape[:-1], 3))
    e = checked_restitution(restitution, direction is None)
    form = dynamics.form(places, partner, controlled)
    speeds, slides = form.speeds, coefficient(friction, direction is None)
    if direction is not None and not (slides or parameters):
        dynamics.checked_places(q, v, places, axes[0], partner)
        arrays = (*state, place[1], direction, e, *of_partner(places, partner))
        found: ImpactDerivatives | None = dynamics.code.of(
            "impact_derivatives", form.options, arrays, base
        )
        if found is not None:
            return found
    c = dynamics.contact(q, v, places, axes, speeds, partner, base)
    if direction is not None:
        c.check_approach(dynamics.robot, place[0])
    p = c.impulses(e, dynamics.robot, place[0])
    changes: _Impulses = _Along(c, e)
    if slides:
        normal, axes = axes[0], np.broadcast_to(each_axis(v), (3, *v.shape[:-1], 3))
        c = dynamics.contact(q, v, places, axes, speeds, partner, base)
        hit = with_friction(c.velocity, c.mobility, normal, e, slides)
        p = hit.impulse
        check_energy(c.energy_loss(p), c.velocity, c.mobility_scale)
        changes = FrictionSlopes(hit, c.velocity, c.mobility, normal, e)
    after = v + np.einsum("...k,k...n->...n", p, c.jumps)
    slopes = _Slopes(dynamics, c, q, axes, places, base)
    f, df_p = slopes.forces(), slopes.of_forces(p)
    forces = np.einsum("k...n,...k->...n", f, p)
    by_q, inverse = dynamics.slopes_at_rest(q, forces, speeds, base)
    X = np.moveaxis(c.jumps, 0, -1)
    dX_p = by_q + inverse @ df_p
    F = np.moveaxis(f, 0, -2)
    dp_q = changes.of(slopes.of_speeds(v), slopes.of_speeds(after) + F @ dX_p)
    dp_v = changes.of(F, F)
    by_parameters = None
    if parameters:
        dX_p_m = -inverse @ dynamics.slopes_of_inertia(q, after - v, base)
        rate = F @ dX_p_m
        by_parameters = dX_p_m + X @ changes.of(np.zeros_like(rate), rate)
    by_v = np.eye(v.shape[-1]) + X @ dp_v
    return ImpactDerivatives(after, dX_p + X @ dp_q, by_v, by_parameters)


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
        axes: Array,
        places: tuple[tuple[str, ArrayLike], ...],
        base: BaseMotion | None,
    ) -> None:
        self._dynamics, self._q, self._axes, self._base = dynamics, q, axes, base
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
