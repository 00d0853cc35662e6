"""Controllers of ``robodyn sim``, from its options."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.cli.sim.mechanism import SimulatedRobot
from robodyn.cli.sim.reference import MotorReference, reference_of
from robodyn.cli.sim.start import Start
from robodyn.controllers import ComputedTorque, GravityCompensation, JointPD
from robodyn.errors import RobodynError

#: Default stiffness per unit of inertia [1/s^2].
STIFFNESS = 400.0


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
    model = simulated_robot.model
    kind = arguments.controller or ("computed-torque" if model.actuated_joints else "none")
    if kind in ("none", "hold"):
        for name in ("stiffness", "damping", "reference", "amplitude", "frequency", "goal"):
            if getattr(arguments, name) not in (None, []):
                raise RobodynError(f"--{name} is given, but --controller {kind} follows nothing")
        if kind == "none":
            return Control("moving freely", None, None)
        return Control("holding its weight", GravityCompensation(model, simulated_robot.path), None)
    reference = reference_of(arguments, model, start)
    stiffness, damping = _gains(arguments, model, reference)
    controller: Any
    if kind == "pd":
        k, d = _of_springs(model, reference, stiffness, damping)
        controller = JointPD(model, reference, k, d, base=simulated_robot.path)
    else:
        gain = STIFFNESS if stiffness is None else stiffness
        controller = ComputedTorque(model, reference, gain, damping, base=simulated_robot.path)
    if start.q.ndim > 1:  # references differ between motions, so they cannot be compiled
        controller = _of_many(controller)
    following = {"pd": "pd", "computed-torque": "computed torque"}[kind]
    return Control(following, controller, reference)


def _of_many(controller: Any) -> Any:
    def torques(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return np.asarray(controller(t, q, v))

    return torques


def _gains(
    arguments: argparse.Namespace, robot: rd.Robot, reference: MotorReference
) -> tuple[FloatArray | None, FloatArray | None]:
    """Gains for all speeds from the given ones."""
    found: list[FloatArray | None] = []
    for name in ("stiffness", "damping"):
        given = getattr(arguments, name)
        if given is None:
            found.append(None)
            continue
        count = len(reference.motors)
        if len(given) not in (1, count) or min(given) < 0.0:
            raise RobodynError(
                f"--{name} is {','.join(f'{x:g}' for x in given)}, expected a number >= 0, or "
                f"{count}, one a motor of {robot.name!r}"
            )
        gains = np.zeros(robot.nv)
        gains[reference.motors] = given
        found.append(gains)
    return found[0], found[1]


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
