"""Derivatives of the impulse of an impact with friction.

Sticking, sliding and slip that ends are one linear system each, for the impulse ``p = B c`` along
some axes and the velocity ``u+ = u + W p`` afterwards along others::

    C u+ = -e C n (n . u)        sticks: B = C = 1      slides: B = n - part s, C = n
                                 slip ends: B = C = (n, s)

with the normal n, and the direction ``s = u_t / |u_t|`` of the slip, which changes with ``u``.
Differentiated,

    C W B dc = -(C (du + dW p + e n (n . du) + W dB c) + dC u+)        dp = B dc + dB c
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import ImpactError
from robodyn.impacts.friction import Friction
from robodyn.tolerances import MOBILITY_ZERO


class FrictionSlopes:
    """Derivatives of an impulse.

    u (..., 3) [m/s]: Velocity of the point before, as seen from the other body.
    W (..., 3, 3) [1/kg]
    n (..., 3)
    Raises ImpactError: If slip begins in the impact, whose direction has no derivative.
    """

    def __init__(self, hit: Friction, u: Array, W: Array, n: Array, restitution: float) -> None:
        beginning = hit.begins & ~hit.sticks
        if beginning.any():
            rows = tuple(int(k) for k in np.flatnonzero(beginning))
            raise ImpactError(
                "the point does not slip before the hit and slides in it: speeds afterwards have "
                "no derivative there",
                rows=rows if np.ndim(beginning) else (),
            )
        self._hit, self._W, self._e = hit, W, restitution
        self._u, self._n = u, np.broadcast_to(n, u.shape)
        self._after = u + np.einsum("...ij,...j->...i", W, hit.impulse)
        self._B, self._C = self._axes()

    def of(self, du: Array, rate: Array) -> Array:
        """Change of the impulse, shape (..., 3, m).

        Parameters
        ----------
        du : ndarray, shape (..., 3, m)
            Change of the velocity before.
        rate : ndarray, shape (..., 3, m)
            That of the velocity afterwards while the impulse stays, ``du + dW p``.
        """
        hit, n, C = self._hit, self._n, self._C
        ds = self._turning(du)
        normal = np.einsum("...i,...i->...", hit.impulse, n)
        dB_c = -(hit.part * normal * ~hit.sticks)[..., None, None] * ds
        missing = rate + self._e * n[..., None] * np.einsum("...i,...im->...m", n, du)[..., None, :]
        right = C @ (missing + self._W @ dB_c)
        ending = np.where(hit.ends & ~hit.sticks, 1.0, 0.0)[..., None]
        right[..., 1, :] += ending * np.einsum("...im,...i->...m", ds, self._after)
        K = C @ self._W @ self._B
        return np.asarray(dB_c - self._B @ (np.linalg.pinv(K, rcond=MOBILITY_ZERO) @ right))

    def _axes(self) -> tuple[Array, Array]:
        """Axes of the impulse as columns, and of the velocity as rows; zeros where fewer."""
        hit, n, s = self._hit, self._n, self._hit.slip
        none = np.zeros_like(n)
        sliding = np.stack([n - hit.part[..., None] * s, none, none], axis=-1)
        ending = np.stack([n, s, none], axis=-1)
        ends, sticks = hit.ends[..., None, None], hit.sticks[..., None, None]
        B = np.where(sticks, np.eye(3), np.where(ends, ending, sliding))
        normal = np.stack([n, none, none], axis=-1)
        C = np.where(sticks, np.eye(3), np.where(ends, ending, normal))
        return B, np.swapaxes(C, -1, -2)

    def _turning(self, du: Array) -> Array:
        """Change of the direction of the slip, shape (..., 3, m)."""
        n, s = self._n, self._hit.slip
        u_t = self._u - np.einsum("...i,...i->...", self._u, n)[..., None] * n
        size = np.linalg.norm(u_t, axis=-1)[..., None, None]
        across = np.eye(3) - n[..., None] * n[..., None, :] - s[..., None] * s[..., None, :]
        return np.asarray(across @ du / np.where(size > 0.0, size, 1.0))
