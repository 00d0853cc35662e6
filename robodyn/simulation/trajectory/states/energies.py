"""Energies, gaps, loads and measurements of samples of a motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.sensor import DescribedSensor
from robodyn.errors import SettingsError
from robodyn.model.virtual_work import joint_forces, joint_speeds, loads_follow_forces
from robodyn.model.winding_motors import winding_speeds, winding_torques
from robodyn.results import GroundContact, JointWrenches, joined_wrenches
from robodyn.simulation.loads.column_names import motor_names
from robodyn.simulation.trajectory.states.samples import Samples


def kinetic_energy(samples: Samples) -> FloatArray:
    """Of bodies and rotors, shape (n, ...) [J]."""
    x = samples
    return np.asarray(x.robot.at(x.time).kinetic_energy(x.q, x.v, base=x.base))


def potential_energy(samples: Samples) -> FloatArray:
    """Of gravity, springs and the ground, shape (n, ...) [J]."""
    x = samples
    return np.asarray(x.robot.at(x.time).potential_energy(x.q, base=x.base))


def elastic_energy(samples: Samples) -> FloatArray:
    """Of springs and the ground, shape (n, ...) [J]."""
    x = samples
    return np.asarray(x.robot.at(x.time).elastic_energy(x.q, base=x.base))


def largest_gap(samples: Samples) -> FloatArray:
    """Of closed loops, shape (n, ...) [m, rad]; zeros for a tree."""
    if not samples.robot.nc:
        return np.zeros(samples.q.shape[:-1])
    residual = samples.robot.at(samples.time).loop_residual(samples.q)
    return np.asarray(np.abs(residual).max(axis=-1))


def motor_torques(samples: Samples, motors: tuple[str, ...]) -> FloatArray:
    """At the shafts of motors by name, shape (n, ..., motors); NaN of those that are not there."""
    model, own = samples.robot.model, motor_names(samples.robot)
    model.gearing.check()
    found = model.gearing.torques(joint_forces(model, _matrix(samples), samples.tau))
    if model.setup.windings:
        found = winding_torques(model, found, samples.v)
    if own == motors:
        return found
    absent = np.full(samples.t.shape + samples.batch, np.nan)
    return np.stack([found[..., own.index(x)] if x in own else absent for x in motors], axis=-1)


def gear_friction(samples: Samples) -> FloatArray:
    """Forces that gears lose, shape (n, ..., nv)."""
    x = samples
    if not x.robot.model.setup.gear_losses:
        return np.zeros_like(x.v)
    robot = x.robot.at(x.time)
    return robot.gear_friction(x.q, x.v, x.tau, base=x.base, wrenches=x.wrenches or None)


def gear_torques(samples: Samples) -> FloatArray:
    """What gears take of the torques of motors, shape (n, ..., motors)."""
    model = samples.robot.model
    if not model.setup.gear_losses:
        return np.zeros((*samples.v.shape[:-1], len(model.gearing.ratios)))
    lost = gear_friction(samples)
    found = model.gearing.torques(joint_forces(model, _matrix(samples), lost))
    for x in model.setup.windings:
        found[..., model.gearing.places[x.winding]] = lost[..., model.joints[x.motor].v] / x.ratio
    return found


def motor_speeds(samples: Samples) -> FloatArray:
    """Of motors at their shafts, shape (n, ..., motors) [rad/s, m/s]."""
    model = samples.robot.model
    found = np.asarray(model.gearing.speeds(joint_speeds(model, _matrix(samples), samples.v)))
    return winding_speeds(model, found, samples.v) if model.setup.windings else found


def _matrix(samples: Samples) -> Callable[[], FloatArray]:
    return lambda: samples.robot.at(samples.time).actuation_matrix(samples.q)


def joint_loads(phases: Sequence[Samples], joints: tuple[str, ...] | None) -> JointWrenches:
    """The wrench in every joint; see `Robot.joint_wrenches`.

    How a closed linkage shares its load among joints depends on where forces act, and so on the
    forces as much as on the accelerations.
    """
    loads = [_joint_loads(x, joints and _known(joints, x, phases)) for x in phases]
    return loads[0] if len(loads) == 1 else joined_wrenches(loads)


def ground_contacts(phases: Sequence[Samples]) -> dict[str, GroundContact]:
    """Contacts with the ground by name, zero where a phase does not know them."""
    found = [x.robot.at(x.time).ground_contacts(x.q, x.v, base=x.base) for x in phases]
    places = [np.zeros((*x.q.shape[:-1], 3)) for x in phases]
    none = [GroundContact(x, x[..., 0], x) for x in places]

    def joined(name: str) -> GroundContact:
        parts = [x.get(name, absent) for x, absent in zip(found, none, strict=True)]
        columns = [(x.force, x.depth, x.slip) for x in parts]
        return GroundContact(*(np.concatenate(x) for x in zip(*columns, strict=True)))

    return {name: joined(name) for name in dict.fromkeys(n for x in found for n in x)}


def _joint_loads(samples: Samples, joints: tuple[str, ...] | None) -> JointWrenches:
    x = samples
    by_forces = loads_follow_forces(x.robot.model)
    _refuse_sticking(x, "joint_wrenches")
    given = {"tau": x.tau} if by_forces else {"a": x.a}
    return x.robot.at(x.time).joint_wrenches(
        x.q, x.v, joints=joints, base=x.base, wrenches=x.wrenches or None, **given
    )


def _refuse_sticking(samples: Samples, what: str) -> None:
    """Refuse loads of a linkage, whose joints share friction in a way that is not determined."""
    if samples.friction is not None and samples.robot.loops:
        raise SettingsError(
            f"{what} of {samples.robot.name!r} depend on how its joints share friction, which is "
            "not determined where they stick: simulate it with friction='smooth'"
        )


def _known(joints: tuple[str, ...], samples: Samples, phases: Sequence[Samples]) -> tuple[str, ...]:
    """Names of joints that the robot of a phase has, and of unknown ones, for its error."""

    def has(x: Samples, name: str) -> bool:
        return name in x.robot.joints or name in [c.name for c in x.robot.mechanism.constraints]

    unknown = [name for name in joints if not any(has(x, name) for x in phases)]
    return tuple(name for name in joints if has(samples, name) or name in unknown)


def measurements(samples: Samples, sensors: Sequence[DescribedSensor]) -> FloatArray:
    """Measurements of sensors, concatenated, shape (n, ..., m); NaN where the robot has none.

    How a closed linkage shares its load among joints depends on the forces as much as on the
    accelerations.
    """
    x, robot = samples, samples.robot.at(samples.time)
    by_forces, columns = loads_follow_forces(x.robot.model), {s.name: s.columns for s in sensors}
    own = [s for s in x.robot.sensors if columns.get(s.name) == s.columns]
    loaded = [s.name for s in own if s.kind == "wrench" and by_forces]
    loads = [s.name for s in own if s.kind == "wrench"]
    if loads:
        _refuse_sticking(x, f"measurements of {', '.join(map(repr, loads))}")
    others = [s.name for s in own if s.name not in loaded]
    base, wrenches = x.base, x.wrenches or None
    shown: dict[str, FloatArray] = {}
    if others:
        shown |= robot.measure(x.q, x.v, x.a, sensors=others, wrenches=wrenches, base=base)
    if loaded:
        shown |= robot.measure(x.q, x.v, tau=x.tau, sensors=loaded, wrenches=wrenches, base=base)
    leading = x.q.shape[:-1]
    return np.concatenate(
        [np.broadcast_to(shown.get(n, np.nan), (*leading, len(c))) for n, c in columns.items()],
        axis=-1,
    )


def by_sensor(sensors: Sequence[DescribedSensor], numbers: FloatArray) -> dict[str, FloatArray]:
    """Measurements by the name of each sensor, shape (n, ..., k)."""
    ends = np.cumsum([len(s.columns) for s in sensors])
    parts = np.split(numbers, ends[:-1], axis=-1)
    return {s.name: part for s, part in zip(sensors, parts, strict=True)}
