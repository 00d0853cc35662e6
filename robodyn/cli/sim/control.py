"""Controllers and references of ``robodyn sim``: sines, point to point, or rest."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.cli.options.values import named_once
from robodyn.cli.sim.mechanism import SimulatedRobot
from robodyn.cli.sim.states import Start
from robodyn.controllers import (
    ComputedTorque,
    GravityCompensation,
    JointPD,
    PointToPoint,
    SineReference,
)
from robodyn.motion.functions import Reference
from robodyn.simulation.limits.bounds import speed_bounds
from robodyn.simulation.loads.actuated_speeds import coordinates_of_motors
from robodyn.simulation.loads.driven_joints import independent

#: Default stiffness per unit of inertia [1/s^2].
STIFFNESS = 400.0
GAINS = ("stiffness", "damping")
#: Largest range of a sine [rad, m], and of one in a linkage, whose loops limit motion further.
SWING, SWING_IN_LOOPS = 1.0, 0.3
#: For motors that loops couple: samples in the fastest period, and largest number of times that
#: sines are halved until loops close.
SAMPLES, SMALLER = 100, 5


@dataclass(frozen=True, eq=False)
class MotorReference:
    """A reference for the motors; it leaves all other joints at their start.

    start (..., nq)
    motors: Indices in v of joints with motors.
    moved: Indices in q and in v of those that move.
    """

    start: FloatArray
    nv: int
    motors: list[int]
    moved: tuple[list[int], list[int]]
    path: Reference

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, shape (..., nq), (..., nv), (..., nv)."""
        q, (coordinates, speeds) = self.start.copy(), self.moved
        v, a = np.zeros((2, *q.shape[:-1], self.nv))
        q[..., coordinates], v[..., speeds], a[..., speeds] = self.path(t)
        return q, v, a


@dataclass(frozen=True, eq=False)
class Control:
    """A controller and its reference.

    name: Name for messages.
    """

    name: str
    controller: Any
    reference: MotorReference | None


def control_of(
    arguments: argparse.Namespace, simulated_robot: SimulatedRobot, start: Start
) -> Control:
    """Make the controller from the options."""
    model, base = simulated_robot.model, simulated_robot.path
    kind = arguments.controller or ("computed-torque" if model.actuated_joints else "none")
    if kind in ("none", "hold"):
        for name in ("stiffness", "damping", "reference", "amplitude", "frequency", "goal"):
            if getattr(arguments, name) not in (None, []):
                raise rd.RobodynError(f"--{name} is given, but --controller {kind} follows nothing")
        if kind == "none":
            return Control("moving freely", None, None)
        return Control("holding its weight", GravityCompensation(model, base), None)
    reference = reference_of(arguments, model, start)
    stiffness, damping = (_gains(arguments, name, model, reference) for name in GAINS)
    if kind == "pd":
        gains = _of_springs(model, reference, stiffness, damping)
        controller: Any = JointPD(model, reference, *gains, base=base)
    else:
        gain = STIFFNESS if stiffness is None else stiffness
        controller = ComputedTorque(model, reference, gain, damping, base=base)
    following = {"pd": "pd", "computed-torque": "computed torque"}[kind]
    if start.q.ndim > 1:  # references differ between motions, so they cannot be compiled
        return Control(following, lambda t, q, v: np.asarray(controller(t, q, v)), reference)
    return Control(following, controller, reference)


def _gains(
    arguments: argparse.Namespace, name: str, robot: rd.Robot, reference: MotorReference
) -> FloatArray | None:
    """Gains for all speeds from the given ones."""
    given, count = getattr(arguments, name), len(reference.motors)
    if given is None:
        return None
    if len(given) not in (1, count) or min(given) < 0.0:
        raise rd.RobodynError(
            f"--{name} is {','.join(f'{x:g}' for x in given)}, expected a number >= 0, or "
            f"{count}, one a motor of {robot.name!r}"
        )
    gains = np.zeros(robot.nv)
    gains[reference.motors] = given
    return gains


