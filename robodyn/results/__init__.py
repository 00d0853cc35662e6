"""Results of `Robot` methods that return more than one array."""

from robodyn.results.base_parameters import BaseParameters as BaseParameters
from robodyn.results.dynamics import (
    ConstrainedDynamics as ConstrainedDynamics,
    HybridDerivatives as HybridDerivatives,
    HybridDynamics as HybridDynamics,
    SteadyMotion as SteadyMotion,
)
from robodyn.results.impacts import (
    GroundContact as GroundContact,
    Impact as Impact,
    ImpactDerivatives as ImpactDerivatives,
    ImpactTensors as ImpactTensors,
)
from robodyn.results.postures import IKResult as IKResult, LoopGap as LoopGap
from robodyn.results.wrenches import (
    JointWrenches as JointWrenches,
    WrenchMapping as WrenchMapping,
    joined_wrenches as joined_wrenches,
)
