"""Derivatives of impacts, from the equations that they solve.

Impulses ``p`` along some axes act at a point whose velocity along them is ``u = f v``, less that of
what it meets; ``f`` are the axes times the Jacobian of the point. With the jumps ``g`` of speeds a
unit of each impulse, the mobility ``A`` and that of the partner, ``Y``::

    M g = f^T        A = f g + Y        A p = -(1 + e) u        v+ = v + g^T p

All of it is differentiated as it stands: ``g`` are accelerations of the robot at rest without
gravity, whose derivatives are known, and ``df`` is the rate of the Jacobian when the robot moves
with a speed of one. Where axes do not give way ``A`` is singular, and ``p`` is the least that
solves it; the rank stays [Golub and Pereyra 1973].
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.contact import Contact, unit_direction
from robodyn.evaluator import Evaluator
from robodyn.impacts import Impacts, checked_restitution, each_axis
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import ImpactDerivatives

__all__ = ["impact_derivatives"]


def impact_derivatives(
    impacts: Impacts,
    evaluator: Evaluator,
    robot: str,
    state: tuple[ArrayLike, ArrayLike],
    place: tuple[str, ArrayLike],
    direction: ArrayLike | None,
    restitution: float,
    against: Any,
    base: BaseMotion | None,
    controlled: Iterable[str],
    parameters: bool,
) -> ImpactDerivatives:
    """See `robodyn.Robot.impact_derivatives`."""
    q, v = impacts.before(*state)
    places, partner = impacts.met_by(place, against)
    speeds, e = impacts.held(controlled), checked_restitution(restitution, direction is None)
    axes = np.broadcast_to(each_axis(v), (3, *v.shape[:-1], 3))
    if direction is not None:
        axes = np.broadcast_to(unit_direction(direction), (*v.shape[:-1], 3))[None]
    c = impacts.contact(q, v, places, axes, speeds, partner, base)
    if direction is not None:
        c.check_approach(robot, place[0])
    p = c.impulses(e, robot, place[0])
    slopes = _Slopes(impacts, evaluator, q, v, places, speeds, base)
    chain = _Chain(c, p, e)
    by_q = chain.by(slopes.forces(c), slopes.jumps_by_q(c), slopes.velocity(c))
    still = np.zeros((len(axes), *v.shape, v.shape[-1]))
    forces = _forces(c)
    by_v = chain.by(still, still, forces)
    by_p = None
    if parameters:
        jumps = slopes.jumps_by_parameters(c)
        none = np.zeros((*forces.shape[:-1], forces.shape[-1], jumps.shape[-1]))
        by_p = chain.by(none, jumps, np.zeros((*forces.shape[:-1], jumps.shape[-1])))
    return ImpactDerivatives(
        v=v + np.einsum("...k,k...n->...n", p, c.jumps),
        impulse=np.einsum("...k,k...i->...i", p, axes),
        v_by_q=by_q[0],
        v_by_v=np.eye(v.shape[-1]) + by_v[0],
        impulse_by_q=by_q[1],
        impulse_by_v=by_v[1],
        v_by_parameters=None if by_p is None else by_p[0],
        impulse_by_parameters=None if by_p is None else by_p[1],
    )


class _Chain:
    """From changes of forces, jumps and velocities to those of speeds afterwards and impulses."""

    def __init__(self, c: Contact, p: Array, e: float) -> None:
        self._c, self._p, self._e = c, p, e
        self._forces = _forces(c)
        self._inverse = c.inverse_mobility()
        self._rest = np.eye(c.mobility.shape[-1]) - self._inverse @ c.mobility

    def by(self, forces: Array, jumps: Array, velocity: Array) -> tuple[Array, Array]:
        """Derivatives by m numbers.

        Parameters
        ----------
        forces, jumps : ndarray, shape (k, ..., nv, m)
            Of generalised impulses, and jumps, a unit of each impulse.
        velocity : ndarray, shape (k, ..., m)

        Returns
        -------
        v, impulse : ndarray, shape (..., nv, m), (..., 3, m)
        """
        c, p = self._c, self._p
        mobility = np.einsum("i...nm,j...n->...ijm", forces, c.jumps)
        mobility += np.einsum("i...n,j...nm->...ijm", self._forces, jumps)
        felt = np.einsum("...ijm,...j->...im", mobility, p)
        wanted = -(1.0 + self._e) * np.moveaxis(velocity, 0, -2) - felt
        inward = np.einsum("...ij,...j->...i", self._inverse, p)
        turned = self._rest @ np.einsum("...ijm,...j->...im", mobility, inward)
        dp = self._inverse @ wanted + turned
        dv = np.einsum("...km,k...n->...nm", dp, c.jumps)
        dv += np.einsum("...k,k...nm->...nm", p, jumps)
        return dv, np.einsum("...km,k...i->...im", dp, c.axes)


class _Slopes:
    """How what an impact is made of changes with the position and the inertial parameters."""

    def __init__(
        self,
        impacts: Impacts,
        evaluator: Evaluator,
        q: Array,
        v: Array,
        places: tuple[tuple[str, ArrayLike], ...],
        speeds: tuple[int, ...],
        base: BaseMotion | None,
    ) -> None:
        self._impacts, self._evaluator, self._base = impacts, evaluator, base
        self._q, self._v, self._places, self._speeds = q, v, places, speeds

    def forces(self, c: Contact) -> Array:
        """Of generalised impulses a unit of each, shape (k, ..., nv, nv)."""
        return np.asarray(np.einsum("k...i,...ijm->k...jm", c.axes, self._of_jacobian(c)))

    def velocity(self, c: Contact) -> Array:
        """Of the relative velocity along the axes, shape (k, ..., nv)."""
        rate = np.einsum("...ijm,...j->...im", self._of_jacobian(c), self._v)
        if self._base is not None:
            turning = np.einsum(
                "...ij,...j->...i", self._base.pose[..., :3, :3], self._base.twist[..., 3:]
            )
            J = np.swapaxes(_jacobian(c), -1, -2)
            rate = rate + np.swapaxes(np.cross(turning[..., None, :], J), -1, -2)
        return np.asarray(np.einsum("k...i,...im->k...m", c.axes, rate))

    def _of_jacobian(self, c: Contact) -> Array:
        """Derivative of the Jacobian of the relative velocity, shape (..., 3, nv, nv)."""
        first, *second = (
            self._of_point(link, point.J_link, point.reach)
            for (link, _), point in zip(self._places, c.points, strict=True)
        )
        return first - second[0] if second else first

    def _of_point(self, link: str, J: Array, r: Array) -> Array:
        nv = self._v.shape[-1]
        batch = self._v.shape[:-1]
        q = np.broadcast_to(self._q[..., None, :], (*batch, nv, self._q.shape[-1]))
        along = np.broadcast_to(np.eye(nv), (*batch, nv, nv))
        base = None
        if self._base is not None:
            still = np.zeros((*self._base.pose.shape[:-2], 1, 6))
            base = BaseMotion(self._base.pose[..., None, :, :], still, still)
        rate = self._evaluator.call(
            "frame_jacobian_dot", (q, along), frame=link, axes="world", base=base
        )  # (..., m, 6, nv)
        turning = np.swapaxes(J[..., 3:, :], -1, -2)  # (..., m, 3): of the link
        reach = np.cross(turning, r[..., None, :])
        change = np.cross(np.swapaxes(rate[..., 3:, :], -1, -2), r[..., None, None, :])
        change = change + np.cross(turning[..., None, :, :], reach[..., :, None, :])
        whole = rate[..., :3, :] + np.swapaxes(change, -1, -2)
        return np.moveaxis(whole, -3, -1)

    def jumps_by_q(self, c: Contact) -> Array:
        """Of jumps a unit of each impulse, shape (k, ..., nv, nv)."""
        forces = _forces(c)
        by_q, by_force = self._impacts.response_slopes(self._q, forces, self._speeds, self._base)
        return np.asarray(by_q + by_force @ self.forces(c))

    def jumps_by_parameters(self, c: Contact) -> Array:
        """Of jumps a unit of each impulse, shape (k, ..., nv, 10 n).

        ``G dM g`` with the jumps G that impulses bring about: ``dM g`` is the change of the forces
        that accelerate by g.
        """
        forces = _forces(c)
        _, by_force = self._impacts.response_slopes(self._q, forces, self._speeds, self._base)
        q, still = np.broadcast_to(self._q, (*c.jumps.shape[:-1], self._q.shape[-1])), 0.0 * c.jumps
        weigh = [
            self._evaluator.call("regressor", (q, still, a), base=self._base)
            for a in (c.jumps, still)
        ]
        return np.asarray(by_force @ (weigh[1] - weigh[0]))


def _jacobian(c: Contact) -> Array:
    """Of the relative velocity, shape (..., 3, nv)."""
    first, *second = c.points
    return np.asarray(first.J - second[0].J if second else first.J)


def _forces(c: Contact) -> Array:
    """Generalised impulses a unit of each impulse, shape (k, ..., nv)."""
    return np.asarray(np.einsum("k...i,...ij->k...j", c.axes, _jacobian(c)))
