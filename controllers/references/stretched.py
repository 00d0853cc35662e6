"""Uniform time scaling of a reference, by a given factor or until limits hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import number
from robodyn.motion.derivative_check import check_continuous, sampled
from robodyn.motion.functions import Reference
from robodyn.simulation.loads.column_names import speed_names
from robodyn.tolerances import TIME_SCALE_PRECISION

from ..support.gains import checked_call
from .path_torques import (
    check_closed,
    of_linkage,
    path_torques,
    torque_limits,
    torque_too_small,
)
from .profile import check_reference, duration_of, limit

#: Instants at which limits are checked.
LOOKS = 1001
#: The largest factor that is tried.
LONGEST = 1e6


@dataclass(frozen=True, eq=False)
class Stretched:
    """Another reference with its time scaled by one factor: the same path, uniformly slower.

    Attributes
    ----------
    reference : callable
        Time [s] -> position, velocity, acceleration, for joints whose coordinates add.
    factor : float
        Factor of the duration: more than one is slower, less than one faster.

    Raises
    ------
    SettingsError
        For a factor that is not positive.

    Examples
    --------
    >>> from robodyn.controllers import PointToPoint, Stretched
    >>> fast = PointToPoint([0.0], [1.0], 1.0)
    >>> slow = Stretched(fast, 2.0)     # twice as long, half as fast
    >>> slow(1.0)[0].tolist() == fast(0.5)[0].tolist(), (2 * slow(1.0)[1]).tolist()
    (True, [1.875])
    """

    reference: Reference
    factor: float

    def __post_init__(self) -> None:
        check_fields(self)
        factor = number("factor", self.factor)
        if not 0.0 < factor < np.inf:
            raise SettingsError(f"factor is {factor!r}, expected a positive number")
        object.__setattr__(self, "factor", factor)

    @property
    def symbolic(self) -> bool:
        """Whether it can be called with symbols: whether the scaled reference can."""
        return bool(getattr(self.reference, "symbolic", False))

    @checked_call
    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (n,), at time ``t`` [s]."""
        k = 1.0 / self.factor
        q, v, a = self.reference(t * k)
        return q, v * k, a * (k * k)

    @classmethod
    @checked_arguments
    def within(
        cls,
        reference: Reference,
        duration: float,
        *,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        robot: Robot | None = None,
        torque: ArrayLike | None = None,
    ) -> Stretched:
        """The fastest uniform time scaling within limits, which hold at a thousand instants.

        Parameters
        ----------
        reference : callable
        duration : float [s]
            Of the reference.
        velocity, acceleration : float or array_like, shape (n,), optional
            Largest of each joint.
        robot : Robot, optional
            The robot that follows the reference, with a fixed base. For a closed linkage the
            reference is of all joints or of motors alone, and torques are those of its motors.
        torque : float or array_like, shape (nv,), optional [N m, N]
            Largest of each joint of the robot. Default: what its joints and motors allow, if
            ``robot`` is given.

        Raises
        ------
        SettingsError
            Without limits, for a reference that stands still, and for a robot with another base,
            joints whose coordinates do not add, or that depends on time.
        ActuationError
            For a closed linkage whose motors do not set all of its motions, each by one.
        PathError
            Where torques do not suffice at any speed, as gravity alone is too much. Where the
            reference jumps, its velocity is not the derivative of its position, or it leaves loops
            open.
        """
        times = np.linspace(0.0, duration_of(duration), LOOKS)
        check_reference("reference", reference)
        q, v, a = sampled(reference, times)
        if robot is not None or torque is not None:
            torque_limits(robot, torque)
        if not q.shape == v.shape == a.shape or q.ndim != 2:
            raise ShapeError(
                f"the reference gives positions {q.shape[1:]}, velocities {v.shape[1:]} and "
                f"accelerations {a.shape[1:]}, expected one shape (n,), of joints whose "
                "coordinates add",
                name="reference",
                given=q.shape[1:],
            )
        whole = None
        if robot is not None:
            full = of_linkage(robot, reference)
            whole = (times, *((q, v, a) if full is reference else sampled(full, times)))
            check_closed(robot, times, whole[1])
        columns = range(v.shape[-1])
        names = [str(k) for k in columns]
        if robot is not None:
            names = [*(speed_names(robot) if len(columns) == robot.nv else robot.actuated_joints)]
        check_continuous(reference, times, lambda x, y: y - x, columns, names)
        factor = time_scale_within((times, q, v, a), velocity, acceleration, robot, torque, whole)
        if not factor > 0.0:
            raise SettingsError(
                "nothing bounds the speed of the reference: it stands still, or no limit is "
                "given; give velocity=, acceleration= or robot="
            )
        return cls(reference, factor)


def time_scale_within(
    motion: tuple[FloatArray, ...],
    velocity: ArrayLike | None,
    acceleration: ArrayLike | None,
    robot: Robot | None,
    torque: ArrayLike | None,
    whole: tuple[FloatArray, ...] | None = None,
) -> float:
    """The factor of time that brings a motion to its limits; below one if it is within them.

    Parameters
    ----------
    motion : tuple of ndarray, shape (m,), (m, n), (m, n), (m, n)
        Times, positions, velocities, accelerations.
    velocity, acceleration, robot, torque
        As in `Stretched.within`.
    whole : tuple of ndarray, optional
        The motion of all joints of the robot. Default: the same.
    """
    _, _, v, a = motion
    needed = [0.0]
    if velocity is not None:
        needed.append(float((np.abs(v) / limit("velocity", velocity, v.shape[1])).max()))
    if acceleration is not None:
        most = (np.abs(a) / limit("acceleration", acceleration, v.shape[1])).max()
        needed.append(float(np.sqrt(most)))
    if robot is None:
        return max(needed)
    return _for_torques(robot, whole or motion, torque_limits(robot, torque), max(needed))


def _for_torques(
    robot: Robot, motion: tuple[FloatArray, ...], effort: FloatArray, least: float
) -> float:
    """The smallest factor, at least a given one, with which torques are within limits."""
    times, q, v, a = motion
    torques = path_torques(robot)

    def over(factor: float) -> FloatArray:
        tau = torques(q, v / factor, a / factor**2)
        return np.asarray((np.abs(tau) - effort).max(axis=1))

    high = least or 1.0
    while (over(high) > 0.0).any():
        high *= 2.0
        if high > LONGEST:
            raise torque_too_small(robot, times, q, effort)
    low = least or 1.0 / LONGEST
    if least and not (over(least) > 0.0).any():
        return least
    while high > low * (1.0 + TIME_SCALE_PRECISION):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if (over(middle) > 0.0).any() else (low, middle)
    return high
