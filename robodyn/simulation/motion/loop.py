"""The loop of a motion: the only place where simulated time goes on.

A motion is a sequence of modes; what an event changes makes the next one. In a mode, machine code
carries the robot over as many steps as it can: `RecordedSteps` where there are no events,
`SpeculativeSteps` where an event may happen. It hands back before a step in which an event may
happen, or which it cannot do. Such a step is done here, with numbers: `EventDetector` locates the
first event within it, the motion goes there, and the event changes what it changes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.errors import SettingsError, ShapeError
from robodyn.robot import Robot
from robodyn.simulation.control.callbacks import refuse_not_finite
from robodyn.simulation.control.running_controller import applied_forces
from robodyn.simulation.events.detector import EventDetector, WitnessFunction
from robodyn.simulation.events.event import Change, Event, State
from robodyn.simulation.events.witness import instants_of, never, witness_of
from robodyn.simulation.events.zeno import Zeno
from robodyn.simulation.motion.active_mode import ActiveMode
from robodyn.simulation.motion.breakdown import OnError, keeping
from robodyn.simulation.motion.joint_stops import (
    Contact,
    JointStop,
    check_start,
    event_records,
)
from robodyn.simulation.motion.mode import Mode, project_state
from robodyn.simulation.motion.mode_records import ModeRecords
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.motion.progress import Progress
from robodyn.simulation.motion.recorded_steps import RecordedSteps
from robodyn.simulation.motion.speculative_steps import (
    LONGEST_BLOCK,
    SpeculativeSteps,
    StopConditions,
)
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import SAME_TIME

__all__ = ["simulate_motion"]

#: Steps after which progress is reported, where they are not done in larger blocks.
REPORTED = 50


def simulate_motion(
    mode: Mode,
    events: Sequence[Event],
    q: FloatArray,
    v: FloatArray,
    times: FloatArray,
    options: MotionOptions,
    report: Progress,
) -> Motion:
    """The motion from a state over some instants, or until an event ends it.

    Parameters
    ----------
    mode : Mode
        The first one, started.
    events : sequence of Event
        None for a batch of states.
    q, v : ndarray, shape (..., nq), (..., nv)
    times : ndarray, shape (n,) [s]
    options : MotionOptions
    report : callable
        Told the finished part.
    """
    motion = Motion(mode, events, times, options)
    last, k, reported = len(times) - 1, 0, 0
    with keeping(motion.so_far):
        motion.start(q, v)
        while k < last and not motion.ended:
            if k >= reported:
                report(k / last)
                reported = k + REPORTED
            k += motion.advance_by_machine_code(k) or motion.step(k)
        if not motion.ended:
            motion.finish()
    return motion


class Motion:
    """A motion while it goes on.

    Parameters
    ----------
    mode : Mode
    events : sequence of Event
    times : ndarray, shape (n,) [s]
    options : MotionOptions

    Attributes
    ----------
    ended : bool
        An event has ended it.
    """

    _active: ActiveMode
    _begun: bool

    def __init__(
        self, mode: Mode, events: Sequence[Event], times: FloatArray, options: MotionOptions
    ) -> None:
        self._times, self._options, self.ended = times, options, False
        self._interval = float(times[1] - times[0]) if len(times) > 1 else 1.0
        self._t, self._tau = float(times[0]), np.zeros((*options.batch, mode.robot.nv))
        self._sampled = False
        self._kept = False  # whether the next sample is, whatever ``every`` says
        self._forces: tuple[FloatArray, FloatArray] | None = None
        self._records = ModeRecords(options, times)
        self._held: tuple[JointStop, ...] = ()
        self._recorded: RecordedSteps | None = None  # where there are no events
        self._speculative: SpeculativeSteps | None = None  # of this mode, once it has ``begun``
        self._asked: FloatArray | None = None  # of the controller at this instant, not acting yet
        self._stop_witnesses: dict[tuple[JointStop, bool], WitnessFunction] = {}
        witnesses = {event: witness_of(event, self._state, self._samples) for event in events}
        self._timed = [(at, witnesses[event]) for at, event in instants_of(events, times)]
        self._next_instant = min((at for at, _ in self._timed), default=np.inf)
        self._witnesses = list(witnesses.values())
        self._zeno, self._detector = Zeno(), EventDetector(())
        self._begin(mode)

    @property
    def _mode(self) -> Mode:
        return self._active.mode

    def start(self, q: FloatArray, v: FloatArray) -> None:
        """Be at the first instant, in a state."""
        self._q, self._v = self._active.stepper.start(self._t, q, v)
        check_start(self._mode.robot, self._active.stops, self._q)
        self._detector.restart(self._armed())
        self._detector.start(self._t, self._q, self._v)
        if not (self._witnesses or self._active.stops):
            motion = self._active.compiled(self._times, self._q, self._v, with_controller=True)
            if motion is not None:
                self._recorded = RecordedSteps(
                    motion, self._active.stepper, self._mode.controller, self._active.limits,
                    self._times, self._records.current,
                )  # fmt: skip

    # -- from instant to instant ------------------------------------------------------------------

    def _sample_controller(self) -> None:
        """Ask the controller for torques, which are held until it is asked again."""
        tau = self._asked
        if tau is None:
            tau = self._torques()
        self._asked = None
        with self._breaking(self._t):
            step = int(np.searchsorted(self._times, self._t * (1.0 + SAME_TIME), side="right")) - 1
            refuse_not_finite(self._mode.robot, tau, self._t, step)
        starts = self._records.empty
        if self._active.stops and (self._held or starts):
            contact = self._resolve_stops(tau)
            if contact.held != self._held:
                if not starts:
                    self._record_sample()  # with the torques until now
                self._tau = tau
                self._take_contact(contact)
                self._detector.restart(self._armed())
        self._tau, self._forces = tau, None

    def _torques(self) -> FloatArray:
        state = self._t, self._q, self._v
        return applied_forces(self._mode.controller, self._active.limits.cut, *state)

    def advance_by_machine_code(self, k: int) -> int:
        """Do steps without an event from an instant on; how many they were.

        If there is none, the controller may have been asked already.
        """
        if self._recorded is not None:
            return self._recorded.advance(k)
        until = self._next_instant
        if (
            self._kept
            or self._sampled
            or not self._detector.sure_of_sides
            or until <= self._times[k + 1]
        ):
            return 0
        if not self._begun:
            self._speculative, self._begun = self._speculative_steps(), True
        steps, stop, before = self._speculative, k + 1, self._tau
        if steps is None:
            return 0
        if not steps.by_python:
            stop = int(np.searchsorted(self._times, until)) - 1
        else:
            self._asked = self._torques()
            if not all_finite(self._asked):
                return 0
        count = steps.advance(k, stop, self._q, self._v, self._asked)
        self._tau = before
        if count:
            self._tau = steps.tau[count - 1].copy() if self._asked is None else self._asked
            self._take(steps, k, count)
        if steps.interrupt is not None:
            raise steps.interrupt
        return count

    def _take(self, steps: SpeculativeSteps, k: int, count: int) -> None:
        """Record some steps, and be at their end."""
        samples = (x[:count] for x in (steps.q, steps.v, steps.a, steps.tau))
        record = self._records.current
        if count == 1:
            record.add(self._t, *(x[0] for x in samples))
        else:
            record.extend(self._times[k : k + count], *samples)
        self._t = float(self._times[k + count])
        self._q, self._v = steps.q[count].copy(), steps.v[count].copy()
        self._sampled, self._forces, self._asked = False, None, None

    def _speculative_steps(self) -> SpeculativeSteps | None:
        """Steps of this mode by machine code; none where Python takes part in them."""
        if self._options.batch:
            return None
        state = self._times, self._q, self._v  # a controller is asked each step what a stop holds
        motion = self._active.compiled(*state, not self._held, LONGEST_BLOCK)
        if motion is None:
            return None
        stops = StopConditions(self._active.reachable_stops, self._held, self._mode.robot.nq)
        controller = self._mode.controller
        return SpeculativeSteps(
            motion, controller, self._times, self._detector, stops, self._let_act
        )

    def _let_act(self, tau: FloatArray) -> None:
        self._tau = tau

    def _record_sample(self) -> None:
        """Record the state, once; what a stop gives is no torque of the controller."""
        if self._sampled:
            return
        keep, self._kept = self._kept, False
        a, forces = self._accelerations()
        if self._held:
            forces, at = forces.copy(), [stop.speed for stop in self._held]
            forces[at] = self._tau[at]
        self._records.current.add(self._t, self._q, self._v, a, forces, keep=keep)
        self._sampled = True

    def step(self, k: int) -> int:
        """Do the step from an instant on with numbers, through all that happens in it: one step."""
        end = float(self._times[k + 1])
        if not (self._witnesses or self._active.stops):
            return self._step_without_events(k, end)
        self._sample_controller()
        step = end - self._t
        self._apply_events(self._due())
        while not self.ended and self._t < end:
            self._record_sample()
            goal = min((at for at, _ in self._timed if at > self._t), default=end)
            found = self._move(min(goal, end), step)
            self._apply_events((*self._due(), *found))
        return 1

    def _step_without_events(self, k: int, end: float) -> int:
        """The same where none can happen."""
        t, q, v, tau = self._t, self._q, self._v, self._torques()
        with self._breaking(t):
            refuse_not_finite(self._mode.robot, tau, t, k)
            a, forces = self._active.stepper.accelerations(t, q, v, tau)
            self._records.current.add(t, q, v, a, forces)
        with self._breaking(end):
            self._q, self._v = self._active.stepper.step(t, q, v, tau, end - t, a)
        self._t, self._tau, self._forces = end, tau, None
        return 1

    def finish(self) -> None:
        """Sample the last instant."""
        if self._recorded is not None:
            self._recorded.finish()
        else:
            self._sample_controller()
            self._record_sample()

    def _move(self, goal: float, step: float) -> tuple[WitnessFunction, ...]:
        """Move to an instant, or to the first events on the way, which are returned."""
        t, q, v, tau, h = self._t, self._q, self._v, self._tau, goal - self._t
        a = self._accelerations()[0]

        @functools.cache
        def after(part: float) -> tuple[FloatArray, FloatArray]:
            return (q, v) if part == 0.0 else self._active.stepper.step(t, q, v, tau, part, a)

        with self._breaking(goal):
            part, found = self._detector.first(t, h, step, after)
            if part == 0.0:
                return found
            self._q, self._v = after(part)
        self._t = goal if h - part <= SAME_TIME * step else t + part
        self._sampled, self._forces = False, None
        self._detector.moved(self._t, self._q, self._v)
        return found

    def _due(self) -> tuple[WitnessFunction, ...]:
        """Events at instants, of this instant."""
        due = tuple(witness for at, witness in self._timed if at == self._t)
        self._timed = [(at, witness) for at, witness in self._timed if at > self._t]
        self._next_instant = min((at for at, _ in self._timed), default=np.inf)
        return due

    # -- events -----------------------------------------------------------------------------------

    def _apply_events(self, found: Sequence[WitnessFunction]) -> None:
        """Apply all events of this instant: those of stops, then the others in the order given."""
        if not found:
            return
        self._kept = True
        self._record_sample()
        before, waiting, changed_by_events = self._mode, list(found), False
        while waiting:
            waiting.sort(key=lambda x: self._witnesses.index(x) if x in self._witnesses else -1)
            witness = waiting.pop(0)
            with self._breaking(self._t):
                instant = witness.name, self._t, self._interval
                if witness in self._witnesses:
                    self._zeno.is_endless(*instant)
                    changed_by_events |= self._apply_event(witness)
                else:
                    rests = self._zeno.is_endless(*instant, may_rest=True)
                    self._take_contact(
                        self._resolve_stops(self._tau, witness.name if rests else "")
                    )
                    self._detector.done(witness, False)
                new = self._detector.carried_across(self._witnesses, self._t, self._q, self._v)
            waiting += [x for x in new if x not in waiting]
        if changed_by_events and self._active.stops:
            self._take_contact(self._resolve_stops(self._tau))
        self._detector.restart(self._armed())
        after = self._mode
        if after.robot is not before.robot or after.controller is not before.controller:
            self._sample_controller()
        self._kept = not self._sampled
        if self.ended:
            self._record_sample()

    def _apply_event(self, witness: WitnessFunction) -> bool:
        """Take the actions of an event, one after the other, and record it."""
        parts, lost, before = False, 0.0, None
        earlier = tuple(x.name for x in self._detector.happened)
        for action in witness.actions:
            change = action(self._state(self._t, self._q, self._v, earlier))
            if not isinstance(change, Change):
                raise ShapeError(
                    f"an action of event {witness.name!r} returned {change!r} at t = {self._t:.6g} "
                    "s, expected a robodyn.events.Change",
                    name="events",
                    given=change,
                )
            self.ended |= change.stop
            parts |= change.parts
            if change.changes:
                here = self._energy()
                before = here if before is None else before
                self._change(change)
                here -= self._energy()
                lost += here if change.dissipated is None else change.dissipated
        loss = 0.0 if before is None else before - self._energy()
        self._records.note(EventRecord(self._t, witness.name, loss, dissipated=lost))
        self._detector.done(witness, parts)
        return before is not None

    def _change(self, change: Change) -> None:
        """Go on in the mode, and from the state, that a change makes."""
        state = self._mode.state(self._t, self._q, self._v)
        left = np.append(self._t, self._times[self._times > self._t])
        mode, q, v = self._mode.changed(change, left, state)
        moved = change.q is not None or change.v is not None or mode.robot is not self._mode.robot
        self._q, self._v = project_state(mode, self._t, q, v, moved)
        self._sampled, self._forces, self._held = False, None, ()
        if mode.differs(self._mode):
            self._begin(mode)
        self._active.mode, self._begun = mode, False  # also where only the controller changes
        self._records.current.controller_states.watch(mode.controller)

    def _begin(self, mode: Mode) -> None:
        """Go on in a mode."""
        self._active, self._begun = ActiveMode(mode, self._options, self._records.note), False
        self._records.begin(mode, self._t)
        self._records.current.controller_states.watch(mode.controller)
        if self._tau.shape[-1] != mode.robot.nv:
            self._tau = np.zeros(mode.robot.nv)

    # -- stops ------------------------------------------------------------------------------------

    def _resolve_stops(self, tau: FloatArray, resting: str = "") -> Contact:
        with self._breaking(self._t):
            state = self._t, self._q, self._v, tau
            return self._active.resolve_stops(*state, self._interval, resting)

    def _take_contact(self, contact: Contact) -> None:
        """Rebound from stops, be held by them, or leave them; and record it."""
        if not contact.hit and contact.held == self._held:
            return
        before, was = self._energy(), self._held
        self._v, self._held = contact.v, contact.held
        self._sampled, self._forces = False, None
        for event in event_records(contact, was, self._t, before - self._energy()):
            self._records.note(event)
        if contact.held != was:
            names = tuple(stop.joint for stop in contact.held)
            self._begin(self._mode.holding(names))

    def _state(
        self, t: float, q: FloatArray, v: FloatArray, earlier: tuple[str, ...] = ()
    ) -> State:
        """The argument of an action, and of a witness function of a state."""

        def accelerations(robot: Robot | None = None) -> FloatArray:
            return self._active.accelerations(t, q, v, self._tau, robot)

        return self._mode.state(t, q, v, earlier, accelerations)

    def _samples(self, t: FloatArray, q: FloatArray, v: FloatArray) -> State:
        """The states of many samples at once."""
        if self._mode.base is not None:
            raise SettingsError("the motion of the base is asked for one sample at a time")
        return self._mode.state(t, q, v)  # type: ignore[arg-type]

    def _armed(self) -> list[WitnessFunction]:
        """Witness functions of stops, which joints may reach or leave, and of events."""
        stops = (*self._active.reachable_stops, *self._held)
        of_stops = [self._stop_witness(stop, stop in self._held) for stop in stops]
        return of_stops + [x for x in self._witnesses if x.value is not never]

    def _stop_witness(self, stop: JointStop, held: bool) -> WitnessFunction:
        """The witness function of a stop: the same object each time."""
        if (stop, held) not in self._stop_witnesses:
            if held:
                witness = WitnessFunction(
                    stop.left,
                    lambda t, q, v: self._active.force_of_stop(stop, t, q, v, self._tau),
                    -1,
                    of_stop=True,
                )
            else:
                witness = WitnessFunction(
                    stop.reached, lambda t, q, v: stop.gap(q), -1, one_sided=True, of_stop=True
                )
            self._stop_witnesses[stop, held] = witness
        return self._stop_witnesses[stop, held]

    # -- results -------------------------------------------------------------------------------

    def so_far(self) -> Trajectory | None:
        """What was recorded of a motion that does not go on; ``None`` if nothing was."""
        if self._recorded is not None:
            self._recorded.count()
        return self._records.so_far()

    def trajectory(self) -> Trajectory:
        """What was recorded."""
        return self._records.trajectory()

    def check_steps(self, run: Trajectory) -> None:
        """Warn once if steps were too long for the energy, or for friction."""
        if self._active.stepper.steps_are_given:
            self._records.check_steps(run, self._active.stepper.order)

    def _accelerations(self) -> tuple[FloatArray, FloatArray]:
        if self._forces is None:
            with self._breaking(self._t):
                state = (self._t, self._q, self._v, self._tau)
                self._forces = self._active.stepper.accelerations(*state)
        return self._forces

    def _energy(self) -> float:
        return self._mode.state(self._t, self._q, self._v).energy

    def _breaking(self, until: float) -> OnError:
        return self._records.breaking(self._t, until)
