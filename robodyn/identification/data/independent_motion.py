"""Motions of a robot in terms of its independent joints; the others follow by closed loops."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.errors import AssemblyError, RobodynError, SettingsError, TopologyError
from robodyn.minimal.reduced import ReducedRobot
from robodyn.robot import Robot
from robodyn.tolerances import FOLLOWER_LIMIT_EXCESS

States = tuple[FloatArray, FloatArray, FloatArray]

#: Least distance of postures from singular ones, as a fraction of that of the neutral posture.
FAR = 0.2


def independent_joints_of(robot: Robot) -> IndependentJoints:
    """The independent joints of a robot; by minimal coordinates if its loops have a closed form.

    Raises `SettingsError` for joints with several coordinates, or a floating base.
    """
    if robot.depends_on_time:
        raise SettingsError(f"{robot.name!r} depends on time: nothing excites it alone")
    found = IndependentJoints(_dynamics_of(robot))
    for name in found.joints:
        refuse_several(robot, name)
    return found


def refuse_several(robot: Robot, name: str) -> None:
    """Refuse joints with several coordinates."""
    joint = robot.joints[name.partition("[")[0]]
    if joint.kind.nq > 1 or joint.q.stop - joint.q.start != 1:
        raise SettingsError(
            f"joint {joint.name!r} of {robot.name!r} has several coordinates: only joints that "
            "turn about an axis or slide along one can be moved, or filtered, one by one"
        )


def _dynamics_of(robot: Robot) -> AllJoints | ReducedJoints:
    if not robot.nc:
        return AllJoints(robot)
    try:
        minimal = robot.with_(coordinates="minimal")
    except (TopologyError, AssemblyError):
        return ReducedJoints(robot)
    own = {*robot.joint_names}
    return AllJoints(minimal) if own.issuperset(minimal.joint_names) else ReducedJoints(robot)


class AllJoints:
    """A robot without constraints, whose joints are all independent.

    It is a tree, or a linkage in minimal coordinates.
    """

    #: Random motions that are tried before the best of them is improved.
    starts = 16

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.joints: tuple[str, ...] = robot.joint_names

    def states(self, u: FloatArray, du: FloatArray, ddu: FloatArray) -> States:
        """The same; the independent joints are all that there are."""
        return u, du, ddu

    def regressor(self, states: States) -> FloatArray:
        """Regressor of the joints, shape (n, u, parameters)."""
        return self.robot.dynamic_regressor(*states)

    def forces(self, states: States) -> FloatArray:
        """Forces at the joints, shape (n, u)."""
        return self.robot.inverse_dynamics(*states)


class ReducedJoints:
    """A closed linkage, whose loops are closed numerically, sample after sample."""

    starts = 4

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._reduced = robot.reduced()
        self.joints: tuple[str, ...] = self._reduced.independent_joints
        self._neutral = robot.neutral()[_places(robot, self.joints)]

    def states(self, u: FloatArray, du: FloatArray, ddu: FloatArray) -> States | None:
        """States of all joints; ``None`` where loops do not close."""
        try:
            return expanded(self._reduced, u - self._neutral, du, ddu, self.robot.neutral())
        except RobodynError:
            return None

    def regressor(self, states: States) -> FloatArray:
        """Regressor of the independent joints, shape (n, u, parameters)."""
        return np.asarray(
            self._reduced.torque_map(states[0]) @ self.robot.dynamic_regressor(*states)
        )

    def forces(self, states: States) -> FloatArray:
        """Forces at the independent joints, shape (n, u)."""
        q, v, a = states
        forces = np.einsum("nij,nj->ni", self.robot.mass_matrix(q), a)
        forces += self.robot.bias_forces(q, v)
        return np.asarray(np.einsum("nij,nj->ni", self._reduced.torque_map(q), forces))


def expanded(
    reduced: ReducedRobot, u: FloatArray, du: FloatArray, ddu: FloatArray, near: FloatArray
) -> States:
    """States of all joints, sample after sample, the first one near a posture."""
    q = np.empty((len(u), len(near)))
    for k, x in enumerate(u):
        q[k] = near = reduced.expand(x, near)
    v = reduced.expand_velocity(q, du)
    return q, v, reduced.expand_acceleration(q, du, ddu)


class IndependentJoints:
    """The independent joints of a robot, and motions of all joints that follow from theirs.

    count: Number of independent joints, u.
    neutral, lower, upper (u,) [rad, m]: Neutral posture, and limits of positions.
    velocity, effort (u,): Limits.
    """

    def __init__(self, dynamics: AllJoints | ReducedJoints) -> None:
        self.dynamics, self.joints = dynamics, dynamics.joints
        self.robot = robot = dynamics.robot
        self.count = len(self.joints)
        own = [robot.joints[name] for name in self.joints]
        q, v = [joint.q.start for joint in own], [joint.v.start for joint in own]
        self.neutral: FloatArray = robot.neutral()[q]
        self.lower, self.upper = robot.lower_limits[q], robot.upper_limits[q]
        self.velocity, self.effort = robot.velocity_limits[v], robot.effort_limits[v]
        self.is_rotary = ["rad" in joint.kind.units for joint in own]
        self._tree = robot.tree_form

    def states(
        self, u: FloatArray, du: FloatArray, ddu: FloatArray, stride: int = 1
    ) -> States | None:
        """States of all joints; ``None`` where loops do not close, or joints leave their limits.

        Also where one of every ``stride`` samples is near to a singular posture.
        """
        states = self.dynamics.states(u, du, ddu)
        if states is None or not self._tree.nc:
            return states
        q = states[0] if self._tree is self.robot else self.robot.expand(u)
        return states if self._is_regular(q, stride) else None

    def _is_regular(self, q: FloatArray, stride: int) -> bool:
        """Whether postures of all joints are within limits and far from singular ones."""
        low, high = self._tree.lower_limits, self._tree.upper_limits
        slack = FOLLOWER_LIMIT_EXCESS * np.where(np.isfinite(high - low), high - low, 1.0)
        inside = (q >= low - slack) & (q <= high + slack)
        if not inside.all():  # what is no number is not inside either
            return False
        return bool(self._tree.loop_rank(q[::stride]).distance.min() > FAR * self._far)

    @cached_property
    def _far(self) -> float:
        """Distance of the neutral posture from singular ones."""
        return float(self._tree.loop_rank(self._tree.neutral()).distance)

    def places(self, robot: Robot) -> NDArray[np.intp]:
        """Indices of the independent joints' coordinates in q of a robot."""
        return _places(robot, self.joints)

    def posture(self, robot: Robot, u: FloatArray) -> FloatArray:
        """The posture of a robot with these independent coordinates, shape (nq,)."""
        near = robot.neutral()
        q = near.copy()
        q[self.places(robot)] = u
        return robot.assemble(q, hold=self.joints, near=near) if robot.nc else q


def _places(robot: Robot, joints: tuple[str, ...]) -> NDArray[np.intp]:
    return np.array([robot.joints[name].q.start for name in joints], np.intp)
