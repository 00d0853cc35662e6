"""Whether the energy of a simulated motion adds up, from its samples alone.

Between two samples, energy changes by the work that is done. Its power follows from the motion,
whichever forces act: ``v . (M a + C v + g)``, and the power of what moves a moving base, is the
rate of kinetic and potential energy. If a step is too long for the integrator, the energy of the
samples changes by something else than this work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.errors import EnergyWarning
from robodyn.robot import Robot
from robodyn.simulation.checks.energy_balance import only_known_forces_work, work_explains_energy
from robodyn.simulation.checks.energy_samples import blocks_of
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import (
    ENERGY_AT_REST,
    ENERGY_AT_REST_SINGLE,
    ENERGY_ROUNDING,
    ENERGY_ROUNDING_SINGLE,
)

#: Largest imbalance as a fraction of the energy exchanged, and that of methods of first order.
PART, FIRST_ORDER = 0.02, 0.1

#: Largest number of motions of a rollout that are checked, evenly spread over all.
MOTIONS = 64


@dataclass(frozen=True)
class EnergyImbalance:
    """Energy that appears or disappears without work.

    energy [J]: The largest difference between the energy and the work along the motion.
    exchanged [J]: Sum of the changes of kinetic and potential energy and of the work along the
        motion.
    time [s]: End of the step with the largest part of the difference.
    joint: The joint, or ``"joint[k]"``, whose wrong speed makes the largest part of the difference.
    motion: Index of the motion among simultaneous ones; empty for a single one.
    """

    energy: float
    exchanged: float
    time: float
    joint: str
    motion: tuple[int, ...] = ()

    def __str__(self) -> str:
        of = f" of motion {', '.join(map(str, self.motion))}" if self.motion else ""
        way = "come from nowhere" if self.energy > 0.0 else "are lost"
        return (
            f"{abs(self.energy):.3g} J{of} {way}, where {self.exchanged:.3g} J are exchanged; most "
            f"at t = {self.time:.6g} s in joint {self.joint!r}"
        )


def warn_of_imbalance(motion: Trajectory, every: int = 1, order: int = 2) -> bool:
    """Warn once, in one line, of energy that does not add up. Returns whether it has warned.

    Arguments are those of `imbalance`.
    """
    found = imbalance(motion, every, order)
    if found is None:
        return False
    name = "" if motion.robot is None else f" of {motion.robot.name!r}"
    message = EnergyWarning(
        f"the energy of the motion{name} does not add up: {found}. Steps are too long "
        "for the integrator there: take shorter ones, or integrator='adaptive' or 'auto'"
    )
    warn(message)
    return True


def imbalance(motion: Trajectory, every: int = 1, order: int = 2) -> EnergyImbalance | None:
    """Energy that does not add up; ``None`` if it does, or if that is not known.

    It is not known where rheonomic constraints do work, and where forces do work between samples
    that are several steps apart. Of very many motions, some are checked.

    motion: Of one robot.
    every: Steps between samples.
    order: Order of the integrator.
    """
    robot, shape = motion.robot, motion.q.shape[1:-1]
    if robot is None or len(motion) < 2 or not robot.nv or robot.model.setup.moves_by_itself:
        return None
    if math.prod(shape) > MOTIONS:
        distance = -(-(math.prod(shape) - 1) // (MOTIONS - 1))
        found = imbalance(_some_motions(motion, distance), every, order)
        if found is None:
            return None
        place = np.unravel_index(distance * found.motion[0], shape)
        return replace(found, motion=tuple(int(i) for i in place))
    part = PART if order > 1 else FIRST_ORDER
    single = motion.q.dtype == np.float32
    limits = part, ENERGY_ROUNDING, ENERGY_AT_REST
    if single:
        limits = part, ENERGY_ROUNDING_SINGLE, ENERGY_AT_REST_SINGLE
    if only_known_forces_work(motion) and work_explains_energy(motion, *limits, every):
        return None
    energy, stored = _energies(motion)
    by_ends = _unexplained(motion, energy, stored, limits, False, every)
    if by_ends is None or every > 1:
        return by_ends
    by_middles = _unexplained(motion, energy, stored, limits, True)
    return None if by_middles is None else by_ends


def _some_motions(motion: Trajectory, distance: int) -> Trajectory:
    """Every ``distance``-th of simultaneous motions, whose wrenches must not differ."""
    motions = math.prod(motion.q.shape[1:-1])
    parts: dict[str, Any] = {
        name: getattr(motion, name).reshape(len(motion), motions, -1)[:, ::distance]
        for name in ("q", "v", "a", "tau")
    }
    return Trajectory(
        motion.t, **parts, joint_names=motion.joint_names, robot=_some_robots(motion, distance),
        driven=motion.driven, surroundings=motion.surroundings,
    )  # fmt: skip


def _some_robots(motion: Trajectory, distance: int) -> Robot | None:
    """The robot, or the robots of these motions where they differ."""
    robot = motion.robot
    if robot is None or not robot.parameter_rows:
        return robot
    return robot.of_rows(np.arange(0, motion.q.shape[1], distance))


def _energies(motion: Trajectory) -> tuple[FloatArray, FloatArray]:
    """Energy at all samples, (n, motions), and the larger range of its two parts, (motions,)."""
    found = [x.energies() for x in blocks_of(motion)]
    kinetic, potential = (
        np.concatenate([*(x[k][:-1] for x in found), found[-1][k][-1:]]) for k in (0, 1)
    )
    stored = np.maximum(np.ptp(kinetic, axis=0), np.ptp(potential, axis=0))
    return kinetic + potential, stored


def _unexplained(
    motion: Trajectory,
    energy: FloatArray,
    stored: FloatArray,
    limits: tuple[float, float, float],
    middles: bool,
    every: int = 1,
) -> EnergyImbalance | None:
    """The imbalance of energy and work, which is integrated from the ends and middles of steps."""
    assert motion.robot is not None
    part, rounding, at_rest = limits
    work = np.concatenate([x.work(middles) for x in blocks_of(motion)])
    done = np.abs(work).sum(axis=0)
    if every > 1 and (done > 0.1 * part * stored).any():
        return None
    gained = np.diff(energy, axis=0) - work
    gained[np.diff(motion.t) <= 0.0] = 0.0  # events explain jumps of speeds
    exchanged = np.maximum(stored, done)
    allowed = part * exchanged + rounding * np.abs(energy).max(axis=0)
    allowed += at_rest * motion.robot.total_mass
    return _worst(motion, gained, exchanged, allowed)


def _worst(
    motion: Trajectory,
    gained: FloatArray,
    exchanged: FloatArray,
    allowed: FloatArray,
) -> EnergyImbalance | None:
    """The largest imbalance; ``None`` if it is small enough."""
    robot = motion.robot
    assert robot is not None
    excess = np.cumsum(gained, axis=0)
    most = np.abs(excess).max(axis=0)
    if not (most > allowed).any():
        return None
    n = int(np.argmax(most - allowed))
    k = int(np.abs(gained[:, n]).argmax())
    q, v, a = (
        np.asarray(x.reshape(len(motion), -1, x.shape[-1])[k : k + 2, n], float)
        for x in (motion.q, motion.v, motion.a)
    )
    # the speed whose change differs most, in energy, from the integral of its acceleration
    jump = v[1] - v[0] - 0.5 * (motion.t[k + 1] - motion.t[k]) * (a[0] + a[1])
    part = np.abs(robot.of_rows(n).mass_matrix(q[0]) @ (v[0] + v[1]) * jump)
    return EnergyImbalance(
        float(excess[int(np.abs(excess[:, n]).argmax()), n]),
        float(exchanged[n]),
        float(motion.t[k + 1]),
        speed_names(robot)[int(part.argmax())],
        tuple(int(i) for i in np.unravel_index(n, motion.q.shape[1:-1])),
    )
