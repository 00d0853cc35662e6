"""Between the state of a robot and the contents of ROS messages; nothing here needs ROS.

A *scalar coordinate* is a coordinate whose rate is a speed: that of a revolute joint, say, or
``name[k]`` of a cylindrical one. JointState holds these. Joints of which the coordinates do not add
(planar, spherical, floating) stand in MultiDOFJointState, where ROS has its place for them. Joints
that are cut, or follow others by a loop, have no coordinate of their own; JointState tells where
they are, and what it says of them is not read.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.bags.messages import Stamp
from robodyn.description.couplings import with_couplings
from robodyn.model.joint_info import part_names
from robodyn.simulation.limits.bounds import has_top_speed, speed_bounds
from robodyn.simulation.loads.actuated_speeds import actuated_speeds
from robodyn.urdf.ros2_control import controlled_joints


@dataclass(frozen=True, eq=False)
class JointStateContent:
    """What a ``sensor_msgs/JointState`` holds.

    Attributes
    ----------
    stamp : (int, int) [s, ns]
    name : tuple of str
    position, velocity, effort : ndarray, shape (n,) [rad, m], [rad/s, m/s], [N m, N]

    Examples
    --------
    >>> from robodyn.ros import JointStateContent
    >>> state = JointStateContent((0, 0), ("elbow",), [0.5], [0.0], [0.0])
    >>> state.name, state.position
    (('elbow',), [0.5])
    """

    stamp: Stamp
    name: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


@dataclass(frozen=True, eq=False)
class WrenchContent:
    """What a ``geometry_msgs/WrenchStamped`` holds: force and moment about a frame's origin.

    Attributes
    ----------
    stamp : (int, int) [s, ns]
    frame_id : str
    force, torque : ndarray, shape (3,) [N], [N m]

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.ros import wrench_content
    >>> content = wrench_content(rd.load("double_pendulum"), "elbow", [0, 0, 9.81, 0, 0, 0], (0, 0))
    >>> content.frame_id, content.force.tolist()
    ('lower', [0.0, 0.0, 9.81])
    """

    stamp: Stamp
    frame_id: str
    force: FloatArray
    torque: FloatArray


def wrench_content(robot: rd.Robot, joint: str, wrench: ArrayLike, stamp: Stamp) -> WrenchContent:
    """Wrench of a joint as `Robot.joint_wrenches` gives it, in the frame of the joint's child.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.ros import wrench_content
    >>> content = wrench_content(rd.load("double_pendulum"), "elbow", [0, 0, 9.81, 0, 0, 0], (0, 0))
    >>> content.frame_id, content.torque.tolist()
    ('lower', [0.0, 0.0, 0.0])
    """
    values = np.asarray(wrench, float)
    if values.shape != (6,):
        raise rd.ShapeError(
            f"the wrench of {joint!r} has shape {values.shape}, expected (6,)",
            name="wrench",
            given=values.shape,
            expected=(6,),
        )
    child = robot.link_names[0] if joint == "base" else robot.joints[joint].child
    return WrenchContent(stamp, child, values[:3].copy(), values[3:].copy())


@dataclass(frozen=True, eq=False)
class Measured:
    """What a JointState says about a robot.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        NaN where nothing was measured.
    v : ndarray, shape (nv,)
        NaN where nothing was measured.
    missing : tuple of str
        Scalar coordinates that the message does not give.
    unknown : tuple of str
        Names in the message that the robot does not have.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.ros import StateNames
    >>> measured = StateNames(rd.load("double_pendulum")).read(["elbow"], [0.5], [0.0])
    >>> measured.missing
    ('shoulder',)
    """

    q: FloatArray
    v: FloatArray
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


class StateNames:
    """The scalar coordinates of a robot by name, mimic joints included.

    Parameters
    ----------
    robot : Robot

    Attributes
    ----------
    names : tuple of str
        In the order of the file.
    told : tuple of str
        Scalar coordinates of joints that are cut, or follow others by loops in closed form or by
        functions.
    multi : tuple of str
        Joints whose place is MultiDOFJointState.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.ros import StateNames
    >>> StateNames(rd.load("double_pendulum")).names
    ('shoulder', 'elbow')
    """

    def __init__(self, robot: rd.Robot) -> None:
        self.robot = robot
        #: What ``<ros2_control>`` of its file says of joints, by name.
        self.controlled_joints = controlled_joints(robot.mechanism)
        #: Of each: where it stands in q and v, factor and offset to these, whether it is its own.
        rows: dict[str, tuple[int, int, float, float, bool]] = {}
        flat = [n for n in robot.joint_names if robot.joints[n].kind.coordinates.flat]
        for name in flat:
            at = range(robot.nq)[robot.joints[name].q], range(robot.nv)[robot.joints[name].v]
            axes = part_names(name, len(at[1]), robot.joints)
            rows |= {x: (i, j, 1.0, 0.0, True) for x, i, j in zip(axes, *at, strict=True)}
        mimics = [*_mimics(robot)]
        for name, master, factor, offset in mimics:
            joint = robot.joints[master]
            rows[name] = joint.q.start, joint.v.start, factor, offset, False
        self.names = tuple(rows)
        self.multi = tuple(n for n in robot.joint_names if n not in flat)
        self._others = [*_without_coordinates(robot, {name for name, *_ in mimics})]
        self.told = tuple(
            axis
            for name in self._others
            for axis in part_names(name, robot.joints[name].kind.nv, robot.joints)
        )
        self._place = {name: k for k, name in enumerate(rows)}
        table = np.array([*rows.values()], float).reshape(-1, 5).T.copy()
        self._q, self._v = table[:2].astype(int)
        self._factor, self._offset, self._own = table[2:]

    def content(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, nanoseconds: int = 0
    ) -> JointStateContent:
        """Contents of a JointState.

        Parameters
        ----------
        q, v, tau : array_like, shape (nq,), (nv,), (nv,)
            The force of a mimic joint acts at the joint that it follows and is zero here, and so
            is that of a joint without coordinates.
        nanoseconds : int
            Time stamp.
        """
        position = np.asarray(q, float)[self._q] * self._factor + self._offset
        velocity = np.asarray(v, float)[self._v] * self._factor
        effort = np.asarray(tau, float)[self._v] * self._own
        names = self.names
        if self.told:
            places, speeds = self.robot.joint_positions(q), self.robot.joint_velocities(q, v)
            position = np.hstack([position, *(places[name] for name in self._others)])
            velocity = np.hstack([velocity, *(speeds[name] for name in self._others)])
            effort = np.hstack([effort, np.zeros(len(self.told))])
            names = (*names, *self.told)
        return JointStateContent(divmod(int(nanoseconds), 10**9), names, position, velocity, effort)

    def read(self, name: Sequence[str], position: ArrayLike, velocity: ArrayLike = ()) -> Measured:
        """Coordinates and speeds from the arrays of a JointState, whatever their order.

        A joint that others mimic is known from any of them.

        Parameters
        ----------
        name : sequence of str
        position, velocity : array_like, shape (len(name),)
            Velocity may be empty: not measured.

        Raises
        ------
        ShapeError
            For lengths that differ, a name given twice, or numbers that are not finite.
        """
        x = _column("position", position, len(name))
        w = _column("velocity", velocity, len(name)) if np.size(velocity) else None
        twice = {n for n in name if list(name).count(n) > 1} if len({*name}) < len(name) else {}
        if twice:
            raise rd.ShapeError(f"named twice: {', '.join(sorted(twice))}", name="name")
        q, v = np.full(self.robot.nq, np.nan), np.full(self.robot.nv, np.nan)
        known = [(self._place[n], k) for k, n in enumerate(name) if n in self._place]
        for place, k in sorted(known, reverse=True):  # own coordinates have the last word
            if self._factor[place]:
                q[self._q[place]] = (x[k] - self._offset[place]) / self._factor[place]
                if w is not None:
                    v[self._v[place]] = w[k] / self._factor[place]
        lost = [n for n, k in self._place.items() if self._own[k] and np.isnan(q[self._q[k]])]
        unknown = tuple(n for n in name if n not in self._place and n not in self.told)
        return Measured(q, v, (*lost, *self.multi), unknown)

    @property
    def motors(self) -> tuple[str, ...]:
        """Scalar coordinates that motors act on, in the order of q."""
        moved = {*actuated_speeds(self.robot)}
        return tuple(
            name for k, name in enumerate(self.names) if self._own[k] and self._v[k] in moved
        )

    def followers(self, name: str) -> tuple[str, ...]:
        """Joints that follow a scalar coordinate by a factor."""
        at = self.coordinate(name)
        return tuple(n for n, k in self._place.items() if self._q[k] == at and not self._own[k])

    def limits(self, name: str) -> tuple[float, float, float]:
        """Lower and upper limit and top speed of a scalar coordinate that is the robot's own.

        They are those of the joint, of its commands by ``<ros2_control>``, and of the joints that
        follow it by a factor.
        """
        at, of_speed = self.coordinate(name), self.speed(name)
        robot = self.robot
        lower, upper = float(robot.lower_limits[at]), float(robot.upper_limits[at])
        top = float(speed_bounds(robot)[of_speed])
        if tagged := self.controlled_joints.get(name):
            low, high = tagged.range("position")
            if max(low, lower) <= min(high, upper):
                lower, upper = max(low, lower), min(high, upper)
            top = min(top, tagged.top("velocity"))
        for follower in self.followers(name):
            joint, place = robot.joints[follower], self._place[follower]
            factor, offset = float(self._factor[place]), float(self._offset[place])
            if not factor:
                continue
            if joint.position_limits is not None:
                edges = sorted((x - offset) / factor for x in joint.position_limits)
                lower, upper = max(lower, edges[0]), min(upper, edges[1])
            if joint.limits is not None and has_top_speed(joint):
                top = min(top, joint.limits.velocity / abs(factor))
        return lower, upper, top

    def is_own(self, name: str) -> bool:
        """Whether a scalar coordinate is the robot's own, and not that of a mimic joint."""
        return name in self._place and bool(self._own[self._place[name]])

    def speed(self, name: str) -> int:
        """Index in v of a scalar coordinate that is the robot's own.

        Raises
        ------
        UnknownNameError
        """
        return int(self._v[self._own_place(name)])

    def coordinate(self, name: str) -> int:
        """Index in q of a scalar coordinate that is the robot's own."""
        return int(self._q[self._own_place(name)])

    def _own_place(self, name: str) -> int:
        if not self.is_own(name):
            own = [n for n, k in self._place.items() if self._own[k]]
            raise rd.UnknownNameError("joint", name, own, repr(self.robot.name))
        return self._place[name]


