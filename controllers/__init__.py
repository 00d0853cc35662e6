"""Controllers: frozen dataclasses that are called as ``tau = controller(t, q, v)``."""

if __name__ != "robodyn.controllers":
    raise ImportError("this folder is the package robodyn.controllers: import it by that name")

from robodyn.controllers.laws.adaptive import Adaptive
from robodyn.controllers.laws.admittance import Admittance
from robodyn.controllers.laws.computed_torque import ComputedTorque
from robodyn.controllers.laws.disturbance_observer import DisturbanceObserver
from robodyn.controllers.laws.friction_compensation import FrictionCompensation
from robodyn.controllers.laws.gravity_compensation import GravityCompensation
from robodyn.controllers.laws.impedance import Impedance
from robodyn.controllers.laws.joint_pd import JointPD
from robodyn.controllers.laws.lqr import LQR
from robodyn.controllers.laws.operational_space import OperationalSpace
from robodyn.controllers.laws.passivity_based import PassivityBased
from robodyn.controllers.laws.time_varying_lqr import TimeVaryingLQR
from robodyn.controllers.optimal.iterative_lqr import iterative_lqr
from robodyn.controllers.optimal.plan import Plan
from robodyn.controllers.optimal.quadratic_cost import QuadraticCost
from robodyn.controllers.optimal.symbolic_cost import SymbolicCost
from robodyn.controllers.references.recorded import Recorded
from robodyn.controllers.references.reference import PointToPoint, SineReference
from robodyn.controllers.references.s_curve import SCurve
from robodyn.controllers.references.stretched import Stretched
from robodyn.controllers.references.task_path import TaskPath
from robodyn.controllers.references.time_optimal import TimeOptimal
from robodyn.controllers.references.trapezoidal import Trapezoidal
from robodyn.controllers.wrappers.filtered import Filtered
from robodyn.controllers.wrappers.noisy import Noisy
from robodyn.controllers.wrappers.rate_limited import RateLimited
from robodyn.controllers.wrappers.sampled import Sampled
from robodyn.controllers.wrappers.saturated import Saturated

__all__ = [
    "LQR",
    "Adaptive",
    "Admittance",
    "ComputedTorque",
    "DisturbanceObserver",
    "Filtered",
    "FrictionCompensation",
    "GravityCompensation",
    "Impedance",
    "JointPD",
    "Noisy",
    "OperationalSpace",
    "PassivityBased",
    "Plan",
    "PointToPoint",
    "QuadraticCost",
    "RateLimited",
    "Recorded",
    "SCurve",
    "Sampled",
    "Saturated",
    "SineReference",
    "Stretched",
    "SymbolicCost",
    "TaskPath",
    "TimeOptimal",
    "TimeVaryingLQR",
    "Trapezoidal",
    "iterative_lqr",
]
