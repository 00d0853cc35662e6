"""The present time, state and mode of a motion, its forces, and the records of its modes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.errors import ImpactError, RobodynError, SettingsError, SimulationError
from robodyn.robot import Robot
from robodyn.simulation.checks.energy_check import warn_of_imbalance
from robodyn.simulation.checks.friction_check import warn_of_friction
from robodyn.simulation.control.running_controller import applied_forces
from robodyn.simulation.events.event import State
from robodyn.simulation.events.witness import StepSamples
from robodyn.simulation.friction.stick_slip import StickSlip
from robodyn.simulation.integrators.method import is_breakdown
from robodyn.simulation.limits.joint_limits import Limits
from robodyn.simulation.motion.broken_motions import BrokenMotions, OnError
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.motion.record import Record
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.step.stepper import Stepper
from robodyn.simulation.trajectory.phases import joined
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import SAME_TIME


class ModeRecords:
    """Samples and events of a motion.

    current: Record of the present mode.
    """

    current: Record

    def __init__(self, options: MotionOptions) -> None:
        self._options = options
        self._records: list[tuple[Mode, Record]] = []
        self._events: list[EventRecord] = []

    @property
    def empty(self) -> bool:
        """Whether there are no samples yet."""
        return not any(record.count for _, record in self._records)

    def begin(self, mode: Mode, t: float) -> None:
        """Begin the record of a mode at ``t`` [s].

        Raises SettingsError: If another robot would have to be written into the files of the first.
        """
        if self._records and self._options.to is not None:
            first = self._records[0][0]
            if mode.robot is first.robot and mode.base is first.base:
                return
            raise SettingsError(
                f"an event at t = {t:.6g} s changes what moves; such a motion cannot be written "
                "while it goes on: leave out to=, and save it afterwards"
            )
        times = self._options.times
        size = len(times) - int(times.searchsorted(t)) + bool(self._records)
        self.current = self._options.record(mode.robot, mode.base, size, mode.driven)
        self._records.append((mode, self.current))

    def note(self, event: EventRecord) -> None:
        """Add an event."""
        self._events.append(event)
        self.current.events.append(event)

    def trajectory(self, *, complete: bool = True) -> Trajectory:
        """The trajectory; ``complete``: the motion has not ended early."""
        if len(self._records) == 1:
            return self.current.trajectory(complete=complete)
        return joined(
            [record.trajectory(complete=complete) for _, record in self._used()],
            tuple(self._events),
        )

    def so_far(self) -> Trajectory | None:
        """The trajectory of a motion that has ended early; ``None`` if there are no samples."""
        some = any(record.started for _, record in self._records)
        return self.trajectory(complete=False) if some else None

    def check_steps(self, run: Trajectory, order: int, *, implicit: bool = False) -> None:
        """Warn once of a mode whose steps are too long, by a method of some order."""
        used = self._used()
        for (_, record), piece in zip(used, run.phases or (run,), strict=True):
            every = record.every
            friction = warn_of_friction(piece, every, implicit=implicit)
            if friction or warn_of_imbalance(piece, every, order):
                return

    def _used(self) -> list[tuple[Mode, Record]]:
        return [x for x in self._records if x[1].count or self._options.to is not None]

    def breaking(self, t: float, until: float | None = None) -> OnError:
        """Context that raises `SimulationError` for a breakdown.

        t [s]: The present instant.
        until [s], optional: The instant to which the motion was going.
        """
        return OnError(functools.partial(self._broken, t, t if until is None else until))

    def _broken(self, t: float, until: float, error: BaseException) -> None:
        found, cause = error, error.__cause__
        if isinstance(error, RobodynError) and is_breakdown(error):
            found, cause = self.current.broken(until, error), error
        if not isinstance(found, SimulationError | ImpactError):
            return
        when = t if cause is None else until
        shown = f"at t = {when:.6g} s {found}" if isinstance(found, ImpactError) else str(found)
        raise SimulationError(shown, time=when, motion=found.motion) from cause or found


class MotionState:
    """A motion at its present instant.

    times (n,) [s]: All instants between steps: those asked for, and those of the controller.
    interval [s]: Length of a step that was asked for.
    mode: The present mode.
    stepper, free: Of its robot, with the joints that stops hold, and with these joints free.
    friction: Which joints stick and slide; ``None``: none do, as friction is smooth.
    q, v, tau (..., nq), (..., nv), (..., nv): The state, and the forces of the controller until it
        is sampled again.
    sampled: The state is recorded.
    keep_next: The next sample is kept regardless of ``every``.
    asked_times (n,) [s]: Those of these instants that were asked for.
    asked (..., nv), or None: Forces of the controller sampled at this instant, which do not act
        yet.
    broken: Those of a rollout that have broken down: they stand where they started.
    """

    mode: Mode
    stepper: Stepper
    free: Stepper
    friction: StickSlip | None
    limits: Limits
    broken: BrokenMotions
    q: FloatArray
    v: FloatArray

    def __init__(self, mode: Mode, options: MotionOptions) -> None:
        self.times = times = options.times
        self._options, self.asked_times, self._ahead = options, times, times
        self.interval = float(times[1] - times[0]) if len(times) > 1 else 1.0
        self.t = float(times[0])
        self.tau = np.zeros((*options.batch, mode.robot.nv), options.dtype)
        self.records = ModeRecords(options)
        self.sampled = self.keep_next = False
        self.asked: FloatArray | None = None
        self._acting: tuple[FloatArray, FloatArray] | None = None
        self._begin(mode)

    def enter(self, mode: Mode) -> None:
        """Enter another mode, or the same one again."""
        if mode.differs(self.mode):
            self._begin(mode)
        elif mode.controller is not self.mode.controller:
            self.mode = mode
            self._watch_controller()

    def _begin(self, mode: Mode) -> None:
        self.mode, options, robot = mode, self._options, mode.robot
        self.friction = None
        if options.friction is not None:
            found = StickSlip(robot, options.friction, mode.driven.speeds)
            self.friction = found if found.names else None
        friction = self.friction
        moved = (robot, mode.driven, mode.base)
        self.stepper = self.free = options.stepper(*moved, self.records.note, friction)
        if mode.held:
            self.free = options.stepper(robot, mode.paths, mode.base, friction=friction)
        self.limits, self._others = Limits(robot, options.limits), {robot: self.stepper}
        if mode.controller is not None:  # results do not depend on where blocks end, bit for bit
            code = self.stepper.by_machine_code and self.limits.of_joints_alone
            mode.controller.runs_code = code and not options.batch
        self.records.begin(mode, self.t)
        self._watch_controller()
        if self.tau.shape[-1] != robot.nv:
            self.tau = np.zeros(robot.nv)

    def _watch_controller(self) -> None:
        if self.mode.controller is not None:
            self.records.current.controller_states.watch(self.mode.controller.log)
        self._end_steps_at_its_instants()

    def _end_steps_at_its_instants(self) -> None:
        """Let the steps from here on end at the instants of the present controller, too."""
        own = self.mode.controller
        ahead = self.asked_times if own is None or own.times is None else own.times
        if self.t == self.times[0]:
            self.times = ahead
        elif ahead is not self._ahead:
            done = self.times[self.times <= self.t]
            self.times = np.concatenate([done, ahead[ahead > self.t]])
        self._ahead = ahead
        between = np.zeros(0)
        if self.times is not self.asked_times:
            between = self.times[~np.isin(self.times, self.asked_times)]
        self.records.current.end_steps_at(between)

    def compiled(self, with_controller: bool, tabled: int | None = None) -> CompiledMotion | None:
        """The motion from here on as machine code; ``None`` if there is none of it.

        with_controller: Include the controller, if it is machine code.
        tabled, optional: Number of instants whose paths and loads are evaluated together.
        """
        controller, compiled = self.mode.controller, None
        if not self.stepper.by_machine_code:
            return None
        if controller is not None and with_controller and self.limits.of_joints_alone:
            compiled = controller.compiled
        efforts = self.limits.efforts
        return self.stepper.compiled(self.times, self.q, self.v, compiled, efforts, tabled)

    def move(self, t: float, q: FloatArray, v: FloatArray) -> None:
        """Move to an instant and a state."""
        self.t = t
        self.jump(q, v)
        self.asked = None

    def jump(self, q: FloatArray, v: FloatArray) -> None:
        """Jump to another state at the same instant."""
        self.q, self.v = q, v
        self.sampled, self._acting = False, None

    def let_act(self, tau: FloatArray) -> None:
        """Set the forces of the controller from now on."""
        self.tau, self._acting = tau, None

    def sample_controller(self) -> FloatArray:
        """Sample the controller: forces, shape (..., nv), which do not act yet [N m, N].

        It is called once at an instant.
        """
        tau, self.asked = self.forces() if self.asked is None else self.asked, None
        if not all_finite(tau) or self.broken.rows:
            now = self.t * (1.0 + SAME_TIME)
            step = int(np.searchsorted(self.times, now, side="right")) - 1
            return self.broken.finite(self.mode.robot, tau, self.t, step, self.breaking(self.t))
        return tau

    def forces(self) -> FloatArray:
        """Forces of the controller at this instant, cut to limits."""
        return applied_forces(self.mode.controller, self.limits.cut, self.t, self.q, self.v)

    def accelerations(self) -> tuple[FloatArray, FloatArray]:
        """Accelerations, and forces with those that drive or hold joints; computed once."""
        if self._acting is None:
            with self.breaking(self.t):
                state = (self.t, self.q, self.v, self.tau)
                self._acting = self.stepper.accelerations(*state)
        return self._acting

    def record_sample(self) -> None:
        """Record the state, once; the forces of stops are not part of ``tau``."""
        if self.sampled:
            return
        keep, self.keep_next = self.keep_next, False
        a, forces = self.accelerations()
        if self.mode.held:
            forces, at = forces.copy(), [stop.speed for stop in self.mode.held]
            forces[at] = self.tau[at]
        sample = (self.broken.unknown(x) for x in (self.q, self.v, a, forces))
        self.records.current.add(self.t, *sample, keep=keep)
        self.sampled = True

    # -- for events -------------------------------------------------------------------------------

    def of_events(
        self, t: float, q: FloatArray, v: FloatArray, earlier: tuple[str, ...] = ()
    ) -> State:
        """A state of this mode, under the forces that act: for witness functions and actions."""

        def accelerations(robot: Robot | None = None) -> FloatArray:
            robot = self.mode.robot if robot is None else robot
            if robot not in self._others:  # one with the same joints
                moves = robot, self.mode.driven, self.mode.base
                self._others[robot] = self._options.stepper(*moves, friction=self.friction)
            return self._others[robot].accelerations(t, q, v, self.tau)[0]

        return self.mode.state(t, q, v, earlier, accelerations)

    def of_samples(self, t: FloatArray, q: FloatArray, v: FloatArray) -> State:
        """A state that holds many samples of this mode, whose accelerations are not known."""
        if self.mode.base is not None:
            raise SettingsError("the motion of the base is asked for one sample at a time")
        return self.mode.state(t, q, v)  # type: ignore[arg-type]

    def holding_forces(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces that drive or hold joints, beside those of the controller, shape (nv,)."""
        return self.stepper.accelerations(t, q, v, self.tau)[1] - self.tau

    def free_accelerations(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Accelerations while no stop holds a joint, shape (nv,) [rad/s^2, m/s^2]."""
        return self.free.accelerations(t, q, v, self.tau)[0]

    # -- for joints that stick ---------------------------------------------------------------------

    def holding(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Friction of what sticks, shape (n,) [N m, N]."""
        return self.stepper.holding(t, q, v, self.tau)

    def settled(self, t: float, q: FloatArray, v: FloatArray, over: Any) -> FloatArray:
        """Speeds, when it is decided what sticks from now on; see `StickSlip.settle`."""
        return self.stepper.settled(t, q, v, self.tau, over, self.interval)

    def margins_are_known(self, motion: CompiledMotion) -> bool:
        """Whether samples of machine code show what breaks away within its steps."""
        constant = self.stepper.loads_are_constant and self.stepper.loads.wrenches_alone
        return not self.friction or motion.controller is None or constant

    def holding_of(self, samples: StepSamples) -> tuple[FloatArray, FloatArray]:
        """Friction of what sticks at samples, and at the ends of steps under their forces.

        Shapes (k + 1, n), (k, n).
        """
        friction, (t, q, v, a, forces, _) = self.friction, samples
        assert friction is not None
        if np.isnan(a[-1, 0]):  # a controller would have been sampled there
            ends = self.stepper.holding(0.0, q[1:], v[1:], forces[:-1])
            starts = self.stepper.holding(0.0, q[:-1], v[:-1], forces[:-1])
            return np.concatenate([starts, ends[-1:]]), ends
        loads, outside = dict[str, Any](), self.stepper.loads.external
        if not self.stepper.loads.none_outside:
            loads = {"wrenches": outside.wrenches_at(t, q, v), "base": outside.base_at(t)}
        found = friction.holding(q, v, a, forces, loads)
        return found, found[1:]

    @property
    def energy(self) -> float:
        """Kinetic and potential [J]."""
        return self.mode.state(self.t, self.q, self.v).energy

    def breaking(self, until: float) -> OnError:
        """Context that raises a breakdown on the way to an instant."""
        return self.records.breaking(self.t, until)
