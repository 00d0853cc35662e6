"""PD control of joints: a spring and a damper at every motor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from numpy.typing import ArrayLike

from robodyn import Robot
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.motion.functions import Reference

from ..support.gains import checked_call, gain, reduce_by_fields, state_of
from ..support.plant import Base, at_motors, motor_error, motor_mask
from ..support.symbols import reference_at
from .gravity_compensation import GravityCompensation


@dataclass(frozen=True, eq=False)
class JointPD:
    """``tau = stiffness (q_ref - q) + damping (v_ref - v)`` at the motors, zero elsewhere.

    Attributes
    ----------
    robot : Robot
    reference : callable
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,). What it holds for joints
        without motors is not used; it may be of those with motors alone.
    stiffness : float or array_like, shape (nv,) [N m/rad, N/m]
    damping : float or array_like, shape (nv,) [N m s/rad, N s/m]
    gravity : bool
        Add the forces of `GravityCompensation`.
    base : BaseMotion or callable, optional
        As for `GravityCompensation`; without ``gravity`` none is needed.

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite, and as `GravityCompensation` does.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import JointPD, PointToPoint
    >>> robot = rd.load("double_pendulum")
    >>> pd = JointPD(robot, PointToPoint([0.1, 0.2], [0.1, 0.2], 1.0), stiffness=10.0, damping=1.0)
    >>> (pd(0.0, [0.0, 0.0], [0.0, 0.0])).round(9).tolist()     # 10 * (0.1, 0.2)
    [1.0, 2.0]
    """

    symbolic: ClassVar[bool] = True
    gain_arrays: ClassVar[Mapping[str, str]] = {"stiffness": "_k", "damping": "_d"}

    robot: Robot
    reference: Reference
    stiffness: ArrayLike
    damping: ArrayLike
    gravity: bool = True
    base: Base | None = None
    _error: Callable[[FloatArray, FloatArray], FloatArray] = field(init=False, repr=False)
    _motors: FloatArray = field(init=False, repr=False)
    _k: FloatArray = field(init=False, repr=False)
    _d: FloatArray = field(init=False, repr=False)
    _weight: GravityCompensation | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        motors = motor_mask(self.robot)
        weight = GravityCompensation(self.robot, self.base) if self.gravity else None
        object.__setattr__(self, "_weight", weight)
        object.__setattr__(self, "_motors", motors)
        object.__setattr__(self, "_error", motor_error(self.robot))
        for name, value in (("_k", self.stiffness), ("_d", self.damping)):
            what = "stiffness" if name == "_k" else "damping"
            object.__setattr__(self, name, motors * gain(what, value, self.robot.nv))

    __reduce__ = reduce_by_fields

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        q, v = state_of(self.robot, q, v)
        q_ref, v_ref, _ = reference_at(self.robot, self.reference, t)
        v_ref = at_motors(self._motors, v_ref)
        tau: FloatArray = self._k * self._error(q, q_ref) + self._d * (v_ref - v)
        return tau if self._weight is None else tau + self._weight(t, q, v)
