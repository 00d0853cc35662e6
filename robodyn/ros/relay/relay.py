"""All joints, poses and loads of a robot from messages of some joints; nothing here needs ROS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.bags.messages import Stamp
from robodyn.ros.commands.commanded_joints import CommandedJoints
from robodyn.ros.states.estimate import Estimator, Held, largest_gap
from robodyn.ros.states.frames import LinkTransforms
from robodyn.ros.states.messages import JointStateContent, Measured, StateNames, read_column

TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class RelayedState:
    """The answer of a `Relay` to one message.

    Attributes
    ----------
    relay : Relay
    state : JointStateContent
        Of all joints, with the stamp of the message. Velocities are empty where the message has
        none, or the posture does not determine those of other joints; efforts are those of the
        message, zero for other joints without a motor, and NaN for motors that it leaves out.
    q : ndarray, shape (nq,) [rad, m]
        Coordinates of ``relay.robot``, with loops closed.
    v : ndarray, shape (nv,), or None [rad/s, m/s]
        ``None`` where velocities are not known.
    remarks : mapping of str to str
        What is wrong with the message although it was answered: sentences, by kind.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.ros import JointStateContent, Relay
    >>> relay = Relay(rd.load("four_bar"))
    >>> found = relay.complete(JointStateContent((3, 0), ("crank_drive",), [0.5], [1.0], [2.0]))
    >>> found.state.stamp, found.state.name
    ((3, 0), ('crank_drive', 'crank_pin', 'rocker_pivot', 'rocker_pin'))
    >>> found.poses.shape, found.wrenches(["rocker_pin"])["rocker_pin"].shape
    ((3, 7), (6,))
    """

    relay: Relay
    state: JointStateContent
    q: FloatArray
    v: FloatArray | None
    remarks: Mapping[str, str]

    @cached_property
    def poses(self) -> FloatArray:
        """Translation, and rotation x, y, z, w, of each of ``relay.links``, (n, 7) [m, 1]."""
        return self.relay.places(self.q)

    def wrenches(self, joints: Iterable[str] | None = None) -> Mapping[str, FloatArray]:
        """Wrenches in joints under the measured efforts, as `Robot.joint_wrenches` gives them.

        Accelerations follow from the efforts by forward dynamics.

        Parameters
        ----------
        joints : names of joints, optional
            Default: all that move.

        Raises
        ------
        RobodynError
            If velocities, or efforts of motors, are not known, or the motion of the base is not.
        """
        robot = self.relay.robot
        if self.v is None:
            raise rd.RobodynError("loads need velocities, which are not known")
        tau = self.relay.forces(self.q, self.state.effort)
        return robot.joint_wrenches(self.q, self.v, tau=tau, joints=joints)


class Relay:
    """Completes joint states: driven joints in, all joints and links out.

    Any joints that determine the others may be measured: passive ones too, but neither those that a
    loop is cut at nor followers by a function. Each message is answered by itself; what is not said
    of a joint is never taken from the message before. Postures are tracked from one message to the
    next, so that a linkage keeps its branch, and angles their turns.

    Parameters
    ----------
    robot : Robot
        The first message is looked for on the branch of its neutral posture (``near=`` of
        `robodyn.load`).

    Attributes
    ----------
    robot : Robot
        In tree coordinates, so that joints may be measured that minimal ones leave out.
    names : StateNames
    links : tuple of (str, str)
        Parent and child of each pose: of the joints that move.
    untold : tuple of str
        What no message can tell of this robot, a sentence each.

    Raises
    ------
    SettingsError
        If the robot depends on time.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.ros import JointStateContent, Relay
    >>> relay = Relay(rd.load("four_bar"))
    >>> found = relay.complete(JointStateContent((3, 0), ("crank_drive",), [0.5], [], []))
    >>> dict(zip(found.state.name, found.state.position.round(3).tolist()))["crank_drive"]
    0.5
    >>> try:  # this far the rocker does not swing
    ...     relay.complete(JointStateContent((3, 0), ("rocker_pivot",), [9.0], [], []))
    ... except rd.AssemblyError as error:
    ...     print(str(error).partition(" at best")[0])
    the loops of 'four_bar' do not close: 'rocker_pin' is off by 0.159 m
    """

    def __init__(self, robot: rd.Robot) -> None:
        if robot.depends_on_time:
            raise rd.SettingsError(
                f"{robot.name!r} depends on time, which no message of joints tells"
            )
        self.robot, self.names = robot.tree_form, StateNames(robot.tree_form)
        self._estimator = Estimator(self.names, self.names.multi)
        undetermined = self._estimator.undetermined()
        #: Joints of which nothing is known.
        self.free = tuple(name for name, whole in undetermined.items() if whole)
        self.untold = tuple(self._untold(undetermined))
        self.places = LinkTransforms(self.robot, without=self.free)
        self.links = self.places.links
        self._motors = CommandedJoints(self.names)
        every = (*self.names.names, *self.names.told)
        self._motor_places = np.array([every.index(name) for name in self._motors.names], int)
        self._turning = np.array([self._is_angle(name) for name in every], bool)
        self._unwound = np.flatnonzero([self._is_cut_pin(name) for name in every])
        self._told: FloatArray | None = None
        self._last_stamp = 0

    def prepare(self, wrenches: Iterable[str] | None = ()) -> None:
        """Compile what answers need, so that no message has to wait for it.

        Parameters
        ----------
        wrenches : names of joints, optional
            Those of which loads will be asked for; ``None``: all that move. Default: none.

        Raises
        ------
        RobodynError
            As of `RelayedState.wrenches`.
        """
        names, joints = self.names, None if wrenches is None else tuple(wrenches)
        self._estimator.prepare([name for name in self._motors.names if names.is_own(name)])
        q, v = self.robot.neutral(), np.zeros(self.robot.nv)
        content = names.content(q, v, v)
        self.places(q)
        if joints != ():
            efforts = np.zeros(len(content.name))
            content = JointStateContent((0, 0), content.name, content.position, v, efforts)
            RelayedState(self, content, q, v, {}).wrenches(joints)

    def complete(self, state: JointStateContent) -> RelayedState:
        """The state of all joints that agrees with a message.

        Parameters
        ----------
        state : JointStateContent
            Joints in any order. Velocities and efforts may be empty; NaN stands for what was not
            measured.

        Raises
        ------
        ShapeError
            For lengths that differ, a name given twice, or infinite numbers.
        UnknownNameError
            If joints are missing that nothing determines; ``.name`` lists them.
        AssemblyError
            If the loops cannot be closed, or measured joints contradict each other: it names the
            joint and the gap.
        """
        remarks: dict[str, str] = {}
        self._look_at_stamp(state.stamp, remarks)
        names = tuple(state.name)
        measured = self.names.read(names, state.position, state.velocity, gaps=True)
        positions = np.asarray(state.position, float)
        efforts = self._efforts(names, state.effort)
        self._look_at_names(names, positions, measured.unknown, remarks)
        q, held = self._estimator.posture(measured)
        if self._estimator.remark:
            remarks["branch"] = self._estimator.remark
        v = self._velocity(q, held, measured, np.size(state.velocity) > 0, remarks)
        content = self._content(q, v, efforts, state.stamp)
        self._refuse_contradictions(names, positions, content)
        return RelayedState(self, content, q, v, remarks)

    def forces(self, q: FloatArray, efforts: FloatArray) -> FloatArray:
        """Generalised forces, shape (nv,), of the efforts of an answer [N m, N].

        Raises RobodynError: If efforts of motors, or the motion of the base, are not known.
        """
        if self.free or self.robot.base != "fixed":
            where = ", ".join(self.free) or "the base"
            raise rd.RobodynError(f"loads need the motion of {where}, which no JointState tells")
        motors = self._motors
        others = {*self.robot.actuated_joints} & {*self.names.multi}
        if len(efforts) < len(self._turning) or others:
            missing = "any joint" if not others else ", ".join(others)
            raise rd.RobodynError(f"loads need the efforts of {missing}, which are not known")
        own = efforts[self._motor_places]
        if np.isnan(own).any():
            missing = ", ".join(np.array(motors.names)[np.isnan(own)])
            raise rd.RobodynError(f"loads need the efforts of {missing}, which are not known")
        tau = self.names.forces(np.where(np.isnan(efforts), 0.0, efforts))
        if motors.depend_on_posture:
            tau += motors.forces(q, np.where(motors.motors >= 0, own, 0.0), limited=False)
        return tau

    # -- what a message says --------------------------------------------------------------------

    def _look_at_stamp(self, stamp: Stamp, remarks: dict[str, str]) -> None:
        seconds, nanoseconds = stamp
        time = 10**9 * seconds + nanoseconds
        if time < self._last_stamp:
            late = 1e-9 * (self._last_stamp - time)
            remarks["late"] = f"a message is stamped {late:.3g} s before the one that came before"
        elif not time:
            remarks["stamp"] = "messages have no time stamp, and so has what answers them"
        self._last_stamp = time

    def _look_at_names(
        self,
        names: tuple[str, ...],
        positions: FloatArray,
        unknown: tuple[str, ...],
        remarks: dict[str, str],
    ) -> None:
        joints = self.robot.joints
        strange = [name for name in unknown if name not in joints]
        still = [name for name in unknown if name in joints]
        if strange:
            remarks["unknown"] = f"not of this robot: {', '.join(strange)}"
        if still:
            remarks["fixed"] = f"does not move in this robot, and is not read: {', '.join(still)}"
        lost = np.isnan(positions)
        if lost.any():
            gone = ", ".join(names[k] for k in np.flatnonzero(lost))
            remarks["nan"] = f"positions that are NaN count as not measured: {gone}"

    def _efforts(self, names: tuple[str, ...], given: object) -> FloatArray:
        """Efforts in the order of answers; empty where the message has none."""
        if not np.size(given):  # type: ignore[arg-type]
            return np.zeros(0)
        measured = read_column("effort", given, len(names), gaps=True)  # type: ignore[arg-type]
        named = self.names.named(names)
        efforts = np.zeros(len(self._turning))
        efforts[self._motor_places] = np.nan
        efforts[named.shown] = measured[named.shown_rows]
        return efforts

    def _velocity(
        self,
        q: FloatArray,
        held: Held | None,
        measured: Measured,
        given: bool,
        remarks: dict[str, str],
    ) -> FloatArray | None:
        """Speeds of all joints; ``None`` where they are not known."""
        if not given:
            return None
        lost = np.isnan(measured.v)
        if held is None:
            lost[[k for name in self.names.multi for k in self._speeds(name)]] = False
        elif not lost[held.speeds].any():
            lost[:] = False
        if lost.any():
            remarks["velocity"] = "velocities that determine the others are NaN: none are given"
            return None
        try:
            return self._estimator.velocity(q, measured.v, held)
        except rd.RobodynError as error:
            remarks["velocity"] = f"velocities of other joints are not determined: {error}"
            return None

    def _speeds(self, name: str) -> range:
        return range(self.robot.nv)[self.robot.joints[name].v]

    # -- what is answered -----------------------------------------------------------------------

    def _content(
        self, q: FloatArray, v: FloatArray | None, efforts: FloatArray, stamp: Stamp
    ) -> JointStateContent:
        still = np.zeros(self.robot.nv)
        found = self.names.content(q, still if v is None else v, still)
        position = found.position
        if self._unwound.size:
            for x in self._estimator.way:
                self._unwind(self.names.content(x, still, still).position)
            position = self._unwind(position)
        velocity = np.zeros(0) if v is None else found.velocity
        return JointStateContent(stamp, found.name, position, velocity, efforts)

    def _unwind(self, position: FloatArray) -> FloatArray:
        """Positions with turns of cut joints counted on from those before."""
        if self._told is not None:
            turns = np.round((self._told - position)[self._unwound] / TURN)
            position[self._unwound] += TURN * turns
        self._told = position
        return position

    def _refuse_contradictions(
        self, names: tuple[str, ...], positions: FloatArray, found: JointStateContent
    ) -> None:
        """Refuse measured joints that are elsewhere than those have them that they follow."""
        named = self.names.named(names)
        both = positions[named.shown_rows], found.position[named.shown]
        wrong = largest_gap(*both, self._turning[named.shown])
        if wrong is not None:
            raise rd.AssemblyError(
                f"{names[named.shown_rows[wrong[0]]]} was measured {wrong[1]:.3g} (rad or m) away "
                "from where the joints have it that it follows"
            )

    def _is_angle(self, name: str) -> bool:
        joint, axis = self._joint(name)
        return self.robot.joints[joint].kind.unit(axis) != "m"

    def _is_cut_pin(self, name: str) -> bool:
        joint = self.robot.joints[self._joint(name)[0]]
        return joint.cut and joint.kind.is_pin

    def _joint(self, name: str) -> tuple[str, int]:
        """The joint of a scalar coordinate, and which of its axes it is."""
        if name in self.robot.joints:
            return name, 0
        joint, _, axis = name.rstrip("]").rpartition("[")
        return joint.rstrip("["), int(axis)

    def _untold(self, undetermined: Mapping[str, bool]) -> Iterable[str]:
        for name, whole in undetermined.items():
            joint = self.robot.joints[name]
            if whole:
                yield (
                    f"no JointState tells of the {joint.type} joint {name!r}: poses begin anew at "
                    f"link {joint.child!r}, and there are no loads"
                )
            else:
                yield (
                    f"the {joint.type} joint {name!r} can turn without any other: that part of its "
                    "pose is not measured, and stays as it is"
                )
        if self.robot.base == "moving":
            root = self.robot.link_names[0]
            yield f"no JointState tells of the base: poses begin at {root!r}, there are no loads"
