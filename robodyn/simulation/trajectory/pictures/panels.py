"""What pictures of motions can show, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.results import JointWrenches
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import effort_bounds, speed_bounds
from robodyn.simulation.loads.column_names import (
    coordinate_names,
    coordinate_units,
    force_unit,
    speed_units,
)
from robodyn.simulation.trajectory.pictures.plots import Panel
from robodyn.simulation.trajectory.states.energy_audit import EnergyAudit

__all__ = ["DEFAULT", "PANELS", "panel"]

#: Shown unless others are asked for.
DEFAULT = ("positions", "velocities", "torques", "energy")

#: Before the name of a joint.
WRENCH = "wrench of "

#: Before the name of what controllers remember.
CONTROLLER_STATE = "state: "

#: What six numbers of a wrench are.
COMPONENTS = ("fx [N]", "fy [N]", "fz [N]", "mx [N m]", "my [N m]", "mz [N m]")


class Motion(Protocol):
    """What is drawn: a `Trajectory`."""

    @property
    def t(self) -> FloatArray: ...
    @property
    def q(self) -> FloatArray: ...
    @property
    def v(self) -> FloatArray: ...
    @property
    def a(self) -> FloatArray: ...
    @property
    def tau(self) -> FloatArray: ...
    @property
    def energy(self) -> FloatArray: ...
    @property
    def loop_residual(self) -> FloatArray: ...
    @property
    def joint_names(self) -> tuple[str, ...]: ...
    @property
    def robot(self) -> Robot | None: ...
    @property
    def kinetic_energy(self) -> FloatArray: ...
    @property
    def potential_energy(self) -> FloatArray: ...
    @property
    def elastic_energy(self) -> FloatArray: ...
    @property
    def motor_torques(self) -> FloatArray: ...
    @property
    def power(self) -> FloatArray: ...
    @property
    def audit(self) -> EnergyAudit: ...
    @property
    def controller_state(self) -> Mapping[str, FloatArray]: ...
    def joint_wrenches(self, joints: Sequence[str] | None = None) -> JointWrenches: ...


def panel(run: Motion, name: str) -> Panel:
    """A panel by its name.

    Raises
    ------
    UnknownNameError
    SettingsError
        If it shows what only the robot can tell, and that is not known.
    """
    if isinstance(name, str) and name.startswith(WRENCH):
        return _wrench(run, name.removeprefix(WRENCH))
    recorded = {f"{CONTROLLER_STATE}{key}": key for key in run.controller_state}
    if isinstance(name, str) and name in recorded:
        return _memory(run, recorded[name])
    if not isinstance(name, str) or name not in PANELS:
        names = run.robot.joints if run.robot is not None else run.joint_names
        known = (*PANELS, *recorded, *(f"{WRENCH}{joint}" for joint in names))
        raise UnknownNameError("panel", name, known)
    return PANELS[name](run)


def _labelled(names: Sequence[str], units: Sequence[str]) -> tuple[str, ...]:
    pairs = zip(names, units, strict=True)
    return tuple(f"{name} [{unit}]" if unit else name for name, unit in pairs)


def _per(unit: str, per: str) -> str:
    return unit + per if unit else ""


def _positions(run: Motion) -> Panel:
    robot = run.robot
    if robot is None:
        names = run.joint_names if len(run.joint_names) == run.q.shape[-1] else ()
        return Panel("position [rad, m]", run.q, names)
    labels = _labelled(coordinate_names(robot), coordinate_units(robot))
    bounds = np.stack([robot.lower_limits, robot.upper_limits])
    return Panel("position [rad, m]", run.q, labels, bounds)


def _speeds(
    run: Motion, values: FloatArray, label: str, unit: Callable[[str], str], top: FloatArray | None
) -> Panel:
    """Something with one number a speed, between the negative and positive of its limit."""
    if run.robot is None:
        names = run.joint_names if len(run.joint_names) == run.v.shape[-1] else ()
        return Panel(label, values, names)
    labels = _labelled(run.joint_names, [unit(x) for x in speed_units(run.robot)])
    return Panel(label, values, labels, None if top is None else np.stack([-top, top]))


def _velocities(run: Motion) -> Panel:
    top = None if run.robot is None else speed_bounds(run.robot)
    return _speeds(run, run.v, "velocity [rad/s, m/s]", lambda x: _per(x, "/s"), top)


def _accelerations(run: Motion) -> Panel:
    return _speeds(run, run.a, "acceleration [rad/s^2, m/s^2]", lambda x: _per(x, "/s^2"), None)


def _torques(run: Motion) -> Panel:
    top = None if run.robot is None else effort_bounds(run.robot)
    return _speeds(run, run.tau, "torque [N m, N]", force_unit, top)


def _motor_torques(run: Motion) -> Panel:
    top = None if run.robot is None else run.robot.motor_torque_limits
    top = top if top is None else np.where(top > 0.0, top, np.inf)
    return _speeds(run, run.motor_torques, "motor torque [N m, N]", force_unit, top)


def _power(run: Motion) -> Panel:
    return _speeds(run, run.power, "power [W]", lambda x: "W", None)


def _energy(run: Motion) -> Panel:
    if run.robot is None:
        return Panel("energy [J]", run.energy[..., None], ("total",))
    kinds = {"total": run.energy, "kinetic": run.kinetic_energy, "potential": run.potential_energy}
    if np.any(run.elastic_energy):
        kinds["elastic"] = run.elastic_energy
    return Panel("energy [J]", np.stack([*kinds.values()], axis=-1), tuple(kinds))


def _audit(run: Motion) -> Panel:
    audit = run.audit
    flows = {
        "stored": audit.stored - audit.stored[:1], "forces": audit.forces,
        "wrenches": audit.wrenches, "base": audit.base,
        "constraints": audit.constraints, "dissipated": audit.dissipated,
        "impacts": audit.impacts, "unexplained": audit.unexplained,
    }  # fmt: skip
    shown = {name: x for name, x in flows.items() if np.any(x) or name == "unexplained"}
    return Panel("energy since the start [J]", np.stack([*shown.values()], axis=-1), tuple(shown))


def _closure(run: Motion) -> Panel:
    return Panel("largest gap [m, rad]", run.loop_residual[..., None], ("loops",))


def _wrench(run: Motion, joint: str) -> Panel:
    if run.robot is None:
        raise SettingsError(
            "the wrench of a joint is known only with the robot: give the trajectory its robot, "
            "dataclasses.replace(trajectory, robot=robot)"
        )
    joints = [] if joint == "base" else [joint]
    wrench = run.joint_wrenches(joints)[joint]
    return Panel(f"wrench of {joint} [N, N m]", np.asarray(wrench), COMPONENTS)


def _memory(run: Motion, name: str) -> Panel:
    values = run.controller_state[name]
    names = run.joint_names if values.shape[-1] == len(run.joint_names) else ()
    return Panel(name, values, names)


#: Panels by name; besides them, ``"wrench of JOINT"`` and ``"state: NAME"``.
PANELS: dict[str, Callable[[Motion], Panel]] = {
    "positions": _positions,
    "velocities": _velocities,
    "accelerations": _accelerations,
    "torques": _torques,
    "motor torques": _motor_torques,
    "power": _power,
    "energy": _energy,
    "audit": _audit,
    "closure": _closure,
}
