"""A motion in which events are looked for within each step, and change it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ImpactError, ShapeError, SimulationError
from robodyn.simulation.breakdown import breaking_down
from robodyn.simulation.callbacks import event_value, torque
from robodyn.simulation.events.event import Change, Event
from robodyn.simulation.events.record import EventRecord
from robodyn.simulation.limits import Limits
from robodyn.simulation.lookout import Lookout, Watch
from robodyn.simulation.phase import Phase, settled
from robodyn.simulation.phases import joined
from robodyn.simulation.progress import Progress
from robodyn.simulation.record import Record
from robodyn.simulation.stepper import Stepper
from robodyn.simulation.trajectory import Trajectory
from robodyn.simulation.zeno import Zeno

__all__ = ["Makers", "move_through_events"]

#: Instants within this part of a step are one.
SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Makers:
    """What a phase of a motion needs, as `simulate` was told to make it.

    Attributes
    ----------
    stepper : callable
        (robot, driven, base) -> Stepper.
    record : callable
        (robot, base, size) -> Record.
    limits : callable
        robot -> Limits.
    """

    stepper: Callable[..., Stepper]
    record: Callable[..., Record]
    limits: Callable[..., Limits]


def move_through_events(
    phase: Phase,
    events: Sequence[Event],
    q: FloatArray,
    v: FloatArray,
    times: FloatArray,
    make: Makers,
    report: Progress,
) -> Trajectory:
    """The motion from a state over some instants, or until an event ends it."""
    motion = _Motion(phase, events, q, v, times, make)
    last = max(len(times) - 1, 1)
    for k, end in enumerate(times[1:].tolist()):
        if k % 50 == 0:
            report(k / last)
        motion.ask()
        motion.advance(end)
        if motion.ended:
            break
    else:
        motion.ask()
        motion.sample()
    return motion.trajectory()


class _Motion:
    """The state of a motion while it goes on."""

    def __init__(
        self,
        phase: Phase,
        events: Sequence[Event],
        q: FloatArray,
        v: FloatArray,
        times: FloatArray,
        make: Makers,
    ) -> None:
        self._times, self._make, self.ended = times, make, False
        self._t, self._q, self._v = float(times[0]), q, v
        self._tau, self._sampled = np.zeros(phase.robot.nv), False
        self._forces: tuple[FloatArray, FloatArray] | None = None
        self._records: list[Record] = []
        self._events: list[EventRecord] = []
        self._begin(phase)
        self._q, self._v = self._stepper.start(self._t, q, v)
        self._instants = _instants(events, times)
        order = {event: _watch_of(event) for event in events}
        self._timed = [(at, order[event]) for at, event in self._instants]
        self._order = list(order.values())
        self._zeno = Zeno()
        self._lookout = Lookout([x for x in self._order if x.value is not _never])

    # -- from instant to instant ------------------------------------------------------------------

    def ask(self) -> None:
        """Ask the controller for torques, which are held until it is asked again."""
        tau = torque(self._phase.controller, self._t, self._q, self._v)
        self._tau, self._forces = self._limits.cut(tau), None

    def sample(self) -> None:
        """Record the state, once."""
        if self._sampled:
            return
        a, forces = self._accelerations()
        self._records[-1].add(self._t, self._q, self._v, a, forces)
        self._sampled = True

    def advance(self, end: float) -> None:
        """Move to an instant, through all that happens until then."""
        step = end - self._t
        self._happen(self._due())
        while not self.ended and self._t < end:
            self.sample()
            goal = min((at for at, _ in self._timed if at > self._t), default=end)
            found = self._move(min(goal, end), step)
            self._happen((*self._due(), *found))

    def _move(self, goal: float, step: float) -> tuple[Watch, ...]:
        """Move to an instant, or to the first thing that happens on the way, which is returned."""
        t, q, v, tau, h = self._t, self._q, self._v, self._tau, goal - self._t
        a = self._accelerations()[0]

        @functools.cache
        def after(part: float) -> tuple[FloatArray, FloatArray]:
            return (q, v) if part == 0.0 else self._stepper.step(t, q, v, tau, part, a)

        with self._breaking(goal):
            after(h)
            part, found = self._lookout.first(t, h, step, after)
            if part == 0.0:
                return found
            self._q, self._v = after(part)
        self._t = goal if h - part <= SAME * step else t + part
        self._sampled, self._forces = False, None
        self._lookout.moved(self._t, self._q, self._v)
        return found

    def _due(self) -> tuple[Watch, ...]:
        """What happens at this instant because it is this instant."""
        due = tuple(watch for at, watch in self._timed if at == self._t)
        self._timed = [(at, watch) for at, watch in self._timed if at > self._t]
        return due

    # -- what happens -----------------------------------------------------------------------------

    def _happen(self, found: Sequence[Watch]) -> None:
        """Let everything happen that does so at this instant, in the order given."""
        if not found:
            return
        self.sample()
        phase, waiting = self._phase, list(found)
        while waiting:
            waiting.sort(key=self._order.index)
            watch = waiting.pop(0)
            with self._breaking(self._t):
                self._zeno.check(watch.name, self._t, float(self._times[1] - self._times[0]))
                self._carry_out(watch)
            new = self._lookout.carried_across(self._t, self._q, self._v)
            waiting += [x for x in new if x not in waiting]
        self._lookout.jumped()
        changed = self._phase
        if changed.robot is not phase.robot or changed.controller is not phase.controller:
            self.ask()
        if self.ended:
            self.sample()

    def _carry_out(self, watch: Watch) -> None:
        """Do what a watch does, one action after the other, and record it."""
        parts, lost = False, []
        earlier = tuple(x.name for x in self._lookout.happened)
        before = None
        for action in watch.actions:
            state = self._phase.state(self._t, self._q, self._v, earlier)
            change = action(state)
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
                here = state.energy
                before = here if before is None else before
                self._apply(change)
                here -= self._energy()
                lost.append(here if change.dissipated is None else change.dissipated)
        loss = 0.0 if before is None else before - self._energy()
        self._events.append(EventRecord(self._t, watch.name, loss, float(sum(lost))))
        self._lookout.done(watch, parts)

    def _apply(self, change: Change) -> None:
        """The state and what moves after a change."""
        state = self._phase.state(self._t, self._q, self._v)
        left = np.append(self._t, self._times[self._times > self._t])
        phase, q, v = self._phase.changed(change, left, state)
        moved = change.q is not None or change.v is not None or phase.robot is not self._phase.robot
        self._q, self._v = settled(phase, self._t, q, v, moved)
        self._sampled, self._forces = False, None
        if phase.differs(self._phase):
            self._begin(phase)
        self._phase = phase

    def _begin(self, phase: Phase) -> None:
        """What moves and what drives it from now on."""
        self._phase = phase
        self._stepper = self._make.stepper(phase.robot, phase.driven, phase.base)
        self._limits = self._make.limits(phase.robot)
        size = int(np.count_nonzero(self._times >= self._t)) + 1
        self._records.append(self._make.record(phase.robot, phase.base, size))
        if len(self._tau) != phase.robot.nv:
            self._tau = np.zeros(phase.robot.nv)

    # -- what is known of it ----------------------------------------------------------------------

    def trajectory(self) -> Trajectory:
        """What was recorded."""
        phases = [record.trajectory() for record in self._records if record.count]
        return joined(phases, tuple(self._events))

    def _accelerations(self) -> tuple[FloatArray, FloatArray]:
        if self._forces is None:
            with self._breaking(self._t):
                state = (self._t, self._q, self._v, self._tau)
                self._forces = self._stepper.accelerations(*state)
        return self._forces

    def _energy(self) -> float:
        return self._phase.state(self._t, self._q, self._v).energy

    @contextlib.contextmanager
    def _breaking(self, t: float) -> Iterator[None]:
        """Raise `SimulationError`, with the motion so far, for what breaks down until ``t`` [s]."""
        try:
            with breaking_down(self._records[-1], t):
                yield
        except (SimulationError, ImpactError) as error:
            until = self._t if error.__cause__ is None else t
            shown = str(error)
            if isinstance(error, ImpactError):
                shown = f"at t = {until:.6g} s {error}"
            motion = self.trajectory() if any(record.count for record in self._records) else None
            raise SimulationError(shown, trajectory=motion, time=until) from (
                error.__cause__ or error
            )


def _never(t: float, q: FloatArray, v: FloatArray) -> float:
    """Of an event at an instant, which no function says."""
    return 1.0


def _watch_of(event: Event) -> Watch:
    when = event.when
    value = _never if isinstance(when, float) else functools.partial(event_value, when)
    return Watch(event.name, value, event.direction, event.actions)


def _instants(events: Sequence[Event], times: FloatArray) -> list[tuple[float, Event]]:
    """When events at instants happen; those that are instants of the motion but for rounding are.

    Events at the same instant stay in order.
    """
    found = []
    for event in events:
        if isinstance(event.when, float):
            nearest = float(times[np.abs(times - event.when).argmin()])
            close = abs(nearest - event.when) <= SAME * max(float(times[-1]), 1e-300)
            found.append((nearest if close else event.when, event))
    return found
