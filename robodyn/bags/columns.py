"""Names of joints in a bag of joint states, and their places in q and v."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robodyn.errors import RobodynError, ShapeError
from robodyn.model.joint_info import part_names
from robodyn.robot import Robot


@dataclass(frozen=True)
class Columns:
    """Names of joints in messages, and their indices in q and v.

    names: Of JointState: a joint with one speed has its name, others have ``"name[k]"``.
    q, v: Index of the coordinate and of the speed of each name.
    poses: Floating and spherical joints: their coordinates and speeds.
    """

    names: tuple[str, ...]
    q: tuple[int, ...]
    v: tuple[int, ...]
    poses: Mapping[str, tuple[slice, slice]]

    @classmethod
    def of_robot(cls, robot: Robot) -> Columns:
        """All joints of a robot's tree that do not mimic others."""
        names: list[str] = []
        q: list[int] = []
        v: list[int] = []
        poses = {}
        for name in robot.joint_names:
            joint = robot.joints[name]
            if joint.kind.coordinates.quaternion:
                poses[name] = (joint.q, joint.v)
                continue
            width = joint.v.stop - joint.v.start
            names += part_names(name, width, robot.joints)
            q += range(joint.q.start, joint.q.stop)
            v += range(joint.v.start, joint.v.stop)
        return cls(tuple(names), tuple(q), tuple(v), poses)

    @classmethod
    def named(cls, robot: Robot | None, joint_names: Sequence[str], nq: int, nv: int) -> Columns:
        """Those of the robot that moved; or of the names, if each speed has one coordinate."""
        if robot is not None:
            return cls.of_robot(robot)
        if nq != nv:
            raise ShapeError(
                f"q has {nq} columns and v {nv}: which joint they belong to is known only with "
                "trajectory.robot",
                name="q",
                given=(nq, nv),
            )
        if len(joint_names) != nv or len({*joint_names}) != nv:
            raise RobodynError(f"{nv} different joint names are needed, not {list(joint_names)}")
        return cls(tuple(joint_names), tuple(range(nv)), tuple(range(nv)), {})
