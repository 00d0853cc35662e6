"""Probes of straight-line code: sizes of its solutions at regular postures."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import Array
from robodyn.equations.elimination.singularity import Probe
from robodyn.tolerances import CHECKED_POSTURE

#: Solutions of a probe that exceed the usual one by this factor are too large: the posture is
#: nearer to a singular one than others, by the root of it.
LARGE = 1e3

#: Golden section, for numbers that do not cancel by symmetry.
GOLDEN = 0.6180339887498949


def probe(K: Array, M: Array, distance: float) -> Probe:
    """Rates for forward dynamics.

    K (n, r, nv): Rows of the code at some postures.
    M (nv, nv): Mass matrix at one.
    distance: Of such postures from singular ones.
    """
    if not K.size:
        return Probe(())
    A = K @ np.linalg.pinv(M) @ np.swapaxes(K, -1, -2)
    size = np.sqrt(np.median(np.diagonal(A, axis1=-2, axis2=-1), axis=0))
    rates = _irregular(len(size)) * np.where(size > 0.0, size, 1.0)
    energy = np.median(rates @ np.linalg.pinv(A, rcond=1e-12) @ rates) if len(K) else 1.0
    return Probe(_floats(rates / np.sqrt(LARGE * energy)), ease=_ease(distance))


def motor_probe(K: Array, dependent: tuple[int, ...], distance: float) -> Probe:
    """Forces for inverse dynamics, at speeds without motor; parameters as for `probe`."""
    A = np.swapaxes(K[..., dependent], -1, -2)
    if not A.size:
        return Probe((), ())
    size = np.median(np.linalg.norm(A, axis=-1), axis=0)
    forces = _irregular(len(size)) * np.where(size > 0.0, size, 1.0)
    scale = np.median(np.linalg.norm(A, axis=-2), axis=0) ** 2
    weights = np.where(scale > 0.0, scale, 1.0)
    solved = np.linalg.pinv(A) @ forces
    usual = np.median(solved**2 @ weights)
    return Probe(_floats(forces), _floats(weights / (LARGE * usual)), _ease(distance))


def _ease(distance: float) -> float:
    """By how much less than `LARGE` times the usual it may be in double precision."""
    return float(min(1.0, LARGE * (CHECKED_POSTURE / distance) ** 2)) if distance else 1.0


def _irregular(count: int) -> Array:
    return np.asarray(0.5 + np.remainder(GOLDEN * np.arange(1, count + 1), 1.0))


def _floats(x: Array) -> tuple[float, ...]:
    return tuple(float(value) for value in x)
