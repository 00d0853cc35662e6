"""Dynamics of robot manipulators from a URDF, as machine code made for the robot.

>>> import robodyn as rd
>>> robot = rd.load("double_pendulum")
>>> robot.nv
2
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

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
from robodyn.version import __version__ as __version__

if TYPE_CHECKING:
    from robodyn.codegen import (
        Function,
        get_compilation,
        get_num_threads,
        set_compilation,
        set_num_threads,
    )
    from robodyn.description import (
        Actuator,
        Coupling,
        Elastic,
        Inertia,
        Joint,
        Limits,
        Link,
        Loop,
        Mechanism,
        Motor,
        Pose,
        Rotor,
        Transmission,
        Winding,
    )
    from robodyn.description.contact import Contact
    from robodyn.description.functions.explicit_loop import ExplicitLoop, Follower
    from robodyn.description.functions.force import Force
    from robodyn.description.task import Task
    from robodyn.description.wrench import Wrench
    from robodyn.equations.loops.constraint import Constraint
    from robodyn.equations.loops.frame_constraint import FrameConstraint
    from robodyn.equations.loops.rolling import Rolling
    from robodyn.equations.sensors.sensor import Sensor
    from robodyn.exporting.conversion import Conversion, convert
    from robodyn.exporting.export import export
    from robodyn.force_elements.ground import Ground
    from robodyn.force_elements.inverse_square import InverseSquareGravity
    from robodyn.force_elements.joint_stop import CompliantStops
    from robodyn.force_elements.point_spring import PointSpring
    from robodyn.force_elements.stokes_drag import StokesDrag
    from robodyn.force_elements.weight_compensation import WeightCompensation
    from robodyn.identification import (
        Excitation,
        Identified,
        Measurements,
        Payload,
        excitation,
        identify,
        identify_payload,
    )
    from robodyn.impacts.partners import PointMass, RobotPoint
    from robodyn.impacts.several_hits import Hit
    from robodyn.joints.joint_map import JointMap
    from robodyn.loading import from_dh, load, robots
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
    from robodyn.simulation import (
        DryFriction,
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
        step_derivatives,
        step_function,
        trajectory_gradient,
    )
    from robodyn.simulation.simulate import rollout, simulate
    from robodyn.state_space import StateSpace
    from robodyn.studies.compare import Comparison, compare
    from robodyn.studies.sweep import SweepTable, sweep
    from robodyn.symbolic.fourier_series import FourierSeries
    from robodyn.symbolic.scalar import (
        arctan,
        arctan2,
        cos,
        cosh,
        exp,
        log,
        maximum,
        minimum,
        sign,
        sin,
        sinh,
        sqrt,
        tan,
        tanh,
        where,
    )
    from robodyn.symbolic.spline import Spline
    from robodyn.symbolic.symbol import symbol

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
    "Contact",
    "Conversion",
    "Coupling",
    "DryFriction",
    "Elastic",
    "EquilibriumError",
    "Event",
    "Excitation",
    "ExplicitLoop",
    "Follower",
    "Force",
    "FourierSeries",
    "FrameConstraint",
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
    "InverseSquareGravity",
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
    "Motor",
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
    "Rolling",
    "Rotor",
    "Sensor",
    "SettingsError",
    "ShapeError",
    "SimulationError",
    "SingularError",
    "Spline",
    "StateSpace",
    "SteadyMotion",
    "StepDerivatives",
    "StokesDrag",
    "SweepError",
    "SweepTable",
    "Task",
    "TopologyError",
    "Trajectory",
    "TrajectoryGradient",
    "Transmission",
    "UndeterminedWrenchError",
    "UnknownNameError",
    "UrdfError",
    "WeightCompensation",
    "Winding",
    "Wrench",
    "arctan",
    "arctan2",
    "closed_loop",
    "compare",
    "control_law",
    "convert",
    "cos",
    "cosh",
    "events",
    "excitation",
    "exp",
    "export",
    "from_dh",
    "get_compilation",
    "get_num_threads",
    "identify",
    "identify_payload",
    "load",
    "log",
    "maximum",
    "minimum",
    "mode_motion",
    "robots",
    "rollout",
    "set_compilation",
    "set_num_threads",
    "sign",
    "simulate",
    "sin",
    "sinh",
    "sqrt",
    "step_derivatives",
    "step_function",
    "sweep",
    "symbol",
    "tan",
    "tanh",
    "trajectory_gradient",
    "where",
]

#: Public names, by where they are defined. They are imported when they are first used, so that a
#: process imports what it needs.
_HOMES = {
    "robodyn.codegen": "Function get_compilation get_num_threads set_compilation set_num_threads",
    "robodyn.description": "Actuator Coupling Elastic Inertia Joint Limits Link Loop Mechanism "
    "Motor Pose Rotor Transmission Winding",
    "robodyn.description.contact": "Contact",
    "robodyn.description.task": "Task",
    "robodyn.description.wrench": "Wrench",
    "robodyn.description.functions.explicit_loop": "ExplicitLoop Follower",
    "robodyn.description.functions.force": "Force",
    "robodyn.equations.loops.constraint": "Constraint",
    "robodyn.equations.loops.frame_constraint": "FrameConstraint",
    "robodyn.equations.loops.rolling": "Rolling",
    "robodyn.exporting.conversion": "Conversion convert",
    "robodyn.exporting.export": "export",
    "robodyn.equations.sensors.sensor": "Sensor",
    "robodyn.force_elements.ground": "Ground",
    "robodyn.force_elements.inverse_square": "InverseSquareGravity",
    "robodyn.force_elements.joint_stop": "CompliantStops",
    "robodyn.force_elements.point_spring": "PointSpring",
    "robodyn.force_elements.stokes_drag": "StokesDrag",
    "robodyn.force_elements.weight_compensation": "WeightCompensation",
    "robodyn.identification": (
        "Excitation Identified Measurements Payload excitation identify identify_payload"
    ),
    "robodyn.impacts.partners": "PointMass RobotPoint",
    "robodyn.impacts.several_hits": "Hit",
    "robodyn.joints.joint_map": "JointMap",
    "robodyn.loading": "from_dh load robots",
    "robodyn.motion.base_motion": "BaseMotion BasePath",
    "robodyn.motion.joint_path": "JointPath",
    "robodyn.results": "BaseParameters HybridDynamics IKResult Impact JointWrenches SteadyMotion",
    "robodyn.robot": "Robot",
    "robodyn.simulation": (
        "DryFriction Event MotorLimits RigidStops StepDerivatives Trajectory TrajectoryGradient "
        "closed_loop control_law events mode_motion rollout simulate step_derivatives "
        "step_function trajectory_gradient"
    ),
    "robodyn.state_space": "StateSpace",
    "robodyn.studies.compare": "Comparison compare",
    "robodyn.studies.sweep": "SweepTable sweep",
    "robodyn.symbolic.scalar": "arctan arctan2 cos cosh exp log maximum minimum sign sin sinh "
    "sqrt tan tanh where",
    "robodyn.symbolic.fourier_series": "FourierSeries",
    "robodyn.symbolic.spline": "Spline",
    "robodyn.symbolic.symbol": "symbol",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

#: Packages that are imported when first used.
_PACKAGES = ("bags", "controllers", "ros", "simulation", "urdf", "view")


def __getattr__(name: str) -> Any:
    """Public names that are imported when they are first used."""
    import importlib

    if name in _HOME:
        from robodyn.codegen.llvm.target.once import without_collections

        with without_collections():
            found = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
        return found
    if name in _PACKAGES:
        return importlib.import_module(f"robodyn.{name}")
    if not name.startswith("_"):
        for package in ("controllers", "simulation", "simulation.events", "ros", "view"):
            full = f"robodyn.{package}"
            if name in importlib.import_module(full).__all__:
                raise AttributeError(f"module 'robodyn' has no {name!r}: it is {full}.{name}")
        from robodyn.other_names import module_attribute

        own = module_attribute(name, dir(importlib.import_module("robodyn.robot").Robot))
        if own:
            # without the module, of which Python would suggest a name that only looks like it
            said = f"module 'robodyn' has no {name!r}: robodyn calls this {own}"
            raise AttributeError(said, name=name, obj=None)
    said = f"module 'robodyn' has no attribute {name!r}"
    raise AttributeError(said, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """Public names and packages: not the modules that names are defined in."""
    return sorted([*__all__, *_PACKAGES, "__version__"])
