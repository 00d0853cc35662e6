"""Motion in time: integrators, simulate, rollout, Trajectory."""

from robodyn.simulation.audit import EnergyAudit
from robodyn.simulation.event_record import EventRecord
from robodyn.simulation.integrators import INTEGRATORS
from robodyn.simulation.joint_motion import JointMotion
from robodyn.simulation.limits import LimitViolation
from robodyn.simulation.run import rollout, simulate
from robodyn.simulation.trajectory import Trajectory

__all__ = [
    "INTEGRATORS",
    "EnergyAudit",
    "EventRecord",
    "JointMotion",
    "LimitViolation",
    "Trajectory",
    "rollout",
    "simulate",
]
