"""Dynamics of robot manipulators from a URDF, as machine code made for the robot.

>>> import robodyn as rd
>>> robot = rd.load("double_pendulum")
>>> robot.nv
2
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from robodyn import errors as errors
from robodyn.version import __version__ as __version__

if TYPE_CHECKING:
    from robodyn.codegen import (
        Function as Function,
        compiled as compiled,
        get_compilation as get_compilation,
        get_num_threads as get_num_threads,
        set_compilation as set_compilation,
        set_num_threads as set_num_threads,
    )
    from robodyn.description import (
        Actuator as Actuator,
        Coupling as Coupling,
        Elastic as Elastic,
        Inertia as Inertia,
        Joint as Joint,
        Limits as Limits,
        Link as Link,
        Loop as Loop,
        Mechanism as Mechanism,
        Motor as Motor,
        Pose as Pose,
        Rotor as Rotor,
        Transmission as Transmission,
        Winding as Winding,
    )
    from robodyn.description.contact import Contact as Contact
    from robodyn.description.functions.explicit_loop import (
        ExplicitLoop as ExplicitLoop,
        Follower as Follower,
    )
    from robodyn.description.functions.force import Force as Force
    from robodyn.description.task import Task as Task
    from robodyn.description.wrench import Wrench as Wrench
    from robodyn.equations.loops.constraint import Constraint as Constraint
    from robodyn.equations.loops.frame_constraint import FrameConstraint as FrameConstraint
    from robodyn.equations.loops.rolling import Rolling as Rolling
    from robodyn.equations.sensors.sensor import Sensor as Sensor
    from robodyn.errors import (
        ActuationError as ActuationError,
        AssemblyError as AssemblyError,
        BagError as BagError,
        EquilibriumError as EquilibriumError,
        IdentificationError as IdentificationError,
        ImpactError as ImpactError,
        InconsistentStateError as InconsistentStateError,
        InertiaError as InertiaError,
        MissingExtraError as MissingExtraError,
        PathError as PathError,
        PlanError as PlanError,
        RobodynError as RobodynError,
        SettingsError as SettingsError,
        ShapeError as ShapeError,
        SimulationError as SimulationError,
        SingularError as SingularError,
        SweepError as SweepError,
        TopologyError as TopologyError,
        UndeterminedWrenchError as UndeterminedWrenchError,
        UnknownNameError as UnknownNameError,
        UrdfError as UrdfError,
    )
    from robodyn.exporting.conversion import Conversion as Conversion, convert as convert
    from robodyn.exporting.export import export as export
    from robodyn.force_elements.ground import Ground as Ground
    from robodyn.force_elements.inverse_square import InverseSquareGravity as InverseSquareGravity
    from robodyn.force_elements.joint_stop import CompliantStops as CompliantStops
    from robodyn.force_elements.point_spring import PointSpring as PointSpring
    from robodyn.force_elements.stokes_drag import StokesDrag as StokesDrag
    from robodyn.force_elements.weight_compensation import WeightCompensation as WeightCompensation
    from robodyn.identification import (
        Excitation as Excitation,
        Identified as Identified,
        Measurements as Measurements,
        Payload as Payload,
        excitation as excitation,
        identify as identify,
        identify_payload as identify_payload,
    )
    from robodyn.impacts.contact import PointMass as PointMass, RobotPoint as RobotPoint
    from robodyn.impacts.several_hits import Hit as Hit
    from robodyn.joints.joint_map import JointMap as JointMap
    from robodyn.loading import from_dh as from_dh, load as load, robots as robots
    from robodyn.motion.base_motion import BaseMotion as BaseMotion, BasePath as BasePath
    from robodyn.motion.joint_path import JointPath as JointPath
    from robodyn.results import (
        BaseParameters as BaseParameters,
        HybridDynamics as HybridDynamics,
        IKResult as IKResult,
        Impact as Impact,
        JointWrenches as JointWrenches,
        SteadyMotion as SteadyMotion,
    )
    from robodyn.robot import Robot as Robot
    from robodyn.simulation import (
        DryFriction as DryFriction,
        Event as Event,
        MotorLimits as MotorLimits,
        RigidStops as RigidStops,
        StepDerivatives as StepDerivatives,
        Trajectory as Trajectory,
        TrajectoryGradient as TrajectoryGradient,
        closed_loop as closed_loop,
        closed_loop_model as closed_loop_model,
        control_law as control_law,
        events as events,
        mode_motion as mode_motion,
        step_derivatives as step_derivatives,
        step_function as step_function,
        trajectory_gradient as trajectory_gradient,
    )
    from robodyn.simulation.simulate import rollout as rollout, simulate as simulate
    from robodyn.state_space import StateSpace as StateSpace
    from robodyn.studies.compare import Comparison as Comparison, compare as compare
    from robodyn.studies.plans.plan_motion import plan_motion as plan_motion
    from robodyn.studies.plans.planned_motion import PlannedMotion as PlannedMotion
    from robodyn.studies.sweep import SweepTable as SweepTable, sweep as sweep
    from robodyn.symbolic.scalar import (
        arctan as arctan,
        arctan2 as arctan2,
        cos as cos,
        cosh as cosh,
        exp as exp,
        floor as floor,
        log as log,
        maximum as maximum,
        minimum as minimum,
        sign as sign,
        sin as sin,
        sinh as sinh,
        sqrt as sqrt,
        tan as tan,
        tanh as tanh,
        where as where,
    )
    from robodyn.symbolic.spline import FourierSeries as FourierSeries, Spline as Spline
    from robodyn.symbolic.symbol import symbol as symbol


#: Public names, by where they are defined. They are imported when they are first used, so that a
#: process imports what it needs.
_HOMES = {
    "robodyn.codegen": "Function compiled get_compilation get_num_threads set_compilation "
    "set_num_threads",
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
    "robodyn.errors": (
        "ActuationError AssemblyError BagError EquilibriumError IdentificationError ImpactError "
        "InconsistentStateError InertiaError MissingExtraError PathError PlanError RobodynError "
        "SettingsError ShapeError SimulationError SingularError SweepError TopologyError "
        "UndeterminedWrenchError UnknownNameError UrdfError"
    ),
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
    "robodyn.impacts.contact": "PointMass RobotPoint",
    "robodyn.impacts.several_hits": "Hit",
    "robodyn.joints.joint_map": "JointMap",
    "robodyn.loading": "from_dh load robots",
    "robodyn.motion.base_motion": "BaseMotion BasePath",
    "robodyn.motion.joint_path": "JointPath",
    "robodyn.results": "BaseParameters HybridDynamics IKResult Impact JointWrenches SteadyMotion",
    "robodyn.robot": "Robot",
    "robodyn.simulation": (
        "DryFriction Event MotorLimits RigidStops StepDerivatives Trajectory TrajectoryGradient "
        "closed_loop closed_loop_model control_law events mode_motion rollout simulate "
        "step_derivatives step_function trajectory_gradient"
    ),
    "robodyn.state_space": "StateSpace",
    "robodyn.studies.compare": "Comparison compare",
    "robodyn.studies.plans.plan_motion": "plan_motion",
    "robodyn.studies.plans.planned_motion": "PlannedMotion",
    "robodyn.studies.sweep": "SweepTable sweep",
    "robodyn.symbolic.scalar": "arctan arctan2 cos cosh exp floor log maximum minimum sign sin "
    "sinh sqrt tan tanh where",
    "robodyn.symbolic.spline": "FourierSeries Spline",
    "robodyn.symbolic.symbol": "symbol",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # type checkers read the names above, which are re-exported
    __all__ = list(_HOME)

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
    return sorted([*_HOME, *_PACKAGES, "__version__"])
