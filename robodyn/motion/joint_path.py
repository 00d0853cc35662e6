"""Prescribed motion of a joint in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.errors import PathError, ShapeError
from robodyn.motion.derivative_check import INTERVAL, check_rate

__all__ = ["JointPath"]

Motion = tuple[ArrayLike, ArrayLike, ArrayLike]


@dataclass(frozen=True, eq=False)
class JointPath:
    """A joint's position, velocity and acceleration as functions of time.

    Called with ``t`` [s] it returns the three as arrays, shape () for a joint with one degree of
    freedom, (n,) for one with n.

    Parameters
    ----------
    function : callable
        ``t -> (position, velocity, acceleration)`` [rad, m and their rates].
    """

    function: Callable[[float], Motion]

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity and acceleration at time ``t`` [s].

        Raises
        ------
        PathError
            If the function returns anything but three finite arrays of one shape.
        """
        try:
            position, velocity, acceleration = (np.asarray(x, float) for x in self.function(t))
        except (TypeError, ValueError) as error:
            raise PathError(
                f"the path must return position, velocity and acceleration; at t = {t:.6g} s: "
                f"{error}",
                time=float(t),
            ) from None
        if not position.shape == velocity.shape == acceleration.shape:
            raise PathError(
                f"position {position.shape}, velocity {velocity.shape} and acceleration "
                f"{acceleration.shape} at t = {t:.6g} s differ in shape",
                time=float(t),
            )
        if not all(np.isfinite(x).all() for x in (position, velocity, acceleration)):
            raise PathError(f"the path is not finite at t = {t:.6g} s", time=float(t))
        return position, velocity, acceleration

    @classmethod
    def from_function(cls, function: Callable[[float], Motion]) -> JointPath:
        """Path of ``t -> (position, velocity, acceleration)``."""
        return cls(function)

    @classmethod
    def from_samples(
        cls, t: ArrayLike, positions: ArrayLike, velocities: ArrayLike | None = None
    ) -> JointPath:
        """Smooth path through samples: its acceleration is continuous.

        Parameters
        ----------
        t : array_like, shape (n,) [s]
            At least four times, strictly increasing.
        positions : array_like, shape (n,) or (n, m) [rad, m]
        velocities : array_like, like positions, optional
            Checked against the path through the positions.

        Raises
        ------
        ShapeError
        PathError
            If velocities do not belong to the positions.
        """
        from scipy.interpolate import make_interp_spline

        times, values = np.asarray(t, float), np.asarray(positions, float)
        if times.ndim != 1 or len(times) < 4 or not np.all(np.diff(times) > 0.0):
            raise ShapeError(
                "t must hold at least four strictly increasing times", name="t", given=times.shape
            )
        if values.ndim not in (1, 2) or len(values) != len(times):
            raise ShapeError(
                f"{len(times)} times need as many positions; given {values.shape}",
                name="positions",
                given=values.shape,
                expected=(len(times),),
            )
        if not (np.isfinite(times).all() and np.isfinite(values).all()):
            raise ShapeError("samples hold numbers that are not finite", name="positions")
        position: Any = make_interp_spline(times, values, k=5 if len(times) >= 6 else 3)
        velocity, acceleration = position.derivative(1), position.derivative(2)
        if velocities is not None:
            _check_samples(times, values, np.asarray(velocities, float), velocity(times))
        return cls(lambda at: (position(at), velocity(at), acceleration(at)))

    def check(self, times: Iterable[float], name: str = "", *, interval: float = INTERVAL) -> None:
        """Check that velocity and acceleration are the derivatives of the position.

        Parameters
        ----------
        times : iterable of float [s]
        name : str
            Of the joint, for the message.
        interval : float [s]
            The path is looked at up to so much after each time.

        Raises
        ------
        PathError
            With the time.
        """
        at, of = list(times), f" of joint {name!r}" if name else ""
        for k, what in ((0, "velocity"), (1, "acceleration")):
            check_rate(
                lambda a, b, k=k: self(b)[k] - self(a)[k],  # type: ignore[misc]
                lambda s, k=k: self(s)[k + 1],  # type: ignore[misc]
                at,
                f"{what}{of}",
                interval,
            )


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
    # samples may be noisy or coarse: a tenth of the largest speed is no longer that, except where
    # the joint stands still and only rounding moves it
    noise = 1e-9 * np.abs(values).max(axis=0) / np.diff(times).min()
    wrong = ~(np.abs(given - found) <= 0.1 * np.abs(found).max(axis=0) + noise)
    if np.any(wrong):
        row = int(np.argwhere(wrong)[0][0])
        raise PathError(
            f"the velocity at t = {times[row]:.6g} s is {given[row]}, but the positions there "
            f"change at a rate of {found[row]}",
            time=float(times[row]),
        )
