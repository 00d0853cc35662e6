"""A robot that moves in steps, takes commands, and does not stop for bad ones; without ROS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.bags.messages import JOINT_STATE, NUMBERS
from robodyn.literals import CommandInterface
from robodyn.model.virtual_work import joint_forces, loads_follow_forces
from robodyn.ros.commands.commanded_joints import CommandedJoints, Wanted, read_joint_commands
from robodyn.ros.commands.commands import Commands, Rows
from robodyn.ros.commands.controllers import HeldPosture, chosen_controller
from robodyn.ros.commands.path_limits import AtLimit, rehearse
from robodyn.ros.commands.settings import Settings
from robodyn.ros.commands.trajectories import (
    Motion,
    TrajectoryContent,
    TrajectoryPoint,
    out_of_time,
    plan,
    prepare,
)
from robodyn.ros.engine.audit import Audit
from robodyn.ros.engine.initial_posture import initial_posture
from robodyn.ros.states.messages import StateNames
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.simulation.control.controller import ControlFunction
from robodyn.simulation.control.running_controller import RunningController
from robodyn.simulation.integrators import EXPLICIT
from robodyn.simulation.limits.bounds import within_motors
from robodyn.simulation.loads.driven_joints import Driven, independent
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.motion.continued_motion import ContinuedMotion
from robodyn.simulation.step.stepper import Stepper
from robodyn.tolerances import CLOCK_ROUNDING, FARTHEST

#: Topics that a node takes commands from, with their types.
INPUTS = {
    "~/commands": NUMBERS,
    "~/joint_commands": JOINT_STATE,
    "~/joint_trajectory": "trajectory_msgs/msg/JointTrajectory",
}

#: Times [s] within which a trajectory that is given up comes to rest, one tried after the other.
BRAKING = 0.2, 0.05, 0.01

#: What a motion that has come to a state of which nothing follows raises.
BREAKDOWNS = rd.RobodynError, np.linalg.LinAlgError, ArithmeticError


class Engine:
    """A simulated robot behind commands.

    Parameters
    ----------
    robot : Robot
        With a fixed or floating base.
    settings : Settings, optional
    joints : names, optional
        The joints that ``command`` moves, in its order. Default: those with motors.
    q0 : array_like, shape (nq,), optional
        Where it starts and where ``reset`` puts it. Default: the initial values of
        ``<ros2_control>``, where the file has them, and else neutral.
    log : ThrottledLogger, optional
        Where warnings go. Default: nowhere.

    Attributes
    ----------
    names : StateNames
    joints : tuple of str
        Scalar coordinates that ``command`` moves.
    commanded : CommandedJoints
        What is known of them.
    settings : Settings
    t : float [s]
    q, v : ndarray, shape (nq,), (nv,)

    Raises
    ------
    ActuationError
        If joints are to get position or velocity commands that loops tie together.
    SettingsError
        If the robot depends on time.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.ros import Engine
    >>> engine = Engine(rd.load("double_pendulum"))
    >>> engine.robot.name
    'double_pendulum'
    """

    def __init__(
        self,
        robot: rd.Robot,
        settings: Settings | None = None,
        *,
        joints: Iterable[str] | None = None,
        q0: ArrayLike | None = None,
        log: ThrottledLogger | None = None,
    ) -> None:
        if robot.depends_on_time:
            raise rd.SettingsError(
                f"{robot.name!r} depends on time, which no message of joints tells: "
                "robodyn.simulate moves it"
            )
        self.robot, self.names = robot, StateNames(robot)
        self.log = log or ThrottledLogger(lambda text: None)
        self.commanded = CommandedJoints(self.names, joints)
        self.joints = self.commanded.names
        self._start = initial_posture(self.names, self.log) if q0 is None else robot.assemble(q0)
        self.t, self.settings = 0.0, settings or Settings()
        self._interfaces = self._usual_interfaces()
        self._commands: Commands
        #: A command has come for which no joint has set out yet.
        self._waits = False
        self.q, self.v = self._start.copy(), np.zeros(robot.nv)
        prepare()
        self._controller = self.check(self.settings)
        self._motion: ContinuedMotion | None = None
        #: Forces that act until the next command, where they do not depend on the state.
        self._constant: FloatArray | None = None
        self._restart_audit()
        self._release()
        self._observed()  # compiles what the first step needs

    # -- what is asked of it --------------------------------------------------------------------

    def configure(self, settings: Settings) -> None:
        """Take other settings; if they do not fit, the old ones stay.

        Raises
        ------
        ShapeError, ActuationError
        """
        controller = self.check(settings)
        changed = settings.interfaces != self.settings.interfaces
        changed |= settings.controller != self.settings.controller
        self._controller, self.settings = controller, settings
        self._restart_audit()
        if changed:
            self._interfaces = self._usual_interfaces()
            self._release()
        else:
            self._set_out(self.t, self.q, self.v)

    def check(self, settings: Settings) -> ControlFunction | None:
        """The controller of some settings, if they fit this robot.

        Raises
        ------
        ShapeError, ActuationError
        """
        interfaces = settings.spread("interfaces", len(self.joints))
        self._check_independent([k for k, kind in enumerate(interfaces) if kind != "effort"])
        return chosen_controller(self.robot, settings, self.commanded, lambda t: self._commands(t))

    def reset(self) -> None:
        """Back to the start, at rest, with no command; time goes on."""
        self.q, self._interfaces = self._start.copy(), self._usual_interfaces()
        self._rest()

    def command(self, values: ArrayLike) -> None:
        """Take a command: one number a joint of ``joints``, as ``settings.interfaces`` say.

        Raises
        ------
        ShapeError
            For another length, or numbers that are not finite, or positions and speeds that no
            joint has; the last command stays.
        """
        self._take(self.commanded.values(values), self._usual_interfaces(), slice(None))

    def command_some(self, names: Sequence[str], values: ArrayLike) -> None:
        """Take a command for some joints, by name; the others keep theirs.

        Raises
        ------
        UnknownNameError, ShapeError, ActuationError
            The last command stays.
        """
        given = np.asarray(values, float)
        if given.shape != (len(names),) or not names or len({*names}) < len(names):
            raise rd.ShapeError(
                f"a command has {given.size} numbers for {len(names)} names; expected one for each "
                "joint, named once",
                name="command",
                given=given.shape,
                expected=(len(names),),
            )
        rows, usual = [self.commanded.row(name) for name in names], self._usual_interfaces()
        self._take_some({row: (usual[row], x) for row, x in zip(rows, given, strict=True)})

    def command_by_interface(
        self, names: Sequence[str], position: ArrayLike, velocity: ArrayLike, effort: ArrayLike
    ) -> None:
        """Take the command of a JointState: what has a number there, as what it is.

        Joints without a number (NaN, or an empty array) keep what they are commanded. Of several
        numbers for a joint, that of its interface in ``settings`` counts, else the first.

        Raises
        ------
        UnknownNameError, ShapeError, ActuationError
            The last command stays.
        """
        arrays: dict[CommandInterface, ArrayLike] = {
            "position": position, "velocity": velocity, "effort": effort
        }  # fmt: skip
        usual = self._usual_interfaces()
        wanted, notes = read_joint_commands(self.commanded, usual, names, arrays)
        if wanted:
            self._take_some(wanted)
        for text in notes:
            self.log.each(text)

    def _usual_interfaces(self) -> tuple[CommandInterface, ...]:
        """What numbers for each joint mean by the settings."""
        return self.settings.spread("interfaces", len(self.joints))

    def _take_some(self, wanted: Wanted) -> None:
        """Take commands for some joints; the others keep theirs, and what these mean."""
        values, interfaces = self._commands.present(self.q), [*self._interfaces]
        for row, (kind, value) in wanted.items():
            values[row], interfaces[row] = value, kind
        self._take(self.commanded.values(values), tuple(interfaces), [*wanted])

    def _take(
        self,
        given: FloatArray,
        interfaces: tuple[CommandInterface, ...],
        rows: Sequence[int] | slice,
    ) -> None:
        """Take a command, one number a joint, what each means, and the joints that it is for."""
        commands, kinds = self._commands, np.array(interfaces, object)
        if np.any((kinds != "effort") & (np.abs(given) > FARTHEST)):
            raise rd.ShapeError(
                f"a command holds positions or speeds beyond {FARTHEST:g}", name="command"
            )
        if commands.is_under_way(self.t):
            self.log("busy", "a trajectory is running: the command is ignored")
            return
        if interfaces != self._interfaces:
            self._check_independent([k for k, kind in enumerate(interfaces) if kind != "effort"])
            self._interfaces = interfaces
        if commands.motion or interfaces != commands.interfaces:
            commands = self._commands = commands.with_interfaces(interfaces, self.q)
        for text in commands.take(self.t, given, rows):
            self.log.each(text)
        self._constant, self._waits = None, True

    def follow(self, content: TrajectoryContent) -> None:
        """Follow a trajectory from now on; one without points stops the joints.

        With ``settings.controller`` ``"pd"`` or ``"computed_torque"`` the motors' forces follow
        it, else the joints are driven exactly along it.

        Raises
        ------
        UnknownNameError, ShapeError, PathError
        ActuationError
            If loops do not let these joints move independently.
        """
        if not content.points:
            self._release()
            return
        rows = np.array([self.commanded.row(name) for name in content.joint_names], int)
        self.commanded.refuse_without_coordinates(rows)
        motion = plan(self.robot, content, self.q, self.v, names=self.names)
        driven = np.flatnonzero(~self._commands.is_effort)
        exact = rows if self.settings.drives_along_trajectories else ()
        self._check_independent([*np.setdiff1d(driven, rows), *exact])
        if self.settings.drives_along_trajectories:
            commands = Commands(self.commanded, self._interfaces, self.q)
            commands.follow(self.t, motion, rows, self.q)
            paths = Driven(self.robot.nv, commands.paths(self.t, self.q, self.v, self.settings))
            at = self.t, self.q, self.v
            rehearse(self.names, paths, *at, motion.duration, self.settings.step)
        self._commands.follow(self.t, motion, rows, self.q)
        self._set_out(self.t, self.q, self.v)

    @property
    def motion(self) -> Motion | None:
        """The trajectory that is followed, or was last; ``None`` after another command."""
        return self._commands.motion

    @property
    def motion_time(self) -> float:
        """Time since it began [s]."""
        return self._commands.since_motion(self.t)

    def halt(self) -> None:
        """Bring the joints of a trajectory to rest, where they stay."""
        motion, commands = self.motion, self._commands
        if motion is None or not commands.is_under_way(self.t):
            return
        at = self.commanded.coordinates, self.commanded.speeds
        x, v = self.q[at[0][commands.moved_rows]], self.v[at[1][commands.moved_rows]]
        for time in BRAKING:
            point = TrajectoryPoint(time, (x + 0.5 * time * v).tolist())
            with suppress(rd.PathError):
                return self.follow(TrajectoryContent(motion.names, (point,)))
        self._stay(motion, commands.moved_rows)

    def _stay(self, motion: Motion, rows: Rows) -> None:
        """Let the joints of a trajectory stay where they are."""
        x = self.q[self.commanded.coordinates[rows]]
        self._commands.follow(self.t, Motion.at_rest(motion.names, x), rows, self.q)
        self._set_out(self.t, self.q, self.v)

    def obey(self, topic: str, message: Any, now: int) -> None:
        """Take a message on a topic of `INPUTS`, where the clock says ``now`` [ns].

        Raises
        ------
        UnknownNameError, ShapeError, PathError, ActuationError
            As `command`, `command_by_interface` and `follow`.
        """
        kind = INPUTS[topic]
        if kind == NUMBERS:
            self.command(np.array(message.data, float))
        elif kind == JOINT_STATE:
            arrays = message.position, message.velocity, message.effort
            self.command_by_interface(message.name, *arrays)
        else:
            self.follow(TrajectoryContent.of_message(message))
        if kind != NUMBERS:
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            what = "command" if kind == JOINT_STATE else "trajectory"
            if text := out_of_time(stamp, now, what):
                self.log(f"stamp of {what}", text)

    # -- moving ---------------------------------------------------------------------------------

    def advance(self, steps: int) -> None:
        """Move by a number of steps; loops are closed after each, as controllers want them.

        A motion that breaks down (no number, loops that open, a singular posture, energy that
        comes from nowhere) ends in the last good state, at rest, with a warning. Joints that are
        driven to a limit of position, their own or that of a joint which they move, stop there.
        """
        end, done = self.t + steps * self.settings.step, 0
        try:
            while done < steps:
                done += self._move(steps - done)
        except BREAKDOWNS as error:
            self._break_down(error)
            self.t = end

    def _move(self, steps: int) -> int:
        """Move by at most so many steps, in which the same command holds; by how many."""
        self._start_waiting()
        self._expire_stale(self.t, self.q, self.v)
        commands, h = self._commands, self.settings.step
        tau, count = None, steps
        if commands.is_fresh:
            left = self.settings.command_timeout + CLOCK_ROUNDING - commands.age(self.t)
            count = max(1, min(steps, int(left / h) + 1))
        if commands.is_fresh or self._controller is None:
            tau = self._torque(self.t, self.q, self.v)
            count = count if self._constant is not None else 1
        if self._motion is None:
            self._motion = self._continued_motion()
        motion = self._motion
        before, done = self.t, motion.advance(count, tau)
        stop = self._audit.take(motion, done, self._stepper.driven.speeds)
        if motion.at_limit:
            motion.at_limit = False
            self._log_efforts()
        self.q, self.v, self.t = motion.q, motion.v, motion.t
        if stop is None:
            return done
        self._stop_at(stop, before + h)
        return max(1, round((self.t - before) / h))

    def _break_down(self, error: Exception) -> None:
        """Go back to the last good state, at rest, and forget what is commanded."""
        self.log("broken", f"the motion broke down and was stopped: {error}")
        self.q, self.t = self._audit.good or (self._start.copy(), self.t)
        self._rest()

    def _stop_at(self, stop: AtLimit, earliest: float) -> None:
        """Stop driven joints before a limit, where they stay."""
        self.log.each(f"{stop}: what drives it there was stopped")
        self.q, self.t = stop.q, max(stop.t, earliest)
        moved, motion = self._commands.moved_rows, self._commands.motion
        self._rest()
        if motion and self.settings.drives_along_trajectories:
            self._stay(motion, moved)

    def _rest(self) -> None:
        self.v, self._motion = np.zeros(self.robot.nv), None
        self._audit.restart()
        self._audit.good = self.q, self.t
        self._release()

    def _continued_motion(self) -> ContinuedMotion:
        """The motion from here on, until another command comes."""
        controller = None
        if not self._commands.is_fresh and self._controller is not None:
            posture = HeldPosture(self._commands(self.t)[0], self.robot.nv)
            reference = self._commands if self._commands.motion else posture
            chosen = chosen_controller(self.robot, self.settings, self.commanded, reference)
            controller = None if chosen is None else RunningController(self.robot, chosen)
        efforts = np.zeros(self.robot.nv) if controller is None else self.commanded.effort_along
        at = self.t, self.settings.step, self.q, self.v
        return ContinuedMotion(self._stepper, controller, efforts, *at)

    def observe(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration and forces at this instant.

        Accelerations, and forces that follow from them, are not a number where the posture does
        not determine them, as next to a singular one.
        """
        self._start_waiting()
        try:
            return self._observed()
        except BREAKDOWNS as error:
            self.log("undetermined", f"efforts and accelerations are not published: {error}")
        unknown = np.full(self.robot.nv, np.nan)
        known = np.isin(np.arange(self.robot.nv), self._stepper.driven.speeds, invert=True)
        tau = self.commanded.forces(self.q, self._commands.effort)
        if not self._commands.is_fresh and self._controller is not None:
            known[self.commanded.controlled] = False
        elif self._controller is not None:
            known[self.commanded.speeds[self._commands.idle]] = False
        return self.q, self.v, unknown, np.where(known, tau, np.nan)

    def _observed(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        tau = self._torque(self.t, self.q, self.v)
        return self.q, self.v, *self._stepper.accelerations(self.t, self.q, self.v, tau)

    def wrenches(
        self, a: FloatArray, tau: FloatArray, joints: Iterable[str] | None = None
    ) -> Mapping[str, FloatArray]:
        """Wrenches in the joints under the accelerations and forces that `observe` gives."""
        if not loads_follow_forces(self.robot.model):
            return self.robot.joint_wrenches(self.q, self.v, a, joints=joints)
        return self.robot.joint_wrenches(self.q, self.v, tau=tau, joints=joints)

    def measurements(
        self, a: FloatArray, tau: FloatArray, sensors: Iterable[str]
    ) -> Mapping[str, FloatArray]:
        """What sensors show under the accelerations and forces that `observe` gives."""
        if not loads_follow_forces(self.robot.model):
            return self.robot.measure(self.q, self.v, a, sensors=sensors)
        return self.robot.measure(self.q, self.v, tau=tau, sensors=sensors)

    def motor_torques(self, tau: FloatArray) -> FloatArray:
        """Torque at the shaft of each commanded joint's motor, shape (n,).

        Those of all motors, as `Robot.motor_torques` has them, if some are at joints that follow
        others. Not a number where a transmission leaves undetermined how its motors share them.
        """
        gearing, q = self.robot.model.gearing, self.q
        try:
            matrix = lambda: self.robot.actuation_matrix(q)  # noqa: E731
            torques = gearing.torques(joint_forces(self.robot.model, matrix, tau))
            return torques if gearing.elsewhere else torques[self.commanded.speeds]
        except rd.ActuationError as error:
            self.log("motors", f"no motor torques: {error}")
            return np.full(len(self.joints), np.nan)

    # -- what acts on it ------------------------------------------------------------------------

    def _torque(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces of fresh commands or of the controller, within the limits of the joints."""
        self._expire_stale(t, q, v)
        if self._constant is not None:
            return self._constant
        joints = self.commanded
        if self._commands.is_fresh or self._controller is None:
            efforts = self._commands.effort if self._commands.is_fresh else np.zeros(len(joints))
            tau = joints.forces(q, efforts)
            idle = joints.speeds[self._commands.idle]
            told = np.any(np.abs(efforts) > joints.effort)  # when the command came
            cut = not told and bool(np.any(tau != joints.forces(q, efforts, limited=False)))
            if self._controller is not None and idle.size:
                tau = tau.copy()
                tau[idle] = self._idle_torque(t, q, v)[idle]
            elif not self.robot.model.gearing.elsewhere:
                self._constant = tau
        else:
            tau, cut = self._idle_torque(t, q, v), False
        if cut:
            self._log_efforts()
        return tau

    def _idle_torque(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces of the controller, within the limits of joints and motors."""
        assert self._controller is not None
        wanted, top = np.asarray(self._controller(t, q, v)), self.commanded.effort_along
        tau = within_motors(self.robot, np.minimum(np.maximum(wanted, -top), top), q)
        if np.any((tau != wanted)[self.commanded.controlled]):
            self._log_efforts()
        return tau

    def _expire_stale(self, t: float, q: FloatArray, v: FloatArray) -> None:
        """Let the controller take over where the last command is too old."""
        commands, timeout = self._commands, self.settings.command_timeout
        if not commands.is_fresh:
            return
        late = commands.late(t, timeout + CLOCK_ROUNDING)
        if not late.any():
            return
        efforts, whose = late & commands.is_effort, ""
        if late[commands.given].all():
            commands.expire(q)
        else:
            whose = f" of {self.commanded.named(efforts)}"
            commands.drop(late, q)
        self._set_out(t, q, v)
        if efforts.any():
            text = f"no command{whose} for {timeout:g} s: {self.settings.controller} takes over"
            self.log(f"stale{whose}", text)

    def _log_efforts(self) -> None:
        self.log("effort", "efforts beyond the limits of the joints are cut to them")

    def _release(self) -> None:
        """Forget commands and trajectories; joints hold or are free, as the settings say."""
        self._commands = Commands(self.commanded, self._interfaces, self.q)
        self._set_out(self.t, self.q, self.v)

    def _restart_audit(self) -> None:
        order = EXPLICIT[self.settings.integrator].order
        self._audit = Audit(self.robot, self.log, order)

    def _start_waiting(self) -> None:
        """Let joints set out that wait for it: of many commands at one instant the last counts."""
        if self._waits:
            self._set_out(self.t, self.q, self.v)

    def _set_out(self, t: float, q: FloatArray, v: FloatArray) -> None:
        """Let driven joints set out, from a state, on the way to what they are commanded."""
        driven = Driven(self.robot.nv, self._commands.paths(t, q, v, self.settings))
        if self._motion is not None:
            self._audit.keep(self._motion)
        self._motion = self._constant = None
        self._waits = False
        self._stepper = Stepper(loads_on(self.robot, driven), self.settings.integrator)

    def _check_independent(self, rows: Sequence[int]) -> None:
        """Refuse to drive joints that loops tie together, or that follow others."""
        rows = sorted({int(row) for row in rows})
        self.commanded.refuse_without_coordinates(rows)
        if not independent(self.robot, self.q, self.commanded.speeds[rows].tolist()):
            names = ", ".join(self.joints[row] for row in rows)
            raise rd.ActuationError(
                f"loops of {self.robot.name!r} tie {names} together: they cannot follow paths "
                "independently"
            )
