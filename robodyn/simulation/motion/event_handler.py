"""Applies events to a motion: their actions, one after the other, and the mode after them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.simulation.events.detector import EventDetector
from robodyn.simulation.events.event import Action, Change, Event
from robodyn.simulation.events.friction_events import FrictionEvents
from robodyn.simulation.events.joint_stops import check_start
from robodyn.simulation.events.stop_events import StopEvents
from robodyn.simulation.events.witness import WitnessFunction, instants_of, never, witness_of
from robodyn.simulation.events.zeno import Zeno
from robodyn.simulation.motion.mode import project_state
from robodyn.simulation.motion.motion_state import MotionState
from robodyn.simulation.trajectory.states.event_record import EventRecord


class EventHandler:
    """The events of a motion.

    now: The present state of the motion, which events change.
    next_instant [s]: Time of the next event at a given instant; infinite if there is none.
    ended: An event has ended the motion.
    """

    def __init__(self, now: MotionState, events: Sequence[Event], stops: StopEvents | None) -> None:
        self._now, self.detector, self._zeno = now, EventDetector(), Zeno()
        witnesses = {event: witness_of(event, now.of_events, now.of_samples) for event in events}
        self._witnesses = list(witnesses.values())
        self._timed = [(at, witnesses[event]) for at, event in instants_of(events, now.times)]
        self.next_instant = min((at for at, _ in self._timed), default=np.inf)
        self._stops, self._friction = stops, _friction_events(now)
        self.ended = False

    def start(self) -> None:
        """Start to detect events from the first state on.

        Raises ShapeError: If a joint is beyond its stop.
        """
        now = self._now
        if self._stops is not None:
            check_start(now.mode.robot, self._stops.of(now.mode.robot), now.q)
        self._watch()
        self.detector.start(now.t, now.q, now.v)

    def _watch(self) -> None:
        """Set the witness functions of this mode: those of stops and of events."""
        mode, of_stops = self._now.mode, []
        if self._stops is not None:
            of_stops = self._stops.witnesses(mode.robot, mode.driven.speeds, mode.held)
        resting = [] if self._friction is None else [self._friction.witness]
        own = (x for x in self._witnesses if x.value is not never)
        self.detector.restart([*of_stops, *resting, *own])

    def let_act(self, tau: FloatArray) -> None:
        """Set the forces of the controller from now on, which may free joints."""
        now, first = self._now, self._now.records.empty
        self._free_from_stops(tau, first)
        if self._friction is not None:
            self._friction.let_act(tau)
            with now.breaking(now.t):
                if self._friction.is_over(now.t, now.q, now.v):
                    self._settle()
                    self._watch()

    def _settle(self, happened: bool = False) -> None:
        """Decide which joints stick from now on.

        happened: One has come to rest, or has broken away.
        """
        now = self._now
        if now.friction is None:
            self._friction = None
            return
        if self._friction is None or self._friction.friction is not now.friction:
            self._friction = _friction_events(now)
        assert self._friction is not None
        v, records = self._friction.settle(now.t, now.q, now.v, happened)
        now.jump(now.q, v)
        for record in records:
            now.records.note(record)

    def _free_from_stops(self, tau: FloatArray, first: bool) -> None:
        """Set the forces of the controller, which may free joints from stops."""
        now = self._now
        if self._stops is None or not (now.mode.held or first):
            now.let_act(tau)
            return
        before, now.tau = now.tau, tau
        with now.breaking(now.t):
            change = self._stops.resolve(now.of_events(now.t, now.q, now.v))
        if change.held not in (None, now.mode.held):
            if not first:
                now.tau = before  # the sample before the change has the earlier forces
                now.record_sample()
                now.tau = tau
            self._take(change)
            for record in change.records or ():
                now.records.note(record)
            self._watch()
        now.let_act(tau)

    def due(self) -> tuple[WitnessFunction, ...]:
        """Events at given instants that are due."""
        if not self._timed:
            return ()
        t = self._now.t
        due = tuple(witness for at, witness in self._timed if at == t)
        self._timed = [(at, witness) for at, witness in self._timed if at > t]
        self.next_instant = min((at for at, _ in self._timed), default=np.inf)
        return due

    def apply(self, found: Sequence[WitnessFunction]) -> None:
        """Apply all events of this instant: those of stops, then those of the user in order."""
        if not found:
            return
        now = self._now
        now.keep_next = True
        now.record_sample()
        slip = None if self._friction is None else self._friction.witness
        waiting, changes_friction = [x for x in found if x is not slip], slip in found
        if slip is not None and changes_friction:
            self.detector.done(slip, False)
        before, stops_undecided = now.mode, False
        while waiting:
            waiting.sort(key=lambda x: self._witnesses.index(x) if x in self._witnesses else -1)
            witness = waiting.pop(0)
            with now.breaking(now.t):
                stops_undecided |= self._apply_event(witness)
                new = self.detector.carried_across(self._witnesses, now.t, now.q, now.v)
            waiting += [x for x in new if x not in waiting]
        if stops_undecided and self._stops is not None:
            with now.breaking(now.t):
                self._apply_actions("", (self._stops.resolve,))
        with now.breaking(now.t):
            self._settle(changes_friction)
        self._watch()
        if now.mode.robot is not before.robot or now.mode.controller is not before.controller:
            self.let_act(now.sample_controller())
        now.keep_next = not now.sampled
        if self.ended:
            now.record_sample()

    def _apply_event(self, witness: WitnessFunction) -> bool:
        """Apply one event, and return whether stops have to decide again which joints they hold."""
        last_resort, instant = witness.when_endless, (witness.name, self._now.t, self._now.interval)
        endless = self._zeno.is_endless(*instant, may_rest=last_resort is not None)
        actions = (last_resort,) if endless and last_resort is not None else witness.actions
        must_separate, stops_undecided = self._apply_actions(witness.name, actions)
        self.detector.done(witness, must_separate)
        return stops_undecided

    def _apply_actions(self, name: str, actions: Sequence[Action]) -> tuple[bool, bool]:
        """Apply actions one after the other, and record them.

        Returns must_separate: See `Change`.
        Returns stops_undecided: Stops have to decide again which joints they hold.
        """
        now, lost, before = self._now, 0.0, None
        must_separate = stops_undecided = False
        records: list[EventRecord] | None = None
        earlier = tuple(x.name for x in self.detector.happened)
        for action in actions:
            change = action(now.of_events(now.t, now.q, now.v, earlier))
            if not isinstance(change, Change):
                raise ShapeError(
                    f"an action of event {name!r} returned {change!r} at t = {now.t:.6g} s, "
                    "expected a robodyn.events.Change",
                    name="events",
                    given=change,
                )
            self.ended |= change.stop
            must_separate |= change.must_separate
            stops_undecided |= change.changes and change.held is None
            if change.records is not None:
                records = [*(records or ()), *change.records]
                self._take(change)
            elif change.changes:
                here = now.energy
                before = here if before is None else before
                self._take(change)
                here -= now.energy
                lost += here if change.dissipated is None else change.dissipated
        if records is None:
            loss = 0.0 if before is None else before - now.energy
            records = [EventRecord(now.t, name, loss, dissipated=lost)]
        for record in records:
            now.records.note(record)
        return must_separate, stops_undecided

    def _take(self, change: Change) -> None:
        """Continue in the mode, and from the state, after a change."""
        if not change.changes:
            return
        now = self._now
        before, state = now.mode, now.mode.state(now.t, now.q, now.v)
        left = np.append(now.t, now.asked_times[now.asked_times > now.t])
        mode, q, v = before.changed(change, left, state)
        if change.held is None:  # changes by stops are already consistent
            jumped = change.q is not None or change.v is not None
            q, v = project_state(mode, now.t, q, v, jumped or mode.robot is not before.robot)
        now.jump(q, v)
        now.enter(mode)


def _friction_events(now: MotionState) -> FrictionEvents | None:
    """The events of the dry friction of a mode; ``None`` if it is smooth, or there is none."""
    if now.friction is None:
        return None
    asked = now.holding, now.holding_of, now.settled
    return FrictionEvents(now.friction, now.interval, *asked, now.stepper.loads_are_constant)
