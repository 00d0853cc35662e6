"""Whether the energy of a simulated motion adds up, from its samples alone.

Between two samples, energy changes by the work that is done. Its power follows from the motion,
whichever forces act: ``v . (M a + C v + g)``, and the power of what moves a moving base, is the
rate of kinetic and potential energy. If a step is too long for the integrator, the energy of the
samples changes by something else than this work.

If the base is at rest and no external wrenches act, nothing but joint torques, dampers and friction
does work. If the energy agrees with their work (`balanced`), the slower check is not needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.codegen.llvm.programs.sample_passes import work_and_energy
from robodyn.errors import EnergyWarning
from robodyn.motion.base_motion import BaseMotion
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.simulation.friction.resistances import dissipation_beyond_smooth
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.trajectory.states.samples import BLOCK
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import (
    ENERGY_AT_REST,
    ENERGY_AT_REST_SINGLE,
    ENERGY_ROUNDING,
    ENERGY_ROUNDING_SINGLE,
)

#: Number of elements of a column that are computed together: they fit into the CPU's caches.
TOGETHER = 32768


def only_known_forces_work(motion: Trajectory) -> bool:
    """Whether torques, dampers and friction are all that does work."""
    robot, loads = motion.robot, motion.surroundings
    moved = motion.driven or loads.wrenches or loads.base is not None
    return robot is not None and not moved


def work_explains_energy(
    motion: Trajectory, part: float, rounding: float, at_rest: float, every: int
) -> bool:
    """Whether energy and work agree; parameters as for `balanced`, ``at_rest`` [J/kg].

    ``every``: steps between samples; if it is more than one, work between samples is not known.
    """
    robot, n = motion.robot, len(motion)
    assert robot is not None
    q, v, tau = (x.reshape(n, -1, x.shape[-1]) for x in (motion.q, motion.v, motion.tau))
    size, energies = max(2, TOGETHER // (q.shape[1] * q.shape[2] + 1)), energies_of(robot)
    if n <= size:
        kinetic, potential, power = energies(q, v)
    else:
        parts = [energies(q[k : k + size], v[k : k + size]) for k in range(0, n, size)]
        kinetic, potential, power = map(np.concatenate, zip(*parts, strict=True))
    if motion.friction is not None:
        power -= dissipation_beyond_smooth(robot, motion.friction, q, v)
    still, several = at_rest * robot.total_mass, every > 1
    of_samples = v, tau, kinetic, potential, power
    return balanced(motion.t, *of_samples, part, rounding, still, several=several)


def balanced(
    t: FloatArray,
    v: FloatArray,
    tau: FloatArray,
    kinetic: FloatArray,
    potential: FloatArray,
    power: FloatArray,
    part: float,
    rounding: float,
    at_rest: float | FloatArray,
    *,
    several: bool = False,
) -> bool:
    """Whether work explains the energy of all motions; ``False`` if there are NaNs.

    v, tau (n, motions, nv): Speeds, and forces, which are held in steps.
    kinetic, potential, power (n, motions) [J, W]: Energies, and the power of passive forces.
    part, rounding, at_rest: The largest imbalance that is not reported: as a fraction of the energy
        exchanged, as one of the energy itself, and in any case [J], also of shape (motions,).
    several: Samples are several steps apart, so that the work between them is not known.
    """
    found = work_and_energy(t, v, tau, power, kinetic, potential)
    still = at_rest.tolist() if isinstance(at_rest, np.ndarray) else [at_rest] * found.shape[1]
    for done, missing, stored, largest, rest in zip(*found.tolist(), still, strict=True):
        allowed = part * max(stored, done) + rounding * largest + rest
        if not (missing <= allowed and done <= (0.1 * part * stored if several else done)):
            return False
    return True


@once_per_robot
def energies_of(robot: Robot) -> Callable[[FloatArray, FloatArray], tuple[FloatArray, ...]]:
    """The function of kinetic and potential energy and power, with the base at rest."""
    function = robot.function("energy_and_power")
    if robot.base != "moving":
        return function
    rest = BaseMotion.at_rest()
    return lambda q, v: function(q, v, *rest.parts)


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
    robot = motion.robot
    if robot is not None and robot.parameter_rows:
        robot = robot.of_rows(np.arange(0, motion.q.shape[1], distance))
    return Trajectory(
        motion.t, **parts, joint_names=motion.joint_names, robot=robot,
        driven=motion.driven, surroundings=motion.surroundings,
    )  # fmt: skip


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
    """The imbalance of energy and work, which is integrated from the ends and middles of steps.

    ``None`` if it is small enough.
    """
    assert motion.robot is not None
    part, rounding, at_rest = limits
    work = np.concatenate([x.work(middles) for x in blocks_of(motion)])
    done = np.abs(work).sum(axis=0)
    if every > 1 and ((done > 0.1 * part * stored).any() or motion.tau[-1].any()):
        return None
    gained = np.diff(energy, axis=0) - work
    gained[np.diff(motion.t) <= 0.0] = 0.0  # events explain jumps of speeds
    exchanged = np.maximum(stored, done)
    allowed = part * exchanged + rounding * np.abs(energy).max(axis=0)
    allowed += at_rest * motion.robot.total_mass
    excess = np.cumsum(gained, axis=0)
    most = np.abs(excess).max(axis=0)
    if not (most > allowed).any():
        return None
    n = int(np.argmax(most - allowed))
    k = int(np.abs(gained[:, n]).argmax())
    return EnergyImbalance(
        float(excess[int(np.abs(excess[:, n]).argmax()), n]),
        float(exchanged[n]),
        float(motion.t[k + 1]),
        _wrong_speed(motion, k, n),
        tuple(int(i) for i in np.unravel_index(n, motion.q.shape[1:-1])),
    )


def _wrong_speed(motion: Trajectory, k: int, n: int) -> str:
    """The speed whose change in a step of a motion differs most, in energy, from its integral."""
    robot = motion.robot
    assert robot is not None
    q, v, a = (
        np.asarray(x.reshape(len(motion), -1, x.shape[-1])[k : k + 2, n], float)
        for x in (motion.q, motion.v, motion.a)
    )
    jump = v[1] - v[0] - 0.5 * (motion.t[k + 1] - motion.t[k]) * (a[0] + a[1])
    part = np.abs(robot.of_rows(n).mass_matrix(q[0]) @ (v[0] + v[1]) * jump)
    return speed_names(robot)[int(part.argmax())]


#: Number of steps in a block. Samples at the ends of blocks are computed twice.
SHORTEST_BLOCK, LONGEST_BLOCK = 8, 4096


def blocks_of(motion: Trajectory) -> Iterator[EnergySamples]:
    """The samples of a motion in blocks; each begins with the last sample of the one before."""
    fits = BLOCK // max(1, math.prod(motion.q.shape[1:-1]))
    size = min(max(fits, SHORTEST_BLOCK), LONGEST_BLOCK)
    for first in range(0, len(motion) - 1, size):
        yield EnergySamples(motion, slice(first, min(first + size + 1, len(motion))))


class EnergySamples:
    """A block of samples of all motions, with arrays of shape (n, motions, ...).

    own: The samples of the block.
    """

    def __init__(self, motion: Trajectory, own: slice) -> None:
        assert motion.robot is not None
        robot, driven = motion.robot, motion.driven
        self._robot, self._loads = robot, motion.surroundings
        arrays = (motion.q, motion.v, motion.a, motion.tau)
        q, v, a, tau = (np.asarray(x[own], float) for x in arrays)
        n = len(q)
        q, v, a, tau = (x.reshape(n, -1, x.shape[-1]) for x in (q, v, a, tau))
        t = np.asarray(motion.t[own])
        self._t, self._q, self._v, self._a = t, q, v, a
        self._h = np.diff(t)[:, None]
        #: Forces that are held in each step, less those of the sample at its end.
        self._held = tau[:-1] - tau[1:]
        self._held[..., list(driven)] = 0.0
        self._free = not driven and not robot.nc

    def energies(self) -> tuple[FloatArray, FloatArray]:
        """Kinetic and potential energy, shape (n, motions) [J]."""
        robot, at = self._robot, self._at(self._t)
        kinetic = robot.kinetic_energy(self._q, self._v, base=at)
        return np.asarray(kinetic), np.asarray(robot.potential_energy(self._q, base=at))

    def work(self, middles: bool) -> FloatArray:
        """Work in each step, shape (n - 1, motions) [J].

        It is integrated from the power at the ends of steps; with ``middles``, also from that at
        interpolated states at their middles.
        """
        start = self._power(self._t, self._q, self._v, self._a)
        end = start[1:] + np.einsum("tnk,tnk->tn", self._v[1:], self._held)
        if not middles:
            return np.asarray(0.5 * self._h * (start[:-1] + end))
        return np.asarray(self._h / 6.0 * (start[:-1] + 4.0 * self._middle() + end))

    def _middle(self) -> FloatArray:
        """Power at the middles of steps."""
        (q, v, a), robot = (self._q, self._v, self._a), self._robot
        h = np.where(self._h > 0.0, self._h, 1.0)[..., None]
        last = a[1:]
        if self._free and self._held.any():
            last = last + np.linalg.solve(robot.mass_matrix(q[1:]), self._held[..., None])[..., 0]
        moved = robot.difference(q[:-1], q[1:])
        u = 0.5 * moved + h * (5.0 / 32.0) * (v[:-1] - v[1:]) + h * h / 64.0 * (a[:-1] + last)
        speed = 1.875 / h * moved - 0.4375 * (v[:-1] + v[1:]) + h / 32.0 * (last - a[:-1])
        rate = 1.5 / h * (v[1:] - v[:-1]) - 0.25 * (a[:-1] + last)
        t = self._t[:-1] + 0.5 * np.diff(self._t)
        return self._power(t, robot.integrate(q[:-1], u), speed, rate)

    def _power(self, t: FloatArray, q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        """Rate of kinetic and potential energy, shape (n, motions) [W]."""
        robot, at = self._robot, self._at(t)
        moving: Any = () if at is None else at.parts
        tree: Any = {"tree": True} if robot.nc else {}
        if robot.model.setup.gear_losses:  # what gears lose is no energy of the bodies
            force = robot.bias_forces(q, v, base=at)
            force = force + np.einsum("tnij,tnj->tni", robot.mass_matrix(q), a)
        else:
            force = robot.function("inverse_dynamics", **tree)(q, v, a, *moving)
            force = force[0] if isinstance(force, tuple) else force
        # damping and friction dissipate energy, springs store it
        force = force + robot.passive_forces(q, v, base=at)
        force = force - robot.elastic_forces(q, base=at)
        power = np.einsum("tnk,tnk->tn", force, v)
        if at is not None:
            supplied = self._supplied(q, v, a, at)
            twist = np.broadcast_to(at.twist, supplied.shape)
            power = power + np.einsum("tnk,tnk->tn", supplied, twist)
        return np.asarray(power)

    def _supplied(self, q: FloatArray, v: FloatArray, a: FloatArray, at: BaseMotion) -> FloatArray:
        """Wrench that moves the base, from the dynamics of the open tree."""
        robot, tree = self._robot, self._robot.tree_form
        states = robot.expand(q), robot.expand_velocity(q, v), robot.expand_acceleration(q, v, a)
        loops = (np.zeros(tree.nc),) if tree.nc else ()
        wrenches = tree.function("joint_wrenches", joints=())(*states, *at.parts, *loops)
        return np.asarray(wrenches[..., 0, :])

    def _at(self, t: FloatArray) -> BaseMotion | None:
        """The motion of the base at some times, for all motions."""
        given = self._loads.base_at(t)
        if given is None:
            return BaseMotion.at_rest() if self._robot.base == "moving" else None
        return BaseMotion(*(x[:, None] for x in given.parts))
