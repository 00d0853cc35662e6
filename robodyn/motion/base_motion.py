"""Prescribed motion of a base: pose, twist and acceleration at an instant, and over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, shaped
from robodyn.errors import PathError, ShapeError
from robodyn.motion.derivative_check import INTERVAL, check_rates, three_instants
from robodyn.motion.samples import rotation_spline, sample_times, samples, within
from robodyn.symbolic.symbol_arrays import holds_symbols
from robodyn.tolerances import ROTATION_ORTHOGONALITY

#: Of each axis, the one after it and the one before.
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


def rotation_from_quaternion(quat_xyzw: ArrayLike) -> FloatArray:
    """Rotation matrices, shape (..., 3, 3), of quaternions, shape (..., 4), of any norm."""
    quat = checked("quat_xyzw", quat_xyzw, 4)
    one = quat.ndim == 1  # plain numbers are faster then, and round alike
    x, y, z, w = quat.tolist() if one else np.moveaxis(quat, -1, 0)
    norm = (math.sqrt if one else np.sqrt)(x * x + y * y + z * z + w * w)
    if not np.all(norm > 0.0):
        raise ShapeError(
            f"quat_xyzw {quat.tolist()} is no rotation: its norm must be a positive number",
            name="quat_xyzw",
            given=quat_xyzw,
            expected="a quaternion x, y, z, w",
        )
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows) if one else np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def not_moving_error(robot: str, base: str) -> ShapeError:
    """The error for a motion of the base of a robot whose base does not move as prescribed."""
    message = f"base= given, but {robot!r} has a {base} base; load it with base='moving'"
    return ShapeError(message, name="base")


def check_rigid(pose: FloatArray, name: str = "pose") -> None:
    """Refuse matrices that are not homogeneous transforms of a rigid motion.

    pose (..., 4, 4)
    name: Of the argument, for the message.
    """
    if pose.ndim == 2:
        errors = _errors(pose.tolist())
        rigid = errors <= ROTATION_ORTHOGONALITY**2
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            errors = _errors(np.moveaxis(pose, (-2, -1), (0, 1)))
        rigid = bool(np.all(errors <= ROTATION_ORTHOGONALITY**2))
    if not rigid:
        wrong = pose if pose.ndim == 2 else pose[~(errors <= ROTATION_ORTHOGONALITY**2)][0]
        raise ShapeError(
            f"{name} is that of no rigid body: {wrong.tolist()}; expected finite numbers: a "
            f"rotation (to {ROTATION_ORTHOGONALITY:g}) beside a position, and 0, 0, 0, 1 below",
            name="pose",
            given=pose,
            expected="a homogeneous matrix of a rigid motion",
        )


def _errors(pose: Any) -> Any:
    """Sum of squared deviations of a 4x4 matrix, of numbers or of arrays, from a rigid motion."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), (k, m, n, one) = pose
    first, second = a * a + b * b + c * c - 1.0, d * d + e * e + f * f - 1.0
    angle = a * d + b * e + c * f
    # the third row of a rotation follows from the others
    p, q, r = b * f - c * e - g, c * d - a * f - h, a * e - b * d - i
    last = one - 1.0
    rotation = first * first + second * second + angle * angle + p * p + q * q + r * r
    place = 0.0 * x + 0.0 * y + 0.0 * z  # zero, if they are finite
    return rotation + place + k * k + m * m + n * n + last * last


