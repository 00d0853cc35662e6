"""Panels of pictures of motions, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
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
from robodyn.simulation.loads import column_names
from robodyn.simulation.trajectory.states.energy_audit import FLOWS

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
    sensors = () if run.robot is None else run.robot.sensors
    known = PANELS | {f"{CONTROLLER_STATE}{x}": partial(_memory, x) for x in run.controller_state}
    known |= {f"{SENSOR}{x.name}": partial(_sensor, x) for x in sensors}
    if not isinstance(name, str) or name not in known:
        joints = run.robot.joints if run.robot is not None else run.joint_names
        names = (*known, *(f"{WRENCH}{joint}" for joint in joints))
        raise UnknownNameError("panel", name, names)
    return known[name](run)


def _positions(run: Motion) -> Panel:
    robot = run.robot
    if robot is None:
        names = run.joint_names if len(run.joint_names) == run.q.shape[-1] else ()
        return Panel("position", run.q, "rad, m", names)
    bounds = np.stack([robot.lower_limits, robot.upper_limits])
    units = tuple(unit or "quaternion" for unit in column_names.coordinate_units(robot))
    return Panel("position", run.q, units, column_names.coordinate_names(robot), bounds)


def _speeds(
    label: str,
    values: Callable[[Motion], FloatArray],
    unit: Callable[[str], str],
    limits: Callable[[Robot], FloatArray] | None,
    run: Motion,
) -> Panel:
    """A panel of an array over speeds, with symmetric limits."""
    if run.robot is None:
        names = run.joint_names if len(run.joint_names) == run.v.shape[-1] else ()
        return Panel(label, values(run), ", ".join(map(unit, ("rad", "m"))), names)
    units = tuple(unit(x) for x in column_names.speed_units(run.robot))
    top = None if limits is None else limits(run.robot)
    bounds = None if top is None else np.stack([-top, top])
    return Panel(label, values(run), units, run.joint_names, bounds)


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


def _rate(per: str) -> Callable[[str], str]:
    """Units of rates, from those of what changes."""
    return lambda unit: unit and unit + per


def _torques(run: Motion) -> Panel:
    def top(robot: Robot) -> FloatArray:  # motors at joints that follow others set none of a speed
        return (own_effort_bounds if robot.model.gearing.elsewhere else effort_bounds)(robot)

    shown = _speeds("torque", lambda run: run.tau, column_names.force_unit, top, run)
    return _driven(run, replace(shown, labels={"N": "force"}))


def _motor_torques(run: Motion) -> Panel:
    def top(robot: Robot) -> FloatArray:
        limits = robot.motor_torque_limits
        return np.where(limits > 0.0, limits, np.inf)

    force_unit = column_names.force_unit
    shown = _speeds("motor torque", lambda run: run.motor_torques, force_unit, top, run)
    if run.robot is not None:
        units = tuple(map(force_unit, column_names.motor_units(run.robot)))
        shown = replace(shown, units=units, names=column_names.motor_names(run.robot))
    return _driven(run, replace(shown, labels={"N": "motor force"}), of_motors=True)


def _power(run: Motion) -> Panel:
    return _driven(run, _speeds("power", lambda run: run.power, lambda unit: "W", None, run))


def _effort_shares(run: Motion) -> FloatArray:
    shape = np.shape(run.t)  # of a motion, or of one state
    t = np.reshape(run.t, (*shape, *[1] * (run.q.ndim - 1 - len(shape))))
    return effort_shares(run.robot.at(t), run.q, run.tau)


def _use(
    of: str,
    shares: Callable[[Motion], FloatArray],
    limits: Callable[[Robot], FloatArray],
    names: Callable[[Robot], tuple[str, ...]],
    run: Motion,
) -> Panel:
    """A panel of values over limits [%], of the joints that have limits."""
    known = run.robot is not None
    columns = np.flatnonzero(np.isfinite(limits(run.robot))).tolist() if known else []
    if not columns:
        which = repr(run.robot.name) if known else "the robot of this motion"
        raise SettingsError(f"no limit of {of} is known of {which}: leave '{of} utilisation' out")
    every, bounds = names(run.robot), np.full((2, len(columns)), [[-np.inf], [100.0]])
    shown = tuple(every[k] for k in columns)
    return Panel(f"{of}, of its limit", 100.0 * shares(run)[..., columns], "%", shown, bounds)


def _energy(run: Motion) -> Panel:
    if run.robot is None:
        return Panel("energy", run.energy[..., None], "J", ("total",))
    kinds = {"total": run.energy, "kinetic": run.kinetic_energy, "potential": run.potential_energy}
    if np.any(run.elastic_energy):
        kinds["elastic"] = run.elastic_energy
    return Panel("energy", np.stack([*kinds.values()], axis=-1), "J", tuple(kinds))


def _audit(run: Motion) -> Panel:
    audit = run.audit
    names = (*FLOWS, "impacts", "unexplained")
    flows = {"stored": audit.stored - audit.stored[:1]} | {x: getattr(audit, x) for x in names}
    shown = {name: x for name, x in flows.items() if np.any(x) or name == "unexplained"}
    return Panel("energy since the start", np.stack([*shown.values()], axis=-1), "J", tuple(shown))


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


def _sensor(sensor: DescribedSensor, run: Motion) -> Panel:
    return Panel(sensor.name, run.measurements[sensor.name], sensor.units, sensor.columns)


def _memory(name: str, run: Motion) -> Panel:
    values = run.controller_state[name]
    names = run.joint_names if values.shape[-1] == len(run.joint_names) else ()
    return Panel(name, values, names=names)


#: Panels by name; besides them, ``"wrench of JOINT"``, ``"sensor: NAME"``, ``"state: NAME"``.
PANELS: dict[str, Callable[[Motion], Panel]] = {
    "positions": _positions,
    "velocities": partial(_speeds, "velocity", lambda run: run.v, _rate("/s"), speed_bounds),
    "accelerations": partial(_speeds, "acceleration", lambda run: run.a, _rate("/s^2"), None),
    "torques": _torques,
    "motor torques": _motor_torques,
    "power": _power,
    TORQUE_USE: partial(_use, "torque", _effort_shares, effort_bounds, column_names.motor_names),
    "velocity utilisation": partial(
        _use,
        "velocity",
        lambda run: np.abs(run.v) / speed_bounds(run.robot),
        speed_bounds,
        column_names.speed_names,
    ),
    "energy": _energy,
    "audit": _audit,
    "closure": lambda run: Panel("largest gap", run.loop_residual[..., None], "m, rad", ("loops",)),
}
