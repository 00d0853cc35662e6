"""Good values of the parameters of all public functions, by name, and the kind of each.

A new parameter needs a row: ``"name"`` for all functions that have a parameter of this name, or
``"function.name"`` for one of them.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from support import wrong_values as w
from support.wrong_values import ANYTHING

import robodyn as rd
import robodyn.controllers as rc

ROBOTS: dict[str, Callable[[], rd.Robot]] = {
    "tree": lambda: rd.load("pan_tilt", sensors=_sensors("camera")),
    "linkage": lambda: rd.load("four_bar", sensors=_sensors("coupler")),
    "minimal": lambda: rd.load("four_bar", coordinates="minimal", sensors=_sensors("coupler")),
}


def _sensors(link: str) -> list[rd.Sensor]:
    """One of them, for robots that are asked what they measure."""
    return [rd.Sensor("imu", at=link)]


#: In which the last link of each robot can be moved.
COMPONENTS = (2,)


class _NewFolder(os.PathLike[str]):
    """Path of another folder each time, which is gone with this object."""

    def __init__(self) -> None:
        self._within = tempfile.TemporaryDirectory()

    def __fspath__(self) -> str:
        return tempfile.mkdtemp(dir=self._within.name)


class _NewFile(_NewFolder):
    """Path of another file each time."""

    def __init__(self, suffix: str) -> None:
        super().__init__()
        self._suffix = suffix

    def __fspath__(self) -> str:
        return super().__fspath__() + self._suffix


@dataclass(frozen=True)
class Row:
    """What a parameter takes.

    Attributes
    ----------
    good : object
        What is given while other parameters are tried; those with a default are left out then.
    kind : callable
        From the good value to wrong ones.
    none : bool
        ``None`` is good, too. Of parameters whose default is ``None`` it always is.
    called : tuple of str
        Other names by which errors may call it.
    needed : bool
        It is given though it has a default, which not every robot takes.
    """

    good: Any
    kind: Callable[[Any], list[Any]]
    none: bool = False
    called: tuple[str, ...] = ()
    needed: bool = False


@cache
def table(which: str) -> dict[str, Row]:
    """The rows for a robot."""
    robot = ROBOTS[which]()
    q, rest = robot.neutral(), np.zeros(robot.nv)
    return {
        **_states(robot, q, rest),
        **_names(robot),
        **_choices(robot, q),
        **_motions(robot, q, rest),
        **_controllers(robot, q, rest),
        **_descriptions(robot, q, rest),
    }


def _states(robot: rd.Robot, q: Any, rest: Any) -> dict[str, Row]:
    """Positions, speeds, forces, times and places."""
    link = robot.link_names[-1]
    rows = dict.fromkeys(("q", "q0", "q1", "posture", "near"), Row(q, w.array))
    rows |= dict.fromkeys(("v", "v0", "a", "dv", "u", "tau"), Row(rest, w.array))
    rows |= {
        "hybrid_dynamics.tau": Row(rest, w.by_joint),
        "joint_wrenches.tau": Row(rest, w.by_joint),
        "measure.tau": Row(rest, w.by_joint),
        "measure.v": Row(rest, w.array, needed=True),
        "measure.a": Row(rest, w.array, needed=True),
        "steady_motion.tau": Row(rest, w.by_joint),
        "equilibrium.tau": Row(rest, w.by_joint),
        "linearize.tau": Row(rest, w.by_joint, none=True),
        "derivatives.x": Row(rest, w.by_joint, called=("a",)),
        "derivatives.controlled": Row(rest, w.by_joint),
        "linearize.controlled": Row(rest, w.by_joint),
        "hybrid_dynamics.controlled": Row(rest, w.by_joint),
        "joint_wrenches.controlled": Row(rest, w.by_joint),
        "driven_dynamics.speeds": Row((0,), w.indices),
        "a_controlled": Row(np.zeros(1), w.array),
        "tau_free": Row(np.zeros(robot.nv - 1), w.array),
        "t": Row(0.0, w.number),
        "at.t": Row(0.0, w.of_any_size),
        "point": Row([0.0, 0.1, 0.0], w.array),
        "direction": Row([0.0, 0.0, 1.0], w.array, none=True),
        "out": Row(None, w.instance),
        "base": Row(None, w.instance),
        "wrenches": Row({link: np.zeros(6)}, w.arrays_by_name, called=("wrench",)),
        "targets": Row({link: robot.frame_pose(q, link)}, w.arrays_by_name, needed=True),
        "free": Row(None, w.instance),
        "against": Row(None, w.objects),
        "impact_tensors.other": Row((link, [0.0, 0.1, 0.0]), w.objects),
        "impact.friction": Row(0.0, w.number, none=True),
        "impact_derivatives.friction": Row(0.0, w.number, none=True),
        "records": Row(None, w.objects),
        "hits": Row([rd.Hit(link, [0.0, 0.1, 0.0], [0.0, 0.0, 1.0])], w.objects),
        "stabilization": Row((0.0, 0.0), w.objects),
        "restitution": Row(0.0, w.number),
        "friction": Row(0.0, w.number),
        "rng": Row(0, w.seed, none=True),
        "size": Row(2, w.count, none=True),
        "dt": Row(0.01, w.number),
    }
    return rows


def _names(robot: rd.Robot) -> dict[str, Row]:
    """Names of joints, links, frames and quantities."""
    joint, link = robot.independent_joints[0], robot.link_names[-1]
    rows = dict.fromkeys(("hold", "held", "locked", "controlled"), Row((), w.names))
    rows |= dict.fromkeys(
        ("joints", "inputs", "outputs", "independent", "actuated"), Row((joint,), w.names)
    )
    rows |= dict.fromkeys(("link", "frame"), Row(link, w.choice))
    return rows | {
        "frames": Row((link,), w.names),
        "relative_to": Row("world", w.choice),
        "measure.sensors": Row((robot.sensors[0].name,), w.names),
        "axes": Row("body", w.choice),
        "components": Row(COMPONENTS, w.indices, needed=True),
        "method": Row("auto", w.choice),
        "integrator": Row("rk4", w.choice),
        "compilation": Row("eager", w.choice),
        "function.name": Row("inverse_dynamics", w.choice),
        "derivatives.name": Row("inverse_dynamics", w.choice),
    }


def _choices(robot: rd.Robot, q: Any) -> dict[str, Row]:
    """What is true or false, and what makes another robot."""
    link, joint = robot.link_names[-1], robot.independent_joints[0]
    flags = ("classical", "beyond_limits", "parameters", "gravity", "compensate", "product")
    flags += ("strict", "passive", "allow_unphysical", "merge_hinges", "consistent", "raw")
    flags += ("rigid",)
    rows = dict.fromkeys(flags, Row(False, w.truth))
    return rows | {
        "branch_sign.path": Row(False, w.truth),
        "compiled.wait": Row(False, w.truth),
        "inverse_kinematics.limits": Row(True, w.truth),
        "with_.payload": Row({link: rd.Inertia(0.1)}, w.objects_by_name),
        "with_.stops": Row(None, w.instance),
        "with_.frames": Row({"tool": (link, np.eye(4))}, w.instance),
        "with_.parameters": Row({robot.dynamic_parameter_names[0]: 1.0}, w.mapping),
        "of_rows.rows": Row(0, w.anything),
        "with_.locked": Row({joint: 0.0}, w.mapping),
    }


def _motions(robot: rd.Robot, q: Any, rest: Any) -> dict[str, Row]:
    """Simulations, and what is made of them."""
    link = robot.link_names[-1]
    run = rd.simulate(robot, q0=q, duration=0.004, step=0.001, limits="ignore")
    samples = {"q": np.zeros((5, robot.nq)), "v": np.zeros((5, robot.nv))}
    law = _law(robot, q)
    rows = {
        "robot": Row(robot, w.instance),
        "controller": Row(law, w.function),
        "duration": Row(0.004, w.number),
        "step": Row(0.001, w.number),
        "every": Row(1, w.count),
        "events": Row((), w.objects),
        "limits": Row("ignore", w.choice),
        "simulate.friction": Row("exact", w.choice),
        "progress": Row(False, w.truth),
        "tolerance": Row(1e-6, w.number),
        "to": Row(None, w.anything),
        "path": Row(None, w.anything),
        "stops": Row(None, w.instance),
        "ground": Row((), w.objects),
        "root": Row(None, w.choice),
        "load.model": Row(None, w.choice),
        "run": Row(run, w.instance),
        "data": Row(_measured(robot, q), w.instance),
        "noise": Row(None, w.level),
        "prior": Row(1e-3, w.number),
        "unexcited": Row("keep", w.choice),
        "guess": Row(None, w.instance),
        "mode": Row(_mode(robot, q), w.instance),
        "amplitude": Row(0.01, w.number),
        "cycles": Row(0.1, w.number),
        "study": Row(_study, w.function),
        "values": Row({"x": [1.0]}, w.instance),
        "processes": Row(None, w.count),
        "scheduler": Row(None, w.anything),
        "executor": Row(None, w.anything),
        "sweep.rows": Row((0, 1), w.anything),
        "batch": Row(None, w.count),
        "errors": Row("keep", w.choice),
        "seed": Row(0, w.count),
        "compare.controllers": Row({"law": law}, w.instance),
        "compare.reference": Row(rc.PointToPoint(q, q, 1.0), w.function, needed=True),
        "task": Row(None, w.instance),
        "starts": Row(1, w.count),
        "spread": Row(0.0, w.level),
        "loads": Row((), w.names),
        "n": Row(2, w.count),
        "period": Row(0.01, w.number),
        "harmonics": Row(1, w.count),
        "excitation.period": Row(10.0, w.number),
        "excitation.velocity": Row(1.0, w.level),
        "excitation.acceleration": Row(1.0, w.level, needed=True),
        "excitation.iterations": Row(1, w.count),
        "excitation.parameters": Row((), w.names),
        "identify.parameters": Row((), w.names),
        "torque": Row(None, w.level),
        "criterion": Row("condition", w.choice),
        "iterations": Row(2, w.count),
        "times": Row([0.0, 0.001], w.array),
        "cutoff": Row(10.0, w.number),
        "rollout.controller": Row(law, w.function, none=True),
        "step_derivatives.t": Row(0.0, w.of_any_size),
        "identify.unexcited": Row("keep", w.choice, needed=True),
        "rollout.q0": Row(np.array([q]), w.array),
        "rollout.v0": Row(np.array([rest]), w.array),
        "step_function.wrenches": Row((link,), w.names),
        "functions": Row(("mass_matrix",), w.names),
        "target": Row("c", w.choice),
        "export.name": Row("plant", lambda good: [5, ANYTHING, "", " "]),
        "strict_tree": Row(False, w.truth),
        "convert.path": Row(_NewFile(".xml"), lambda good: [5, ANYTHING, np.nan, [1.0]]),
        "folder": Row(_NewFolder(), lambda good: [5, ANYTHING, np.nan, [1.0]]),
        "dtype": Row("double", w.choice),
        "simulate.parameters": Row({robot.dynamic_parameter_names[0]: 1.0}, w.mapping),
        "rollout.parameters": Row({robot.dynamic_parameter_names[0]: [1.0]}, w.mapping),
    }
    plans = "iterative_lqr", "multistart_lqr"
    for name in ("simulate", "rollout", "step_derivatives", *plans, "trajectory_gradient"):
        rows[f"{name}.controlled"] = Row({"nosuch": lambda t: (0.0, 0.0, 0.0)}, w.objects)
    for name in ("q", "v"):
        rows[f"trajectory_gradient.{name}"] = Row(samples[name], w.array)
    rows["trajectory_gradient.tau"] = Row(np.zeros((5, robot.nv)), w.array)
    return rows


def _controllers(robot: rd.Robot, q: Any, rest: Any) -> dict[str, Row]:
    """Controllers, references and costs."""
    reference = rc.PointToPoint(q, q, 1.0)
    gains = ("stiffness", "damping", "gain", "rate", "adaptation", "posture_stiffness")
    gains += ("posture_damping", "state", "effort", "velocity", "acceleration", "jerk")
    rows = dict.fromkeys(gains, Row(5.0, w.level))
    return rows | {
        "reference": Row(reference, w.function),
        "Noisy.__call__.v": Row(rest, w.array, called=("dv",)),
        "QuadraticCost.running_cost.t": Row(np.zeros(1), w.of_any_size),
        "QuadraticCost.running_cost.q": Row(np.array([q]), w.array),
        "QuadraticCost.running_cost.v": Row(np.array([rest]), w.array),
        "QuadraticCost.running_cost.tau": Row(np.array([rest]), w.of_any_size),
        "order": Row(1, w.count),
        "signal": Row("torque", w.choice),
        "posture": Row(q, w.array),
        "q1": Row(q, w.array),
        "goal": Row(q, w.array),
        "share": Row(1.0, w.number),
        "waypoints": Row(np.array([q, q + 0.001]), w.samples),
        "center": Row(q, w.array),
        "frequency": Row(rest + 1.0, w.array),
        "SineReference.amplitude": Row(rest, w.array),
        "factor": Row(2.0, w.number),
        "positions": Row(np.array([q] * 2), w.array),
        "velocities": Row(None, w.array),
        "ends": Row("free", w.choice),
        "delay": Row(0.0, w.number),
        "quantum": Row(0.0, w.level),
        "velocity_quantum": Row(0.0, w.level),
        "wrap": Row(0.0, w.level),
        "dropped": Row(0.0, w.number),
        "least": Row(0.02, w.number),
        "start": Row(None, w.anything),
        "motion": Row(0, w.count),
        "then": Row(None, w.instance),
        "Admittance.inertia": Row(5.0, w.level),
        "Admittance.wrench": Row(lambda t, q, v: np.zeros(6), w.function),
        "running": Row(lambda t, q, v, tau: tau @ tau, w.function),
        "SymbolicCost.final": Row(lambda q, v: v @ v, w.function),
        "final": Row(1.0, w.level),
        "cost": Row(rc.QuadraticCost(robot, q), w.instance),
        "wrench": Row(lambda t: np.zeros(6), w.function),
        "length": Row(1.0, w.number),
        "points": Row(21, w.count),
        "TimeOptimal.acceleration": Row(5.0, w.level, needed=True),
        "Retarget.start": Row(q, w.array),
        "Retarget.time": Row(0.0, w.number),
        "TimeOptimal.path": Row(rc.PointToPoint(q, q + 0.1, 1.0), w.function),
        "Saturated.limits": Row(5.0, w.level),
        "iterative_lqr.limits": Row(None, w.level),
        "iterative_lqr.constraints": Row((), lambda good: [5, ANYTHING, [1.0], ["abc"]]),
        "iterative_lqr.goal": Row(None, lambda good: ["abc", ANYTHING, [1j], 5]),
        "multistart_lqr.limits": Row(None, w.level),
        "Filtered.cutoff": Row(10.0, w.level),
        "Noisy.position": Row(0.0, w.of_any_size),
        "Noisy.velocity": Row(0.0, w.of_any_size),
        "poses": Row(np.array([robot.frame_pose(q, robot.link_names[-1])] * 2), w.array),
        "Impedance.frame": Row(robot.link_names[-1], w.choice),
        "Recorded.times": Row(np.linspace(0.0, 1.0, 6), w.array),
        "Recorded.positions": Row(np.array([q] * 6), w.array),
        "learnt": Row([robot.dynamic_parameter_names[0]], w.objects),
        "Adaptive.controller": Row(rc.PassivityBased(robot, reference, 5.0), w.instance),
        "Admittance.position": Row(_operational(robot, q), w.instance),
        "inertia": Row(None, w.level),
        **_estimators(),
    }


def _estimators() -> dict[str, Row]:
    """What estimators and laws with them take."""
    encoders = rd.Sensor(lambda q, v, a: q, joint=("pan", "tilt"), name="encoders")
    seen = rd.load("pan_tilt", sensors=[encoders], passive=False)
    law, rest = rc.LQR(seen, seen.neutral()), np.zeros(seen.nv)
    model = seen.linearize(law.rest, rest, seen.gravity_forces(law.rest), outputs=["encoders"])
    return {
        "law": Row(law, w.function),
        "estimator": Row(rc.KalmanFilter(model, 1e-6, 1e-4, dt=0.001), w.instance),
        "process": Row(1e-6, w.level),
        "measurement": Row(1e-4, w.level),
        "KalmanFilter.model": Row(model, w.instance),
        "KalmanFilter.dt": Row(0.001, w.number),
        "KalmanFilter.initial": Row(None, w.level),
        "ExtendedKalmanFilter.robot": Row(seen, w.instance),
        "ExtendedKalmanFilter.dt": Row(0.001, w.number),
        "ExtendedKalmanFilter.initial": Row(1e-2, w.level),
        "ExtendedKalmanFilter.posture": Row(seen.neutral(), w.array),
        "ExtendedKalmanFilter.sensors": Row(("encoders",), w.names),
        "disturbances": Row((), w.names),
        "speed": Row(rest, w.array),
        "ExtendedKalmanFilter.payload": Row(None, w.instance),
        "OutputFeedback.sensors": Row(("encoders",), w.names),
    }


def _descriptions(robot: rd.Robot, q: Any, rest: Any) -> dict[str, Row]:
    """What mechanisms are described by, and what acts on them."""
    link, place = robot.link_names[-1], (0.0, 0.0, 1.0)
    numbers = ("gear_ratio", "rotor_inertia", "viscous", "coulomb", "torque_limit", "knee")
    numbers += ("ratio", "offset", "mass", "ixx", "ixy", "ixz", "iyy", "iyz", "izz", "pitch")
    numbers += ("lower", "upper", "rest", "rest_length", "distance", "height")
    numbers += ("armature", "exponent", "friction_speed", "dissipated")
    numbers += ("stop_stiffness", "stop_damping", "diameter", "viscosity")
    numbers += ("torque_constant", "resistance", "inductance", "backlash", "efficiency")
    numbers += ("Winding.limit", "ambient")
    owners = ("Actuator", "CompliantStops", "Coupling", "Ground", "Joint", "Limits", "Loop")
    owners += ("MotorLimits", "PointSpring", "Rotor", "Inertia", "landings", "Elastic")
    rows = dict.fromkeys(numbers, Row(1.0, w.number))
    for owner in owners:
        for name in ("stiffness", "damping", "friction", "inertia", "velocity", "effort"):
            rows[f"{owner}.{name}"] = Row(1.0, w.number)
    rows |= dict.fromkeys(("voltage", "current", "backward_efficiency"), Row(0.5, w.number))
    rows |= dict.fromkeys(("Winding.resistances", "time_constants"), Row((1.0, 2.0), w.array))
    rows["Actuator.command"] = Row("torque", w.choice)
    rows |= dict.fromkeys(("motor", "thermal", "elastic"), Row(None, w.instance))
    rows |= dict.fromkeys(("xyz", "rpy", "axis", "axis2", "normal"), Row(place, w.array))
    rows |= dict.fromkeys(("point1", "point2"), Row(place, w.array))
    rows |= dict.fromkeys(
        ("name", "parent", "child", "predecessor", "successor", "link1", "link2", "mounted_on"),
        Row("nosuch", w.name),
    )
    rows |= dict.fromkeys(("StokesDrag.link", "WeightCompensation.link"), Row("nosuch", w.name))
    rows |= dict.fromkeys(("origin", "X_predecessor", "X_successor"), Row(rd.Pose(), w.instance))
    # what was read of a file
    rows |= dict.fromkeys(("line", "extras", "merged", "rejoins", "map"), Row((), w.anything))
    paths = (
        ("pose", Row(np.eye(4), w.array)),
        ("twist", Row(np.zeros(6), w.array)),
        ("BaseMotion.acceleration", Row(np.zeros(6), w.array)),
        ("BasePath.function", Row(lambda t: rd.BaseMotion.at_rest(), w.function)),
        ("JointPath.function", Row(lambda t: (0.0, 0.0, 0.0), w.function)),
    )
    run = rd.simulate(robot, q0=q, duration=0.004, step=0.001, limits="ignore")
    measured = {x: Row(getattr(run, x), w.array) for x in ("t", "q", "v", "a", "tau")}
    rows |= {f"Measurements.{x}": replace(row, kind=w.level) for x, row in measured.items()}
    matrices = zip("ABCD", ((2, 2), (2, 1), (1, 2), (1, 1)), strict=True)
    rows |= {x: Row(np.zeros(shape), w.array, called=("D",)) for x, shape in matrices}
    return rows | {
        **dict(paths),
        "kind": Row("revolute", w.name),
        "Constraint.kind": Row("holonomic", w.choice),
        "Constraint.function": Row(lambda q: q, w.function),
        "ExplicitLoop.h": Row(lambda u, v: [v[0] - u[0]], w.function),
        "ExplicitLoop.u": Row(("one",), w.unknown_names),
        "ExplicitLoop.v": Row(("other",), w.unknown_names),
        "ExplicitLoop.solution": Row(lambda u: u, w.function),
        "ExplicitLoop.iterations": Row(1, w.count),
        "Follower.joint": Row("other", w.name),
        "Follower.law": Row(lambda q: q, w.function),
        "Follower.of": Row(("one",), w.unknown_names),
        "Force.law": Row(lambda q, v, t: -q, w.function, none=True),
        "Force.joint": Row(robot.joint_names[0], w.name, needed=True),
        "Force.on": Row(None, w.objects),
        "Force.between": Row(None, w.objects),
        "Force.potential": Row(None, w.function),
        "FrameConstraint.kind": Row("parallel", w.function),
        "Sensor.kind": Row("position", w.function),
        "Sensor.at": Row(link, w.name, needed=True),
        "Sensor.relative_to": Row("world", w.name),
        "Sensor.axes": Row("own", w.name),
        "Sensor.joint": Row(robot.joint_names[0], w.names),
        "bodies": Row((link,), w.names),
        "Sensor.columns": Row(("x",), w.names),
        "Sensor.units": Row(("m",), w.names),
        "between": Row((("world", np.eye(4)), (link, np.eye(4))), w.instance),
        "Rolling.link": Row(link, w.name),
        "Rolling.center": Row(place, w.array),
        "radius": Row(1.0, w.number),
        "on": Row(("world", np.eye(4)), lambda good: [5, ANYTHING, np.nan, [1.0], {"a": 1}]),
        "FourierSeries.x": Row([0.0, 1.0], w.array),
        "FourierSeries.y": Row([0.0, 1.0], w.array),
        "FourierSeries.period": Row(2.0, w.number),
        "FourierSeries.harmonics": Row(1, w.count),
        "Spline.x": Row([0.0, 1.0], w.array),
        "Spline.y": Row([0.0, 1.0], w.array),
        "Spline.monotone": Row(False, w.truth),
        "Wrench.link": Row(link, w.name),
        "Wrench.force": Row(place, w.array),
        "Wrench.moment": Row(place, w.array),
        "Wrench.at": Row(place, w.array),
        "Wrench.axes": Row("world", w.choice),
        "InverseSquareGravity.mu": Row(1.0, w.number),
        "InverseSquareGravity.center": Row(place, w.array),
        "JointMap.function": Row(lambda q: np.eye(4), w.function),
        "JointMap.n": Row(1, w.count),
        "Rotor.inertia": Row(1.0, w.number),
        "Rotor.link": Row(link, w.name),
        "Transmission.joints": Row((link,), lambda good: [5, ANYTHING, [5], None]),
        "Transmission.matrix": Row(((1.0,),), w.array),
        "Link.inertia": Row(rd.Inertia(1.0), w.instance),
        "Joint.limits": Row(rd.Limits(), w.instance),
        "Loop.limits": Row(rd.Limits(), w.instance),
        "mimic": Row(None, w.instance),
        "Joint.independent": Row(None, w.truth),
        "Joint.exact": Row(None, w.instance),
        "Loop.exact": Row(None, w.instance),
        "Joint.parameters": Row((), w.anything),
        "Loop.parameters": Row((), w.anything),
        "Ground.points": Row({"foot": (link, (0.0, 0.0, 0.0))}, w.instance),
        "CompliantStops.stiffness": Row(1.0, w.number),
        "PointMass.velocity": Row(place, w.array),
        "Hit.link": Row(link, w.name),
        "RobotPoint.link": Row(link, w.name),
        # looked at when they meet something
        **{f"RobotPoint.{x}": Row(None, w.anything, none=True) for x in ("robot", "base")},
        **{f"RobotPoint.{x}": Row(q, w.of_any_size) for x in ("q", "v")},
        **{f"{x}.point": Row(place, w.of_any_size) for x in ("RobotPoint", "Hit", "impact")},
        "Hit.direction": Row(place, w.of_any_size),
        "Hit.against": Row(None, w.anything),
        "rest_speed": Row(0.01, w.number),
        "states": Row(("x", "v"), w.unknown_names),
        "StateSpace.inputs": Row(("u",), w.unknown_names),
        "StateSpace.outputs": Row(("y",), w.unknown_names),
        "StateSpace.acceleration": Row(None, w.anything),
        "RigidStops.joints": Row(None, w.unknown_names),
        "static": Row(1.5, w.number),
        "stribeck_speed": Row(0.1, w.number),
        "Constraint.joints": Row(robot.joint_names[:1], w.unknown_names),
        "when": Row(0.001, lambda good: ["abc", ANYTHING, np.nan, [1.0], None]),
        "then": Row(rd.events.stop, w.function),
        "TimeVaryingLQR.then": Row(None, w.instance),
        "Event.direction": Row(0, w.whole),
        "already": Row(False, w.truth),
        **_events(robot, q, rest),
        **_loading(robot),
    }


def _events(robot: rd.Robot, q: Any, rest: Any) -> dict[str, Row]:
    """Changes of a motion; names of joints and links are looked for when they happen."""
    link, joint = robot.link_names[-1], robot.independent_joints[0]
    ground = rd.Ground({"foot": (link, (0.0, 0.0, 0.0))}, height=-9.0)
    rows = {}
    for owner in ("Change", "latch", "release", "drop", "grasp", "impact", "drive", "jump"):
        for name in ("locked", "released", "joints"):
            rows[f"{owner}.{name}"] = Row((joint,), w.unknown_names)
        rows[f"{owner}.link"] = Row(link, w.name)
        rows[f"{owner}.controlled"] = Row({joint: lambda t: (0.0, 0.0, 0.0)}, _unknown_mapping)
        for name, good in (("q", q), ("v", rest)):  # whose size the robot of the motion has
            rows[f"{owner}.{name}"] = Row(good, w.of_any_size)
    return rows | {
        "Change.payload": Row({link: rd.Inertia(0.1)}, _unknown_mapping),
        "Change.stop": Row(False, w.truth),
        "Change.must_separate": Row(False, w.truth),
        "Change.base": Row(None, w.function),
        "Change.dissipated": Row(0.0, w.number),
        "grasp.payload": Row(rd.Inertia(0.1), w.instance),
        "impact.against": Row(None, w.anything),
        "impact.direction": Row((0.0, 0.0, 1.0), w.of_any_size, none=True),
        "grasp.velocity": Row((0.0, 0.0, 0.0), w.of_any_size),
        "angular_velocity": Row((0.0, 0.0, 0.0), w.of_any_size),
        "landings.ground": Row(ground, w.instance),
        "landings.restitution": Row(0.0, w.number),
        "sticks": Row(True, w.truth),
        "switch.controller": Row(_law(robot, q), w.function, none=True),
        "stop.state": Row(None, w.anything, none=True),
    }


def _loading(robot: rd.Robot) -> dict[str, Row]:
    """Arguments of `robodyn.load`, for a robot that is bundled."""
    place = (0.0, 0.0, -9.81)
    return {
        "source": Row(robot.name, lambda good: [5, ANYTHING, np.nan, [1.0], None, {}]),
        "load.base": Row("fixed", w.choice),
        "load.gravity": Row(place, w.array),
        "from_dh.rows": Row([(0.0, 0.0, 1.0, 0.0)], lambda good: [5, ANYTHING, None, [1.0]]),
        "from_dh.convention": Row("standard", w.choice),
        "from_dh.inertias": Row(None, lambda good: [5, ANYTHING, [], [1.0], [good, good]]),
        "from_dh.name": Row("arm", w.name),
        "dh_table.convention": Row("standard", w.choice),
        "dh_table.tip": Row(None, w.name),
        "tasks": Row(rd.Task(robot.neutral(), quantity="posture"), w.instance),
        "contacts": Row(None, lambda good: [5, ANYTHING, "abc", {"nosuch": 5}, [1.0]]),
        "Contact.kind": Row("point", w.choice),
        "Contact.at": Row(None, lambda good: [5, ANYTHING, "abc", [1.0], np.zeros((4, 4))]),
        "Contact.half_sizes": Row(None, lambda good: [ANYTHING, "abc", [1j], 0.1]),
        "Contact.mu": Row(0.7, w.number),
        "Contact.on": Row("world", lambda good: [5, ANYTHING, np.nan, [1.0], {}]),
        "cones": Row(True, w.truth),
        "acceleration_for.stiffness": Row(100.0, w.number),
        "acceleration_for.damping": Row(None, w.number),
        "acceleration_for.limits": Row(True, w.truth),
        "velocity_for.limits": Row(True, w.truth),
        "velocity_for.damping": Row(1e-6, w.number),
        "plan_motion.start": Row(
            robot.neutral(), lambda good: ["abc", ANYTHING, [1j], [np.nan], 5]
        ),
        "plan_motion.goal": Row(None, lambda good: ["abc", ANYTHING, [1j], [np.nan], 5]),
        "plan_motion.duration": Row(0.1, lambda good: ["abc", np.nan, 1j, ANYTHING, {}, [1, 2, 3]]),
        "plan_motion.cost": Row("torque", lambda good: [5, ANYTHING, "nosuch", [1.0]]),
        "plan_motion.constraints": Row((), lambda good: [5, ANYTHING, [1.0], ["abc"]]),
        "plan_motion.parameters": Row(None, lambda good: [5, ANYTHING, "abc", {"nosuch": (0, 1)}]),
        "plan_motion.nodes": Row(3, w.whole, needed=True),
        "plan_motion.periodic": Row(False, w.truth),
        "plan_motion.phases": Row(None, lambda good: [5, ANYTHING, ["abc"], [5]]),
        "plan_motion.initial": Row(None, w.instance),
        "plan_motion.tolerance": Row(None, w.number),
        "Task.target": Row(
            robot.neutral(), lambda good: ["abc", ANYTHING, [1j], [np.nan], [[1], 2]]
        ),
        "Task.frame": Row(None, lambda good: [5, ANYTHING, np.nan, [1.0], {}]),
        "Task.quantity": Row("posture", w.choice, needed=True),
        "Task.components": Row(None, lambda good: ["abc", 5, ANYTHING, np.nan, [1.5], ["a"]]),
        "Task.weight": Row(1.0, lambda good: [x for x in w.number(good) if type(x) is not list]),
        "Task.gain": Row(1.0, w.number),
        "inverse_kinematics.tasks": Row(None, w.instance),
        "symbol.name": Row("l1", w.name),
        "symbol.value": Row(0.4, w.number),
        "constants": Row(None, lambda good: [*w.instance(good), {"nosuch": 1.0}, {"q": 1.0}]),
        "symbols": Row(None, lambda good: [*w.instance(good), {"nosuch": "x"}, {1: "x"}]),
        "load.joint_maps": Row(None, w.instance),
        "load.near": Row(None, lambda good: ["abc", ANYTHING, [1j], {"nosuch": 1.0}]),
        "actuators": Row({robot.joint_names[0]: rd.Actuator()}, w.objects_by_name),
        "loops": Row((), w.objects),
        "coordinates": Row("tree", w.choice),
        "branches": Row(None, lambda good: ["abc", 5, ANYTHING, [1.0]]),
        "package_dirs": Row(None, w.instance),
        "xacro_args": Row(None, w.instance),
        "xacro": Row("auto", lambda good: [5, "yes", ANYTHING, 1.0, None]),
        "snap": Row(None, lambda good: []),  # any value gives a warning that it does nothing
        "rotor_model": Row("exact", w.choice),
        "rotors": Row((), w.objects),
        "transmissions": Row((), w.objects),
        "springs": Row((), w.objects),
        "srdf": Row(None, w.anything),
        "constraints": Row((), w.objects),
        "couplings": Row((), w.objects),
        "forces": Row((), w.objects),
        "sensors": Row((), w.objects),
        "urdf": Row(None, w.anything),
        "closure_tolerance": Row(1e-6, w.number),
    }


def _unknown_mapping(good: Any) -> list[Any]:
    """Of values by names that are looked for later."""
    return [wrong for wrong in w.mapping(good) if not isinstance(wrong, dict)]


def _law(robot: rd.Robot, q: Any) -> rc.JointPD:
    return rc.JointPD(robot, rc.PointToPoint(q, q, 1.0), 20.0, 5.0)


def _mode(robot: rd.Robot, q: Any) -> Any:
    """The fastest motion near a posture at rest."""
    at = robot.equilibrium(q)
    modes = robot.linearize(at, np.zeros(robot.nv), None).modes
    return max(modes, key=lambda mode: abs(mode.pole))


def _measured(robot: rd.Robot, q: Any) -> rd.Trajectory:
    """A driven motion that tells something of most parameters."""
    v = robot.consistent_velocity(q, np.linspace(1.0, 2.0, robot.nv))
    law = _law(robot, q)
    return rd.simulate(robot, law, q0=q, v0=v, duration=0.2, step=0.005, limits="ignore")


def _study(x: float) -> float:
    return x


def _operational(robot: rd.Robot, q: Any) -> rc.OperationalSpace:
    still, link = rc.PointToPoint(q, q, 1.0), robot.link_names[-1]
    return rc.OperationalSpace(robot, link, still, components=COMPONENTS)
