"""Motion in time: integrators, simulate, rollout, Trajectory.

Throughout, ``t`` [s] is an instant, ``h`` [s] a duration; ``q`` (..., nq), ``v``, ``a``, ``tau``
(..., nv) are a state, its accelerations and generalised forces, with leading axes where there are
many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.simulation import events
from robodyn.simulation.events import Event
from robodyn.simulation.events.joint_stops import RigidStops
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.integrators import INTEGRATORS
from robodyn.simulation.limits.joint_limits import LimitViolation, MotorLimits
from robodyn.simulation.simulate import rollout, simulate
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.simulation.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from robodyn.simulation.control.closed_loop import ControlLaw, closed_loop, control_law
    from robodyn.simulation.control.controller import (
        Controller,
        ControllerSample,
        StatefulController,
        stateful,
    )
    from robodyn.simulation.linear_loop.closed_loop_model import closed_loop_model
    from robodyn.simulation.sensitivity.step_derivatives import StepDerivatives, step_derivatives
    from robodyn.simulation.sensitivity.trajectory_gradient import (
        TrajectoryGradient,
        trajectory_gradient,
    )
    from robodyn.simulation.step.step_function import step_function
    from robodyn.simulation.trajectory.joint_motion import JointMotion
    from robodyn.simulation.trajectory.mode_motion import mode_motion
    from robodyn.simulation.trajectory.states.electric_sizing import ElectricSizing
    from robodyn.simulation.trajectory.states.energy_audit import EnergyAudit
    from robodyn.simulation.trajectory.states.motor_choice import Candidate, MotorChoice
    from robodyn.simulation.trajectory.states.motor_sizing import MotorSizing, Sizing

__all__ = [
    "INTEGRATORS",
    "Candidate",
    "ControlLaw",
    "Controller",
    "ControllerSample",
    "DryFriction",
    "ElectricSizing",
    "EnergyAudit",
    "Event",
    "EventRecord",
    "JointMotion",
    "LimitViolation",
    "MotorChoice",
    "MotorLimits",
    "MotorSizing",
    "RigidStops",
    "Sizing",
    "StatefulController",
    "StepDerivatives",
    "Trajectory",
    "TrajectoryGradient",
    "closed_loop",
    "closed_loop_model",
    "control_law",
    "events",
    "mode_motion",
    "rollout",
    "simulate",
    "stateful",
    "step_derivatives",
    "step_function",
    "trajectory_gradient",
]

#: Where names are defined that a simulation does not need; they are imported when first used.
_HOMES = {
    "control.closed_loop": "ControlLaw closed_loop control_law",
    "control.controller": "Controller ControllerSample StatefulController stateful",
    "linear_loop.closed_loop_model": "closed_loop_model",
    "sensitivity.step_derivatives": "StepDerivatives step_derivatives",
    "sensitivity.trajectory_gradient": "TrajectoryGradient trajectory_gradient",
    "step.step_function": "step_function",
    "trajectory.joint_motion": "JointMotion",
    "trajectory.mode_motion": "mode_motion",
    "trajectory.states.energy_audit": "EnergyAudit",
    "trajectory.states.electric_sizing": "ElectricSizing",
    "trajectory.states.motor_choice": "Candidate MotorChoice",
    "trajectory.states.motor_sizing": "MotorSizing Sizing",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Public names, imported when they are first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f"{__name__}.{_HOME[name]}")
    found = globals()[name] = getattr(module, name)
    return found
