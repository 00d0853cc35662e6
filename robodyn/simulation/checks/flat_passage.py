"""Flat postures on the way of a motion in minimal coordinates, which keep branches of loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.equations.closed_form.linkage import Linkage
from robodyn.robot import Robot
from robodyn.simulation.trajectory.states.flat_crossings import flat_crossings
from robodyn.simulation.trajectory.states.interpolation import positions_between
from robodyn.simulation.trajectory.states.samples import Samples
from robodyn.tolerances import AT_FLAT

#: A time in which a linkage leaves a singular posture, while its loops stay closed to rounding [s].
SOON = 1e-3


@dataclass(frozen=True, eq=False)
class Passage:
    """A singular posture on the way of a motion.

    name: Of the robot.
    time [s]
    distance: The least singular value of the constraints, see `Robot.loop_rank`.
    joint: The joint that moves most in the additional motion that is possible there.
    """

    name: str
    time: float
    q: FloatArray
    distance: float
    joint: str

    def __str__(self) -> str:
        posture = ", ".join(f"{x:.4g}" for x in np.round(self.q, 4) + 0.0)
        return (
            f"the motion of {self.name!r} comes to a singular posture at t = {self.time:.4g} "
            f"s, where ways to assemble its loops meet and it is not determined how joint "
            f"{self.joint!r} goes on: their least singular value is {self.distance:.1g} at q = "
            f"[{posture}]"
        )


#: Rounds of the search for a flat posture within a step.
ROUNDS = 4


def flat_passage(samples: Samples) -> str:
    """The first flat posture that motions pass, in words; empty if there is none."""
    robot, t = samples.robot, samples.t
    for (k, *motion, loop), part in zip(*flat_crossings(robot, samples.q), strict=True):
        if not (t[k] < t[k + 1] and np.isfinite(part)):  # the motion jumps there, or has ended
            continue
        own = tuple(motion)
        part, q = _within(samples, k, own, loop, float(part))
        near = (q, samples.q[k][own], samples.q[k + 1][own])
        found = _at(robot, loop, float(t[k] + part * (t[k + 1] - t[k])), near)
        if found is not None:
            which = f" (motion {', '.join(map(str, own))} of the batch)" if own else ""
            linkage = robot.model.flat_postures.loops[loop]
            return (
                f"{found}{which}; loop {linkage.name!r} has gone on in its branch "
                f"{linkage.branch:+d}{_turning_back(linkage)}"
            )
    return ""


def flat_ahead(
    robot: Robot, t: float, q: FloatArray, v: FloatArray, until: float
) -> Passage | None:
    """The flat posture at which a motion broke down on its way to an instant.

    t [s]: Time of its last sample.
    until [s]
    """
    phase = robot.model.flat_postures.phases(q[None], robot.dependent_positions)[0]
    flat = np.flatnonzero(np.abs(phase - np.round(phase)) < AT_FLAT)
    if len(flat):
        return _at(robot, int(flat[0]), t, (q,))
    h = max(until - t, SOON)
    way = np.array([q, robot.integrate(q, h * v)])
    steps, parts = flat_crossings(robot, way)
    if not len(steps):
        return None
    first = int(parts.argmin())
    between = robot.integrate(q, parts[first] * h * v)
    return _at(robot, int(steps[first][-1]), float(t + parts[first] * h), (between, q))


def _within(
    samples: Samples, k: int, motion: tuple[int, ...], loop: int, part: float
) -> tuple[float, FloatArray]:
    """Where in a step a loop is flat, as a fraction, and the posture there."""
    robot, start = samples.robot, samples.q[k][motion]
    low, high = 0.0, 1.0
    q = start
    for _ in range(ROUNDS):
        q = positions_between(samples, np.array([k]), np.array([part]))[0][motion]
        way = np.array([start, q, samples.q[k + 1][motion]])
        phases = robot.model.flat_postures.phases(way, robot.dependent_positions)[:, loop]
        before, at, after = phases - np.floor(phases.max())
        if not np.isfinite(at) or abs(at) < AT_FLAT:
            break
        if (at < 0.0) == (before < 0.0):
            low, before = part, at
        else:
            high, after = part, at
        part = low + (high - low) * before / (before - after)
    return part, q


def _at(robot: Robot, loop: int, time: float, near: Iterable[FloatArray]) -> Passage | None:
    """A flat posture, the first of some, of which one beside it has to be closed."""
    near = tuple(near)
    full = next((x for x in map(robot.expand, near) if np.isfinite(x).all()), None)
    if full is None:
        return None
    linkage = robot.model.flat_postures.loops[loop]
    joint = robot.model.bodies.bodies[linkage.dependent[0]].description.name
    distance = float(robot.tree_form.loop_rank(full).distance)
    return Passage(robot.name, round(time, 9), near[0], distance, joint)


def _turning_back(loop: Linkage) -> str:
    """What becomes of the motion of a loop beyond a flat posture, if it is not smooth."""
    if loop.fold is not None and loop.fold.smooth:
        return ""
    return (
        ", in which the joints that follow turn back within a step: load with coordinates='tree' "
        "for a motion that goes on smoothly"
    )
