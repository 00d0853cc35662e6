"""Computed torque: inverse dynamics make the error dynamics linear and decoupled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import BasePath, Robot
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import named
from robodyn.motion.functions import Reference

from ..support.gains import checked_call, gain, reduce_by_fields, state_of
from ..support.motor_torques import motor_torques
from ..support.plant import Base, base_path, motor_error
from ..support.symbols import base_at, reference_at


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """Torques that give motors ``a_ref + damping (v_ref - v) + stiffness (q_ref - q)``.

    The error ``e`` of each motor then obeys ``e'' + damping e' + stiffness e = 0`` if the model is
    right. Joints without motors get no torque: those of closed linkages follow from the loops,
    others and a floating base from the dynamics. Where loops couple the motors, the nearest
    consistent accelerations are made by torques of least norm.

    Of a robot with fewer motors than motions this is partial feedback linearisation [Spong 1994]:
    collocated, or, with ``controlled`` joints that other motors move, noncollocated. The zero
    dynamics of the remaining joints need not be stable; they are not checked.

    Attributes
    ----------
    robot : Robot
        The model, which may differ from the robot that is driven.
    reference : callable
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,). What it holds for joints
        without motors is not used; it may be of those with motors alone, or of ``controlled``.
    stiffness : float or array_like, shape (nv,) [1/s^2]
    damping : float or array_like, shape (nv,), optional [1/s]
        Default: critical, ``2 sqrt(stiffness)``.
    base : BaseMotion or callable, optional
        Of a robot with a moving base: time [s] -> `BaseMotion`, or one motion for all times.
    controlled : names of joints, optional
        Those that follow the reference, with as many speeds as there are motors. Default: those
        with motors.

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite; for a moving base without ``base``, and
        for ``base`` without a moving base.
    UnknownNameError, ActuationError
        If there are no such controlled joints, or not as many as motors; when called, if motors
        do not accelerate them where the robot is.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import ComputedTorque, PointToPoint
    >>> robot = rd.load("double_pendulum")
    >>> control = ComputedTorque(robot, PointToPoint([0.1, 0.2], [0.1, 0.2], 1.0), stiffness=25.0)
    >>> tau = control(0.0, [0.0, 0.2], [0.0, 0.0])
    >>> robot.forward_dynamics([0.0, 0.2], [0.0, 0.0], tau).round(9).tolist()     # 25 * 0.1
    [2.5, 0.0]
    """

    symbolic: ClassVar[bool] = True
    gain_arrays: ClassVar[Mapping[str, str]] = {"stiffness": "_k", "damping": "_d"}

    robot: Robot
    reference: Reference
    stiffness: ArrayLike = 100.0
    damping: ArrayLike | None = None
    base: Base | None = None
    controlled: Iterable[str] | None = None
    _error: Callable[[FloatArray, FloatArray], FloatArray] = field(init=False, repr=False)
    _k: FloatArray = field(init=False, repr=False)
    _d: FloatArray = field(init=False, repr=False)
    _path: BasePath | None = field(init=False, repr=False)
    _joints: tuple[str, ...] | None = field(init=False, repr=False)
    _torques: Callable[..., FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        k = gain("stiffness", self.stiffness, self.robot.nv)
        d = 2.0 * np.sqrt(k) if self.damping is None else self.damping
        joints = None if self.controlled is None else named("controlled", self.controlled)
        object.__setattr__(self, "_joints", joints)
        object.__setattr__(self, "_error", motor_error(self.robot, joints))
        object.__setattr__(self, "_k", k)
        object.__setattr__(self, "_d", gain("damping", d, self.robot.nv))
        object.__setattr__(self, "_path", base_path(self.robot, self.base))
        object.__setattr__(self, "_torques", motor_torques(self.robot, joints))

    __reduce__ = reduce_by_fields

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        q, v = state_of(self.robot, q, v)
        q_ref, v_ref, a_ref = reference_at(self.robot, self.reference, t, self._joints)
        a = a_ref + self._d * (v_ref - v) + self._k * self._error(q, q_ref)
        return self._torques(q, v, a, base_at(self._path, t), t)
