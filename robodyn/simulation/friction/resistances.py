"""The dry friction of a robot: where it acts, along which speeds, and how strong it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.errors import SettingsError
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.simulation.friction.dry_friction import DryFriction


@dataclass(frozen=True, eq=False)
class Resistances:
    """Dry friction of a robot, one row for each freedom of a joint and each motor that has some.

    names: Of each row; ``"joint[k]"`` for one freedom of several.
    joints: The joint of each.
    force (n,) [N m, N]: Kinetic friction.
    smooth (n,) [rad/s, m/s]: Speed at which the smooth law has 70 % of it.
    speed (n,): Index in v of the speed of each; -1 where it is a combination of several.
    turns: Of each such combination, joints and freedoms with their ratios.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    force: FloatArray
    smooth: FloatArray
    speed: IntArray
    turns: tuple[tuple[tuple[str, int, float], ...], ...]

    @property
    def of_speeds(self) -> bool:
        """Whether each resists one speed of its own."""
        return bool((self.speed >= 0).all()) and len({*self.speed.tolist()}) == len(self.names)

    def speeds(self, robot: Robot, q: FloatArray, v: FloatArray) -> FloatArray:
        """Their speeds, shape (..., n) [rad/s, m/s]."""
        found = v[..., self.speed]
        if (self.speed < 0).any():
            speeds, leading = robot.joint_velocities(q, v), v.shape[:-1]
            for k in np.flatnonzero(self.speed < 0):
                parts = (
                    ratio * speeds[x].reshape(*leading, -1)[..., i] for x, i, ratio in self.turns[k]
                )
                found[..., k] = sum(parts)
        return found

    def directions(self, robot: Robot, q: FloatArray) -> FloatArray:
        """Slopes of their speeds by those of the robot, shape (..., n, nv)."""
        shape = (*q.shape[:-1], robot.nv)
        v = np.broadcast_to(np.eye(robot.nv), (*shape, robot.nv))
        if (self.speed < 0).any():
            q = np.broadcast_to(q[..., None, :], (*shape, robot.nq))
        return np.asarray(np.swapaxes(self.speeds(robot, q, v), -1, -2))


@once_per_robot
def resistances_of(robot: Robot) -> Resistances:
    """The dry friction of a robot.

    Raises SettingsError: For friction of a joint whose axes turn with the body that it moves, and
        for gears whose losses depend on the load.
    """
    setup = robot.model.setup
    rows: list[tuple[str, str, float, float, int, tuple[tuple[str, int, float], ...]]] = []
    if not setup.passive:
        return _of_rows(rows)
    if setup.gear_losses:
        raise SettingsError(
            f"the gear of {setup.gear_losses[0].joint!r} of {robot.name!r} loses power in "
            "proportion to its load, and joints do not stick then: take friction='smooth'"
        )
    smooth = setup.friction_speed
    names = [body.description.name for body in setup.model]
    resisting: dict[str, float] = {x.name: x.friction for x in setup.cut_joint_friction}
    resisting |= {body.description.name: body.description.friction for body in setup.model}
    for name, force in resisting.items():
        if not force:
            continue
        joint = robot.joints[name]
        if joint.kind.orientation is not None:
            raise SettingsError(
                f"the dry friction of joint {name!r} of {robot.name!r} acts along axes that turn "
                "with its body: such a joint does not stick, take friction='smooth'"
            )
        own = range(joint.v.start, joint.v.stop)
        for k in range(joint.kind.nv):
            shown = f"{name}[{k}]" if joint.kind.nv > 1 else name
            rows.append((shown, name, force, smooth, own[k] if own else -1, ((name, k, 1.0),)))
    for motor in setup.motor_friction:
        if motor.coulomb:
            turns = tuple((names[body], 0, ratio) for body, ratio in motor.turns)
            shown = f"motor of {motor.joint}"
            rows.append((shown, motor.joint, motor.coulomb, smooth * motor.scale, -1, turns))
    return _of_rows(rows)


def _of_rows(
    rows: Sequence[tuple[str, str, float, float, int, tuple[tuple[str, int, float], ...]]],
) -> Resistances:
    names, joints, force, smooth, speed, turns = zip(*rows, strict=True) if rows else [()] * 6
    return Resistances(
        names, joints, np.array(force, float), np.array(smooth, float), np.array(speed, int), turns
    )


def dissipation_beyond_smooth(
    robot: Robot, law: DryFriction, q: FloatArray, v: FloatArray
) -> FloatArray:
    """Power lost by joints that stick and slide, less that under the smooth law (...) [W]."""
    found = resistances_of(robot)
    s = found.speeds(robot, q, v)
    falling = law.falling(found.joints, repr(robot.name), s)
    smooth = np.abs(s) / np.hypot(s, found.smooth)
    return np.asarray(np.sum(found.force * np.abs(s) * (1.0 + falling - smooth), axis=-1))
