"""A robot that moves in steps, takes commands, and does not stop for bad ones; without ROS."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

import robodyn as rd
from robodyn.ros.engine.command_path import CommandPath
from robodyn.ros.engine.commanded_joints import CommandedJoints
from robodyn.ros.engine.controllers import Controller, chosen_controller
from robodyn.ros.engine.messages import StateNames
from robodyn.ros.engine.settings import Settings
from robodyn.ros.engine.throttled_logger import ThrottledLogger
from robodyn.ros.engine.trajectories import Motion, TrajectoryContent, plan, prepare
from robodyn.simulation.driven import Driven, DrivenPath, independent
from robodyn.simulation.stepper import Stepper

__all__ = ["Engine"]

Array = NDArray[np.float64]

#: Loops are closed at least so often [s].
CLOSURE = 5e-3

#: What sums of steps may be off by [s].
ROUNDING = 1e-9


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
        Where it starts and where ``reset`` puts it. Default: neutral.
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
        self.robot, self.names = robot, StateNames(robot)
        self.log = log or ThrottledLogger(lambda text: None)
        self.commanded = CommandedJoints(self.names, joints)
        self.joints = self.commanded.names
        self._start = robot.neutral() if q0 is None else robot.assemble(q0)
        self.t, self.settings = 0.0, settings or Settings()
        self.q, self.v = self._start.copy(), np.zeros(robot.nv)
        self._motion: Motion | None = None
        prepare()
        self._controller: Controller = self.check(self.settings)
        self._release()
        self.observe()  # compiles what the first step needs

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
        if changed:
            self._release()
        else:
            self._set_out(self.t, self.q, self.v)

    def check(self, settings: Settings) -> Controller:
        """The controller of some settings, if they fit this robot.

        Raises
        ------
        ShapeError, ActuationError
        """
        interfaces = settings.spread("interfaces", len(self.joints))
        self._check_independent([k for k, kind in enumerate(interfaces) if kind != "effort"])
        return chosen_controller(self.robot, settings, self.commanded, self._reference)

    def reset(self) -> None:
        """Back to the start, at rest, with no command; time goes on."""
        self.q, self.v = self._start.copy(), np.zeros(self.robot.nv)
        self._release()

    def command(self, values: ArrayLike) -> None:
        """Take a command: one number a joint of ``joints``, as ``settings.interfaces`` say.

        Raises
        ------
        ShapeError
            For another length, or numbers that are not finite; the last command stays.
        """
        given = self.commanded.values(values)
        if self._motion and self.t < self._motion_start + self._motion.duration:
            self.log("busy", "a trajectory is running: the command is ignored")
            return
        if self._motion:
            self._release()
        self._command, self._commanded_at, self._is_fresh = given, self.t, True
        inside = np.clip(given, self.commanded.lower, self.commanded.upper)
        if np.any(self._is_position & (inside != given)):
            self.log("limit", "positions beyond the limits of the joints are cut to them")
        self._position = np.where(self._is_position, inside, np.nan)
        self._speed = np.where(self._is_position, 0.0, given)
        if self._command_rows.size:
            self._set_out(self.t, self.q, self.v)

    def command_some(self, names: Sequence[str], values: ArrayLike) -> None:
        """Take a command for some joints, by name; the others keep theirs.

        Raises
        ------
        UnknownNameError, ShapeError
            The last command stays.
        """
        given = np.asarray(values, float)
        if given.shape != (len(names),) or not names or len({*names}) < len(names):
            raise rd.ShapeError(
                f"a command has {given.size} numbers for the names {list(names)}; expected one for "
                "each joint, named once",
                name="command",
                given=given.shape,
                expected=(len(names),),
            )
        command = self._present_command()
        for name, value in zip(names, given, strict=True):
            command[self.commanded.row(name)] = value
        self.command(command)

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
        motion = plan(self.robot, content, self.q, self.v, names=self.names)
        commanded = np.setdiff1d(np.flatnonzero(~self._is_effort), rows)
        self._check_independent([*commanded, *(rows if self._is_exact else ())])
        self._hold_moved_joints()
        self._motion, self._motion_rows, self._motion_start = motion, rows, self.t
        self._is_fresh, self._held = False, self.q.copy()
        self._speed = np.zeros(len(self.joints))
        self._set_out(self.t, self.q, self.v)

    # -- moving ---------------------------------------------------------------------------------

    def advance(self, steps: int) -> None:
        """Move by a number of steps; loops are closed at the end.

        A motion that breaks down (no number, loops that open) is taken back to the last good
        state, at rest, with a warning.
        """
        h = self.settings.step
        batch = max(1, round(CLOSURE / h)) if self.robot.nc else steps
        done = 0
        while done < steps:
            count = min(batch, steps - done)
            try:
                self._move(count, h)
            except (rd.RobodynError, np.linalg.LinAlgError, FloatingPointError) as error:
                self.v = np.zeros(self.robot.nv)
                self.t += count * h
                self._release()
                self.log("broken", f"the motion broke down and was stopped: {error}")
            done += count

    def _move(self, count: int, h: float) -> None:
        q, v, start = self.q, self.v, self.t
        for k in range(count):
            t = start + k * h
            tau = self._torque(t, q, v)
            q, v = self._stepper.step(t, q, v, tau, h, close=k == count - 1)
        self.q, self.v, self.t = q, v, start + count * h

    def observe(self) -> tuple[Array, Array, Array, Array]:
        """Position, velocity, acceleration and forces at this instant."""
        tau = self._torque(self.t, self.q, self.v)
        a, forces = self._stepper.accelerations(self.t, self.q, self.v, tau)
        over = np.abs(forces[self.commanded.speeds]) > self.commanded.effort * (1.0 + 1e-9)
        if over.any():
            names = ", ".join(np.array(self.joints)[over])
            self.log("drive", f"driving {names} takes more than the effort limit")
        return self.q, self.v, a, forces

    def wrenches(
        self, a: Array, tau: Array, joints: Iterable[str] | None = None
    ) -> Mapping[str, Array]:
        """Wrenches in the joints under the accelerations and forces that `observe` gives."""
        if not self.robot.nc:
            return self.robot.joint_wrenches(self.q, self.v, a, joints=joints)
        return self.robot.joint_wrenches(self.q, self.v, tau=tau, joints=joints)

    def motor_torques(self, tau: Array) -> Array:
        """Torque at the shaft of each commanded joint's motor, shape (n,)."""
        speeds = self.commanded.speeds
        ratios = self.robot.gear_ratios[speeds]
        return np.asarray(tau[speeds] / np.where(ratios == 0.0, np.inf, ratios))

    # -- what acts on it ------------------------------------------------------------------------

    def _torque(self, t: float, q: Array, v: Array) -> Array:
        """Forces of fresh commands or of the controller, within the limits of the joints."""
        age = t - self._commanded_at
        if self._is_fresh and age > self.settings.command_timeout + ROUNDING:
            self._take_over(t, q, v)
        if self._is_fresh and not self._motion:
            wanted = np.where(self._is_effort, self._command, 0.0)
        else:
            wanted = self._controller(t, q, v)[self.commanded.speeds]
        limit = self.commanded.effort
        within = np.minimum(np.maximum(wanted, -limit), limit)
        if np.any(within != wanted):
            self.log("effort", "efforts beyond the limits of the joints are cut to them")
        tau = np.zeros(self.robot.nv)
        tau[self.commanded.speeds] = within
        return tau

    def _reference(self, t: float) -> tuple[Array, Array, Array]:
        """What the controller follows: the trajectory, or the posture that is held."""
        q, (v, a) = self._held.copy(), np.zeros((2, self.robot.nv))
        if self._motion:
            at, rows = self.commanded, self._motion_rows
            x, dx, ddx = self._motion.at(t - self._motion_start)
            q[at.coordinates[rows]], v[at.speeds[rows]], a[at.speeds[rows]] = x, dx, ddx
        return q, v, a

    def _take_over(self, t: float, q: Array, v: Array) -> None:
        """Let the controller act, and stop commanded speeds, as no new command has come."""
        self._is_fresh, self._held = False, q.copy()
        self._speed = np.zeros(len(self.joints))
        self._set_out(t, q, v)
        if self._is_effort.any():
            self.log(
                "stale",
                f"no command for {self.settings.command_timeout:g} s: "
                f"{self.settings.controller} takes over",
            )

    # -- commands and the paths that they make --------------------------------------------------

    def _release(self) -> None:
        """Forget commands and trajectories; joints hold or are free, as the settings say."""
        interfaces = np.array(self.settings.spread("interfaces", len(self.joints)), object)
        self._is_effort, self._is_position = interfaces == "effort", interfaces == "position"
        self._motion = None
        self._motion_rows = np.zeros(0, int)
        self._motion_start = self._commanded_at = -math.inf
        self._is_fresh, self._command = False, np.zeros(len(self.joints))
        self._held = self.q.copy()
        self._position = np.where(self._is_position, self.q[self.commanded.coordinates], np.nan)
        self._speed = np.zeros(len(self.joints))
        self._set_out(self.t, self.q, self.v)

    def _present_command(self) -> Array:
        """The command that holds now, of all joints; after a trajectory, that they stay."""
        self._hold_moved_joints()
        effort = self._command if self._is_fresh else np.zeros(len(self.joints))
        others = np.where(self._is_position, self._position, self._speed)
        return np.where(self._is_effort, effort, others)

    def _hold_moved_joints(self) -> None:
        """Hold joints with position commands where the last trajectory has brought them."""
        rows = self._motion_rows[self._is_position[self._motion_rows]]
        self._position[rows] = self.q[self.commanded.coordinates[rows]]

    def _set_out(self, t: float, q: Array, v: Array) -> None:
        """Let driven joints set out, from a state, on the way to what they are commanded."""
        at, motion, start = self.commanded, self._motion, self._motion_start
        is_commanded = ~self._is_effort
        is_commanded[self._motion_rows] = False
        self._command_rows = rows = np.flatnonzero(is_commanded)
        paths = []
        if rows.size:
            path = CommandPath(
                t, q[at.coordinates[rows]], v[at.speeds[rows]], self._position[rows],
                self._speed[rows], at.top_speed[rows], self.settings.bandwidth,
            )  # fmt: skip
            paths.append(DrivenPath(path, at.coordinates[rows], at.speeds[rows]))
        if motion and self._is_exact:
            moved = self._motion_rows
            along = DrivenPath(
                lambda t: tuple(motion.at(t - start)), at.coordinates[moved], at.speeds[moved]
            )
            paths.append(along)
        driven = Driven(self.robot.nv, paths)
        self._stepper = Stepper(self.robot, self.settings.integrator, driven=driven)

    @property
    def _is_exact(self) -> bool:
        """Trajectories are driven along, and not followed by the forces of a controller."""
        return self.settings.controller not in ("pd", "computed_torque")

    def _check_independent(self, rows: Sequence[int]) -> None:
        """Refuse to drive joints that loops tie together."""
        rows = sorted({int(row) for row in rows})
        if not independent(self.robot, self.q, self.commanded.speeds[rows].tolist()):
            names = ", ".join(self.joints[row] for row in rows)
            raise rd.ActuationError(
                f"loops of {self.robot.name!r} tie {names} together: they cannot follow paths "
                "independently"
            )
