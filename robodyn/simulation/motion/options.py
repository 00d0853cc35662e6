"""The options of a simulation, which are the same in all modes of its motion."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.literals import IntegratorName, LimitsChoice
from robodyn.motion.base_motion import BasePath
from robodyn.motion.functions import TimeFunction
from robodyn.progress import Progress, reporter
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation import integrators
from robodyn.simulation.cache.robot_cache import RobotCache
from robodyn.simulation.events.event import Event
from robodyn.simulation.events.joint_stops import RigidStops
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.friction.stick_slip import StickSlip
from robodyn.simulation.limits.joint_limits import MotorLimits
from robodyn.simulation.loads.driven_joints import Driven
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads, WrenchesAt, wrenches_of_time
from robodyn.simulation.motion.record import Record
from robodyn.simulation.step.stepper import Stepper
from robodyn.simulation.trajectory.states.event_record import EventRecord

_steppers: RobotCache[Stepper] = RobotCache("steppers")

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


@dataclass(frozen=True, eq=False)
class MotionOptions:
    """Options of `simulate` and `rollout`, under their names there.

    wrenches (..., 6), callable or None
    limits {"ignore", "report", "enforce"}
    stops: Rigid stops; compliant ones are part of the robot.
    friction: Joints stick and slide as modes; ``None``: friction is smooth.
    report: Called with the finished part, 0 to 1.
    times (n,) [s]: Instants between steps, the start and the end included.
    batch: Leading axes of a state.
    dtype: Of states, forces and samples.
    """

    integrator: IntegratorName
    wrenches: Mapping[str, FloatArray] | WrenchesAt | None
    limits: LimitsChoice | MotorLimits
    stabilization: tuple[float, float] | None
    tolerance: float | None
    every: int
    to: str | os.PathLike[str] | None
    stops: RigidStops | None
    friction: DryFriction | None
    events: tuple[Event, ...]
    report: Progress
    times: FloatArray
    batch: tuple[int, ...] = ()
    dtype: np.dtype[Any] = DOUBLE

    def stepper(
        self,
        robot: Robot,
        driven: Driven,
        base: BasePath | None,
        tell: Callable[[EventRecord], None] | None = None,
        friction: StickSlip | None = None,
    ) -> Stepper:
        """The stepper of a robot; ``tell`` is called with a record of each choice of its method.

        One of an explicit method that nothing acts on is the same in all motions of the robot.
        """

        def made() -> Stepper:
            loads = loads_on(robot, driven, base, self._acting, self.stabilization, friction)
            until, own = float(self.times[-1]), self.tolerance
            return Stepper(loads, self.integrator, tolerance=own, until=until, tell=tell)

        acting = driven or base or self.wrenches or self.stabilization or friction
        explicit = integrators.explicit(self.integrator) is not None and self.tolerance is None
        key = self.integrator if explicit and not acting else None
        return _steppers.get(robot, key, made)

    @cached_property
    def _acting(self) -> Any:
        """The wrenches; functions of time are called beforehand where machine code does steps."""
        wrenches = self.wrenches
        if not isinstance(wrenches, TimeFunction) or integrators.explicit(self.integrator) is None:
            return wrenches
        return wrenches_of_time(wrenches, self.times) or wrenches

    def in_single_precision(
        self, robot: Robot, driven: Driven, base: BasePath | None
    ) -> MotionOptions:
        """The options in float32, if machine code does all steps of a robot without loops.

        Closing loops and locating events need float64.
        """
        stepper = self.stepper(robot, driven, base)
        fitting = stepper.by_machine_code and not (robot.nc or self.stops or self.friction)
        return replace(self, dtype=SINGLE) if fitting else self

    def record(self, robot: Robot, base: BasePath | None, size: int, driven: Driven) -> Record:
        """The record of the samples of a robot, with room for ``size`` of them."""
        loads = PrescribedLoads(base, self.wrenches or {})
        return Record(
            robot, loads, size, self.batch, driven=driven.speeds, friction=self.friction,
            every=self.every, to=self.to, dtype=self.dtype,
        )  # fmt: skip

    def for_motion(self, k: int) -> MotionOptions:
        """The options for one of many motions, of which every step is kept in memory."""
        own = PrescribedLoads(wrenches=self.wrenches or {}).for_motion(k)
        kept: Any = {"every": 1, "to": None, "batch": (), "report": reporter(None)}
        return replace(self, wrenches=own.wrenches, **kept)
