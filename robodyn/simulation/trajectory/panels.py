"""Panels of pictures of motions, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.sensor import DescribedSensor
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.pictures.curves import Panel
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import (
    effort_bounds,
    effort_shares,
    own_effort_bounds,
    speed_bounds,
)
from robodyn.simulation.loads.column_names import (
    coordinate_names,
    coordinate_units,
    force_unit,
    motor_names,
    motor_units,
    speed_units,
)

#: Name of the panel of torques over their limits.
TORQUE_USE = "torque utilisation"

#: Prefix of panels of wrenches, before the name of a joint.
WRENCH = "wrench of "

#: Prefix of panels of recorded states of controllers, before their name.
CONTROLLER_STATE = "state: "

#: Prefix of panels of sensors, before their name.
SENSOR = "sensor: "

#: Names of the components of a wrench.
COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")


#: `robodyn.Trajectory`, which uses this file.
Motion: TypeAlias = Any


def default_panels(run: Motion) -> tuple[str, ...]:
    """Names of the panels that are drawn by default."""
    torques = ["torques"] if np.any(run.tau) else []
    if torques and run.robot is not None and np.isfinite(effort_bounds(run.robot)).any():
        torques.append(TORQUE_USE)
    return ("positions", "velocities", *torques, "energy")


def panel(run: Motion, name: str) -> Panel:
    """A panel by its name.

    Raises SettingsError: If it needs the robot, and the robot is not known.
    """
    if isinstance(name, str) and name.startswith(WRENCH):
        return _wrench(run, name.removeprefix(WRENCH))
    recorded = {f"{CONTROLLER_STATE}{key}": key for key in run.controller_state}
    if isinstance(name, str) and name in recorded:
        return _memory(run, recorded[name])
    sensors = () if run.robot is None else run.robot.sensors
    known_sensors = {f"{SENSOR}{sensor.name}": sensor for sensor in sensors}
    if isinstance(name, str) and name in known_sensors:
        return _sensor(run, known_sensors[name])
    if not isinstance(name, str) or name not in PANELS:
        names = run.robot.joints if run.robot is not None else run.joint_names
        known = (*PANELS, *recorded, *known_sensors, *(f"{WRENCH}{joint}" for joint in names))
        raise UnknownNameError("panel", name, known)
    return PANELS[name](run)


def _positions(run: Motion) -> Panel:
    robot = run.robot
    if robot is None:
        names = run.joint_names if len(run.joint_names) == run.q.shape[-1] else ()
        return Panel("position", run.q, "rad, m", names)
    bounds = np.stack([robot.lower_limits, robot.upper_limits])
    units = tuple(unit or "quaternion" for unit in coordinate_units(robot))
    return Panel("position", run.q, units, coordinate_names(robot), bounds)


def _speeds(
    run: Motion,
    values: FloatArray,
    label: str,
    unit: Callable[[str], str],
    top: FloatArray | None = None,
) -> Panel:
    """A panel of an array over speeds, with symmetric limits."""
    if run.robot is None:
        names = run.joint_names if len(run.joint_names) == run.v.shape[-1] else ()
        return Panel(label, values, ", ".join(map(unit, ("rad", "m"))), names)
    units = tuple(unit(x) for x in speed_units(run.robot))
    return Panel(
        label, values, units, run.joint_names, None if top is None else np.stack([-top, top])
    )


def _driven(run: Motion, shown: Panel, *, of_motors: bool = False) -> Panel:
    """The panel without joints that have neither a motor nor a force."""
    if run.robot is None:
        return shown
    motors = np.zeros(shown.values.shape[-1], bool)
    for name in run.robot.actuated_joints:
        at = run.robot.joints[name].v
        motors[run.robot.model.gearing.places[name] if of_motors else at] = True
    moved = np.any(shown.values != 0.0, axis=tuple(range(shown.values.ndim - 1)))
    columns = np.flatnonzero(motors | moved)
    return shown.only(columns.tolist()) if columns.size else shown


def _velocities(run: Motion) -> Panel:
    top = None if run.robot is None else speed_bounds(run.robot)
    return _speeds(run, run.v, "velocity", lambda x: _per(x, "/s"), top)


def _per(unit: str, per: str) -> str:
    return unit + per if unit else ""


def _accelerations(run: Motion) -> Panel:
    return _speeds(run, run.a, "acceleration", lambda x: _per(x, "/s^2"))


def _torques(run: Motion) -> Panel:
    top = None if run.robot is None else _top_efforts(run.robot)
    shown = _speeds(run, run.tau, "torque", force_unit, top)
    return _driven(run, replace(shown, labels={"N": "force"}))


def _top_efforts(robot: Robot) -> FloatArray:
    """The largest effort at each speed; motors at joints that follow others set none."""
    return own_effort_bounds(robot) if robot.model.gearing.elsewhere else effort_bounds(robot)


def _motor_torques(run: Motion) -> Panel:
    top = None if run.robot is None else run.robot.motor_torque_limits
    top = top if top is None else np.where(top > 0.0, top, np.inf)
    shown = _speeds(run, run.motor_torques, "motor torque", force_unit, top)
    if run.robot is not None:
        units = tuple(map(force_unit, motor_units(run.robot)))
        shown = replace(shown, units=units, names=motor_names(run.robot))
    return _driven(run, replace(shown, labels={"N": "motor force"}), of_motors=True)


def _power(run: Motion) -> Panel:
    return _driven(run, _speeds(run, run.power, "power", lambda x: "W"))


def _torque_use(run: Motion) -> Panel:
    if run.robot is None:
        return _use(run, "torque", run.tau, None)
    robot = run.robot
    shape = np.shape(run.t)  # of a motion, or of one state
    now = robot.at(np.reshape(run.t, (*shape, *[1] * (run.q.ndim - 1 - len(shape)))))
    shares = effort_shares(now, run.q, run.tau)
    return _use(run, "torque", shares, effort_bounds(robot), motor_names(robot))


def _speed_use(run: Motion) -> Panel:
    if run.robot is None:
        return _use(run, "velocity", run.v, None)
    top = speed_bounds(run.robot)
    return _use(run, "velocity", np.abs(run.v) / top, top)


def _use(
    run: Motion,
    of: str,
    shares: FloatArray,
    top: FloatArray | None,
    names: tuple[str, ...] | None = None,
) -> Panel:
    """A panel of values over limits [%], of the joints that have limits."""
    every = run.joint_names if names is None else names
    columns = [] if top is None else np.flatnonzero(np.isfinite(top)).tolist()
    if top is None or not columns:
        which = "the robot of this motion" if run.robot is None else repr(run.robot.name)
        raise SettingsError(f"no limit of {of} is known of {which}: leave '{of} utilisation' out")
    part = 100.0 * shares[..., columns]
    names = tuple(every[k] for k in columns)
    bounds = np.full((2, len(columns)), [[-np.inf], [100.0]])
    return Panel(f"{of}, of its limit", part, "%", names, bounds)


def _energy(run: Motion) -> Panel:
    if run.robot is None:
        return Panel("energy", run.energy[..., None], "J", ("total",))
    kinds = {"total": run.energy, "kinetic": run.kinetic_energy, "potential": run.potential_energy}
    if np.any(run.elastic_energy):
        kinds["elastic"] = run.elastic_energy
    return Panel("energy", np.stack([*kinds.values()], axis=-1), "J", tuple(kinds))


def _audit(run: Motion) -> Panel:
    audit = run.audit
    flows = {
        "stored": audit.stored - audit.stored[:1], "forces": audit.forces,
        "wrenches": audit.wrenches, "base": audit.base,
        "constraints": audit.constraints, "dissipated": audit.dissipated,
        "impacts": audit.impacts, "unexplained": audit.unexplained,
    }  # fmt: skip
    shown = {name: x for name, x in flows.items() if np.any(x) or name == "unexplained"}
    return Panel("energy since the start", np.stack([*shown.values()], axis=-1), "J", tuple(shown))


def _closure(run: Motion) -> Panel:
    return Panel("largest gap", run.loop_residual[..., None], "m, rad", ("loops",))


def _wrench(run: Motion, joint: str) -> Panel:
    if run.robot is None:
        raise SettingsError(
            "the wrench of a joint is known only with the robot: give the trajectory its robot, "
            "dataclasses.replace(trajectory, robot=robot)"
        )
    joints = [] if joint == "base" else [joint]
    wrench = run.joint_wrenches(joints)[joint]
    units = ("N",) * 3 + ("N m",) * 3
    return Panel(f"wrench of {joint}", np.asarray(wrench), units, COMPONENTS)


def _sensor(run: Motion, sensor: DescribedSensor) -> Panel:
    return Panel(sensor.name, run.measurements[sensor.name], sensor.units, sensor.columns)


def _memory(run: Motion, name: str) -> Panel:
    values = run.controller_state[name]
    names = run.joint_names if values.shape[-1] == len(run.joint_names) else ()
    return Panel(name, values, names=names)


#: Panels by name; besides them, ``"wrench of JOINT"``, ``"sensor: NAME"``, ``"state: NAME"``.
PANELS: dict[str, Callable[[Motion], Panel]] = {
    "positions": _positions,
    "velocities": _velocities,
    "accelerations": _accelerations,
    "torques": _torques,
    "motor torques": _motor_torques,
    "power": _power,
    TORQUE_USE: _torque_use,
    "velocity utilisation": _speed_use,
    "energy": _energy,
    "audit": _audit,
    "closure": _closure,
}
