"""Gravity compensation: the motors hold the robot against its weight and its springs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from robodyn import ActuationError, BasePath, Robot
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.model.winding_motors import refuse_voltages

from ..support.gains import checked_call, state_of
from ..support.motor_torques import standing_forces, stands
from ..support.plant import Base, base_path, by_motors, motor_speeds
from ..support.symbols import base_at, is_symbolic


@dataclass(frozen=True, eq=False)
class GravityCompensation:
    """``tau = inverse_dynamics(q, 0, 0)`` at the motors, zero elsewhere.

    A robot at rest stays at rest, and moves freely when it is pushed. Of a floating robot these are
    the forces for a base that is held, or, where constraints hold the robot, as feet on the
    ground, those of the motors alone; of one with a moving base those that keep the joints at rest
    while the base moves.

    Attributes
    ----------
    robot : Robot
        The model, which may differ from the robot that is driven.
    base : BaseMotion or callable, optional
        Of a robot with a moving base: time [s] -> `BaseMotion`, or one motion for all times.

    Raises
    ------
    ShapeError
        For a moving base without ``base``, and for ``base`` without a moving base.
    ActuationError
        If motors are commanded by voltage. When called, if the motors of a closed linkage cannot
        hold it.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation
    >>> robot = rd.load("double_pendulum")
    >>> run = rd.simulate(robot, GravityCompensation(robot), q0=[0.5, 0.2], duration=0.5)
    >>> bool(abs(run.q[-1] - [0.5, 0.2]).max() < 1e-9)     # it stands still
    True
    """

    symbolic: ClassVar[bool] = True

    robot: Robot
    base: Base | None = None
    _path: BasePath | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        refuse_voltages(self.robot.model, "this law commands")
        object.__setattr__(self, "_path", base_path(self.robot, self.base))

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at time ``t`` [s]."""
        q, v = state_of(self.robot, q, v)
        rest = np.zeros(np.shape(v))
        if stands(self.robot):
            if is_symbolic(q):
                raise ActuationError(f"{self.robot.name!r} stands: its motors are solved for")
            return standing_forces(self.robot.at(t), q, rest, rest, motor_speeds(self.robot))
        base = base_at(self._path, t)
        now = self.robot.at(t)
        return by_motors(now, q, now.inverse_dynamics(q, rest, rest, base=base))
