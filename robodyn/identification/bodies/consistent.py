"""Physically consistent parameters nearest to an estimate.

What is minimised is half the sum of squares of weighted forces that are left, and ``prior`` times
the divergence from described parameters::

    d(P || P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4        of a body's pseudo-inertia P
    d(x || x0) = x/x0 - log(x/x0) - 1                      of what is a positive number

It is convex, zero at the description, and infinite where something stops being possible; for bodies
it does not depend on the frame in which the ten parameters are given [Lee, Wensing and Park 2020].

The pseudo-inertia is positive definite for every physical body. With ``S = integral of r r^T dm``
the matrix is ``[[S, h], [h^T, m]]``, and ``S = tr(I)/2 - I``. It is linear in the parameters; a
mass distribution with the parameters exists where it is positive semidefinite [Wensing, Kim and
Slotine 2018].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.description import Inertia
from robodyn.errors import ConvergenceWarning, SettingsError, UnknownNameError
from robodyn.model.changes.parameter_changes import inertia_from
from robodyn.robot import Robot
from robodyn.tolerances import IDENTIFICATION_CONVERGED, IDENTIFICATION_ROUNDING

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


#: Largest number of Newton steps for one weight of the prior, and the factor between weights.
STEPS, LIGHTER = 200, 0.1
#: Half the sum of squared residuals, in units of the noise, that a search which ends may leave.
MISFIT = 10.0
#: Line search: sufficient decrease, as a fraction of the slope, and shortening factor.
ARMIJO, SHORTER = 1e-4, 0.5


@dataclass(frozen=True, eq=False)
class UnknownInertia:
    """Indices of the parameters of a body among the unknowns.

    at (k,): Which of the unknowns are its own.
    which (k,): Which of its ten these are.
    reference (10,): All ten as described, of a body that there can be.
    """

    at: NDArray[np.intp]
    which: NDArray[np.intp]
    reference: FloatArray


def nearest_possible(
    W: FloatArray,
    y: FloatArray,
    bodies: Sequence[UnknownInertia],
    positive: NDArray[np.intp],
    start: FloatArray,
    prior: float,
) -> tuple[FloatArray, bool]:
    """Unknowns x that minimise ``|W x - y|^2 / 2 + prior * divergence``, and whether they do.

    ``W`` and ``y``, shape (m, k) and (m,), are in units of the noise. Unknowns of the indices
    ``positive`` are positive numbers. The search begins at ``start``, shape (k,), to which positive
    numbers are compared.

    Notes
    -----
    Newton's method with halved steps, for a weight of the prior that falls to the one asked for, so
    that no search begins next to what is impossible. The function is convex: it has one minimum.
    """
    problem = _Problem(W, y, bodies, positive, start)
    x, weight = start, max(prior, problem.left(start))
    while weight > prior:
        x, _ = problem.minimum(x, weight)
        weight *= LIGHTER
    x, found = problem.minimum(x, prior)
    return x, found or problem.left(x) <= MISFIT


def warn_of_unfinished_search() -> None:
    """Warn that a search has ended before its goal."""
    message = (
        "the search for bodies that can exist ends before it is at its goal: parameters do not fit "
        "the base parameters, which are right. Give a larger prior, or a description or guess "
        "nearer to what is measured"
    )
    warn(ConvergenceWarning(message))


class _Problem:
    """The objective as a function of the unknowns and the weight of the prior."""

    def __init__(
        self,
        W: FloatArray,
        y: FloatArray,
        bodies: Sequence[UnknownInertia],
        positive: NDArray[np.intp],
        reference: FloatArray,
    ) -> None:
        Q, self._R = np.linalg.qr(W)
        self._z, self._H = Q.T @ y, self._R.T @ self._R
        self._bodies, self._positive = bodies, positive
        self._x0 = reference[positive]
        self._inverses = [np.linalg.inv(matrix(body.reference)) for body in bodies]

    def left(self, x: FloatArray) -> float:
        """Half the sum of squared residuals of the data."""
        return 0.5 * float(((self._R @ x - self._z) ** 2).sum())

    def minimum(self, x: FloatArray, weight: float) -> tuple[FloatArray, bool]:
        """Minimise the objective, from a feasible point; and whether that is done."""
        rounding = IDENTIFICATION_ROUNDING * float(self._z @ self._z)
        small = IDENTIFICATION_CONVERGED * weight + rounding
        for _ in range(STEPS):
            g, H = self._slopes(x, weight)
            step = _newton(g, H)
            if step is None:
                return x, False  # bodies without volume are so near that rounding hides the way on
            slope = float(g @ step)
            if -slope <= small:  # it is no less than g^2 / H of any unknown, but for rounding
                most = np.abs(g / np.sqrt(np.diag(H))).max(initial=0.0)
                return x, bool(most <= math.sqrt(2.0 * small))
            x = self._along(x, step, slope, weight)
        return x, False

    def _divergence(self, x: FloatArray) -> float:
        """Divergence from the reference, up to a constant; infinite if x is not feasible."""
        if (x[self._positive] <= 0.0).any():
            return np.inf
        ratio = x[self._positive] / self._x0
        total = float((ratio - np.log(ratio)).sum())
        for body, inverse in zip(self._bodies, self._inverses, strict=True):
            P = _of_body(body, x)
            if np.linalg.eigvalsh(P)[0] <= 0.0:
                return np.inf
            total += float(np.trace(inverse @ P)) - float(np.linalg.slogdet(P)[1])
        return total

    def _slopes(self, x: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """Gradient and Hessian of the objective."""
        g, H, own = self._R.T @ (self._R @ x - self._z), self._H.copy(), self._positive
        g[own] += weight * (1.0 / self._x0 - 1.0 / x[own])
        H[own, own] += weight / x[own] ** 2
        for body, inverse in zip(self._bodies, self._inverses, strict=True):
            E, now = BASIS[body.which], np.linalg.inv(_of_body(body, x))
            g[body.at] += weight * np.einsum("kij,ji->k", E, inverse - now)
            bent = now @ E
            H[np.ix_(body.at, body.at)] += weight * np.einsum("kab,lba->kl", bent, bent)
        return g, H

    def _along(self, x: FloatArray, step: FloatArray, slope: float, weight: float) -> FloatArray:
        """Line search along a step, which is shortened, or lengthened as long as that is better."""

        def objective(part: float) -> float:
            new = x + part * step
            there = self._divergence(new)
            return self.left(new) + weight * there if there < np.inf else np.inf

        now, part = objective(0.0), 1.0
        slack = 1e-13 * abs(now)
        while part > 1e-12:
            there = objective(part)
            if there <= now + ARMIJO * part * slope + slack:
                break
            part *= SHORTER
        else:
            return x  # rounding lets it fall no further
        while part >= 1.0 and (farther := objective(2.0 * part)) < there - slack:
            part, there = 2.0 * part, farther
        return np.asarray(x + part * step)


def _newton(g: FloatArray, H: FloatArray) -> FloatArray | None:
    """Newton's step; ``None`` if the Hessian is singular up to rounding."""
    own = np.diag(H)
    if not (np.isfinite(H).all() and (own > 0.0).all()):
        return None
    size = 1.0 / np.sqrt(own)
    try:
        step = -size * np.linalg.solve(H * np.outer(size, size), size * g)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(step) if np.isfinite(step).all() else None


def _of_body(body: UnknownInertia, x: FloatArray) -> FloatArray:
    parameters = body.reference.copy()
    parameters[body.which] = x[body.at]
    return matrix(parameters)
