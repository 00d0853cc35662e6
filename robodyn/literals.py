"""Options that take one of some words, as types.

The same object is what a type checker accepts and what is accepted at run time
(`robodyn.arguments`).
"""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, TypedDict

#: Parameters by which motions are differentiated: those of bodies, or those of motors and friction,
#: too.
ParameterSet: TypeAlias = Literal["inertial", "dynamic"]

#: How the root link is held: fixed, free to move, or moved along a prescribed path.
Base: TypeAlias = Literal["fixed", "floating", "moving"]

#: Coordinates of closed linkages: those of the spanning tree, or independent ones.
Coordinates: TypeAlias = Literal["tree", "minimal"]

#: Where frames of a table of Denavit and Hartenberg stand: behind their joint, or on its axis.
DHConvention: TypeAlias = Literal["standard", "modified"]

#: How a link touches another.
ContactKind: TypeAlias = Literal["point", "line", "surface", "grip"]

#: What has the target of a task, if not a frame.
TaskQuantity: TypeAlias = Literal["center_of_mass", "posture", "momentum"]

#: Rotors as bodies that turn, or as inertias added to joints.
RotorModel: TypeAlias = Literal["exact", "armature"]

#: Axes of a twist, a wrench, a Jacobian: those of the body frame or of the world.
Axes: TypeAlias = Literal["body", "world"]

#: Methods that solve for accelerations and multipliers of a closed linkage.
ConstraintMethod: TypeAlias = Literal["auto", "kkt", "schur", "nullspace", "partition"]

#: Dynamics of which there are derivatives.
DynamicsName: TypeAlias = Literal["inverse_dynamics", "forward_dynamics", "hybrid_dynamics"]

#: Type of the numbers in generated code.
Precision: TypeAlias = Literal["double", "float"]

#: What a simulation does about limits of joints.
LimitsChoice: TypeAlias = Literal["ignore", "report", "enforce"]

#: Dry friction in a simulation: a smooth law, or joints that stick and slide as modes.
FrictionChoice: TypeAlias = Literal["smooth", "exact"]

#: Limits that a motion can leave.
LimitKind: TypeAlias = Literal["position", "velocity", "effort", "motor torque", "motor voltage"]

#: What the commands of a motor are.
MotorCommand: TypeAlias = Literal["torque", "voltage"]

#: Methods that move a state through time: the files of `robodyn.simulation.integrators`.
IntegratorName: TypeAlias = Literal[
    "euler",
    "semi_implicit",
    "heun",
    "midpoint",
    "rk4",
    "variational",
    "auto",
    "implicit",
    "adaptive",
    "scipy:RK23",
    "scipy:RK45",
    "scipy:DOP853",
    "scipy:Radau",
    "scipy:BDF",
    "scipy:LSODA",
]

#: How a path through samples ends: as the samples have it, or at rest.
PathEnds: TypeAlias = Literal["free", "rest"]

#: What a filter of a controller acts on.
Signal: TypeAlias = Literal["torque", "speed"]

#: Constraints of positions, and of speeds alone.
ConstraintKind: TypeAlias = Literal["holonomic", "nonholonomic"]

#: Constraints between two frames.
FrameConstraintKind: TypeAlias = Literal[
    "point_on_line",
    "point_on_plane",
    "distance",
    "parallel",
    "perpendicular",
    "translation",
    "rotation",
    "screw",
]

#: What a sensor measures: the files of `robodyn.equations.sensors.kinds`.
SensorKindName: TypeAlias = Literal[
    "position",
    "velocity",
    "acceleration",
    "orientation",
    "angular_velocity",
    "angular_acceleration",
    "distance",
    "distance_rate",
    "angle",
    "angle_rate",
    "turn",
    "turn_rate",
    "imu",
    "wrench",
    "kinetic_energy",
    "potential_energy",
    "momentum",
    "center_of_mass",
]

#: What a motion for identification minimises.
Criterion: TypeAlias = Literal["condition", "logdet"]

#: What becomes of parameters that measured motions say nothing of.
Unexcited: TypeAlias = Literal["error", "keep"]

#: What becomes of rows of a sweep whose study raises an error.
FailedRows: TypeAlias = Literal["keep", "raise"]

#: How machine code is made: at first quickly and then well, or well at once.
Compilation: TypeAlias = Literal["background", "eager"]

#: What a simulation behind ROS topics does with joints that get no command.
IdleController: TypeAlias = Literal["none", "gravity", "pd", "computed_torque"]

#: What numbers in a command of ROS are.
CommandInterface: TypeAlias = Literal["effort", "velocity", "position"]

#: Storage of a bag of ROS 2 that is a folder.
BagStorage: TypeAlias = Literal["mcap", "sqlite3"]

#: URDF text without the joints that close loops, or with everything.
DescriptionForm: TypeAlias = Literal["tree", "source"]

#: What arrows in the viewer show.
ArrowKind: TypeAlias = Literal["forces", "moments", "torques"]

#: Languages and formats of exported code: the files of `robodyn.exporting.targets`.
ExportTarget: TypeAlias = Literal["c", "cpp", "fmu", "matlab", "modelica", "python"]

#: Functions of a robot with one output.
ArrayFunction: TypeAlias = Literal[
    "actuation_matrix",
    "apparent_mass",
    "bias_forces",
    "center_of_mass",
    "centroidal_matrix",
    "consistent_acceleration",
    "consistent_velocity",
    "coordinate_rates",
    "coriolis_matrix",
    "difference",
    "dynamic_regressor",
    "elastic_energy",
    "elastic_forces",
    "forward_dynamics",
    "frame_acceleration",
    "frame_jacobian",
    "frame_jacobian_dot",
    "frame_jacobians",
    "frame_pose",
    "frame_poses",
    "frame_twist",
    "frame_twists",
    "gear_friction",
    "gravity_forces",
    "integrate",
    "inverse_dynamics",
    "joint_wrenches",
    "kinetic_energy",
    "loop_bias",
    "loop_jacobian",
    "loop_residual",
    "loop_velocity_offset",
    "manipulability",
    "mass_matrix",
    "mass_matrix_inverse",
    "momentum",
    "operational_inertia",
    "passive_forces",
    "potential_energy",
    "regressor",
    "tangent_rate",
]

#: Functions of a robot with several outputs.
TupleFunction: TypeAlias = Literal[
    "closed_state",
    "forward_dynamics_derivatives",
    "hybrid_dynamics",
    "hybrid_dynamics_derivatives",
    "impact",
    "impact_derivatives",
    "impact_tensors",
    "impulses",
    "inverse_dynamics_derivatives",
    "joint_positions",
    "joint_velocities",
    "latch",
]


class FunctionOptions(TypedDict, total=False):
    """What shapes the code of a function of a robot."""

    axes: Axes
    classical: bool
    components: Iterable[int]
    controlled: Iterable[str | int]
    frame: str
    frames: Iterable[str]
    joints: Iterable[str]
    parameters: bool
    relative_to: str
    sensors: Iterable[str]
    stabilization: bool
    symbols: bool | Iterable[str]
    tasks: Any
    wrenches: Iterable[str]


#: Whether files that look like xacro are expanded: those whose names end in it, all, or none.
XacroChoice: TypeAlias = bool | Literal["auto"]
