"""Whether a trajectory brings joints of loops, or that follow others, beyond their limits."""

from __future__ import annotations

import math

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.ros.engine.audit import first_at_limit
from robodyn.ros.engine.messages import StateNames
from robodyn.simulation.limits.bounds import bounds_of
from robodyn.simulation.limits.joint_limits import limit_violations
from robodyn.simulation.loads.driven_joints import Driven
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.motion.continued_motion import ContinuedMotion, joined
from robodyn.simulation.step.stepper import Stepper

#: Largest number of steps of a rehearsal.
MOST_STEPS = 2000


def rehearse(
    names: StateNames,
    driven: Driven,
    t: float,
    q: FloatArray,
    v: FloatArray,
    duration: float,
    h: float,
) -> None:
    """Move driven joints along their paths, if all others follow from them, and look at limits.

    names: Of the robot. Of joints that follow by a factor the limits have been looked at.
    t [s]: When the paths begin.
    q, v (nq,), (nv,)
    duration, h [s]: Of the motion, and of a step, which is longer where there would be too many.
    Raises PathError: If a joint would leave a limit of position, or loops cannot be closed on the
        way.
    """
    robot, bounds = names.robot, bounds_of(names.robot)
    others = [x for x in bounds.others if x.name not in names.names]
    if not driven or not (others or (robot.nc and bounds.ranges["position"])):
        return
    rank = int(robot.loop_rank(q).rank) if robot.nc else 0
    if len(driven.speeds) != robot.nv - rank:
        return
    steps = max(1, min(math.ceil(duration / h), MOST_STEPS))
    h = max(h, duration / steps)
    none = np.zeros(robot.nv)
    motion = ContinuedMotion(
        Stepper(loads_on(robot, driven), "semi_implicit"), None, none, t, h, q, v
    )
    while steps > 0:
        try:
            steps -= motion.advance(steps, none)
        except (rd.RobodynError, np.linalg.LinAlgError, ArithmeticError) as error:
            if duration / h > MOST_STEPS - 1:  # perhaps as steps are long
                return
            raise rd.PathError(
                f"{robot.name!r} cannot follow it: {error}", time=motion.t - t
            ) from error
        done = joined(motion.take_steps())
        left = limit_violations(robot, done.t[1:], done.q[1:], done.v[1:], 0.0 * done.tau)
        found = first_at_limit(robot, left, done, driven.speeds) if left else None
        if found is not None:
            raise rd.PathError(
                f"{found} {found.t - t:.4g} s after the start",
                time=found.t - t,
                joint=found.violation.joint,
            )
