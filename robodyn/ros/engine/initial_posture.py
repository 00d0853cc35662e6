"""Where a simulated robot starts: the initial values of ``<ros2_control>``, or neutral."""

from __future__ import annotations

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.errors import some_of
from robodyn.ros.states.messages import StateNames
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.simulation.loads.driven_joints import independent
from robodyn.tolerances import SAME_POSITION


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
    robot, neutral = names.robot, names.robot.neutral()
    given = {
        name: said.initial["position"]
        for name, said in names.controlled_joints.items()
        if "position" in said.initial and names.is_own(name)
    }
    limits = {name: names.limits(name) for name in given}
    values = {n: x for n, x in given.items() if limits[n][0] <= x <= limits[n][1]}
    if beyond := [name for name in given if name not in values]:
        log("initial", f"initial values of {some_of(beyond)} lie beyond limits: not taken")
    if not values:
        return neutral
    q, motors = neutral.copy(), [name for name in names.motors if name in values]
    for name, value in values.items():
        q[names.coordinate(name)] = value
    held = motors if independent(robot, neutral, [names.speed(n) for n in motors]) else []
    try:
        q = robot.assemble(q, hold=held)
    except rd.RobodynError as error:
        log("initial", f"initial values of <ros2_control> are not taken: {error}")
        return neutral
    moved = [n for n in motors if abs(q[names.coordinate(n)] - values[n]) > SAME_POSITION]
    if moved:
        log("initial", f"with loops closed, {some_of(moved)} start beside their initial values")
    return q
