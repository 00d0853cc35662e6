"""A mode while a motion is in it: the stepper of its robot, with numbers and as machine code."""

from __future__ import annotations

from collections.abc import Callable

from robodyn.array_types import FloatArray
from robodyn.robot import Robot
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.trajectory.states.event_record import EventRecord

__all__ = ["ActiveMode"]


class ActiveMode:
    """Steppers, limits and machine code for the robot of a mode.

    tell: Called with a record of each choice of the integrator.
    mode: May be replaced by a mode that differs in its controller alone.
    stepper, free: With the joints that stops hold, and with these joints free.
    """

    def __init__(
        self, mode: Mode, options: MotionOptions, tell: Callable[[EventRecord], None]
    ) -> None:
        self.mode, self._options = mode, options
        self.stepper = self.free = options.stepper(mode.robot, mode.driven, mode.base, tell=tell)
        if mode.held:
            self.free = options.stepper(mode.robot, mode.paths, mode.base)
        self.limits = options.limits_of(mode.robot)
        self._others = {mode.robot: self.stepper}
        if mode.controller is not None:  # results do not depend on where blocks end, bit for bit
            code = self.stepper.by_machine_code and self.limits.of_joints_alone
            mode.controller.runs_code = code and not options.batch

    def compiled(
        self,
        times: FloatArray,
        q: FloatArray,
        v: FloatArray,
        with_controller: bool,
        tabled: int | None = None,
    ) -> CompiledMotion | None:
        """The mode as machine code, from a state on; ``None`` if there is no machine code.

        times (n,) [s]
        q, v (..., nq), (..., nv)
        with_controller: Include the controller, if it is machine code.
        tabled, optional: Number of instants whose paths and loads are evaluated together.
        """
        controller, compiled = self.mode.controller, None
        if not self.stepper.by_machine_code:
            return None
        if controller is not None and with_controller and self.limits.of_joints_alone:
            compiled = controller.compiled
        return self.stepper.compiled(times, q, v, compiled, self.limits.efforts, tabled)

    def accelerations(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, robot: Robot | None
    ) -> FloatArray:
        """Accelerations, shape (nv,), of this robot or of another one with the same joints."""
        robot = self.mode.robot if robot is None else robot
        if robot not in self._others:
            moves = robot, self.mode.driven, self.mode.base
            self._others[robot] = self._options.stepper(*moves)
        return self._others[robot].accelerations(t, q, v, tau)[0]
