"""Carry a motion from instant to instant, and record the state at each.

`run_motion` checks what is given, starts the motion, lets a loop carry it, and closes the record:
`robodyn.simulation.motion.run_compiled` wherever a step is machine code, `move` where Python takes
part in it, `robodyn.simulation.motion.event_loop` where events are looked for within each step.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.array_types import FloatArray
from robodyn.simulation.checks.energy_check import announce_imbalance
from robodyn.simulation.checks.friction_check import announce_friction
from robodyn.simulation.checks.singular_passage import announce_passage
from robodyn.simulation.control.callbacks import check_controller, refuse_not_finite
from robodyn.simulation.control.running_controller import RunningController, applied_forces
from robodyn.simulation.events.event import Event
from robodyn.simulation.limits.joint_limits import Limits
from robodyn.simulation.motion.breakdown import breaking_down, keeping
from robodyn.simulation.motion.event_loop import move_through_events
from robodyn.simulation.motion.held_control import announce_unstable_hold, naming_unstable_hold
from robodyn.simulation.motion.motion_options import MotionOptions
from robodyn.simulation.motion.phase import Phase
from robodyn.simulation.motion.progress import Progress
from robodyn.simulation.motion.record import Record
from robodyn.simulation.motion.run_compiled import carry
from robodyn.simulation.motion.simulate_each import simulate_each
from robodyn.simulation.step.stepper import Stepper
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["run_motion"]


def run_motion(
    phase: Phase,
    events: Sequence[Event],
    q: FloatArray,
    v: FloatArray,
    times: FloatArray,
    options: MotionOptions,
    report: Progress,
) -> Trajectory:
    """The motion from a state over some instants, or until an event ends it."""
    if phase.controller is not None:
        check_controller(phase.controller)
    has_events = bool(events) or options.stops is not None
    if has_events and options.batch:
        motion = simulate_each(phase, events, q, v, times, options, report)
        report(1.0)
        options.limits_of(phase.robot).announce(motion.t, motion.q, motion.v, motion.tau)
        return motion
    phase = phase.started(times)
    limits = options.limits_of(phase.robot)
    step = float(times[1] - times[0]) if len(times) > 1 else 0.0
    if has_events:
        with naming_unstable_hold(phase, step):
            motion = move_through_events(phase, events, q, v, times, options, report)
    else:
        record = options.record(phase.robot, phase.base, len(times), phase.driven)
        tell = record.events.append
        stepper = options.stepper(phase.robot, phase.driven, phase.base, tell=tell)
        record.memories.watch(phase.controller)
        with naming_unstable_hold(phase, step), keeping(record.so_far):
            q, v = stepper.start(float(times[0]), q, v)
            move(stepper, phase.controller, q, v, times, record, report, limits)
        motion = record.trajectory()
        if not announce_unstable_hold(phase, motion, step) and stepper.steps_are_given:
            if not announce_friction(motion, record.every):
                announce_imbalance(motion, record.every, stepper.order)
    report(1.0)
    announce_passage(motion)
    limits.announce(motion.t, motion.q, motion.v, motion.tau)
    return motion


def move(
    stepper: Stepper,
    controller: RunningController | None,
    q: FloatArray,
    v: FloatArray,
    times: FloatArray,
    record: Record,
    report: Progress,
    limits: Limits,
) -> None:
    """Step over all instants and record the state at each; events are not looked for."""
    if stepper.by_machine_code:
        compilable = controller is not None and not limits.depend_on_speed
        compiled = controller.compiled if controller is not None and compilable else None
        motion = stepper.compiled(times, q, v, compiled, limits.efforts)
        if motion is not None:
            return carry(motion, stepper, controller, limits, times, record, report)
    instants, last = times.tolist(), len(times) - 1
    for k, t in enumerate(instants):
        if k % 50 == 0:
            report(k / max(last, 1))
        tau = applied_forces(controller, limits.cut, t, q, v)
        with breaking_down(record, t):
            refuse_not_finite(stepper.robot, tau, t, k)
            a, forces = stepper.accelerations(t, q, v, tau)
            record.add(t, q, v, a, forces)
        if k == last:
            break
        end = instants[k + 1]
        with breaking_down(record, end):
            q, v = stepper.step(t, q, v, tau, end - t, a)
