"""Options ``--stop-when``, such as ``elbow > 1.2``, and ``--stops``, such as ``rigid,0.5``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError, UnknownNameError
from robodyn.model.joint_info import JointInfo

CONDITION = re.compile(r"\s*(speed of\s+)?(\S.*?)\s*([<>])\s*(\S+)\s*")


def ending_event(text: str, robot: rd.Robot, q: FloatArray, v: FloatArray) -> rd.Event:
    """Make the event that ends the motion when a condition becomes true.

    q, v (..., nq), (..., nv): The start, where it must not hold.
    """
    wrong = f'--stop-when is {text!r}, expected "JOINT > NUMBER" or "speed of JOINT < NUMBER"'
    found = CONDITION.fullmatch(text)
    if found is None:
        raise RobodynError(wrong)
    speed, name, sign, word = found.groups()
    try:
        bound = float(word)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise RobodynError(wrong)
    measured = _speed(robot, name) if speed else _position(robot, name)
    side = 1.0 if sign == ">" else -1.0

    def beyond(t: float, q: FloatArray, v: FloatArray) -> float:
        return side * (measured(q, v) - bound)

    states = zip(q.reshape(-1, robot.nq), v.reshape(-1, robot.nv), strict=True)
    for k, state in enumerate(states):
        if beyond(0.0, *state) >= 0.0:
            of = f" of motion {k}" if q.ndim > 1 else ""
            raise RobodynError(
                f"--stop-when {text!r} holds at the start{of} already: it is {measured(*state):.6g}"
            )
    return rd.Event(beyond, direction=1, name=" ".join(text.split()))


def _position(robot: rd.Robot, name: str) -> Callable[[FloatArray, FloatArray], float]:
    joint = _joint(robot, name)
    if joint.q.stop - joint.q.start == 1:
        k = joint.q.start
        return lambda q, v: float(q[k])
    if name not in robot.joint_positions(robot.neutral()) or not joint.cut:
        raise RobodynError(f"--stop-when: joint {name!r} of {robot.name!r} has not one position")
    return lambda q, v: float(np.ravel(robot.joint_positions(q)[name])[0])


def _speed(robot: rd.Robot, name: str) -> Callable[[FloatArray, FloatArray], float]:
    joint = _joint(robot, name)
    if joint.v.stop - joint.v.start != 1:
        raise RobodynError(f"--stop-when: joint {name!r} of {robot.name!r} has not one speed")
    k = joint.v.start
    return lambda q, v: float(v[k])


def _joint(robot: rd.Robot, name: str) -> JointInfo:
    if name not in robot.joints:
        raise UnknownNameError("joint", name, robot.joint_names, "--stop-when")
    return robot.joints[name]


def stops_of(text: str | None) -> rd.RigidStops | rd.CompliantStops | None:
    """Stops; none if none are asked for."""
    if text is None:
        return None
    kind, *words = text.split(",")
    try:
        numbers = [float(word) for word in words]
        if kind == "rigid" and len(numbers) <= 1:
            return rd.RigidStops(restitution=sum(numbers))  # none given: zero
        if kind == "compliant" and 1 <= len(numbers) <= 2:
            return rd.CompliantStops(*numbers)
    except ValueError:  # no numbers, or none that stops can have
        pass
    raise RobodynError(
        f"--stops is {text!r}, expected rigid, rigid,RESTITUTION (0 to 1), compliant,STIFFNESS or "
        "compliant,STIFFNESS,DAMPING"
    )
