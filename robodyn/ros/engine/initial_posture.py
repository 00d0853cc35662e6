"""Where a simulated robot starts: the initial values of ``<ros2_control>``, or neutral."""

from __future__ import annotations

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.errors import some_of
from robodyn.ros.states.messages import StateNames
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.simulation.loads.driven_joints import independent
from robodyn.tolerances import ROUNDED_LIMIT, SAME_POSITION
from robodyn.urdf.ros2_control import ControlledJoint


def initial_posture(names: StateNames, log: ThrottledLogger) -> FloatArray:
    """Positions (nq,) with loops closed, where the initial values of motors have the last word.

    log: Is told of those that are not taken, and of motors that start beyond limits.
    """
    q = _with_initial_values(names, log)
    beyond = []
    for name in filter(names.is_own, names.motors):
        lower, upper, _ = names.limits(name)
        if not lower - SAME_POSITION <= q[names.coordinate(name)] <= upper + SAME_POSITION:
            beyond.append(name)
    if beyond:
        log(
            "start",
            f"{some_of(beyond)} start beyond limits: the initial_value of a position in "
            "<ros2_control> says where else",
        )
    return q


def _with_initial_values(names: StateNames, log: ThrottledLogger) -> FloatArray:
    robot, neutral, tags = names.robot, names.robot.neutral(), names.controlled_joints
    moving = [n for n, x in tags.items() if any(x.initial.get(y) for y in ("velocity", "effort"))]
    if moving:
        log("rest", f"starts at rest: initial speeds or efforts of {some_of(moving)} are not taken")
    every = (*names.names, *names.told)
    given = {n: tags[n].initial["position"] for n in every if _has_position(tags.get(n))}
    measured = names.read([*given], [*given.values()], gaps=True).q
    own = {n: float(measured[names.coordinate(n)]) for n in every if names.is_own(n)}
    limits = {n: names.limits(n) for n, x in own.items() if not np.isnan(x)}
    values = {n: own[n] for n, (low, high, _) in limits.items() if low <= own[n] <= high}
    beyond = [name for name in limits if name not in values]
    if beyond:
        log("beyond", f"initial values of {some_of(beyond)} lie beyond limits: not taken")
    q, motors = neutral.copy(), [name for name in names.motors if name in values]
    for name, value in values.items():
        q[names.coordinate(name)] = value
    held = motors if independent(robot, neutral, [names.speed(n) for n in motors]) else []
    try:
        q = robot.assemble(q, hold=held) if values else neutral
    except rd.RobodynError as error:
        log("initial", f"initial values of <ros2_control> are not taken: {error}")
        return neutral
    at = dict(zip(every, names.content(q, *np.zeros((2, robot.nv))).position, strict=True))
    slack = {n: SAME_POSITION if n in motors else ROUNDED_LIMIT * max(1.0, abs(at[n])) for n in at}
    moved = [n for n, x in given.items() if n not in beyond and abs(at[n] - x) > slack[n]]
    if moved:
        why = "loops, or joints that they follow, do not allow them"
        log("beside", f"{some_of(moved)} start beside their initial values: {why}")
    return q


def _has_position(said: ControlledJoint | None) -> bool:
    return said is not None and "position" in said.initial
