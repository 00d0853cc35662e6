"""The modes of a motion, the mode after an event, and the state that fits it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, expect, named_alone, of_one_state
from robodyn.closed_loops.constraints.open_loops import largest_gap
from robodyn.description import Inertia
from robodyn.errors import AssemblyError, InconsistentStateError, SettingsError, UnknownNameError
from robodyn.motion.base_motion import BasePath
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.control.running_controller import RunningController
from robodyn.simulation.events.event import Change, State
from robodyn.simulation.events.impulses import impose_speeds
from robodyn.simulation.events.joint_stops import JointStop
from robodyn.simulation.loads.driven_joints import Driven, PathOfTime, driven_joints, locked_joint
from robodyn.tolerances import LOOP_OPEN


@dataclass(frozen=True, eq=False)
class Mode:
    """A robot, its controller and its driven joints, which are the same until an event.

    robot: The robot with the bodies that it has grasped.
    controller: Before the motion starts, the controller as it was given.
    paths: The controlled and locked joints.
    driven: The controlled and locked joints, and those that stops hold.
    held: Rigid stops that hold their joints.
    bare: The robot without the bodies that it has grasped.
    """

    robot: Robot
    controller: Any
    base: BasePath | None
    controlled: Mapping[str, PathOfTime]
    locked: tuple[str, ...]
    paths: Driven
    driven: Driven
    bare: Robot
    held: tuple[JointStop, ...] = ()
    carried: Mapping[str, Inertia] = field(default_factory=dict)

    @property
    def driven_names(self) -> tuple[str, ...]:
        """All joints, or axes, that follow paths or stand still."""
        return (*self.controlled, *self.locked, *(stop.joint for stop in self.held))

    def state(
        self,
        t: float,
        q: FloatArray,
        v: FloatArray,
        earlier: tuple[str, ...] = (),
        accelerations: Callable[[Robot | None], FloatArray] | None = None,
    ) -> State:
        """The state that actions and witness functions get."""
        base = None if self.base is None else self.base(t)
        names, speeds = self.driven_names, self.driven.speeds
        q, v = q.copy(), v.copy()
        return State(t, q, v, self.robot, base, names, speeds, self.held, earlier, accelerations)

    def started(self, times: FloatArray) -> Mode:
        """The mode with its controller at the start of a motion, sampled at these times."""
        if self.controller is None:
            return self
        controller = RunningController(self.robot, self.controller, times)
        return dataclasses.replace(self, controller=controller)

    def for_motion(self, k: int) -> Mode:
        """The mode of one of many motions."""
        robot = self.robot.of_rows(k)
        return self if robot is self.robot else dataclasses.replace(self, robot=robot, bare=robot)

    def differs(self, other: Mode) -> bool:
        """Whether the equations of motion or the driven joints differ."""
        same = self.robot is other.robot and self.base is other.base
        return not (same and self.driven is other.driven)

    def holding(self, held: tuple[JointStop, ...]) -> Mode:
        """The mode in which these stops hold their joints."""
        if held == self.held:
            return self
        stops = (locked_joint(self.robot, stop.joint) for stop in held)
        driven = self.paths.and_also(stops) if held else self.paths
        return dataclasses.replace(self, held=held, driven=driven)

    def changed(self, change: Change, times: FloatArray, state: State) -> tuple[Mode, Any, Any]:
        """The mode and the state after a change; the state is not made consistent yet.

        times (n,) [s]: The remaining instants, the present one first.
        state: The state before the change.
        """
        bare, carried = self._robot_after(change)
        if bare is self.bare and carried == self.carried:
            robot = self.robot
        else:
            robot = bare.with_(payload=carried) if carried else bare
        q, v = (state.q, state.v)
        if robot is not self.robot:
            q, v = _carried_over(self.robot, robot, state, change)
        q = q if change.q is None else of_one_state("q of a change", change.q, robot.nq)
        v = v if change.v is None else of_one_state("v of a change", change.v, robot.nv)
        new = dataclasses.replace(self, robot=robot, bare=bare, carried=carried)
        return new._driven_after(change, times).holding(change.held or ()), q, v

    def _robot_after(self, change: Change) -> tuple[Robot, Mapping[str, Inertia]]:
        bare = self.bare
        if change.robot is not None:
            expect("robot of a change", change.robot, Robot, "robot")
            bare = change.robot
        carried = dict(self.carried)
        for link, load in by_name("payload", change.payload).items():
            if load is None and link not in carried:
                raise SettingsError(
                    f"link {link!r} is to let go, but has grasped nothing in this motion: it "
                    f"carries {', '.join(map(repr, carried)) or 'nothing'} there"
                )
            if load is not None and link in carried:
                raise SettingsError(
                    f"link {link!r} is to grasp a body, but still carries another; drop that first"
                )
            carried.pop(link, None)
            if load is not None:
                carried[link] = load
        return bare, carried

    def _driven_after(self, change: Change, times: FloatArray) -> Mode:
        """The mode with the joints and the controller of a change."""
        released = named_alone("released", change.released)
        for name in released:
            if name not in (*self.controlled, *self.locked):
                driven = (*self.controlled, *self.locked)
                raise UnknownNameError("driven joint", name, driven, repr(self.robot.name))
        added = by_name("controlled", change.controlled)
        fresh = named_alone("locked", change.locked)
        gone = [*released, *added, *fresh]
        controlled = {n: x for n, x in self.controlled.items() if n not in gone} | added
        locked = tuple(n for n in self.locked if n not in gone) + fresh
        new = dataclasses.replace(self, controlled=controlled, locked=locked)
        if change.controller is not None:
            controller = RunningController(new.robot, change.controller, times)
            new = dataclasses.replace(new, controller=controller)
        if change.base is not None:
            base = change.base if isinstance(change.base, BasePath) else BasePath(change.base)
            new = dataclasses.replace(new, base=base)
        if gone or change.robot is not None:
            paths = driven_joints(new.robot, controlled, locked, times)
            new = dataclasses.replace(new, paths=paths, driven=paths, held=())
        return new


def project_state(
    mode: Mode, t: float, q: FloatArray, v: FloatArray, jumped: bool
) -> tuple[FloatArray, FloatArray]:
    """A state that is consistent with a mode: loops closed, driven joints on their paths.

    Speeds that are not consistent jump by impulses in loops and driven joints.

    jumped: The state has jumped, so that loops may be open by more than rounding.
    Raises AssemblyError: If loops are open, or driven joints are not where their paths are.
    """
    robot, driven = mode.robot, mode.driven
    then = robot.at(t)
    if robot.nc and jumped:
        residual = then.loop_residual(q)
        if not np.abs(residual).max() <= LOOP_OPEN:
            loop, size = largest_gap(robot.model, residual)
            raise AssemblyError(
                f"the loops of {robot.name!r} are open by {size} ({loop!r}) after the event: "
                "the state after a change has to close them",
                residual=residual,
                q=q,
            )
        q, _ = then.closed_state(q, v, driven.is_free)
        v = then.consistent_velocity(q, v)
    if driven:
        on_path, wanted, _ = driven.at(t, q, v)
        gap = np.abs(robot.difference(q, on_path)).max(initial=0.0)
        if not gap <= LOOP_OPEN:
            raise AssemblyError(
                f"a joint that is driven after the event is {gap:.3g} (m or rad) away from where "
                f"its path is: the path has to start where the joint is at t = {t:.6g} s",
                q=q,
            )
        base = None if mode.base is None else mode.base(t)
        at = list(driven.speeds)
        v = impose_speeds(then, on_path, v, at, wanted[at], base)
        q = on_path
    return q, v


def _carried_over(
    old: Robot, new: Robot, state: State, change: Change
) -> tuple[FloatArray, FloatArray]:
    """The state of another robot, with the positions of the joints of the same names.

    Raises InconsistentStateError: If a joint of it has no counterpart, and the change does not give
        the state.
    """
    if old.joint_names == new.joint_names and (old.nq, old.nv) == (new.nq, new.nv):
        return state.q, state.v
    q, v = np.zeros(new.nq), np.zeros(new.nv)
    if change.q is not None and change.v is not None:
        return q, v
    then = old.at(state.t)
    positions = then.joint_positions(state.q)
    speeds = then.joint_velocities(state.q, state.v)
    for name in new.joint_names:
        joint = new.joints[name]
        if joint.q.stop == joint.q.start:
            continue
        size = np.size(positions[name]) if name in positions else 0
        if size != joint.q.stop - joint.q.start:
            raise InconsistentStateError(
                f"joint {name!r} moves after the event, and {old.name!r}, which moves until then, "
                f"has {'no such joint' if not size else 'one of another kind'}: give q= and v= of "
                "the change"
            )
        q[joint.q], v[joint.v] = positions[name], speeds[name]
    return q, v
