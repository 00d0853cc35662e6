"""Controllers: frozen dataclasses that are called as ``tau = controller(t, q, v)``."""

if __name__ != "robodyn.controllers":
    raise ImportError("this folder is the package robodyn.controllers: import it by that name")

from robodyn.controllers.adaptive import Adaptive
from robodyn.controllers.admittance import Admittance
from robodyn.controllers.computed_torque import ComputedTorque
from robodyn.controllers.disturbance_observer import DisturbanceObserver
from robodyn.controllers.filtered import Filtered
from robodyn.controllers.friction_compensation import FrictionCompensation
from robodyn.controllers.gravity_compensation import GravityCompensation
from robodyn.controllers.impedance import Impedance
from robodyn.controllers.iterative_lqr import iterative_lqr
from robodyn.controllers.joint_pd import JointPD
from robodyn.controllers.lqr import LQR
from robodyn.controllers.noisy import Noisy
from robodyn.controllers.operational_space import OperationalSpace
from robodyn.controllers.passivity_based import PassivityBased
from robodyn.controllers.plan import Plan
from robodyn.controllers.quadratic_cost import QuadraticCost
from robodyn.controllers.rate_limited import RateLimited
from robodyn.controllers.recorded import Recorded
from robodyn.controllers.reference import PointToPoint, SineReference
from robodyn.controllers.s_curve import SCurve
from robodyn.controllers.sampled import Sampled
from robodyn.controllers.saturated import Saturated
from robodyn.controllers.stretched import Stretched
from robodyn.controllers.symbolic_cost import SymbolicCost
from robodyn.controllers.task_path import TaskPath
from robodyn.controllers.time_optimal import TimeOptimal
from robodyn.controllers.time_varying_lqr import TimeVaryingLQR
from robodyn.controllers.trapezoidal import Trapezoidal

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
