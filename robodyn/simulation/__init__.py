"""Motion in time: integrators, simulate, rollout, Trajectory."""

from robodyn.simulation.integrators import INTEGRATORS
from robodyn.simulation.limits import LimitViolation
from robodyn.simulation.run import rollout, simulate
from robodyn.simulation.trajectory import Trajectory

__all__ = ["INTEGRATORS", "LimitViolation", "Trajectory", "rollout", "simulate"]
