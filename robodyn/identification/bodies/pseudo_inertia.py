"""The pseudo-inertia of a body, which is positive definite for every physical body.

With ``S = integral of r r^T dm`` the matrix is ``[[S, h], [h^T, m]]``, and ``S = tr(I)/2 - I``.
It is linear in the parameters; a mass distribution with the parameters exists where it is positive
semidefinite [Wensing, Kim and Slotine 2018].
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.model.changes.parameter_changes import inertia_from
from robodyn.robot import Robot

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


def body_of(robot: Robot, frame: str) -> str:
    """The body that carries a frame, by name.

    Raises `UnknownNameError` if there is no such frame, `SettingsError` if it does not move.
    """
    if frame not in robot.frame_names:
        raise UnknownNameError("frame", frame, robot.frame_names, repr(robot.name))
    body, _ = robot.model.bodies.frames[frame]
    if body >= 0:
        return robot.body_names[body]
    raise SettingsError(f"{frame!r} of {robot.name!r} is fixed to the base: it does not move")


def inertia_in(robot: Robot, parameters: FloatArray, frame: str) -> Inertia:
    """Inertia in a frame, from ten parameters in the frame of the body's link.

    Raises `SettingsError` if there is no mass.
    """
    X = robot.frame_pose(robot.neutral(), body_of(robot, frame), relative_to=frame)
    found = inertia_from(moved(parameters, X))
    if found is None:
        raise SettingsError(f"what moves with {frame!r} of {robot.name!r} has no mass")
    return found


def in_body(robot: Robot, inertia: Inertia, frame: str) -> FloatArray:
    """Ten parameters in the frame of the body's link, from an inertia in another frame."""
    R, c, m = inertia.origin.matrix[:3, :3], np.array(inertia.origin.xyz), inertia.mass
    J = R @ inertia.matrix @ R.T
    P = matrix(np.array([m, *m * c, *np.zeros(6)]))
    P[:3, :3] = 0.5 * np.trace(J) * np.eye(3) - J + m * np.outer(c, c)
    X = robot.frame_pose(robot.neutral(), frame, relative_to=body_of(robot, frame))
    return moved(ten(P), X)
