"""Passivity-based tracking: the energy of the error never rises [Slotine, Li 1987]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ActuationError, BasePath, Robot, SettingsError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.model.winding_motors import refuse_voltages
from robodyn.motion.functions import Reference
from robodyn.simulation.loads.actuated_speeds import coordinates_of_motors

from ..support import plant
from ..support.gains import checked_call, gain, reduce_by_fields, state_of
from ..support.motor_torques import (
    Coriolis,
    MotorTorques,
    motor_coriolis,
    motor_space,
    motor_torques,
)
from ..support.symbols import base_at, reference_at


@dataclass(frozen=True, eq=False)
class PassivityBased:
    """``tau = M v_r' + C v_r + g - gain s`` with ``v_r = v_ref + rate e`` and ``s = v - v_r``.

    The error ``e`` obeys ``e' + rate e = -s``. The energy ``s^T M s / 2``, which `energy` gives,
    falls at the rate ``s^T gain s`` if the model is right: it never rises. Unlike `ComputedTorque`
    it leaves the robot its inertia, so that errors of its model do not multiply stiffness.

    Attributes
    ----------
    robot : Robot
        The model, which may differ from the robot that is driven. Its motors set all joints, of a
        floating base but for the base; closed linkages move by their motors.
    reference : callable
        Time [s] -> position (nq,), velocity (nv,), acceleration (nv,). What it holds for joints
        without motors is not used; it may be of those with motors alone.
    gain : float or array_like, shape (nv,) [N m s/rad, N s/m]
    rate : float or array_like, shape (nv,) [1/s]
    base : BaseMotion or callable, optional
        Of a robot with a moving base: time [s] -> `BaseMotion`, or one motion for all times.

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite; for a moving base without ``base``, and
        for ``base`` without a moving base.
    ActuationError
        If there are joints that motors do not set, more motors than motions, or joints with motors
        whose coordinates do not add, as quaternions.
    SettingsError
        If the robot depends on time.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import PassivityBased, PointToPoint
    >>> robot = rd.load("double_pendulum")
    >>> control = PassivityBased(robot, PointToPoint([0.1, 0.2], [0.1, 0.2], 1.0), gain=5.0)
    >>> tau = control(0.0, [0.1, 0.2], [0.0, 0.0])
    >>> bool(abs(tau - robot.gravity_forces([0.1, 0.2])).max() < 1e-9)
    True
    """

    symbolic: ClassVar[bool] = True
    gain_arrays: ClassVar[Mapping[str, str]] = {"gain": "_gain", "rate": "_rate"}

    robot: Robot
    reference: Reference
    gain: ArrayLike
    rate: ArrayLike = 10.0
    base: plant.Base | None = None
    _error: Callable[[FloatArray, FloatArray], FloatArray] = field(init=False, repr=False)
    _gain: FloatArray = field(init=False, repr=False)
    _rate: FloatArray = field(init=False, repr=False)
    _mask: FloatArray = field(init=False, repr=False)
    _path: BasePath | None = field(init=False, repr=False)
    _torques: MotorTorques = field(init=False, repr=False)
    _coriolis: Coriolis = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        refuse_voltages(self.robot.model, "this law commands")
        _refuse_others(self.robot)
        object.__setattr__(self, "_error", plant.motor_error(self.robot))
        object.__setattr__(self, "_gain", gain("gain", self.gain, self.robot.nv))
        object.__setattr__(self, "_rate", gain("rate", self.rate, self.robot.nv))
        object.__setattr__(self, "_mask", plant.motor_mask(self.robot))
        object.__setattr__(self, "_path", plant.base_path(self.robot, self.base))
        object.__setattr__(self, "_torques", motor_torques(self.robot))
        object.__setattr__(self, "_coriolis", motor_coriolis(self.robot))

    __reduce__ = reduce_by_fields

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        q, v = state_of(self.robot, q, v)
        s, a = self.sliding(t, q, v)
        base = base_at(self._path, t)
        held = self._torques(q, v, a, base, t) - self._coriolis(q, v, s, base, t)
        return held - self._gain * s

    @checked_call
    def energy(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """``s^T M s / 2`` of motors, shape (...) [J]."""
        q, v = state_of(self.robot, q, v)
        s, _ = self.sliding(t, q, v)
        s = s[..., list(plant.motor_speeds(self.robot))]
        M = motor_space(self.robot)(q, v, base_at(self._path, t), t).inertia
        return np.asarray(0.5 * np.einsum("...i,...ij,...j->...", s, M, s))

    @checked_call
    def sliding(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``s`` and ``v_r'``, zero where there are no motors, shape (..., nv) each."""
        q, v = state_of(self.robot, q, v)
        q_ref, v_ref, a_ref = reference_at(self.robot, self.reference, t)
        v_ref = plant.at_motors(self._mask, v_ref)
        a_ref = plant.at_motors(self._mask, a_ref)
        lag = v_ref - v
        s = -self._mask * lag - self._rate * self._error(q, q_ref)
        return s, self._mask * (a_ref + self._rate * lag)


def _refuse_others(robot: Robot) -> None:
    """Refuse robots of which the energy of motors is not that of all motions."""
    why = "passivity-based control needs a motor for each; take ComputedTorque"
    plant.refuse_passive(robot, why, floats=True)
    for name in coordinates_of_motors(robot):
        if not robot.joints[name].kind.coordinates.flat:
            raise ActuationError(
                f"the coordinates of joint {name!r} of {robot.name!r} do not add, as its kind is "
                f"{robot.joints[name].type}: take ComputedTorque"
            )
    if robot.depends_on_time:
        raise SettingsError(
            f"{robot.name!r} depends on time, and so does its inertia: passivity-based control "
            "does not count that; take ComputedTorque"
        )
