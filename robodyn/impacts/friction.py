"""Impulses with Coulomb friction at one contact.

Assumptions, besides those of impacts without friction: Newton's restitution holds along the normal;
friction obeys Coulomb's law for the impulses as wholes, ``|p_t| <= friction p_n``; the impulse
stays in the plane of the normal and of the slip at the start, which is exact in plane mechanisms.
The point sticks where that takes no more than friction can give; else its slip goes on against
friction, or ends, or turns back, whichever agrees with it [Whittaker 1904; Keller 1986].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array
from robodyn.equations.quantities.common.sliding import Sliding
from robodyn.errors import ImpactError, SettingsError
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import FRICTION_ROUNDING


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
