"""Controllers: frozen dataclasses that are called as ``tau = controller(t, q, v)``."""

if __name__ != "robodyn.controllers":
    raise ImportError("this folder is the package robodyn.controllers: import it by that name")

from .estimators.extended_kalman_filter import ExtendedKalmanFilter
from .estimators.kalman_filter import KalmanFilter
from .estimators.output_feedback import OutputFeedback
from .laws.adaptive import Adaptive
from .laws.admittance import Admittance
from .laws.computed_torque import ComputedTorque
from .laws.disturbance_observer import DisturbanceObserver
from .laws.friction_compensation import FrictionCompensation
from .laws.gravity_compensation import GravityCompensation
from .laws.impedance import Impedance
from .laws.joint_pd import JointPD
from .laws.lqr import LQR
from .laws.operational_space import OperationalSpace
from .laws.passivity_based import PassivityBased
from .laws.time_varying_lqr import TimeVaryingLQR
from .optimal.iterative_lqr import iterative_lqr, multistart_lqr
from .optimal.plan_search import Plan
from .optimal.quadratic_cost import QuadraticCost
from .optimal.symbolic_cost import SymbolicCost
from .references.recorded import Recorded
from .references.reference import PointToPoint, SineReference
from .references.retarget import Retarget
from .references.stretched import Stretched
from .references.task_path import TaskPath
from .references.time_optimal import TimeOptimal
from .references.trapezoidal import SCurve, Trapezoidal
from .wrappers.filtered import Filtered
from .wrappers.noisy import Noisy
from .wrappers.sampled import Sampled
from .wrappers.saturated import RateLimited, Saturated

__all__ = [
    "LQR",
    "Adaptive",
    "Admittance",
    "ComputedTorque",
    "DisturbanceObserver",
    "ExtendedKalmanFilter",
    "Filtered",
    "FrictionCompensation",
    "GravityCompensation",
    "Impedance",
    "JointPD",
    "KalmanFilter",
    "Noisy",
    "OperationalSpace",
    "OutputFeedback",
    "PassivityBased",
    "Plan",
    "PointToPoint",
    "QuadraticCost",
    "RateLimited",
    "Recorded",
    "Retarget",
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
    "multistart_lqr",
]
