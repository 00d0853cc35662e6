"""The dry friction of a robot: where it acts, along which speeds, and how strong it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.arrays import all_finite
from robodyn.equations.forces.drives import motor_key
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
    speed (n,): Index in v of the speed of each; -1 where it follows from several.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    force: FloatArray
    smooth: FloatArray
    speed: IntArray

    @property
    def of_speeds(self) -> bool:
        """Whether each resists one speed of its own."""
        return bool((self.speed >= 0).all()) and len({*self.speed.tolist()}) == len(self.names)

    def speeds(self, robot: Robot, q: FloatArray, v: FloatArray) -> FloatArray:
        """Their speeds, shape (..., n) [rad/s, m/s]."""
        if (self.speed >= 0).all():
            return np.asarray(v[..., self.speed])
        found = robot.function("resisting_speeds")(q, v)
        if not all_finite(found):
            robot.joint_velocities(q, v)  # which says why
        return np.asarray(found)

    def directions(self, robot: Robot, q: FloatArray) -> FloatArray:
        """Slopes of their speeds by those of the robot, shape (..., n, nv)."""
        shape = (*q.shape[:-1], robot.nv)
        v = np.broadcast_to(np.eye(robot.nv), (*shape, robot.nv))
        q = np.broadcast_to(q[..., None, :], (*shape, robot.nq))
        return np.asarray(np.swapaxes(self.speeds(robot, q, v), -1, -2))


@once_per_robot
def resistances_of(robot: Robot) -> Resistances:
    """The dry friction of a robot.

    Raises SettingsError: For friction of a joint whose axes turn with the body that it moves, and
        for gears whose losses depend on the load.
    """
    setup = robot.model.setup
    if setup.gear_losses:
        raise SettingsError(
            f"the gear of {setup.gear_losses[0].joint!r} of {robot.name!r} loses power in "
            "proportion to its load, and joints do not stick then: take friction='smooth'"
        )
    force = {x.name: x.friction for x in setup.cut_joint_friction}
    force |= {body.description.name: body.description.friction for body in setup.model}
    motors = {motor_key(x.joint): x for x in setup.motor_friction}
    rows: list[tuple[str, str, float, float, int]] = []
    for name, k in setup.resisting:
        if (name, k) in motors:
            x = motors[name, k]
            rows.append((name, x.joint, x.coulomb, setup.friction_speed * x.scale, -1))
            continue
        joint = robot.joints[name]
        if joint.kind.orientation is not None:
            raise SettingsError(
                f"the dry friction of joint {name!r} of {robot.name!r} acts along axes that turn "
                "with its body: such a joint does not stick, take friction='smooth'"
            )
        shown = f"{name}[{k}]" if joint.kind.nv > 1 else name
        speed = joint.v.start + k if joint.v.stop > joint.v.start else -1
        rows.append((shown, name, force[name], setup.friction_speed, speed))
    own = all(speed >= 0 for *_, speed in rows)
    if robot.depends_on_time and not own:
        raise SettingsError(
            f"{robot.name!r} moves with time, and dry friction of joints that are cut or follow "
            "others does not stick there: take friction='smooth'"
        )
    names, joints, *numbers = zip(*rows, strict=True) if rows else [()] * 5
    forces, smooth, speeds = (np.array(x) for x in numbers)
    return Resistances(names, joints, forces, smooth, speeds.astype(int))


def dissipation_beyond_smooth(
    robot: Robot, law: DryFriction, q: FloatArray, v: FloatArray
) -> FloatArray:
    """Power lost by joints that stick and slide, less that under the smooth law (...) [W]."""
    found = resistances_of(robot)
    s = found.speeds(robot, q, v)
    falling = law.falling(found.joints, repr(robot.name), s)
    smooth = np.abs(s) / np.hypot(s, found.smooth)
    return np.asarray(np.sum(found.force * np.abs(s) * (1.0 + falling - smooth), axis=-1))
