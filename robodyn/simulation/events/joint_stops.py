"""Rigid stops at the limits of joints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import named_alone
from robodyn.errors import SettingsError, ShapeError
from robodyn.robot import Robot
from robodyn.tolerances import AT_LIMIT


@dataclass(frozen=True)
class RigidStops:
    """Joint limits that nothing passes.

    A joint that reaches its limit rebounds, and stays at it once a rebound would last less than a
    step; it is held there while the stop pushes, and leaves when the stop would have to pull.

    Attributes
    ----------
    restitution : float
        Speed away from the stop over that towards it: 0 plastic, 1 elastic.
    joints : names of joints, optional
        Default: all with coordinates of their own and limits.

    Raises
    ------
    SettingsError

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("puma560")
    >>> run = rd.simulate(robot, q0=robot.upper_limits, duration=0.05, stops=rd.RigidStops())
    >>> bool((run.q <= robot.upper_limits + 1e-9).all())
    True
    """

    restitution: float = 0.0
    joints: Iterable[str] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0.0 <= self.restitution <= 1.0:
            raise SettingsError(f"restitution is {self.restitution!r}, expected 0 to 1")
        if self.joints is not None:
            object.__setattr__(self, "joints", named_alone("joints", self.joints))


@dataclass(frozen=True)
class JointStop:
    """A stop at the lower or the upper limit of a joint.

    which {"lower", "upper"}
    side {1, -1}: Away from the stop.
    coordinate, speed: Where the joint stands in q and in v.
    limit [rad, m]
    """

    joint: str
    which: str
    side: int
    coordinate: int
    speed: int
    limit: float

    @property
    def reached(self) -> str:
        """Name of the event at which the joint reaches the stop."""
        return f"{self.joint} at its {self.which} stop"

    @property
    def left(self) -> str:
        """Name of the event at which the joint leaves the stop."""
        return f"{self.joint} leaves its {self.which} stop"

    def gap(self, q: FloatArray) -> float:
        """How far the joint is from the stop; negative beyond it [rad, m]."""
        return self.side * (float(q[self.coordinate]) - self.limit)


def joint_stops_of(robot: Robot, stops: RigidStops | None) -> tuple[JointStop, ...]:
    """All stops of a robot, in the order of the joints.

    Raises SettingsError: For a joint that has no limits, or no coordinate of its own.
    """
    if stops is None:
        return ()
    found = []
    for name in robot.joint_names if stops.joints is None else stops.joints:
        joint = robot.joints[name]
        limits = joint.position_limits
        if joint.q.stop - joint.q.start != 1 or limits is None:
            if stops.joints is None:
                continue
            raise SettingsError(
                f"joint {name!r} of {robot.name!r} is to have stops, but has no limits of a "
                "coordinate of its own; cut the loop elsewhere if it was cut"
            )
        for which, side, limit in zip(("lower", "upper"), (1, -1), limits, strict=True):
            if np.isfinite(limit):
                at = (joint.q.start, joint.v.start)
                found.append(JointStop(name, which, side, *at, float(limit)))
    return tuple(found)


def check_start(robot: Robot, stops: Sequence[JointStop], q: FloatArray) -> None:
    """Check that no joint starts beyond its stop."""
    for stop in stops:
        if stop.gap(q) < -AT_LIMIT:
            raise ShapeError(
                f"joint {stop.joint!r} of {robot.name!r} starts at {q[stop.coordinate]:.6g}, "
                f"beyond its {stop.which} stop at {stop.limit:.6g}: start within the limits, or "
                "name the joints that have stops, RigidStops(joints=...)",
                name="q0",
                given=float(q[stop.coordinate]),
                expected=stop.limit,
            )