def _without_coordinates(robot: rd.Robot, mimics: Container[str]) -> Iterator[str]:
    """Joints that are cut or follow others, not by a factor, and have scalar coordinates."""
    for name, joint in robot.joints.items():
        follows = joint.follows and name not in mimics
        if joint.cut or follows or name in robot.dependent_joints:
            if joint.kind.in_tree and joint.kind.nv and joint.kind.coordinates.flat:
                yield name


def _mimics(robot: rd.Robot) -> Iterable[tuple[str, str, float, float]]:
    """Joints that follow another: name, the joint at the end of the chain, factor, offset."""
    mechanism = robot.mechanism
    effective = with_couplings(mechanism) if mechanism.couplings else mechanism
    joints = {joint.name: joint for joint in effective.joints}
    for name, joint in joints.items():
        factor, offset, master = 1.0, 0.0, joint
        while master.mimic is not None:
            offset += factor * master.mimic.offset
            factor *= master.mimic.multiplier
            master = joints[master.mimic.joint]
        if master is not joint and joint.nv and master.name in robot.joint_names:
            yield name, master.name, factor, offset


def _column(what: str, values: ArrayLike, size: int) -> FloatArray:
    try:
        column = np.asarray(values, float)
    except (TypeError, ValueError):
        raise rd.ShapeError(f"{what} holds something that is no number", name=what) from None
    if column.shape != (size,):
        raise rd.ShapeError(
            f"{what} has {column.size} numbers for {size} names",
            name=what,
            given=column.shape,
            expected=(size,),
        )
    if not np.isfinite(column).all():
        raise rd.ShapeError(f"{what} holds numbers that are not finite", name=what)
    return column