@dataclass(frozen=True, eq=False)
class BaseMotion:
    """Motion of the base at one instant or, with leading axes, at many.

    In a function that is traced, arrays may hold symbols; these are not checked.

    Attributes
    ----------
    pose : ndarray, shape (..., 4, 4) [1, m]
        ``X_WB``, base in the world.
    twist : ndarray, shape (..., 6) [m/s, rad/s]
        Body twist: linear, angular velocity of the base frame in base axes.
    acceleration : ndarray, shape (..., 6) [m/s^2, rad/s^2]
        Componentwise derivative of ``twist``.

    Raises
    ------
    ShapeError
        If an array does not end in these shapes, holds numbers that are not finite, or if the pose
        is that of no rigid body.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum", base="moving")
    >>> lift = rd.BaseMotion.from_world(linear_acceleration=(0, 0, 9.81))
    >>> twice = robot.gravity_forces([0.3, 0.2], base=lift)     # as heavy again
    >>> (twice / rd.load("double_pendulum").gravity_forces([0.3, 0.2])).round(9).tolist()
    [2.0, 2.0]
    """

    pose: FloatArray
    twist: FloatArray
    acceleration: FloatArray

    def __post_init__(self) -> None:
        pose, twist, acceleration = self.parts
        if holds_symbols(pose) or holds_symbols(twist) or holds_symbols(acceleration):
            return
        pose = shaped("pose", pose, 4, 4)
        check_rigid(pose)
        twist, acceleration = checked("twist", twist, 6), checked("acceleration", acceleration, 6)
        # copies: who fills the same arrays again and again has them changed later
        self.__dict__.update(pose=pose.copy(), twist=twist.copy(), acceleration=acceleration.copy())

    @property
    def parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pose, twist and acceleration: what functions of a robot with a moving base take."""
        return self.pose, self.twist, self.acceleration

    def __repr__(self) -> str:
        if self.pose.ndim > 2:
            return f"<BaseMotion of {self.pose.shape[:-2]} instants>"
        parts = (self.pose[:3, 3], self.twist, self.acceleration)
        position, twist, acceleration = (np.array2string(x, precision=4) for x in parts)
        return f"<BaseMotion at {position} m: twist {twist}, acceleration {acceleration}>"

    @classmethod
    @checked_arguments
    def at_rest(cls, pose: ArrayLike | None = None) -> BaseMotion:
        """A base at rest, in the world frame or at ``pose``, shape (..., 4, 4)."""
        return cls(np.eye(4) if pose is None else np.asarray(pose), np.zeros(6), np.zeros(6))

    @classmethod
    @checked_arguments
    def from_world(
        cls,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quat_xyzw: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        linear_velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        linear_acceleration: ArrayLike = (0.0, 0.0, 0.0),
        angular_acceleration: ArrayLike = (0.0, 0.0, 0.0),
    ) -> BaseMotion:
        """Motion from velocities and accelerations of the origin in world axes.

        Parameters
        ----------
        position : array_like, shape (..., 3) [m]
        quat_xyzw : array_like, shape (..., 4)
            Orientation; normalised.
        linear_velocity, angular_velocity : array_like, shape (..., 3) [m/s], [rad/s]
        linear_acceleration, angular_acceleration : array_like, shape (..., 3)
            Of the base's origin [m/s^2] and of the base [rad/s^2].
        """
        R_WB = rotation_from_quaternion(quat_xyzw)
        p, *given = (
            checked(name, value, 3)
            for name, value in (
                ("position", position),
                ("linear_velocity", linear_velocity),
                ("angular_velocity", angular_velocity),
                ("linear_acceleration", linear_acceleration),
                ("angular_acceleration", angular_acceleration),
            )
        )
        batch = np.broadcast_shapes(R_WB.shape[:-2], *(x.shape[:-1] for x in (p, *given)))
        pose = np.zeros((*batch, 4, 4))
        pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = R_WB, p, 1.0
        in_world = np.empty((*batch, 4, 3))
        for k, x in enumerate(given):
            in_world[..., k, :] = x
        in_base = np.einsum("...ji,...kj->...ki", R_WB, in_world)
        v, w = in_base[..., 0, :], in_base[..., 1, :]
        # d/dt (R^T v) = R^T a - w x (R^T v)
        in_base[..., 2, :] -= (w[..., _NEXT] * v[..., _LAST]) - (w[..., _LAST] * v[..., _NEXT])
        twist, acceleration = in_base[..., :2, :], in_base[..., 2:, :]
        return cls(pose, twist.reshape(*batch, 6), acceleration.reshape(*batch, 6))

    @classmethod
    @checked_arguments
    def from_body(
        cls,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quat_xyzw: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        linear_velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        linear_acceleration: ArrayLike = (0.0, 0.0, 0.0),
        angular_acceleration: ArrayLike = (0.0, 0.0, 0.0),
    ) -> BaseMotion:
        """Motion from velocities and accelerations in axes of the base, as an IMU measures them.

        Parameters
        ----------
        position : array_like, shape (..., 3) [m]
            In the world.
        quat_xyzw : array_like, shape (..., 4)
            Orientation; normalised.
        linear_velocity, angular_velocity : array_like, shape (..., 3) [m/s], [rad/s]
        linear_acceleration, angular_acceleration : array_like, shape (..., 3)
            Of the base's origin [m/s^2] and of the base [rad/s^2]. An accelerometer shows
            ``linear_acceleration`` less gravity, which is to be added first.

        Examples
        --------
        >>> import robodyn as rd
        >>> spin, ahead = (0, 0, 2.0), (1.0, 0, 0)
        >>> turning = rd.BaseMotion.from_body(linear_velocity=ahead, angular_velocity=spin)
        >>> turning.acceleration[:3].tolist()      # the velocity turns with the base
        [0.0, -2.0, 0.0]
        """
        R_WB = rotation_from_quaternion(quat_xyzw)
        given = {
            "linear_velocity": linear_velocity,
            "angular_velocity": angular_velocity,
            "linear_acceleration": linear_acceleration,
            "angular_acceleration": angular_acceleration,
        }
        v, w, a, dw = (
            np.einsum("...ij,...j->...i", R_WB, checked(name, x, 3)) for name, x in given.items()
        )
        return cls.from_world(position, quat_xyzw, v, w, a, dw)


@dataclass(frozen=True, eq=False)
class BasePath:
    """A prescribed motion of the base in time: called with t [s], returns a `BaseMotion`.

    Attributes
    ----------
    function : callable
        Time [s] -> `BaseMotion`.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> t = np.linspace(0.0, 1.0, 50)
    >>> heave = np.stack([0 * t, 0 * t, 0.1 * np.sin(t)], axis=-1)     # quaternions: x, y, z, w
    >>> path = rd.BasePath.from_samples(t, heave, np.tile([0.0, 0.0, 0.0, 1.0], (50, 1)))
    >>> bool(abs(path(0.5).pose[2, 3] - 0.1 * np.sin(0.5)) < 1e-6)
    True
    """

    function: Callable[[float], BaseMotion]

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, t: float) -> BaseMotion:
        """Motion at time ``t`` [s]."""
        motion = self.function(t)
        if not isinstance(motion, BaseMotion):
            raise PathError(
                f"the base path returned {type(motion).__name__} at t = {t:.6g} s, expected a "
                "robodyn.BaseMotion",
                time=float(t),
            )
        return motion

    @checked_arguments
    def at(self, times: ArrayLike) -> BaseMotion:
        """Motion at many times [s], shape (n,): a `BaseMotion` with leading axis n."""
        motions = [self(float(t)).parts for t in np.atleast_1d(np.asarray(times, float))]
        if not motions:
            return BaseMotion(np.zeros((0, 4, 4)), np.zeros((0, 6)), np.zeros((0, 6)))
        return BaseMotion(*map(np.array, zip(*motions, strict=True)))

    @checked_arguments
    def check(self, times: Iterable[float], *, interval: float = INTERVAL) -> None:
        """Check that twist and acceleration are the derivatives of the pose.

        Parameters
        ----------
        times : iterable of float [s]
        interval : float [s]
            The path is looked at up to so much after each time.

        Raises
        ------
        PathError
            With the time.
        """
        at = list(times)
        if not at:
            return
        motions = three_instants(lambda t: self(t).parts, at, interval)
        pose, twist, acceleration = (
            np.array(x).reshape(len(at), 3, *x[0].shape) for x in zip(*motions, strict=True)
        )
        velocity = (pose[..., :3, :3] @ twist[..., :3, None])[..., 0]
        rates = np.concatenate([velocity, twist[..., 3:]], axis=-1)
        rows = {
            "velocity of the base": (_moved(pose[:, 0], pose[:, 2]), rates),
            "acceleration of the base": (twist[:, 2] - twist[:, 0], acceleration),
        }
        check_rates(at, rows, interval)

    @classmethod
    @checked_arguments
    def from_function(cls, function: Callable[[float], BaseMotion]) -> BasePath:
        """Path of a function of time [s] that returns a `BaseMotion`."""
        return cls(function)

    @classmethod
    @checked_arguments
    def from_samples(cls, t: ArrayLike, positions: ArrayLike, quats: ArrayLike) -> BasePath:
        """Smooth path through samples: velocity and acceleration are continuous.

        Parameters
        ----------
        t : array_like, shape (n,) [s]
            Strictly increasing.
        positions : array_like, shape (n, 3) [m]
        quats : array_like, shape (n, 4)
            Orientations x, y, z, w.

        Before the first sample and after the last one, the path raises `PathError`.

        Raises
        ------
        ShapeError
            If the shapes do not fit together or ``t`` does not increase.
        """
        from scipy.interpolate import CubicSpline

        times = sample_times(t, 2)
        p = samples("positions", positions, len(times), 3)
        turn = rotation_spline(times, samples("quats", quats, len(times), 4))
        return cls(partial(_motion_at, times, CubicSpline(times, p), turn))


def _moved(before: FloatArray, after: FloatArray) -> FloatArray:
    """How far a base has come, in world axes, and by how much it has turned, shape (n, 6)."""
    X = np.linalg.inv(before) @ after
    half_skew = 0.5 * (X[:, :3, :3] - np.swapaxes(X[:, :3, :3], 1, 2))
    turned = half_skew[:, [2, 0, 1], [1, 2, 0]]
    return np.concatenate([after[:, :3, 3] - before[:, :3, 3], turned], axis=1)


def _motion_at(times: FloatArray, place: Any, turn: Any, t: float) -> BaseMotion:
    """A function with a name, so that paths can be pickled."""
    t = within(times, t)
    R_WB = turn(t)  # scipy's rates are in body axes
    w, dw = R_WB.apply(turn(t, 1)), R_WB.apply(turn(t, 2))
    return BaseMotion.from_world(place(t), R_WB.as_quat(), place(t, 1), w, place(t, 2), dw)
