"""Whether the steps of a simulated motion are short enough for its friction.

Dry friction ``f`` is smoothed below the speed ``s``, where it brings a mass ``m`` to rest with the
time constant ``m s / f``. With steps of several such time constants, the joint does not come to
rest: its speed changes sign in each step, or it creeps. The energy check does not show this, as
friction is bounded and the energy of the joint is small.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.codegen.llvm.programs.sample_passes import reversals
from robodyn.errors import EnergyWarning
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.simulation.events.impulses import responses
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.trajectory.trajectory import Trajectory

#: Friction is not resolved if at ``MANY`` of ``SPAN`` successive samples a step would reverse the
#: speed of a joint. A joint that changes its direction has two or three such samples.
MANY, SPAN = 8, 40

#: Least change of speed in a step, as a fraction of the speed below which friction is smoothed.
NOTICED = 0.1

#: Speed at which the slope of friction is computed, as a fraction of the same speed.
SLOW = 1e-3

#: Steps over the time constant of friction beyond which all explicit methods are unstable.
LIMIT = 2.0

#: Largest numbers of samples of a joint at which slopes are computed, and of motions to check.
ASKED, MOTIONS = 16, 64


class UnresolvedFriction(NamedTuple):
    """A joint or contact for whose friction the steps are too long.

    joint: The joint, or ``"joint[k]"``.
    time [s]: The first sample at which this shows.
    within [s]: Time constant with which friction brings it to rest.
    motion: Which of simultaneous motions; empty for a single one.
    contact: Name of the contact with the ground; empty for friction in joints.
    """

    joint: str
    time: float
    within: float
    step: float
    motion: tuple[int, ...] = ()
    contact: str = ""


def warn_of_friction(motion: Trajectory, every: int = 1, *, implicit: bool = False) -> bool:
    """Warn once, in one line, of friction that is not resolved. Returns whether it has warned.

    Arguments are those of `unresolved_friction`; ``implicit``: by ``integrator="implicit"``, which
    stays stable, but need not be right.
    """
    found = unresolved_friction(motion, every)
    if found is None or motion.robot is None:
        return False
    of = f" of motion {', '.join(map(str, found.motion))}" if found.motion else ""
    whose, stopped, speed = f"joint {found.joint!r}", "it", "its speed"
    if found.contact:
        whose, stopped = f"the ground at contact {found.contact!r}", f"joint {found.joint!r}"
        speed = "the speed of that joint"
    advice = (
        "Take shorter steps until the motion no longer changes"
        if implicit
        else "Take steps no longer than that, integrator='auto' or 'implicit'"
    )
    message = EnergyWarning(
        f"steps of {found.step:.3g} s are too long for the friction of {whose} of "
        f"{motion.robot.name!r}, which stops {stopped} within {found.within:.3g} s: from t = "
        f"{found.time:.6g} s on "
        f"{speed}{of} is not right where it should stop. {advice}, or a larger friction_speed"
    )
    warn(message)
    return True


def unresolved_friction(motion: Trajectory, every: int = 1) -> UnresolvedFriction | None:
    """The joint or contact for whose friction steps are longest; ``None`` if they are short enough.

    motion: Of one robot, by an integrator of fixed steps.
    every: Steps between samples.
    """
    robot = motion.robot
    if robot is None:
        return None
    smooth = _smooth_speed(robot) if motion.friction is None else None
    if smooth is None or len(motion) < MANY:
        return None
    t = np.asarray(motion.t)
    h = np.concatenate([t[1:] - t[:-1], t[-1:] - t[-2:-1]]) / every
    shape = motion.q.shape[1:-1]
    count = math.prod(shape)
    found: list[UnresolvedFriction] = []
    q, v, a = (x.reshape(len(motion), count, x.shape[-1]) for x in (motion.q, motion.v, motion.a))
    motions = np.linspace(0, count - 1, min(count, MOTIONS), dtype=int)
    often = reversals(h, v, a, motions.tolist(), NOTICED * smooth, MANY, SPAN).any(axis=1)
    for n in motions[often].tolist():
        place = tuple(int(i) for i in np.unravel_index(n, shape)) if shape else ()
        change = h[:, None] * np.abs(a[:, n])
        reversing = (change >= np.abs(v[:, n])) & (change > NOTICED * smooth)
        for k in {*np.flatnonzero(reversing.sum(axis=0) >= MANY).tolist()} - {*motion.driven}:
            one, samples = robot.of_rows(n), np.flatnonzero(reversing[:, k])
            close = samples[MANY - 1 :] - samples[: 1 - MANY] < SPAN
            rows = samples[: 1 - MANY][close].tolist()
            chosen = rows[:: max(1, len(rows) // ASKED)]
            states = q[:, n].astype(float, copy=False)
            rates = [_slope(one, motion, float(t[i]), states[i], k, smooth) for i in chosen]
            wrong = [i for i, rate in zip(chosen, rates, strict=True) if h[i] * rate > LIMIT]
            if wrong:
                since, step = float(t[wrong[0]]), float(h.max())
                given = (speed_names(robot)[k], since, 1.0 / max(rates), step)
                state = t[wrong[0]], q[wrong[0], n], v[wrong[0], n]
                contact = _contact(one, motion, *state, k, smooth, step)
                found.append(UnresolvedFriction(*given, place, contact))
    return min(found, key=lambda x: x.within / x.step, default=None)


@once_per_robot
def _smooth_speed(robot: Robot) -> float | None:
    """The smallest speed below which friction is smoothed; ``None`` without friction."""
    speeds = [x.friction_speed for x in robot.ground if x.friction]
    model, settings = robot.model, robot.model.settings
    joints: list[Any] = [
        *(body.description for body in model.bodies),
        *model.setup.cut_joint_friction,
    ]
    dry = [*(joint.friction for joint in joints), *(x.coulomb for x in model.setup.motor_friction)]
    dry += [
        x.any()
        for name, x in robot.parameter_rows.items()
        if name.endswith((".friction", ".coulomb"))
    ]
    dry += [max(x.forward, x.backward) for x in model.setup.gear_losses]
    if settings.passive and any(dry):
        speeds.append(settings.friction_speed)
    return min(speeds, default=None)


def _contact(
    robot: Robot,
    motion: Trajectory,
    t: float,
    q: FloatArray,
    v: FloatArray,
    k: int,
    smooth: float,
    step: float,
) -> str:
    """The contact with the largest force; ``None`` if friction in joints alone is the reason."""
    if not any(plane.friction for plane in robot.ground):
        return ""
    if step * _slope(robot.with_(ground=()), motion, t, q, k, smooth) > LIMIT:
        return ""
    contacts = robot.at(t).ground_contacts(q, v, base=_base_at(motion, t))
    return max(contacts, key=lambda name: float(np.linalg.norm(contacts[name].force)))


def _slope(
    robot: Robot, motion: Trajectory, t: float, q: FloatArray, k: int, smooth: float
) -> float:
    """Decay rate [1/s] under friction of a slow motion that an impulse at a joint starts."""
    at, robot = _base_at(motion, t), robot.at(t)
    jump = responses(robot, q, np.eye(robot.nv)[[k]], motion.driven, at)[0]
    size = np.abs(jump).max()
    if not size > 0.0:
        return 0.0
    v = np.array([np.zeros(robot.nv), jump * (SLOW * smooth / size)])
    still, slow = robot.passive_forces(np.array([q, q]), v, base=at)
    if robot.model.setup.gear_losses:  # under the load alone
        slow = slow - robot.gear_friction(q, v[1], np.zeros(robot.nv), base=at)
    return float((still - slow) @ jump * size / (SLOW * smooth * jump[k]))


def _base_at(motion: Trajectory, t: float) -> BaseMotion | None:
    """How the base moves at an instant [s]."""
    given = motion.surroundings.base_at(np.array([t]))
    return given and BaseMotion(*(x[0] for x in given.parts))
