"""Prescribed motion of a joint in time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite, number, numbers
from robodyn.errors import PathError, ShapeError
from robodyn.literals import PathEnds
from robodyn.motion.derivative_check import INTERVAL, check_rates, three_instants
from robodyn.motion.samples import (
    flat_motion,
    free_motion,
    planar_motion,
    sample_times,
    samples,
    turning_motion,
)

Motion = tuple[ArrayLike, ArrayLike, ArrayLike]

#: Shapes of position and velocity of joints with a quaternion: spherical and floating ones.
QUATERNIONS = (((4,), (3,)), ((7,), (6,)))
Difference = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class JointPath:
    """A joint's position, velocity and acceleration as functions of time.

    Called with ``t`` [s] it returns the three as arrays: as many positions as the joint has
    coordinates, as many velocities and accelerations as it has speeds; shape () or (1,) for a joint
    with one of them.

    Parameters
    ----------
    function : callable
        ``t -> (position, velocity, acceleration)`` [rad, m and their rates]. Position and velocity
        are those of the joint's kind: of a spherical joint the quaternion x, y, z, w of the child
        in the joint frame (4,) and its angular velocity in axes of the child (3,), of a floating
        one position and quaternion (7,) and the body twist (6,), of a planar one x, y, angle and
        the velocities in axes of the child. Accelerations are the rates of the velocities.

    Examples
    --------
    >>> import robodyn as rd
    >>> path = rd.JointPath.from_function(lambda t: (t**2, 2 * t, 2.0))
    >>> path(1.5)
    (array(2.25), array(3.), array(2.))
    """

    function: Callable[[float], Motion]

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity and acceleration at time ``t`` [s].

        Raises PathError: If the function returns anything but three finite arrays whose shapes go
            together, or there are no samples at that time.
        """
        try:
            # copies: who fills the same arrays again and again has them changed later
            x, dx, ddx = self.function(t)
            if isinstance(x, float) and isinstance(dx, float) and isinstance(ddx, float):
                if math.isfinite(x + dx + ddx):  # the usual case, in half the time
                    return np.array(x), np.array(dx), np.array(ddx)
            position, velocity = np.array(x, float), np.array(dx, float)
            acceleration = np.array(ddx, float)
        except PathError:
            raise
        except (TypeError, ValueError) as error:
            number("t", t, "s")
            raise PathError(
                f"the path must return position, velocity and acceleration; at t = {t:.6g} s: "
                f"{error}",
                time=float(t),
            ) from None
        shapes = (position.shape, velocity.shape)
        if velocity.shape != acceleration.shape or (
            position.shape != velocity.shape and shapes not in QUATERNIONS
        ):
            raise PathError(
                f"position {position.shape}, velocity {velocity.shape} and acceleration "
                f"{acceleration.shape} at t = {t:.6g} s differ in shape",
                time=float(t),
            )
        if not (all_finite(position) and all_finite(velocity) and all_finite(acceleration)):
            raise PathError(f"the path is not finite at t = {t:.6g} s", time=float(t))
        return position, velocity, acceleration

    @classmethod
    @checked_arguments
    def from_function(cls, function: Callable[[float], Motion]) -> JointPath:
        """Path of ``t -> (position, velocity, acceleration)``."""
        return cls(function)

    @classmethod
    @checked_arguments
    def from_samples(
        cls,
        t: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        *,
        ends: PathEnds = "free",
    ) -> JointPath:
        """Smooth path through samples: its acceleration is continuous.

        For joints whose velocities are the rates of their positions: all but spherical, floating
        and planar ones (`from_orientations`, `from_poses`, `from_planar`).

        Parameters
        ----------
        t : array_like, shape (n,) [s]
            At least four times, strictly increasing; two, if it rests at its ends.
        positions : array_like, shape (n,) or (n, m) [rad, m]
        velocities : array_like, like positions, optional
            Checked against the path through the positions.
        ends : {"free", "rest"}
            ``"free"``: at its ends the path moves as the samples have it, and before the first
            sample and after the last one there is none: `PathError`. ``"rest"``: velocity and
            acceleration vanish at both ends, where the joint stands before and after.

        Raises
        ------
        ShapeError
        PathError
            If velocities do not belong to the positions, or the path swings out between samples, as
            where times are very uneven.

        Examples
        --------
        >>> import robodyn as rd
        >>> path = rd.JointPath.from_samples([0, 1, 3], [0.0, 0.2, 1.0], ends="rest")
        >>> position, velocity, acceleration = path(4.0)
        >>> float(position), float(velocity)
        (1.0, 0.0)
        """
        rest = ends == "rest"
        times = sample_times(t, 2 if rest else 4)
        values = numbers("positions", positions).astype(float)
        if values.ndim not in (1, 2) or len(values) != len(times):
            raise ShapeError(
                f"{len(times)} times need as many positions; given {values.shape}",
                name="positions",
                given=values.shape,
                expected=(len(times),),
            )
        if not np.isfinite(values).all():
            raise ShapeError("samples hold numbers that are not finite", name="positions")
        path = cls(flat_motion(times, values, rest))
        if velocities is not None:
            found = np.array([path(t)[1] for t in times.tolist()])
            _check_samples(times, values, numbers("velocities", velocities), found)
        return path

    @classmethod
    @checked_arguments
    def from_planar(cls, t: ArrayLike, positions: ArrayLike) -> JointPath:
        """Smooth path of a planar joint through samples.

        Parameters
        ----------
        t : array_like, shape (n,) [s]
            At least four times, strictly increasing.
        positions : array_like, shape (n, 3) [m, m, rad]
            x, y and angle.

        Raises
        ------
        ShapeError
        """
        times = sample_times(t, 4)
        return cls(planar_motion(times, samples("positions", positions, len(times), 3)))

    @classmethod
    @checked_arguments
    def from_orientations(cls, t: ArrayLike, quats: ArrayLike) -> JointPath:
        """Smooth path of a spherical joint through orientations: its acceleration is continuous.

        Parameters
        ----------
        t : array_like, shape (n,) [s]
            Strictly increasing.
        quats : array_like, shape (n, 4)
            x, y, z, w of the child in the joint frame.

        Raises
        ------
        ShapeError
        """
        times = sample_times(t, 2)
        return cls(turning_motion(times, samples("quats", quats, len(times), 4)))

    @classmethod
    @checked_arguments
    def from_poses(cls, t: ArrayLike, positions: ArrayLike, quats: ArrayLike) -> JointPath:
        """Smooth path of a floating joint, or base, through poses: its acceleration is continuous.

        Parameters
        ----------
        t : array_like, shape (n,) [s]
            At least four times, strictly increasing.
        positions : array_like, shape (n, 3) [m]
            Of the child's origin in the joint frame.
        quats : array_like, shape (n, 4)
            x, y, z, w of the child in the joint frame.

        Raises
        ------
        ShapeError
        """
        times = sample_times(t, 4)
        places = samples("positions", positions, len(times), 3)
        return cls(free_motion(times, places, samples("quats", quats, len(times), 4)))

    @checked_arguments
    def check(
        self,
        times: Iterable[float],
        name: str = "",
        *,
        interval: float = INTERVAL,
        difference: Difference | None = None,
    ) -> None:
        """Check that velocity and acceleration are the derivatives of the position.

        Parameters
        ----------
        times : iterable of float [s]
        name : str
            Of the joint, for the message.
        interval : float [s]
            The path is looked at up to so much after each time.
        difference : callable, optional
            Called with two positions it returns the velocity that leads from the first to the
            second in unit time, where positions do not simply add, as
            `robodyn.Robot.difference` of a joint alone.

        Raises
        ------
        PathError
            With the time.
        """
        check_joint_path(self, list(times), name, interval, difference)


