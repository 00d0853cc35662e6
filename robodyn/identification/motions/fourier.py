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

__all__ = ["Excitation"]


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
