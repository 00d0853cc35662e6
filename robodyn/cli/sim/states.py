"""Where motions of ``robodyn sim`` start, end and are stopped, from its options."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.cli.options.values import named_once
from robodyn.model.joint_info import JointInfo

Named = Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class Start:
    """Initial states.

    q, v (nq,), (nv,), of many motions (n, nq), (n, nv)
    chosen: Whether the start is given by an option.
    """

    q: FloatArray
    v: FloatArray
    chosen: bool


def start_of(arguments: argparse.Namespace, robot: rd.Robot) -> Start:
    """Make the initial states, with closed loops."""
    if arguments.near and (arguments.batch is not None or arguments.seed is not None):
        raise rd.RobodynError(
            "--near does not go with --seed or --batch: random postures are anywhere"
        )
    positions = named_once("--start", arguments.start)
    speeds = named_once("--speed", arguments.speed)
    if arguments.batch is None and arguments.seed is None:
        q = _closed_posture(robot, np.array(robot.neutral()), positions)
    else:
        rng = np.random.default_rng(arguments.seed or 0)
        rows = [
            _closed_posture(robot, np.array(robot.random(rng)), positions)
            for _ in range(arguments.batch or 1)
        ]
        q = rows[0] if arguments.batch is None else np.array(rows)
    chosen = bool(positions or arguments.near or arguments.batch or arguments.seed is not None)
    return Start(q, _consistent_speeds(robot, q, speeds), chosen)


def _closed_posture(robot: rd.Robot, q: FloatArray, positions: Named) -> FloatArray:
    """A closed posture near ``q`` with given positions of some joints."""
    for name, values in positions.items():
        q[_place(robot, "--start", name, values).q] = values
    if not (robot.nc and positions):
        return q
    return np.array(robot.assemble(q, hold=tuple(positions)))


def _consistent_speeds(robot: rd.Robot, q: FloatArray, speeds: Named) -> FloatArray:
    """Speeds at a posture that are consistent with the loops, with given speeds of some joints."""
    v = np.zeros((*q.shape[:-1], robot.nv))
    for name, values in speeds.items():
        v[..., _place(robot, "--speed", name, values).v] = values
    return np.array(robot.consistent_velocity(q, v, hold=tuple(speeds))) if speeds else v


def _place(robot: rd.Robot, option: str, name: str, values: tuple[float, ...]) -> JointInfo:
    """A joint that has as many coordinates, or speeds, as there are values."""
    joint = _joint(robot, option, name)
    count = len(range(robot.nq)[joint.q] if option == "--start" else range(robot.nv)[joint.v])
    if not count:
        hint = "; its loop is cut there: --near looks for a posture near it" if joint.cut else ""
        raise rd.RobodynError(
            f"{option}: joint {name!r} of {robot.name!r} has no coordinate of its own{hint}"
        )
    if len(values) != count:
        shown = "a number" if count == 1 else f"{count} numbers"
        raise rd.RobodynError(
            f"{option}: joint {name!r} got {len(values)} numbers, expected {shown}"
        )
    return joint


def _joint(robot: rd.Robot, option: str, name: str) -> JointInfo:
    if name not in robot.joints:
        raise rd.UnknownNameError("joint", name, robot.joint_names, option)
    return robot.joints[name]


CONDITION = re.compile(r"\s*(speed of\s+)?(\S.*?)\s*([<>])\s*(\S+)\s*")


def ending_event(text: str, robot: rd.Robot, q: FloatArray, v: FloatArray) -> rd.Event:
    """Make the event that ends the motion when a condition becomes true.

    q, v (..., nq), (..., nv): The start, where it must not hold.
    """
    wrong = f'--stop-when is {text!r}, expected "JOINT > NUMBER" or "speed of JOINT < NUMBER"'
    found = CONDITION.fullmatch(text)
    if found is None:
        raise rd.RobodynError(wrong)
    speed, name, sign, word = found.groups()
    try:
        bound = float(word)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise rd.RobodynError(wrong)
    measured = _speed(robot, name) if speed else _position(robot, name)
    side = 1.0 if sign == ">" else -1.0

    def beyond(t: float, q: FloatArray, v: FloatArray) -> float:
        return side * (measured(q, v) - bound)

    states = zip(q.reshape(-1, robot.nq), v.reshape(-1, robot.nv), strict=True)
    for k, state in enumerate(states):
        if beyond(0.0, *state) >= 0.0:
            of = f" of motion {k}" if q.ndim > 1 else ""
            raise rd.RobodynError(
                f"--stop-when {text!r} holds at the start{of} already: it is {measured(*state):.6g}"
            )
    return rd.Event(beyond, direction=1, name=" ".join(text.split()))


def _position(robot: rd.Robot, name: str) -> Callable[[FloatArray, FloatArray], float]:
    joint = _joint(robot, "--stop-when", name)
    if len(at := range(robot.nq)[joint.q]) == 1:
        return lambda q, v: float(q[at[0]])
    if name not in robot.joint_positions(robot.neutral()) or not joint.cut:
        raise rd.RobodynError(f"--stop-when: joint {name!r} of {robot.name!r} has not one position")
    return lambda q, v: float(np.ravel(robot.joint_positions(q)[name])[0])


def _speed(robot: rd.Robot, name: str) -> Callable[[FloatArray, FloatArray], float]:
    at = range(robot.nv)[_joint(robot, "--stop-when", name).v]
    if len(at) != 1:
        raise rd.RobodynError(f"--stop-when: joint {name!r} of {robot.name!r} has not one speed")
    return lambda q, v: float(v[at[0]])


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
    raise rd.RobodynError(
        f"--stops is {text!r}, expected rigid, rigid,RESTITUTION (0 to 1), compliant,STIFFNESS or "
        "compliant,STIFFNESS,DAMPING"
    )
