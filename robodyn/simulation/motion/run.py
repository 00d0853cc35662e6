"""Simulate a motion, and warn of what is wrong with it."""

from __future__ import annotations

from robodyn.array_types import FloatArray
from robodyn.simulation.checks.singular_passage import warn_of_passage
from robodyn.simulation.control.callbacks import check_controller
from robodyn.simulation.limits.joint_limits import Limits
from robodyn.simulation.motion.breakdown import attaching_trajectory
from robodyn.simulation.motion.loop import simulate_motion
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.motion.options import MotionOptions
from robodyn.simulation.motion.simulate_each import simulate_each
from robodyn.simulation.motion.zero_order_hold import (
    explaining_unstable_hold,
    warn_of_unstable_hold,
)
from robodyn.simulation.trajectory.trajectory import Trajectory


def run_motion(mode: Mode, q: FloatArray, v: FloatArray, options: MotionOptions) -> Trajectory:
    """Simulate a motion of one state or of a batch, with warnings if it is not accurate."""
    if mode.controller is not None:
        check_controller(mode.controller)
    limits = Limits(mode.robot, options.limits)
    has_events = bool(options.events) or options.stops is not None
    motion = None
    if has_events and options.batch:
        run = simulate_each(mode, q, v, options)
    else:
        times = options.times
        mode = mode.started(times)
        step = float(times[1] - times[0]) if len(times) > 1 else 0.0
        with explaining_unstable_hold(mode, step):
            motion = simulate_motion(mode, q, v, options)
            with attaching_trajectory(motion.so_far):
                run = motion.trajectory()
    with attaching_trajectory(lambda: run):  # it is whole, whatever interrupts the checks
        if motion is not None:
            if has_events or not warn_of_unstable_hold(mode, run, step):
                motion.check_steps(run)
            warn_of_passage(run)
        options.report(1.0)
        limits.warn_of_violations(run.t, run.q, run.v, run.tau)
    return run
