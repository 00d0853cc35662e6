"""Controllers: frozen dataclasses that are called as ``tau = controller(t, q, v)``."""

if __name__ != "robodyn.controllers":
    raise ImportError("this folder is the package robodyn.controllers: import it by that name")

from robodyn.controllers.computed_torque import ComputedTorque
from robodyn.controllers.gravity_compensation import GravityCompensation
from robodyn.controllers.joint_pd import JointPD
from robodyn.controllers.noisy import Noisy
from robodyn.controllers.recorded import Recorded
from robodyn.controllers.reference import PointToPoint, SineReference
from robodyn.controllers.s_curve import SCurve
from robodyn.controllers.sampled import Sampled
from robodyn.controllers.stretched import Stretched
from robodyn.controllers.task_path import TaskPath
from robodyn.controllers.time_optimal import TimeOptimal
from robodyn.controllers.trapezoidal import Trapezoidal

__all__ = [
    "ComputedTorque",
    "GravityCompensation",
    "JointPD",
    "Noisy",
    "PointToPoint",
    "Recorded",
    "SCurve",
    "Sampled",
    "SineReference",
    "Stretched",
    "TaskPath",
    "TimeOptimal",
    "Trapezoidal",
]
