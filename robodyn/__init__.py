"""Dynamics of robot manipulators from a URDF, as machine code made for the robot.

>>> import robodyn as rd
>>> robot = rd.load("double_pendulum")
>>> robot.nv
2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.codegen import Function, get_num_threads, set_num_threads
from robodyn.description import (
    Actuator,
    Coupling,
    Inertia,
    Joint,
    Limits,
    Link,
    Loop,
    Mechanism,
    Pose,
    Rotor,
)
from robodyn.equations.loops.constraint import Constraint
from robodyn.errors import (
    ActuationError,
    AssemblyError,
    BagError,
    EquilibriumError,
    IdentificationError,
    ImpactError,
    InconsistentStateError,
    InertiaError,
    MissingExtraError,
    PathError,
    RobodynError,
    SettingsError,
    ShapeError,
    SimulationError,
    SingularError,
    SweepError,
    TopologyError,
    UndeterminedWrenchError,
    UnknownNameError,
    UrdfError,
)
from robodyn.force_elements.ground import Ground
from robodyn.force_elements.joint_stop import CompliantStops
from robodyn.force_elements.point_spring import PointSpring
from robodyn.impacts.partners import PointMass, RobotPoint
from robodyn.impacts.several_hits import Hit
from robodyn.joints.joint_map import JointMap
from robodyn.loading import load, robots
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.motion.joint_path import JointPath
from robodyn.results import (
    BaseParameters,
    HybridDynamics,
    IKResult,
    Impact,
    JointWrenches,
    SteadyMotion,
)
from robodyn.robot import Robot
from robodyn.state_space import StateSpace
from robodyn.symbolic.scalar import cos, sin, sqrt
from robodyn.version import __version__ as __version__

if TYPE_CHECKING:
    from robodyn.identification import (
        Excitation,
        Identified,
        Measurements,
        Payload,
        excitation,
        identify,
        identify_payload,
    )
    from robodyn.simulation import (
        Event,
        MotorLimits,
        RigidStops,
        StepDerivatives,
        Trajectory,
        TrajectoryGradient,
        closed_loop,
        control_law,
        events,
        mode_motion,
        rollout,
        simulate,
        step_derivatives,
        step_function,
        trajectory_gradient,
    )
    from robodyn.studies.compare import Comparison, compare
    from robodyn.studies.sweep import SweepTable, sweep

__all__ = [
    "ActuationError",
    "Actuator",
    "AssemblyError",
    "BagError",
    "BaseMotion",
    "BaseParameters",
    "BasePath",
    "Comparison",
    "CompliantStops",
    "Constraint",
    "Coupling",
    "EquilibriumError",
    "Event",
    "Excitation",
    "Function",
    "Ground",
    "Hit",
    "HybridDynamics",
    "IKResult",
    "IdentificationError",
    "Identified",
    "Impact",
    "ImpactError",
    "InconsistentStateError",
    "Inertia",
    "InertiaError",
    "Joint",
    "JointMap",
    "JointPath",
    "JointWrenches",
    "Limits",
    "Link",
    "Loop",
    "Measurements",
    "Mechanism",
    "MissingExtraError",
    "MotorLimits",
    "PathError",
    "Payload",
    "PointMass",
    "PointSpring",
    "Pose",
    "RigidStops",
    "RobodynError",
    "Robot",
    "RobotPoint",
    "Rotor",
    "SettingsError",
    "ShapeError",
    "SimulationError",
    "SingularError",
    "StateSpace",
    "SteadyMotion",
    "StepDerivatives",
    "SweepError",
    "SweepTable",
    "TopologyError",
    "Trajectory",
    "TrajectoryGradient",
    "UndeterminedWrenchError",
    "UnknownNameError",
    "UrdfError",
    "closed_loop",
    "compare",
    "control_law",
    "cos",
    "events",
    "excitation",
    "get_num_threads",
    "identify",
    "identify_payload",
    "load",
    "mode_motion",
    "robots",
    "rollout",
    "set_num_threads",
    "simulate",
    "sin",
    "sqrt",
    "step_derivatives",
    "step_function",
    "sweep",
    "trajectory_gradient",
]

#: Imported when first used, to keep the import of robodyn fast: from which package.
_LATE = {
    "Comparison": "robodyn.studies.compare",
    "Excitation": "robodyn.identification",
    "Identified": "robodyn.identification",
    "Measurements": "robodyn.identification",
    "Payload": "robodyn.identification",
    "excitation": "robodyn.identification",
    "identify": "robodyn.identification",
    "identify_payload": "robodyn.identification",
    "Event": "robodyn.simulation",
    "MotorLimits": "robodyn.simulation",
    "RigidStops": "robodyn.simulation",
    "SweepTable": "robodyn.studies.sweep",
    "StepDerivatives": "robodyn.simulation",
    "Trajectory": "robodyn.simulation",
    "TrajectoryGradient": "robodyn.simulation",
    "closed_loop": "robodyn.simulation",
    "control_law": "robodyn.simulation",
    "compare": "robodyn.studies.compare",
    "events": "robodyn.simulation",
    "mode_motion": "robodyn.simulation",
    "rollout": "robodyn.simulation",
    "simulate": "robodyn.simulation",
    "step_derivatives": "robodyn.simulation",
    "step_function": "robodyn.simulation",
    "sweep": "robodyn.studies.sweep",
    "trajectory_gradient": "robodyn.simulation",
}


#: Packages that are imported when first used.
_PACKAGES = ("bags", "controllers", "ros", "simulation", "urdf", "view")


def __getattr__(name: str) -> Any:
    """Public names that are imported when they are first used."""
    import importlib

    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"robodyn.{name}")
    if not name.startswith("_"):
        for package in ("controllers", "simulation", "simulation.events", "ros", "view"):
            full = f"robodyn.{package}"
            if name in importlib.import_module(full).__all__:
                raise AttributeError(f"module 'robodyn' has no {name!r}: it is {full}.{name}")
    raise AttributeError(f"module 'robodyn' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names: not the modules that they are defined in."""
    return sorted([*__all__, "__version__"])
