"""A robot that moves in steps, takes commands, and does not stop for bad ones; without ROS."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

import robodyn as rd
from robodyn.ros.engine.drives import Drives
from robodyn.ros.engine.messages import StateNames
from robodyn.ros.engine.settings import Settings
from robodyn.ros.engine.stepping import accelerations, independent, settle, step_once
from robodyn.ros.engine.throttled_logger import Notices
from robodyn.ros.engine.torques import Law, Reference, controller_torque
from robodyn.ros.engine.trajectories import Motion, TrajectoryContent, plan, prepare

__all__ = ["Engine"]

Array = NDArray[np.float64]

#: Loops are closed at least so often [s].
SETTLE = 5e-3


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
    notices : Notices, optional
        Where warnings go. Default: nowhere.

    Attributes
    ----------
    names : StateNames
    joints : tuple of str
        Scalar coordinates that ``command`` moves.
    settings : Settings
    t : float [s]
    q, v : ndarray, shape (nq,), (nv,)
    """

    def __init__(
        self,
        robot: rd.Robot,
        settings: Settings | None = None,
        *,
        joints: Iterable[str] | None = None,
        q0: ArrayLike | None = None,
        notices: Notices | None = None,
    ) -> None:
        self.robot, self.names = robot, StateNames(robot)
        self.notices = notices or Notices(lambda text: None)
        self.joints = self.names.motors if joints is None else tuple(joints)
        if len({*self.joints}) < len(self.joints):
            raise rd.ShapeError(f"joints named twice: {', '.join(self.joints)}", name="joints")
        self._coordinates = np.array([self.names.coordinate(n) for n in self.joints], int)
        self._speeds = np.array([self.names.speed(n) for n in self.joints], int)
        self._start = robot.neutral() if q0 is None else robot.assemble(q0)
        effort, top = robot.effort_limits[self._speeds], robot.velocity_limits[self._speeds]
        self._effort = np.where(effort > 0.0, effort, np.inf)
        self._top = np.where(top > 0.0, top, np.inf)
        self.t, self.settings = 0.0, settings or Settings()
        self._law: Law
        self._motion: Motion | None = None
        prepare()
        self.reset()
        self.configure(self.settings)
        self.observe()

    # -- what is asked of it --------------------------------------------------------------------

    def configure(self, settings: Settings) -> None:
        """Take other settings; if they do not fit, the old ones stay.

        Raises
        ------
        ShapeError
        """
        law = self.check(settings)
        changed = settings.interfaces != self.settings.interfaces
        changed |= settings.controller != self.settings.controller
        self._law, self.settings = law, settings
        if changed or not hasattr(self, "_drives"):
            self._release()

    def check(self, settings: Settings) -> Law:
        """The controller of some settings, if they fit this robot.

        Raises
        ------
        ShapeError
        """
        settings.spread("interfaces", len(self.joints))
        return controller_torque(self.robot, settings, self._coordinates, self._speeds)

    def reset(self) -> None:
        """Back to the start, at rest, with no command; time goes on."""
        self.q, self.v = self._start.copy(), np.zeros(self.robot.nv)
        if hasattr(self, "_law"):
            self._release()

    def command(self, values: ArrayLike) -> None:
        """Take a command: one number a joint of ``joints``, as ``settings.interfaces`` say.

        Raises
        ------
        ShapeError
            For another length, or numbers that are not finite; the last command stays.
        """
        given = np.asarray(values, float)
        if given.shape != (len(self.joints),):
            raise rd.ShapeError(
                f"a command has {given.size} numbers, expected {len(self.joints)}: "
                + ", ".join(self.joints),
                name="command",
                given=given.shape,
                expected=(len(self.joints),),
            )
        if not np.isfinite(given).all():
            raise rd.ShapeError("a command holds numbers that are not finite", name="command")
        if self._motion and self.t < self._since + self._motion.duration:
            self.notices("busy", "a trajectory is running: the command is ignored")
            return
        if self._motion:
            self._release()
        self._command, self._commanded_at, self._fresh = given, self.t, True
        self._aim(given)

    def command_some(self, names: Sequence[str], values: ArrayLike) -> None:
        """Take a command for some joints, by name; the others keep what they were told.

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
        command = self._told()
        for name, value in zip(names, given, strict=True):
            if name not in self.joints:
                raise rd.UnknownNameError("commanded joint", name, self.joints)
            command[self.joints.index(name)] = value
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
        for name in content.joint_names:
            if name not in self.joints:
                raise rd.UnknownNameError("commanded joint", name, self.joints)
        motion = plan(self.robot, content, self.q, self.v, names=self.names)
        self._stay()
        drives = self._drives_now(motion)
        if not independent(self.robot, self.q, drives):
            raise rd.ActuationError(
                f"loops of {self.robot.name!r} tie {', '.join(motion.names)} together: they "
                "cannot follow paths independently"
            )
        self._motion, self._since, self._drives = motion, self.t, drives
        self._fresh, self._hold = False, self.q[self._coordinates].copy()
        self._rows = np.array([self.joints.index(name) for name in motion.names], int)

    # -- moving ---------------------------------------------------------------------------------

    def advance(self, steps: int) -> None:
        """Move by a number of steps; loops are closed at the end.

        A motion that breaks down (no number, loops that open) is taken back to the last good
        state, at rest, with a notice.
        """
        h = self.settings.step
        batch = max(1, round(SETTLE / h)) if self.robot.nc else steps
        done = 0
        while done < steps:
            count = min(batch, steps - done)
            try:
                with np.errstate(over="ignore", invalid="ignore"):
                    self._batch(count, h)
            except (rd.RobodynError, np.linalg.LinAlgError, FloatingPointError) as error:
                self.v = np.zeros(self.robot.nv)
                self.t += count * h
                self._release()
                self.notices("broken", f"the motion broke down and was stopped: {error}")
            done += count

    def _batch(self, count: int, h: float) -> None:
        q, v, t, drives = self.q, self.v, self.t, self._drives
        for k in range(count):
            at = t + k * h
            tau = self._torque(at, q, v)
            q, v = step_once(
                self.robot, self.settings.integrator, at, q, v, h, tau, drives,
                self.settings.bandwidth,
            )  # fmt: skip
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise rd.SimulationError("state is no longer finite", time=t)
        self.q, self.v = settle(self.robot, q, v, drives)
        self.t = t + count * h

    def observe(self) -> tuple[Array, Array, Array, Array]:
        """Position, velocity, acceleration and forces at this instant."""
        tau, drives = self._torque(self.t, self.q, self.v), self._drives
        wanted = drives.accelerations(self.t, self.q, self.v, self.settings.bandwidth)
        a, forces = accelerations(self.robot, self.q, self.v, tau, drives, wanted)
        self._check_effort(forces)
        return self.q, self.v, a, forces

    def wrenches(
        self, a: Array, tau: Array, joints: Iterable[str] | None = None
    ) -> Mapping[str, Array]:
        """Wrenches in the joints under what `observe` found."""
        if not self.robot.nc:
            return self.robot.joint_wrenches(self.q, self.v, a, joints=joints)
        return self.robot.joint_wrenches(self.q, self.v, tau=tau, joints=joints)

    def motor_torques(self, tau: Array) -> Array:
        """Torque at the shaft of each commanded joint's motor, shape (n,)."""
        ratios = self.robot.gear_ratios[self._speeds]
        return np.asarray(tau[self._speeds] / np.where(ratios == 0.0, np.inf, ratios))

    # -- torques and drives ---------------------------------------------------------------------

    def _torque(self, t: float, q: Array, v: Array) -> Array:
        if self._fresh and t - self._commanded_at > self.settings.command_timeout:
            self._stale()
        if self._fresh and not self._motion:
            tau = np.zeros(self.robot.nv)
            tau[self._speeds] = np.where(self._is_effort, self._command, 0.0)
        else:
            tau = self._law(q, v, self._reference(t)).copy()
        asked = tau[self._speeds]
        tau[self._speeds] = np.clip(asked, -self._effort, self._effort)
        if np.any(np.abs(asked) > self._effort):
            self.notices("effort", "efforts beyond the limits of the joints are cut to them")
        return tau

    def _reference(self, t: float) -> Reference:
        x, dx, ddx = self._hold.copy(), np.zeros(len(self.joints)), np.zeros(len(self.joints))
        if self._motion:
            x[self._rows], dx[self._rows], ddx[self._rows] = self._motion.at(t - self._since)
        return x, dx, ddx

    def _stale(self) -> None:
        self._fresh = False
        self._hold = self.q[self._coordinates].copy()
        self._drives.speed[:] = 0.0
        if self._is_effort.any():
            self.notices(
                "stale",
                f"no command for {self.settings.command_timeout:g} s: "
                f"{self.settings.controller} takes over",
            )

    def _release(self) -> None:
        """Forget commands and trajectories; joints hold or are free, as the settings say."""
        interfaces = self.settings.spread("interfaces", len(self.joints))
        self._is_effort = np.array([kind == "effort" for kind in interfaces], bool)
        self._is_position = np.array([kind == "position" for kind in interfaces], bool)
        self._motion = None
        self._since = self._commanded_at = -math.inf
        self._fresh, self._command = False, np.zeros(len(self.joints))
        self._hold = self.q[self._coordinates].copy()
        self._target = np.where(self._is_position, self._hold, np.nan)
        self._drives = self._drives_now(None)

    def _told(self) -> Array:
        """The command that holds now, of all joints; after a trajectory, that they stay."""
        self._stay()
        speed = np.zeros(len(self.joints))
        speed[self._drive_rows] = self._drives.speed
        effort = self._command if self._fresh else np.zeros(len(self.joints))
        return np.where(self._is_effort, effort, np.where(self._is_position, self._target, speed))

    def _stay(self) -> None:
        """Hold joints with position commands where the last trajectory has brought them."""
        if self._motion:
            moved = np.isin(self.joints, self._motion.names) & self._is_position
            self._target = np.where(moved, self.q[self._coordinates], self._target)

    def _aim(self, values: Array) -> None:
        """Give position and velocity commands to the joints they are for."""
        at = self._coordinates
        inside = np.clip(values, self.robot.lower_limits[at], self.robot.upper_limits[at])
        if np.any(self._is_position & (inside != values)):
            self.notices("limit", "positions beyond the limits of the joints are cut to them")
        self._target = np.where(self._is_position, inside, np.nan)
        rows = self._drive_rows
        self._drives.position[:] = self._target[rows]
        self._drives.speed[:] = np.where(self._is_position, 0.0, values)[rows]

    def _drives_now(self, motion: Motion | None) -> Drives:
        """Driven joints: those of a motion, and those with position and velocity commands."""
        driven = ~self._is_effort
        exact = self.settings.controller not in ("pd", "computed_torque")
        moved = [self.joints.index(name) for name in motion.names] if motion else []
        driven[moved] = exact
        order = np.argsort(self._speeds)
        self._drive_rows = rows = order[driven[order]]
        drives = Drives(self._coordinates[rows], self._speeds[rows], self._top[rows], self.robot.nv)
        drives.position[:] = self._target[rows]
        if motion and exact:
            drives.along(motion, self._speeds[moved], self.t)
        return drives

    def _check_effort(self, forces: Array) -> None:
        over = np.abs(forces[self._speeds]) > self._effort * (1.0 + 1e-9)
        if over.any():
            names = ", ".join(np.array(self.joints)[over])
            self.notices("drive", f"driving {names} takes more than the effort limit")
