"""Between the state of a robot and the contents of ROS messages; nothing here needs ROS.

A *scalar coordinate* is a coordinate whose rate is a speed: that of a revolute joint, say, or
``name[k]`` of a cylindrical one. JointState holds these. Joints of which the coordinates do not add
(planar, spherical, floating) stand in MultiDOFJointState, where ROS has its place for them. Joints
that are cut, or follow others by a loop, have no coordinate of their own; JointState tells where
they are, and what it says of them is not read.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.arrays import wrong_shape
from robodyn.bags.messages import Stamp
from robodyn.description.couplings import with_couplings
from robodyn.model.joint_info import part_names
from robodyn.simulation.limits.bounds import has_top_speed, speed_bounds
from robodyn.simulation.loads.actuated_speeds import moved_speeds
from robodyn.urdf.ros2_control import controlled_joints

#: Orders of names that are kept, one for each publisher as a rule.
MOST_ORDERS = 16


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

    @classmethod
    def of_message(cls, message: Any) -> JointStateContent:
        """What a message of ROS or DDS holds."""
        stamp, names = message.header.stamp, tuple(message.name)
        columns = message.position, message.velocity, message.effort
        return cls((stamp.sec, stamp.nanosec), names, *(np.asarray(x, float) for x in columns))


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
        raise wrong_shape(f"the wrench of {joint!r}", values.shape, "(6,)", (6,), name="wrench")
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


@dataclass(frozen=True, eq=False)
class Named:
    """Where the joints of a message stand, by their names.

    rows, places (n,): In the message, and among scalar coordinates, of those that tell coordinates.
    shown, shown_rows (m,): In what `StateNames.content` gives, and in the message, of all known.
    missing, unknown: As of `Measured`.
    """

    rows: NDArray[np.intp]
    places: NDArray[np.intp]
    shown: NDArray[np.intp]
    shown_rows: NDArray[np.intp]
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
        self._messages: dict[tuple[str, ...], Named] = {}

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
            position = self._with_others(position, places)
            velocity = self._with_others(velocity, speeds)
            effort = np.append(effort, np.zeros(len(self.told)))
            names = (*names, *self.told)
        return JointStateContent(divmod(int(nanoseconds), 10**9), names, position, velocity, effort)

    def _with_others(self, own: FloatArray, every: Mapping[str, FloatArray]) -> FloatArray:
        """Numbers of joints with coordinates, and behind them of those without."""
        found = np.empty(len(own) + len(self.told))
        at = len(own)
        found[:at] = own
        for name in self._others:
            x = every[name]
            found[at : at + x.size] = x
            at += x.size
        return found

    def read(
        self,
        name: Sequence[str],
        position: ArrayLike,
        velocity: ArrayLike = (),
        *,
        gaps: bool = False,
    ) -> Measured:
        """Coordinates and speeds from the arrays of a JointState, whatever their order.

        A joint that others mimic is known from any of them.

        Parameters
        ----------
        name : sequence of str
        position, velocity : array_like, shape (len(name),)
            Velocity may be empty: not measured.
        gaps : bool
            NaN stands for what was not measured. Default: it is refused.

        Raises
        ------
        ShapeError
            For lengths that differ, a name given twice, or numbers that are not finite.
        """
        x = read_column("position", position, len(name), gaps)
        w = read_column("velocity", velocity, len(name), gaps) if np.size(velocity) else None
        named = self.named(tuple(name))
        factor, offset = self._factor[named.places], self._offset[named.places]
        q = np.full(self.robot.nq, np.nan)
        v = np.full(self.robot.nv, np.nan)
        _put(q, self._q[named.places], (x[named.rows] - offset) / factor)
        if w is not None:
            _put(v, self._v[named.places], w[named.rows] / factor)
        lost = gaps and np.isnan(x).any()
        return Measured(q, v, self._missing(q) if lost else named.missing, named.unknown)

    def named(self, name: tuple[str, ...]) -> Named:
        """Where the joints of a message stand; found once for messages that name the same ones.

        Raises ShapeError: For a name given twice.
        """
        known = self._messages.get(name)
        if known is None:
            if len(self._messages) >= MOST_ORDERS:
                self._messages.clear()
            known = self._messages[name] = self._named(name)
        return known

    def _named(self, name: tuple[str, ...]) -> Named:
        if len({*name}) < len(name):
            twice = sorted({n for n in name if name.count(n) > 1})
            raise rd.ShapeError(f"named twice: {', '.join(twice)}", name="name")
        known = [(self._place[n], k) for k, n in enumerate(name) if n in self._place]
        # own coordinates have the last word
        telling = [x for x in sorted(known, reverse=True) if self._factor[x[0]]]
        places, rows = np.array(telling, int).reshape(-1, 2).T
        every = {n: k for k, n in enumerate((*self.names, *self.told))}
        shown = [(every[n], k) for k, n in enumerate(name) if n in every]
        q = np.full(self.robot.nq, np.nan)
        q[self._q[places]] = 0.0
        unknown = tuple(n for n in name if n not in every)
        at, shown_rows = np.array(shown, int).reshape(-1, 2).T
        return Named(rows, places, at, shown_rows, self._missing(q), unknown)

    def _missing(self, q: FloatArray) -> tuple[str, ...]:
        """Scalar coordinates that are NaN, and joints that no JointState tells of."""
        lost = [n for n, k in self._place.items() if self._own[k] and np.isnan(q[self._q[k]])]
        return (*lost, *self.multi)

    def forces(self, effort: FloatArray) -> FloatArray:
        """Generalised forces, shape (nv,), of efforts in the order of `content` [N m, N].

        Those of joints that mimic others act through these; of joints without coordinates, not.
        """
        tau = np.zeros(self.robot.nv)
        np.add.at(tau, self._v, effort[: len(self.names)] * self._factor)
        return tau

    @property
    def motors(self) -> tuple[str, ...]:
        """Scalar coordinates that motors act on, in the order of q."""
        moved = {*moved_speeds(self.robot)}
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


def _put(x: FloatArray, at: NDArray[np.intp], values: FloatArray) -> None:
    """Write values to places; NaN leaves what is there."""
    lost = np.isnan(values)
    if lost.any():
        at, values = at[~lost], values[~lost]
    x[at] = values


def read_column(what: str, values: ArrayLike, size: int, gaps: bool = False) -> FloatArray:
    """One of the arrays of a JointState, shape (size,); with ``gaps``, NaN may be in it."""
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
    if not (np.isfinite(column).all() or (gaps and not np.isinf(column).any())):
        raise rd.ShapeError(f"{what} holds numbers that are not finite", name=what)
    return column