def _of_springs(
    robot: rd.Robot,
    reference: MotorReference,
    stiffness: FloatArray | None,
    damping: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Gains of PD control; by default proportional to the inertia at each motor with open loops."""
    at = reference.motors
    matrices = np.asarray(robot.mass_matrix(reference.start)).reshape(-1, robot.nv, robot.nv)
    inertia = np.zeros(robot.nv)
    inertia[at] = matrices.max(axis=0).diagonal()[at]
    k = STIFFNESS * inertia if stiffness is None else stiffness
    return k, 2.0 * np.sqrt(k * inertia) if damping is None else damping


def reference_of(arguments: argparse.Namespace, robot: rd.Robot, start: Start) -> MotorReference:
    """Make the reference from the options.

    Motors with quaternions as coordinates do not move.
    """
    kind = arguments.reference or ("point-to-point" if arguments.goal else "sine")
    _check_together(arguments, kind)
    if not robot.actuated_joints:
        raise rd.RobodynError(
            f"{robot.name!r} has no motors: --controller none lets it move freely"
        )
    joints = [robot.joints[name] for name in coordinates_of_motors(robot)]
    flat = [joint for joint in joints if joint.kind.coordinates.flat and kind != "still"]
    motors = [k for joint in joints for k in range(robot.nv)[joint.v]]
    coordinates = [k for joint in flat for k in range(robot.nq)[joint.q]]
    speeds = [k for joint in flat for k in range(robot.nv)[joint.v]]
    path: Reference
    if kind == "point-to-point":
        path = _point_to_point(arguments, robot, start, coordinates)
    else:
        path = _sines(arguments, robot, start, coordinates, speeds)
    if robot.nc and speeds and not independent(robot, _first(start.q), tuple(sorted(motors))):
        path = _coupled_path(arguments, robot, start.q, coordinates, path)
    q0 = start.q.copy()
    q0[..., coordinates] = path(0.0)[0]
    return MotorReference(q0, robot.nv, motors, (coordinates, speeds), path)


def _check_together(arguments: argparse.Namespace, kind: str) -> None:
    """Check that no option of another kind of reference is given."""
    sine, there = ("amplitude", "frequency"), ("goal", "arrival")
    of = dict.fromkeys(sine, "sine") | dict.fromkeys(there, "point-to-point")
    for name, own in of.items():
        if getattr(arguments, name) not in (None, []) and own != kind:
            raise rd.RobodynError(f"--{name} is for --reference {own}, and the reference is {kind}")
    if kind == "point-to-point" and not arguments.goal:
        raise rd.RobodynError("--reference point-to-point needs --goal JOINT=POSITION")


def _first(q: FloatArray) -> FloatArray:
    first: FloatArray = q.reshape(-1, q.shape[-1])[0]
    return first


def _sines(
    arguments: argparse.Namespace,
    robot: rd.Robot,
    start: Start,
    coordinates: list[int],
    speeds: list[int],
) -> SineReference:
    """Sines in a part of each motor's range, away from its limits and below its largest speed.

    They begin at the start; for a robot without loops and options of the start, at 35 % of the
    range.
    """
    low = np.where(np.isfinite(robot.lower_limits), robot.lower_limits, -np.pi)[coordinates]
    high = np.where(np.isfinite(robot.upper_limits), robot.upper_limits, np.pi)[coordinates]
    longest = SWING_IN_LOOPS if robot.nc else SWING
    swing = np.minimum(0.3 * (high - low), longest)
    if robot.nc or start.chosen:
        center = start.q[..., coordinates]
        up, down = high - center, center - low
        room = np.maximum(np.maximum(up, down), 0.0)
        swing = np.where(up >= np.minimum(swing, down), 1.0, -1.0) * np.minimum(swing, room)
    else:
        center = low + 0.35 * (high - low)
    if arguments.amplitude is not None:
        swing = np.where(swing < 0.0, -1.0, 1.0) * arguments.amplitude
    count = len(coordinates)
    if arguments.frequency is not None:
        return SineReference(center, swing, np.full(count, arguments.frequency))
    frequency = 0.25 + 0.5 * np.arange(count) / count
    # the speed of a sine peaks at pi * frequency * swing
    widest = np.abs(swing).reshape(-1, count).max(axis=0)
    fastest = 0.8 * speed_bounds(robot)[speeds] / (np.pi * np.maximum(widest, 1e-9))
    return SineReference(center, swing, np.minimum(frequency, fastest))


def _point_to_point(
    arguments: argparse.Namespace, robot: rd.Robot, start: Start, coordinates: list[int]
) -> PointToPoint:
    """A point-to-point reference from the start to the goal."""
    q1 = start.q.copy()
    motors = coordinates_of_motors(robot)
    for name, (value,) in named_once("--goal", arguments.goal).items():
        if name not in motors:
            raise rd.RobodynError(
                f"--goal: {name!r} is no motor of {robot.name!r}; there are {', '.join(motors)}"
            )
        at = robot.joints[name].q
        if at.stop - at.start != 1:
            raise rd.RobodynError(f"--goal: joint {name!r} has not one position, but several")
        q1[..., at] = value
    duration = arguments.arrival or arguments.duration
    if not duration:
        raise rd.RobodynError("--duration is 0: there is no time to go anywhere")
    return PointToPoint(start.q[..., coordinates], q1[..., coordinates], duration)


def _coupled_path(
    arguments: argparse.Namespace,
    robot: rd.Robot,
    start: FloatArray,
    coordinates: list[int],
    path: Reference,
) -> Reference:
    """The path of motors that loops couple: some follow their paths, others follow from loops.

    Sines whose amplitude is not given are reduced until loops close along the whole path.
    """
    free: list[str] = []
    for name in coordinates_of_motors(robot):
        moved = [k for other in (*free, name) for k in range(robot.nv)[robot.joints[other].v]]
        if independent(robot, _first(start), tuple(sorted(moved))):
            free.append(name)
    frequency = float(path.frequency.max()) if isinstance(path, SineReference) else 0.0
    count = 7 + int(SAMPLES * max(arguments.duration * frequency, 1.0))
    times = np.linspace(0.0, max(arguments.duration, 1e-3), count)
    for _ in range(SMALLER):
        try:
            return _closed_path(robot, start, coordinates, path, times, free)
        except rd.AssemblyError:
            if not isinstance(path, SineReference) or arguments.amplitude is not None:
                raise
            path = SineReference(path.center, 0.5 * path.amplitude, path.frequency)
    return _closed_path(robot, start, coordinates, path, times, free)


def _closed_path(
    robot: rd.Robot,
    start: FloatArray,
    coordinates: list[int],
    path: Reference,
    times: FloatArray,
    free: list[str],
) -> Reference:
    """A smooth path through closed postures in which some motors follow a given path."""
    from scipy.interpolate import make_interp_spline

    q, postures = start, []
    for t in times.tolist():
        wanted = q.copy()
        wanted[..., coordinates] = path(t)[0]
        rows = zip(wanted.reshape(-1, robot.nq), q.reshape(-1, robot.nq), strict=True)
        q = np.reshape([robot.assemble(x, hold=free, near=near) for x, near in rows], q.shape)
        postures.append(q[..., coordinates])
    spline = make_interp_spline(times, np.array(postures), k=5)
    rate, second = spline.derivative(1), spline.derivative(2)
    return lambda t: (spline(t), rate(t), second(t))
