"""Results of `Robot` methods that return more than one array."""

from robodyn.results.base_parameters import BaseParameters
from robodyn.results.dynamics import (
    ConstrainedDynamics,
    HybridDerivatives,
    HybridDynamics,
    SteadyMotion,
)
from robodyn.results.impacts import GroundContact, Impact, ImpactDerivatives, ImpactTensors
from robodyn.results.postures import IKResult, LoopGap
from robodyn.results.wrenches import JointWrenches, WrenchMapping, joined_wrenches

__all__ = [
    "BaseParameters",
    "ConstrainedDynamics",
    "GroundContact",
    "HybridDerivatives",
    "HybridDynamics",
    "IKResult",
    "Impact",
    "ImpactDerivatives",
    "ImpactTensors",
    "JointWrenches",
    "LoopGap",
    "SteadyMotion",
    "WrenchMapping",
    "joined_wrenches",
]
