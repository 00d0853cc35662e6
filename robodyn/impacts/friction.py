"""Impulses with Coulomb friction at one contact, and their derivatives.

Assumptions, besides those of impacts without friction: Newton's restitution holds along the normal;
friction obeys Coulomb's law for the impulses as wholes, ``|p_t| <= friction p_n``; the impulse
stays in the plane of the normal and of the slip at the start, which is exact in plane mechanisms.
The point sticks where that takes no more than friction can give; else its slip goes on against
friction, or ends, or turns back, whichever agrees with it [Whittaker 1904; Keller 1986].

Sticking, sliding and slip that ends are one linear system each, for the impulse ``p = B c`` along
some axes and the velocity ``u+ = u + W p`` afterwards along others::

    C u+ = -e C n (n . u)        sticks: B = C = 1      slides: B = n - part s, C = n
                                 slip ends: B = C = (n, s)

with the normal n, and the direction ``s = u_t / |u_t|`` of the slip, which changes with ``u``.
Differentiated,

    C W B dc = -(C (du + dW p + e n (n . du) + W dB c) + dC u+)        dp = B dc + dB c
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array
from robodyn.equations.quantities.common.hit import Sliding
from robodyn.errors import ImpactError, SettingsError
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import FRICTION_ROUNDING, MOBILITY_ZERO


def coefficient(given: float | None, sticks: bool) -> float:
    """A coefficient of friction, checked; zero of ``None``."""
    if given is None:
        return 0.0
    known = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not (known and 0.0 <= given < np.inf):
        raise SettingsError(f"friction is {given!r}, expected a number that is not negative")
    if sticks and given:
        raise SettingsError(
            f"friction is {given!r}, but a point that sticks (direction=None) does so whatever the "
            "friction: give the direction of the normal"
        )
    return float(given)


def check_energy(lost: Array, u: Array, least: Array) -> None:
    """Refuse an impact after which there is more energy than before.

    lost (...) [J]
    u (..., 3) [m/s]: Relative velocity of the points before.
    least (...) [1/kg]: Mobility of the points.
    """
    with np.errstate(over="ignore"):  # what has no speeds takes no energy
        size = _dot(u, u) / np.maximum(least, np.finfo(float).tiny)
    if np.any(lost < -1e-9 * size):
        raise ImpactError(
            "restitution and friction contradict each other: Newton's restitution along the normal "
            "would leave more energy than there was; take a smaller restitution"
        )


@dataclass(frozen=True, eq=False)
class Friction:
    """An impact with friction: the point sticks, slides on, or its slip ends.

    impulse (..., 3) [N s]: On the link that is hit. Where it does not stick, ``p_n (normal - part
        slip)``.
    sticks, ends (...): It sticks; if not, its slip ends.
    slip (..., 3): Unit direction of the slip at the start.
    begins (...): There is no slip at the start: the direction is that in which it would begin.
    part (...)
    """

    impulse: Array
    sticks: Array
    ends: Array
    slip: Array
    begins: Array
    part: Array


def with_friction(u: Array, W: Array, n: Array, restitution: float, friction: float) -> Friction:
    """The impulse on the link, with its case: sticking, sliding, or slip that ends.

    u (..., 3) [m/s]: Velocity of the point as seen from the other body.
    W (..., 3, 3) [1/kg]: Jump of that velocity a unit of impulse.
    n (..., 3): Unit normal, into the link.
    Raises ImpactError: If the contact wedges: no impulse within the cone parts the bodies.
    """
    u_n = np.minimum(_dot(u, n), 0.0)[..., None]
    stopped = u + restitution * u_n * n
    stick = -_times(np.linalg.pinv(W, rcond=FRICTION_ROUNDING, hermitian=True), stopped)
    p_n = _dot(stick, n)[..., None]
    p_t = stick - p_n * n
    stops = np.linalg.norm(stopped + _times(W, stick), axis=-1)
    sticks = (
        np.linalg.norm(p_t, axis=-1) <= friction * p_n[..., 0] * (1.0 + FRICTION_ROUNDING)
    ) & (stops <= 1e-9 * np.linalg.norm(u, axis=-1))
    s, moving = _slip(u - _dot(u, n)[..., None] * n, u, -p_t)

    def jump(p: Vec3) -> Vec3:
        return _vector(_times(W, np.stack(np.broadcast_arrays(*p), axis=-1)))

    with np.errstate(divide="ignore", invalid="ignore"):
        slide = Sliding(_vector(u), _vector(n), _vector(s), jump, restitution, friction)
    if np.any((slide.parting <= FRICTION_ROUNDING * slide.nn) & ~sticks & (u_n[..., 0] < 0.0)):
        raise ImpactError(
            f"with friction {friction:g} the contact wedges: no impulse within the cone of "
            "friction parts the bodies; with less friction they part"
        )
    impulse = np.where(sticks[..., None], stick, np.stack([*slide.impulse], axis=-1))
    ends, part = np.asarray(slide.ends), np.asarray(slide.part)
    return Friction(impulse, sticks, ends, s, ~moving, part)


def _vector(x: Array) -> Vec3:
    """A vector of arrays."""
    return Vec3(*np.moveaxis(x, -1, 0))


def _slip(u_t: Array, u: Array, instead: Array) -> tuple[Array, Array]:
    """Unit direction of the slip or, without slip, of that which would begin; and which it is."""
    moving = np.linalg.norm(u_t, axis=-1) > FRICTION_ROUNDING * np.linalg.norm(u, axis=-1)
    s = np.where(moving[..., None], u_t, instead)
    size = np.linalg.norm(s, axis=-1, keepdims=True)
    return np.asarray(s / np.where(size > 0.0, size, 1.0)), np.asarray(moving)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("...i,...i->...", a, b))


def _times(A: Array, x: Array) -> Array:
    return np.asarray(np.einsum("...ij,...j->...i", A, x))


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
