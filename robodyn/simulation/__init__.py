"""Motion in time: integrators, simulate, rollout, Trajectory.

Throughout, ``t`` [s] is an instant, ``h`` [s] a duration; ``q`` (..., nq), ``v``, ``a``, ``tau``
(..., nv) are a state, its accelerations and generalised forces, with leading axes where there are
many.
"""

from robodyn.simulation import events
from robodyn.simulation.control.closed_loop import ControlLaw, closed_loop, control_law
from robodyn.simulation.control.controller import (
    Controller,
    ControllerSample,
    StatefulController,
    stateful,
)
from robodyn.simulation.events import Event
from robodyn.simulation.events.joint_stops import RigidStops
from robodyn.simulation.integrators import INTEGRATORS
from robodyn.simulation.limits.joint_limits import LimitViolation, MotorLimits
from robodyn.simulation.sensitivity.step_derivatives import StepDerivatives, step_derivatives
from robodyn.simulation.sensitivity.trajectory_gradient import (
    TrajectoryGradient,
    trajectory_gradient,
)
from robodyn.simulation.simulate import rollout, simulate
from robodyn.simulation.step.step_function import step_function
from robodyn.simulation.trajectory.joint_motion import JointMotion
from robodyn.simulation.trajectory.mode_motion import mode_motion
from robodyn.simulation.trajectory.states.energy_audit import EnergyAudit
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.simulation.trajectory.states.motor_sizing import MotorSizing, Sizing
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = [
    "INTEGRATORS",
    "ControlLaw",
    "Controller",
    "ControllerSample",
    "EnergyAudit",
    "Event",
    "EventRecord",
    "JointMotion",
    "LimitViolation",
    "MotorLimits",
    "MotorSizing",
    "RigidStops",
    "Sizing",
    "StatefulController",
    "StepDerivatives",
    "Trajectory",
    "TrajectoryGradient",
    "closed_loop",
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
