"""`Excitation`: a periodic motion by finite Fourier series, from rest to rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import numbers
from robodyn.robot import Robot
from robodyn.symbolic.scalar import cos, sin

#: Random motions have the logistic function of this times the largest possible amplitude.
NEARLY_FULL = 3.0


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits of each joint, shape (u,): positions, velocities, accelerations."""

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


class Series:
    """Motions from rest to rest within bounds, parametrised by unconstrained coefficients.

    count: Number of joints, u.
    period [s]
    samples: In a period.
    """

    def __init__(
        self, count: int, harmonics: int, period: float, samples: int, bounds: Bounds
    ) -> None:
        self.count, self.harmonics, self.period = count, harmonics, period
        self._samples, self._bounds = samples, bounds
        k = np.arange(1, harmonics + 1)
        # sines whose velocities, and cosines whose accelerations, cancel at the start
        self._sine = _null_space_of_sum(np.ones(harmonics)) / k[:, None]
        self._cosine = _null_space_of_sum(k.astype(np.float64)) / k[:, None]
        self._margin = np.cos(np.pi * harmonics / samples)

    @property
    def size(self) -> int:
        """Number of coefficients: shapes, then amplitude and centre of each joint."""
        return self.count * (2 * (self.harmonics - 1) + 2)

    def random(self, rng: np.random.Generator) -> FloatArray:
        """Coefficients of a random motion with large amplitudes, shape (size,)."""
        x = rng.normal(size=self.size).reshape(self.count, -1)
        x[:, -2] = NEARLY_FULL
        return x.ravel()

    def shrunk(self, x: FloatArray, part: float) -> FloatArray:
        """Coefficients of the same motion with scaled amplitudes and the same start."""
        return self.begun(x, self.coefficients(x)[0], part)

    def begun(self, x: FloatArray, center: FloatArray, part: float) -> FloatArray:
        """Coefficients of a motion with scaled amplitudes that starts near a position."""
        x = x.reshape(self.count, -1).copy()
        full = _logistic(x[:, -2])
        x[:, -2] = _inverse_logistic(np.clip(part * full, 1e-12, 1.0 - 1e-12))
        low, high = self._range_of_starts(x)
        span = np.where(high > low, high - low, 1.0)
        x[:, -1] = _inverse_logistic(np.clip((center - low) / span, 1e-12, 1.0 - 1e-12))
        return x.ravel()

    def coefficients(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position at the start (u,), sine and cosine coefficients (harmonics, u)."""
        x = x.reshape(self.count, -1)
        sine, cosine = self._scaled(x)
        low, high = self._range_of_starts(x)
        return low + (high - low) * _logistic(x[:, -1]), sine, cosine

    def motion(self, x: FloatArray, dense: int = 1) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations along a period, shape (n, u)."""
        center, sine, cosine = self.coefficients(x)
        q, v, a = self._along(sine, cosine, dense)
        return center + q, v, a

    def _along(
        self, sine: FloatArray, cosine: FloatArray, dense: int = 1
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        n = dense * self._samples
        f = 2.0 * np.pi / self.period * np.arange(1, self.harmonics + 1)
        angle = np.outer(np.arange(n) * (self.period / n), f)
        s, c = np.sin(angle), np.cos(angle)
        q = s @ sine + (c - 1.0) @ cosine
        return q, (c * f) @ sine - (s * f) @ cosine, -(s * f**2) @ sine - (c * f**2) @ cosine

    def _scaled(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sine and cosine coefficients, scaled to the bounds."""
        half = self.harmonics - 1
        sine, cosine = self._sine @ x[:, :half].T, self._cosine @ x[:, half : 2 * half].T
        q, v, a = self._along(sine, cosine)
        bounds, tiny = self._bounds, 1e-300
        room = (bounds.upper - bounds.lower) * self._margin
        most = np.minimum(
            room / np.maximum(np.ptp(q, axis=0), tiny),
            self._margin * bounds.velocity / np.maximum(np.abs(v).max(axis=0), tiny),
        )
        top = np.maximum(np.abs(a).max(axis=0), tiny)
        most = np.minimum(most, self._margin * bounds.acceleration / top)
        most = most * _logistic(x[:, -2])
        return sine * most, cosine * most

    def _range_of_starts(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Range of starts with which a motion stays within the position limits."""
        q, *_ = self._along(*self._scaled(x))
        low, high = q.min(axis=0), q.max(axis=0)
        # between samples it may go beyond the middle by so much more
        more = 0.5 * (high - low) * (1.0 / self._margin - 1.0)
        return self._bounds.lower - (low - more), self._bounds.upper - (high + more)


def _null_space_of_sum(weights: FloatArray) -> FloatArray:
    """Orthonormal basis, shape (n, n - 1), of the null space of a weighted sum."""
    _, _, directions = np.linalg.svd(weights[None])
    return np.asarray(directions[1:].T)


def _logistic(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def _inverse_logistic(x: FloatArray) -> FloatArray:
    return np.asarray(2.0 * np.arctanh(2.0 * x - 1.0))


@dataclass(frozen=True, eq=False)
class Excitation:
    """A periodic excitation motion, which is a reference for controllers.

    Calling it gives the motion of the joints that are moved; those that follow by closed loops
    stand where they are at the start. `closed` gives theirs too.

    Each joint moves as ``center + sum of sine sin(k w t) + cosine (cos(k w t) - 1)`` over ``k``,
    with ``w = 2 pi / period``, and is at rest and without acceleration when a period begins.

    Attributes
    ----------
    center : ndarray, shape (nq,) [rad, m]
        Posture at the start of each period; loops are closed there.
    sine, cosine : ndarray, shape (harmonics, nq) [rad, m]
        Zero for joints that follow by closed loops.
    period : float [s]
    joints : tuple of str
        Those that are moved, independent of one another.
    condition : float
        Condition number of the regressor along the motion, columns counted in what they are in a
        motion of 1 rad/s, 1 rad/s^2, and rows in what the motors can give.

    Examples
    --------
    >>> import robodyn as rd
    >>> motion = rd.excitation(rd.load("pan_tilt"), period=4.0, acceleration=20.0, iterations=0)
    >>> q, v, a = motion(0.0)
    >>> bool(abs(v).max() < 1e-12), bool(abs(a).max() < 1e-12)
    (True, True)
    """

    symbolic: ClassVar[bool] = True

    center: FloatArray
    sine: FloatArray
    cosine: FloatArray
    period: float
    joints: tuple[str, ...]
    condition: float

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (nq,), at time ``t`` [s]."""
        w = 2.0 * np.pi / self.period
        q: Any = self.center + np.zeros(len(self.center))
        v: Any = np.zeros(len(self.center))
        a: Any = np.zeros(len(self.center))
        for k, (s, c) in enumerate(zip(self.sine, self.cosine, strict=True), 1):
            f = k * w
            sine, cosine = sin(f * t), cos(f * t)
            q = q + s * sine + c * (cosine - 1.0)
            v = v + (s * cosine - c * sine) * f
            a = a - (s * sine + c * cosine) * (f * f)
        return q, v, a

    def closed(self, robot: Robot, t: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The motion of all joints with closed loops, on the branch of the start.

        Parameters
        ----------
        robot : Robot
            That the motion was made for.
        t : array_like, shape (n,) [s]
            Times in ascending order, close enough that postures are near their neighbours.

        Returns
        -------
        q, v, a : ndarray, shape (n, nq), (n, nv), (n, nv)

        Raises
        ------
        AssemblyError
            Where the loops do not close.

        Examples
        --------
        >>> import numpy as np
        >>> import robodyn as rd
        >>> robot = rd.load("four_bar")
        >>> motion = rd.excitation(robot, period=4.0, acceleration=20.0, iterations=0)
        >>> q, v, a = motion.closed(robot, np.linspace(0.0, 4.0, 100))
        >>> bool(abs(robot.loop_residual(q)).max() < 1e-9)
        True
        """
        times = np.atleast_1d(numbers("t", t))
        hold, found, near = self.joints, [], self.center
        for time in times:
            q, v, a = self(float(time))
            own = [robot.joints[name].q.start for name in hold]
            near = near.copy()
            near[own] = q[own]
            near = robot.assemble(near, hold=hold)
            v = robot.consistent_velocity(near, v, hold=hold)
            speeds = [robot.joints[name].v.start for name in hold]
            follow = dict(zip(hold, a[speeds], strict=True))
            a = robot.hybrid_dynamics(near, v, controlled=follow).a
            found.append((near, v, a))
        q, v, a = (np.array(x) for x in zip(*found, strict=True))
        return q, v, a

    def __repr__(self) -> str:
        return (
            f"<Excitation of {', '.join(self.joints)}: {len(self.sine)} harmonics in "
            f"{self.period:g} s, condition {self.condition:.4g}>"
        )