def check_joint_path(
    path: Callable[[float], tuple[FloatArray, FloatArray, FloatArray]],
    times: Sequence[float],
    name: str = "",
    interval: float = INTERVAL,
    difference: Difference | None = None,
) -> None:
    """Check a `JointPath`, or what remembers its motions, as `JointPath.check` does."""
    if not times:
        return
    motions = three_instants(path, times, interval)
    x, dx, ddx = (joined([m[k] for m in motions]).reshape(len(times), 3, -1) for k in range(3))
    if difference is None:
        moved = x[:, 2] - x[:, 0]
    else:
        moved = np.array([difference(a, b) for a, _, b in x])
    of = f" of joint {name!r}" if name else ""
    rows = {f"velocity{of}": (moved, dx), f"acceleration{of}": (dx[:, 2] - dx[:, 0], ddx)}
    check_rates(times, rows, interval)


def joined(arrays: Sequence[FloatArray]) -> FloatArray:
    """Arrays of one shape, one after the other; numbers alone are arrays of one."""
    return np.concatenate(arrays) if arrays[0].ndim else np.array(arrays)


def _check_samples(
    times: FloatArray, values: FloatArray, given: FloatArray, found: FloatArray
) -> None:
    if given.shape != values.shape:
        raise ShapeError(
            f"velocities have shape {given.shape}, expected {values.shape}",
            name="velocities",
            given=given.shape,
            expected=values.shape,
        )
    # Samples may be noisy or coarse: up to a tenth of the largest speed is accepted. For a joint at
    # rest, the rounding of its positions is accepted.
    noise = 1e-9 * np.abs(values).max(axis=0) / np.diff(times).min()
    wrong = ~(np.abs(given - found) <= 0.1 * np.abs(found).max(axis=0) + noise)
    if np.any(wrong):
        row = int(np.argwhere(wrong)[0][0])
        raise PathError(
            f"the velocity at t = {times[row]:.6g} s is {given[row]}, but the positions there "
            f"change at a rate of {found[row]}",
            time=float(times[row]),
        )
