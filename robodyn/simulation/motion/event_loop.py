"""A motion in which events are looked for within each step, and change it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.errors import SettingsError, ShapeError
from robodyn.robot import Robot
from robodyn.simulation.control.callbacks import refuse_not_finite
from robodyn.simulation.control.running_controller import applied_forces
from robodyn.simulation.events.detector import EventDetector, WitnessFunction
from robodyn.simulation.events.event import Change, Event, State
from robodyn.simulation.events.witness import instants_of, never, watch_of
from robodyn.simulation.events.zeno import Zeno
from robodyn.simulation.limits.joint_limits import Limits
from robodyn.simulation.motion.breakdown import keeping
from robodyn.simulation.motion.event_free_steps import EventFreeSteps, whole_steps
from robodyn.simulation.motion.joint_stops import Contact, End, check_start, ends_of, met, told
from robodyn.simulation.motion.motion_options import MotionOptions
from robodyn.simulation.motion.phase import Phase, settled
from robodyn.simulation.motion.phase_records import PhaseRecords
from robodyn.simulation.motion.progress import Progress
from robodyn.simulation.step.stepper import Stepper
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import SAME_TIME

__all__ = ["move_through_events"]


def move_through_events(
    phase: Phase,
    events: Sequence[Event],
    q: FloatArray,
    v: FloatArray,
    times: FloatArray,
    options: MotionOptions,
    report: Progress,
) -> Trajectory:
    """The motion from a state over some instants, or until an event ends it."""
    motion = _Motion(phase, events, q, v, times, options)
    last, k, told = len(times) - 1, 0, 0
    with keeping(motion.so_far):
        while k < last and not motion.ended:
            if k >= told:
                report(k / last)
                told = k + 50
            done = motion.hurry(k)
            if not done:
                motion.advance(float(times[k + 1]))
            k += done or 1
        if not motion.ended:
            motion.ask()
            motion.sample()
    return motion.trajectory()


class _Motion:
    """The state of a motion while it goes on."""

    _phase: Phase
    _stepper: Stepper
    _free: Stepper
    _limits: Limits
    _ends: tuple[End, ...]
    _begun: bool

    def __init__(
        self,
        phase: Phase,
        events: Sequence[Event],
        q: FloatArray,
        v: FloatArray,
        times: FloatArray,
        options: MotionOptions,
    ) -> None:
        self._times, self._options, self.ended = times, options, False
        self._interval = float(times[1] - times[0]) if len(times) > 1 else 1.0
        self._t, self._q, self._v = float(times[0]), q, v
        self._tau, self._sampled = np.zeros(phase.robot.nv), False
        self._kept = False  # whether the next sample is, whatever ``every`` says
        self._forces: tuple[FloatArray, FloatArray] | None = None
        self._records = PhaseRecords(options, times)
        self._held: tuple[End, ...] = ()
        self._steps: EventFreeSteps | None = None  # of this phase, once it has ``begun`` with them
        self._asked: FloatArray | None = None  # of the controller at this instant, not acting yet
        self._of_stops: dict[tuple[End, bool], WitnessFunction] = {}
        watches = {event: watch_of(event, self._state, self._samples) for event in events}
        self._timed = [(at, watches[event]) for at, event in instants_of(events, times)]
        self._next_instant = min((at for at, _ in self._timed), default=np.inf)
        self._given = list(watches.values())
        self._zeno, self._lookout = Zeno(), EventDetector(())
        self._begin(phase)
        self._q, self._v = self._stepper.start(self._t, q, v)
        check_start(phase.robot, self._ends, self._q)
        self._lookout.jumped(self._watches())

    # -- from instant to instant ------------------------------------------------------------------

    def ask(self) -> None:
        """Ask the controller for torques, which are held until it is asked again."""
        tau = self._asked
        if tau is None:
            tau = self._torques()
        self._asked = None
        with self._breaking(self._t):
            step = int(np.searchsorted(self._times, self._t * (1.0 + SAME_TIME), side="right")) - 1
            refuse_not_finite(self._phase.robot, tau, self._t, step)
        starts = self._records.empty
        if self._ends and (self._held or starts):
            contact = self._at_stops(tau)
            if contact.held != self._held:
                if not starts:
                    self.sample()  # with the torques until now
                self._tau = tau
                self._go_on_from(contact)
                self._lookout.jumped(self._watches())
        self._tau, self._forces = tau, None

    def _torques(self) -> FloatArray:
        state = self._t, self._q, self._v
        return applied_forces(self._phase.controller, self._limits.cut, *state)

    def hurry(self, k: int) -> int:
        """Do whole steps from an instant on in which nothing happens; how many it were.

        If there is none, the controller may have been asked already.
        """
        until = self._next_instant
        if self._kept or self._sampled or not self._lookout.settled or until <= self._times[k + 1]:
            return 0
        if not self._begun:
            stops, state = (self._not_held(), self._held), (self._times, self._q, self._v)
            machine = self._stepper, self._limits, self._lookout, stops, state, self._act
            self._steps, self._begun = whole_steps(self._phase, *machine), True
        steps, stop, before = self._steps, k + 1, self._tau
        if steps is None:
            return 0
        if steps.many:
            stop = int(np.searchsorted(self._times, until)) - 1
        else:
            self._asked = self._torques()
            if not all_finite(self._asked):
                return 0
        done, samples = steps.do(k, stop, self._q, self._v, self._asked)
        self._act(before)
        if done:
            self._act(samples[3][done - 1].copy() if self._asked is None else self._asked)
            self._went(k, done, samples)
        if steps.interrupt is not None:
            raise steps.interrupt
        return done

    def _went(self, k: int, done: int, samples: tuple[FloatArray, ...]) -> None:
        """Record some whole steps, and be at their end."""
        record, (q, v, _, _) = self._records.current, samples
        if done == 1:
            record.add(self._t, *(x[0] for x in samples))
        else:
            record.extend(self._times[k : k + done], *(x[:done] for x in samples))
        self._t, self._q, self._v = float(self._times[k + done]), q[done].copy(), v[done].copy()
        self._sampled, self._forces, self._asked = False, None, None

    def _act(self, tau: FloatArray) -> None:
        self._tau = tau

    def sample(self) -> None:
        """Record the state, once; what a stop gives is no torque of the controller."""
        if self._sampled:
            return
        keep, self._kept = self._kept, False
        a, forces = self._accelerations()
        if self._held:
            forces, at = forces.copy(), [end.speed for end in self._held]
            forces[at] = self._tau[at]
        self._records.current.add(self._t, self._q, self._v, a, forces, keep=keep)
        self._sampled = True

    def advance(self, end: float) -> None:
        """Ask the controller, and move to an instant, through all that happens until then."""
        self.ask()
        step = end - self._t
        self._happen(self._due())
        while not self.ended and self._t < end:
            self.sample()
            goal = min((at for at, _ in self._timed if at > self._t), default=end)
            found = self._move(min(goal, end), step)
            self._happen((*self._due(), *found))

    def _move(self, goal: float, step: float) -> tuple[WitnessFunction, ...]:
        """Move to an instant, or to the first thing that happens on the way, which is returned."""
        t, q, v, tau, h = self._t, self._q, self._v, self._tau, goal - self._t
        a = self._accelerations()[0]

        @functools.cache
        def after(part: float) -> tuple[FloatArray, FloatArray]:
            return (q, v) if part == 0.0 else self._stepper.step(t, q, v, tau, part, a)

        with self._breaking(goal):
            part, found = self._lookout.first(t, h, step, after)
            if part == 0.0:
                return found
            self._q, self._v = after(part)
        self._t = goal if h - part <= SAME_TIME * step else t + part
        self._sampled, self._forces = False, None
        self._lookout.moved(self._t, self._q, self._v)
        return found

    def _due(self) -> tuple[WitnessFunction, ...]:
        """What happens at this instant because it is this instant."""
        due = tuple(watch for at, watch in self._timed if at == self._t)
        self._timed = [(at, watch) for at, watch in self._timed if at > self._t]
        self._next_instant = min((at for at, _ in self._timed), default=np.inf)
        return due

    # -- what happens -----------------------------------------------------------------------------

    def _happen(self, found: Sequence[WitnessFunction]) -> None:
        """Let everything happen that does so at this instant: stops, then events as given."""
        if not found:
            return
        self._kept = True
        self.sample()
        before, waiting, settled_by_events = self._phase, list(found), False
        while waiting:
            waiting.sort(key=lambda x: self._given.index(x) if x in self._given else -1)
            watch = waiting.pop(0)
            with self._breaking(self._t):
                instant = watch.name, self._t, self._interval
                if watch in self._given:
                    self._zeno.check(*instant)
                    settled_by_events |= self._carry_out(watch)
                else:
                    rests = self._zeno.comes_to_rest(*instant)
                    self._go_on_from(self._at_stops(self._tau, watch.name if rests else ""))
                    self._lookout.done(watch, False)
                new = self._lookout.carried_across(self._given, self._t, self._q, self._v)
            waiting += [x for x in new if x not in waiting]
        if settled_by_events and self._ends:
            self._go_on_from(self._at_stops(self._tau))
        self._lookout.jumped(self._watches())
        after = self._phase
        if after.robot is not before.robot or after.controller is not before.controller:
            self.ask()
        self._kept = not self._sampled
        if self.ended:
            self.sample()

    def _carry_out(self, watch: WitnessFunction) -> bool:
        """Do what an event does, one action after the other, and record it."""
        parts, lost, before = False, 0.0, None
        earlier = tuple(x.name for x in self._lookout.happened)
        for action in watch.actions:
            change = action(self._state(self._t, self._q, self._v, earlier))
            if not isinstance(change, Change):
                raise ShapeError(
                    f"an action of event {watch.name!r} returned {change!r} at t = {self._t:.6g} "
                    "s, expected a robodyn.events.Change",
                    name="events",
                    given=change,
                )
            self.ended |= change.stop
            parts |= change.parts
            if change.changes:
                here = self._energy()
                before = here if before is None else before
                self._apply(change)
                here -= self._energy()
                lost += here if change.dissipated is None else change.dissipated
        loss = 0.0 if before is None else before - self._energy()
        self._records.note(EventRecord(self._t, watch.name, loss, dissipated=lost))
        self._lookout.done(watch, parts)
        return before is not None

    def _apply(self, change: Change) -> None:
        """The state and what moves after a change."""
        state = self._phase.state(self._t, self._q, self._v)
        left = np.append(self._t, self._times[self._times > self._t])
        phase, q, v = self._phase.changed(change, left, state)
        moved = change.q is not None or change.v is not None or phase.robot is not self._phase.robot
        self._q, self._v = settled(phase, self._t, q, v, moved)
        self._sampled, self._forces, self._held = False, None, ()
        if phase.differs(self._phase):
            self._begin(phase)
        self._phase, self._begun = phase, False  # also where only the controller changes
        self._records.current.memories.watch(phase.controller)

    def _begin(self, phase: Phase) -> None:
        """What moves and what drives it from now on."""
        self._phase = phase
        self._begun = False
        self._others: dict[Robot, Stepper] = {}
        moves = phase.robot, phase.driven, phase.base
        self._stepper = self._free = self._options.stepper(*moves, tell=self._records.note)
        if phase.held:
            self._free = self._options.stepper(phase.robot, phase.paths, phase.base)
        self._limits = self._options.limits_of(phase.robot)
        self._ends = ends_of(phase.robot, self._options.stops)
        self._records.begin(phase, self._t)
        self._records.current.memories.watch(phase.controller)
        if len(self._tau) != phase.robot.nv:
            self._tau = np.zeros(phase.robot.nv)

    # -- stops ------------------------------------------------------------------------------------

    def _at_stops(self, tau: FloatArray, resting: str = "") -> Contact:
        with self._breaking(self._t):
            restitution = 0.0 if self._options.stops is None else self._options.stops.restitution
            state = (self._t, self._q, self._v, tau)
            given = self._phase, self._free, self._ends, restitution
            return met(*given, *state, self._interval, resting)

    def _go_on_from(self, contact: Contact) -> None:
        """Rebound from stops, be held by them, or leave them; and record it."""
        if not contact.hit and contact.held == self._held:
            return
        before, was = self._energy(), self._held
        self._v, self._held = contact.v, contact.held
        self._sampled, self._forces = False, None
        for event in told(contact, was, self._t, before - self._energy()):
            self._records.note(event)
        if contact.held != was:
            names = tuple(end.joint for end in contact.held)
            self._begin(self._phase.holding(names))

    def _state(
        self, t: float, q: FloatArray, v: FloatArray, earlier: tuple[str, ...] = ()
    ) -> State:
        """What an action gets, or a function of the state."""

        def accelerations(robot: Robot | None = None) -> FloatArray:
            stepper, phase = self._stepper, self._phase
            if robot is not None and robot is not phase.robot:
                if robot not in self._others:
                    self._others[robot] = self._options.stepper(robot, phase.driven, phase.base)
                stepper = self._others[robot]
            return stepper.accelerations(t, q, v, self._tau)[0]

        return self._phase.state(t, q, v, earlier, accelerations)

    def _samples(self, t: FloatArray, q: FloatArray, v: FloatArray) -> State:
        """The states of many samples at once."""
        if self._phase.base is not None:
            raise SettingsError("the motion of the base is asked for one sample at a time")
        return self._phase.state(t, q, v)  # type: ignore[arg-type]

    def _watches(self) -> list[WitnessFunction]:
        """All that is looked for: joints on their way to stops or held there, and events."""
        ends = (*self._not_held(), *self._held)
        at_stops = [self._watch_of_stop(end, end in self._held) for end in ends]
        return at_stops + [x for x in self._given if x.value is not never]

    def _not_held(self) -> tuple[End, ...]:
        """Stops that joints may come to."""
        return tuple(end for end in self._ends if end.speed not in self._phase.driven.speeds)

    def _watch_of_stop(self, end: End, held: bool) -> WitnessFunction:
        """One and the same each time."""
        if (end, held) not in self._of_stops:
            if held:
                watch = WitnessFunction(
                    end.left, functools.partial(self._push, end), -1, of_stop=True
                )
            else:
                watch = WitnessFunction(
                    end.reached, lambda t, q, v: end.gap(q), -1, one_sided=True, of_stop=True
                )
            self._of_stops[end, held] = watch
        return self._of_stops[end, held]

    def _push(self, end: End, t: float, q: FloatArray, v: FloatArray) -> float:
        """Of a stop on the joint that it holds."""
        forces = self._stepper.accelerations(t, q, v, self._tau)[1]
        return float(end.side * (forces[end.speed] - self._tau[end.speed]))

    # -- what is known of it ----------------------------------------------------------------------

    def so_far(self) -> Trajectory | None:
        """What was recorded of a motion that does not go on; ``None`` if nothing was."""
        return self._records.so_far()

    def trajectory(self) -> Trajectory:
        """What was recorded."""
        run = self._records.trajectory()
        if self._stepper.steps_are_given:
            self._records.check_steps(run, self._stepper.order)
        return run

    def _accelerations(self) -> tuple[FloatArray, FloatArray]:
        if self._forces is None:
            with self._breaking(self._t):
                state = (self._t, self._q, self._v, self._tau)
                self._forces = self._stepper.accelerations(*state)
        return self._forces

    def _energy(self) -> float:
        return self._phase.state(self._t, self._q, self._v).energy

    def _breaking(self, until: float) -> AbstractContextManager[None]:
        return self._records.breaking(self._t, until)
