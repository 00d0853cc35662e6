"""Motion in time: integrators, simulate, rollout, Trajectory."""

from robodyn.simulation import events
from robodyn.simulation.audit import EnergyAudit
from robodyn.simulation.closed_loop import closed_loop
from robodyn.simulation.control_law import ControlLaw, control_law
from robodyn.simulation.event_record import EventRecord
from robodyn.simulation.events import Event
from robodyn.simulation.integrators import INTEGRATORS
from robodyn.simulation.joint_motion import JointMotion
from robodyn.simulation.limits import LimitViolation
from robodyn.simulation.memory import Look, Remembering
from robodyn.simulation.mode_motion import mode_motion
from robodyn.simulation.motor_limits import MotorLimits
from robodyn.simulation.run import rollout, simulate
from robodyn.simulation.step_derivatives import StepDerivatives, step_derivatives
from robodyn.simulation.step_function import step_function
from robodyn.simulation.stops import RigidStops
from robodyn.simulation.trajectory import Trajectory
from robodyn.simulation.trajectory_gradient import TrajectoryGradient, trajectory_gradient

__all__ = [
    "INTEGRATORS",
    "ControlLaw",
    "EnergyAudit",
    "Event",
    "EventRecord",
    "JointMotion",
    "LimitViolation",
    "Look",
    "MotorLimits",
    "Remembering",
    "RigidStops",
    "StepDerivatives",
    "Trajectory",
    "TrajectoryGradient",
    "closed_loop",
    "control_law",
    "events",
    "mode_motion",
    "rollout",
    "simulate",
    "step_derivatives",
    "step_function",
    "trajectory_gradient",
]
