"""The pseudo-inertia of a body, which is positive definite for every physical body.

With ``S = integral of r r^T dm`` the matrix is ``[[S, h], [h^T, m]]``, and ``S = tr(I)/2 - I``.
It is linear in the parameters; a mass distribution with the parameters exists where it is positive
semidefinite [Wensing, Kim and Slotine 2018].
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray

__all__ = ["BASIS", "ball", "matrix", "moved", "possible", "ten", "thickened"]

#: Smallest second moment about the centre of mass, relative to the sum; radius of a point mass [m].
THIN, POINT = 1e-3, 1e-3
WATER = 1000.0  # [kg/m^3]


def _basis() -> FloatArray:
    E = np.zeros((10, 4, 4))
    E[0, 3, 3] = 1.0
    for k in range(3):
        E[1 + k, k, 3] = E[1 + k, 3, k] = 1.0
    for n, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        if i == j:
            E[4 + n, :3, :3] = 0.5 * np.eye(3)
            E[4 + n, i, i] -= 1.0
        else:
            E[4 + n, i, j] = E[4 + n, j, i] = -1.0
    return E


#: Pseudo-inertia of a unit of each parameter, in the order of `robodyn.Robot.inertial_parameters`.
BASIS = _basis()


def matrix(parameters: FloatArray) -> FloatArray:
    """Pseudo-inertia, shape (4, 4), of ten parameters."""
    return np.asarray(np.einsum("k,kij->ij", parameters, BASIS))


def ten(P: FloatArray) -> FloatArray:
    """The ten parameters of a pseudo-inertia."""
    S, h = P[:3, :3], P[:3, 3]
    J = np.trace(S) * np.eye(3) - S
    return np.array([P[3, 3], *h, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def moved(parameters: FloatArray, X: FloatArray) -> FloatArray:
    """Ten parameters of frame B in frame A, where ``X`` is ``X_AB``."""
    return ten(X @ matrix(parameters) @ X.T)


def possible(parameters: FloatArray, slack: float = 1e-9) -> bool:
    """Whether a physical body has these parameters, up to rounding."""
    m = parameters[0]
    if m <= 0.0:
        return not np.abs(parameters).any()
    S = _central(parameters)
    return bool(np.linalg.eigvalsh(S)[0] >= -slack * max(float(np.trace(S)), 1e-12 * m))


def thickened(parameters: FloatArray) -> FloatArray:
    """The nearest parameters of a body that has mass and extends in all directions."""
    sizes, axes = np.linalg.eigh(_central(parameters))
    least = max(THIN * float(np.abs(sizes).sum()), POINT**2 * parameters[0])
    S = axes @ np.diag(np.maximum(sizes, least)) @ axes.T
    P = matrix(parameters)
    P[:3, :3] += S - _central(parameters)
    return ten(P)


def ball(mass: float) -> FloatArray:
    """Ten parameters of a ball of water about the origin."""
    radius = (0.75 * mass / (np.pi * WATER)) ** (1.0 / 3.0)
    inertia = 0.4 * mass * radius**2
    return np.array([mass, 0, 0, 0, inertia, 0, inertia, 0, 0, inertia])


def _central(parameters: FloatArray) -> FloatArray:
    """Second moments about the centre of mass, shape (3, 3)."""
    P = matrix(parameters)
    return np.asarray(P[:3, :3] - np.outer(P[:3, 3], P[:3, 3]) / P[3, 3])
