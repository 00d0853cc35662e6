"""Carry a motion from instant to instant, and record the state at each.

`run_motion` checks what is given, starts the motion, lets one of two loops carry it, and closes the
record: `move` where nothing happens but time, `robodyn.simulation.event_loop` where events are
looked for within each step.
"""

from __future__ import annotations

from robodyn.array_types import FloatArray
from robodyn.simulation.breakdown import breaking_down
from robodyn.simulation.callbacks import Controller, Event, check_callable, torque
from robodyn.simulation.event_loop import move_until
from robodyn.simulation.limits import Limits
from robodyn.simulation.progress import Progress
from robodyn.simulation.record import Record
from robodyn.simulation.stepper import Stepper
from robodyn.simulation.trajectory import Trajectory

__all__ = ["run_motion"]


def run_motion(
    stepper: Stepper,
    controller: Controller | None,
    q: FloatArray,
    v: FloatArray,
    times: FloatArray,
    events: tuple[Event, ...],
    record: Record,
    report: Progress,
    limits: Limits,
) -> Trajectory:
    """The motion from a state over some instants, or until an event ends it."""
    if controller is not None:
        check_callable("controller", controller)
    for event in events:
        check_callable("event", event)
    q, v = stepper.start(float(times[0]), q, v)
    if events:
        move_until(events, stepper, controller, q, v, times, record, report, limits)
    else:
        move(stepper, controller, q, v, times, record, report, limits)
    report(1.0)
    motion = record.trajectory()
    limits.announce(motion.t, motion.q, motion.v, motion.tau)
    return motion


def move(
    stepper: Stepper,
    controller: Controller | None,
    q: FloatArray,
    v: FloatArray,
    times: FloatArray,
    record: Record,
    report: Progress,
    limits: Limits,
) -> None:
    """Step over all instants and record the state at each; events are not looked for."""
    instants, last = times.tolist(), len(times) - 1
    for k, t in enumerate(instants):
        if k % 50 == 0:
            report(k / max(last, 1))
        tau = limits.cut(torque(controller, t, q, v))
        with breaking_down(record, t):
            a, forces = stepper.accelerations(t, q, v, tau)
            record.add(t, q, v, a, forces)
        if k == last:
            break
        end = instants[k + 1]
        with breaking_down(record, end):
            q, v = stepper.step(t, q, v, tau, end - t, a)
