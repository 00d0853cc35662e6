"""Initial states of ``robodyn sim``, from its options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.cli.options.values import named_once
from robodyn.errors import RobodynError, UnknownNameError
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
        raise RobodynError(
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
        v[..., _place(robot, "--speed", name, values, speeds=True).v] = values
    return np.array(robot.consistent_velocity(q, v, hold=tuple(speeds))) if speeds else v


def _place(
    robot: rd.Robot, option: str, name: str, values: tuple[float, ...], *, speeds: bool = False
) -> JointInfo:
    if name not in robot.joints:
        raise UnknownNameError("joint", name, robot.joint_names, option)
    joint = robot.joints[name]
    at = joint.v if speeds else joint.q
    count = at.stop - at.start
    if not count:
        hint = "; its loop is cut there: --near looks for a posture near it" if joint.cut else ""
        raise RobodynError(
            f"{option}: joint {name!r} of {robot.name!r} has no coordinate of its own{hint}"
        )
    if len(values) != count:
        shown = "a number" if count == 1 else f"{count} numbers"
        raise RobodynError(f"{option}: joint {name!r} got {len(values)} numbers, expected {shown}")
    return joint
