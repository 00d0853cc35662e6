"""The loop of a motion: the only place where simulated time goes on.

A motion is a sequence of modes; what an event changes makes the next one. In a mode, machine code
carries the robot over as many steps as it can: `RecordedSteps` where there are no events,
`SpeculativeSteps` where an event may happen. It hands back before a step in which an event may
happen, or which it cannot do. Such a step is done here, with numbers: `EventDetector` locates the
first event within it, the motion goes there, and `EventHandler` applies what it changes.
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.errors import SettingsError, SimulationError
from robodyn.simulation.events.stop_events import StopEvents
from robodyn.simulation.events.witness import WitnessFunction
from robodyn.simulation.motion.broken_motions import BrokenMotions, attaching_trajectory
from robodyn.simulation.motion.event_handler import EventHandler
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.motion.motion_state import MotionState
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.motion.recorded_steps import RecordedSteps
from robodyn.simulation.motion.speculative_steps import LONGEST_BLOCK, SpeculativeSteps
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import SAME_TIME

#: Number of steps between reports of progress, unless steps are done in larger blocks.
STEPS_PER_REPORT = 50


class Motion:
    """A motion over the instants of ``options``, or until an event ends it.

    mode: The first one, started.
    """

    def __init__(self, mode: Mode, options: MotionOptions) -> None:
        self._report = options.report
        self._now = MotionState(mode, options)
        stops = _stop_events(self._now, options)
        self._events = EventHandler(self._now, options.events, stops)
        reached = stops.of(mode.robot) if stops is not None else ()
        self._has_events = bool(options.events or reached or self._now.friction)
        self._recorded: RecordedSteps | None = None  # where there are no events
        self._speculative: SpeculativeSteps | None = None  # of the mode that follows
        self._speculative_mode: Mode | None = None

    def run(self, q: FloatArray, v: FloatArray) -> Motion:
        """Simulate it from a state, and return it; a batch of states must have no events."""
        k = reported = 0
        with attaching_trajectory(self.so_far):
            self._start(q, v)
            while k < (last := len(self._now.times) - 1) and not self._events.ended:
                if k >= reported:
                    self._report(k / last)
                    reported = k + STEPS_PER_REPORT
                k += self._advance_by_machine_code(k) or self._step(k)
            if not self._events.ended:
                self._finish()
            self._now.broken.refuse()
        return self

    def _start(self, q: FloatArray, v: FloatArray) -> None:
        """Set the state at the first instant."""
        now = self._now
        now.jump(*now.stepper.start(now.t, q, v))
        now.broken = BrokenMotions(now.q, now.v)
        motion = None if self._has_events else now.compiled(with_controller=True)
        if motion is None:
            self._events.start()
        else:
            controller = now.mode.controller, now.limits
            self._recorded = RecordedSteps(
                motion, now.stepper, *controller, now.times, now.records, now.broken
            )

    # -- steps by machine code --------------------------------------------------------------------

    def _advance_by_machine_code(self, k: int) -> int:
        """Do steps without an event from an instant on, and return how many were done.

        If none was done, the controller may have been sampled already.
        """
        if self._recorded is not None:
            return self._recorded.advance(k)
        events, now = self._events, self._now
        if not self._has_events or now.keep_next or now.sampled:
            return 0
        until = events.next_instant
        if until <= now.times[k + 1] or not events.detector.sure_of_sides:
            return 0
        steps, stop, before = self._speculative_steps(), k + 1, now.tau
        if steps is None:
            return 0
        if not steps.by_python:
            stop = int(np.searchsorted(now.times, until)) - 1
        else:
            now.asked = now.forces()
            if not all_finite(now.asked):
                return 0
        count = steps.advance(k, stop, now.q, now.v, now.asked)
        now.tau = before
        if count:
            now.tau = steps.tau[count - 1].copy() if now.asked is None else now.asked
            self._record(steps, k, count)
        if steps.interrupt is not None:
            raise steps.interrupt
        return count

    def _speculative_steps(self) -> SpeculativeSteps | None:
        """Steps of this mode by machine code; ``None`` if Python takes part in each step."""
        now = self._now
        mode = now.mode
        if now.friction is not None and not now.stepper.by_machine_code:
            return None  # until nothing sticks
        if mode is self._speculative_mode:
            return self._speculative
        self._speculative, self._speculative_mode = None, mode
        # while a stop holds a joint, the controller is sampled each step: it may free the joint
        motion = now.compiled(not mode.held, LONGEST_BLOCK)
        if motion is not None and now.margins_are_known(motion):
            held = [stop.speed for stop in mode.held]
            to_the_end = bool(held or now.friction) and motion.controller is None
            self._speculative = SpeculativeSteps(
                motion, mode.controller, now.times, self._events.detector, held, to_the_end,
                now.let_act, now.friction,
            )  # fmt: skip
        return self._speculative

    def _record(self, steps: SpeculativeSteps, k: int, count: int) -> None:
        """Record some steps, and move to their end."""
        now = self._now
        samples = (x[:count] for x in (steps.q, steps.v, steps.a, steps.tau))
        record = now.records.current
        if count == 1:
            record.add(now.t, *(x[0] for x in samples))
        else:
            record.extend(now.times[k : k + count], *samples)
        now.move(float(now.times[k + count]), steps.q[count].copy(), steps.v[count].copy())

    # -- steps with numbers -----------------------------------------------------------------------

    def _step(self, k: int) -> int:
        """Do one step with numbers from an instant on, with all events in it."""
        now, events = self._now, self._events
        events.let_act(now.sample_controller())
        step = float(now.times[k + 1]) - now.t
        events.apply(events.due())
        while not events.ended and now.t < (end := float(now.times[k + 1])):
            try:
                now.record_sample()
                found = self._step_to_event(min(events.next_instant, end), step)
            except SimulationError as error:
                self._go_on_without(error)
                continue
            events.apply((*events.due(), *found))
        return 1

    def _go_on_without(self, error: SimulationError) -> None:
        """Go on without the motions of a rollout that an error names."""
        now = self._now
        now.broken.add(error, now.t)
        sampled, tau = now.sampled, now.broken.without_forces(now.tau)
        now.jump(*now.broken.at_start(now.q, now.v))
        now.let_act(tau)
        now.sampled = sampled

    def _step_to_event(self, goal: float, step: float) -> tuple[WitnessFunction, ...]:
        """Move to an instant, or to the first events on the way, which are returned."""
        now, detector = self._now, self._events.detector
        t, q, v, tau, h = now.t, now.q, now.v, now.tau, goal - now.t
        a = now.accelerations()[0]

        known = {0.0: (q, v)}

        def after(part: float) -> tuple[FloatArray, FloatArray]:
            if part not in known:
                known[part] = now.stepper.step(t, q, v, tau, part, a)
            return known[part]

        with now.breaking(goal):
            part, found = detector.first(t, h, step, after)
            if part == 0.0:
                return found
            state = after(part)
        now.move(goal if h - part <= SAME_TIME * step else t + part, *state)
        detector.moved(now.t, now.q, now.v)
        return found

    # -- results ----------------------------------------------------------------------------------

    def _finish(self) -> None:
        """Record the sample of the last instant."""
        if self._recorded is not None:
            self._recorded.finish()
            return
        now = self._now
        self._events.let_act(now.sample_controller())
        while not now.sampled:
            try:
                now.record_sample()
            except SimulationError as error:
                self._go_on_without(error)

    def so_far(self) -> Trajectory | None:
        """The trajectory of a motion that has ended early; ``None`` if there are no samples."""
        if self._recorded is not None:
            self._recorded.count()
        return self._now.records.so_far()

    def trajectory(self) -> Trajectory:
        """The trajectory of the motion."""
        return self._now.records.trajectory()

    def check_steps(self, run: Trajectory) -> None:
        """Warn once if steps were too long for the energy, or for friction."""
        stepper = self._now.stepper
        if stepper.steps_are_given:
            self._now.records.check_steps(run, stepper.order, implicit=stepper.implicit)


def _stop_events(now: MotionState, options: MotionOptions) -> StopEvents | None:
    """The events of the stops that a motion was given.

    Raises SettingsError: If the integrator cannot move a robot while stops hold joints of it.
    """
    if options.stops is None:
        return None
    mode, forces, free_motion = now.mode, now.holding_forces, now.free_accelerations
    found = StopEvents(options.stops, now.interval, forces, free_motion)
    free = [stop for stop in found.of(mode.robot) if stop.speed not in mode.driven.speeds]
    try:
        options.stepper(mode.robot, mode.holding(tuple(free[:1])).driven, mode.base)
    except SettingsError as error:
        raise SettingsError(
            f"rigid stops hold joints where they are, as locked= does, and {error}, or give "
            "robodyn.CompliantStops"
        ) from None
    return found
