"""Whether the energy of a simulated motion adds up, from its samples alone.

What a motion gains between two samples is what is put into it less what it dissipates. That power
is read from how it moves: ``v . (M a + C v + g)``, with what the mover of a base adds, is the rate
of kinetic and potential energy, whichever forces make the accelerations. A step that is too long
for its method shows as energy that comes from nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.caller import warn
from robodyn.errors import EnergyWarning
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.robot import Robot
from robodyn.simulation.checks.energy_balance import agrees, forces_are_known
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.trajectory.states.samples import BLOCK
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.tolerances import ENERGY_AT_REST, ENERGY_ROUNDING

__all__ = ["Imbalance", "announce_imbalance", "imbalance"]

#: Part of the energy exchanged that may be missing; more of methods of first order, which do not
#: promise as much.
PART, FIRST_ORDER = 0.02, 0.1

#: Steps that are looked at together: where few are, much is computed twice at their ends.
LEAST_PIECE, MOST_PIECE = 8, 4096

#: Motions of a rollout that are looked at, evenly spread over all.
MOTIONS = 64


@dataclass(frozen=True)
class Imbalance:
    """Energy that comes from nowhere, or goes there.

    Attributes
    ----------
    energy : float [J]
        What is there too much, where that is most.
    exchanged : float [J]
        What kinetic and potential energy and work change by along the motion.
    time : float [s]
        The end of the step that has the largest part of it.
    joint : str
        The joint, or ``"joint[k]"``, whose speed is wrong by the most there, as energy goes.
    motion : tuple of int
        Which of simultaneous motions; empty for a single one.
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


def announce_imbalance(
    robot: Robot,
    base: BasePath | None,
    driven: tuple[int, ...],
    motion: Trajectory,
    every: int = 1,
    order: int = 2,
) -> bool:
    """Warn once, in one line, of energy that does not add up; whether it was done.

    Arguments are those of `imbalance`.
    """
    found = imbalance(robot, base, driven, motion, every, order)
    if found is None:
        return False
    message = EnergyWarning(
        f"the energy of the motion of {robot.name!r} does not add up: {found}. Steps are too long "
        "for the integrator there: take shorter ones, or integrator='adaptive' or 'auto'"
    )
    warn(message)
    return True


def imbalance(
    robot: Robot,
    base: BasePath | None,
    driven: tuple[int, ...],
    motion: Trajectory,
    every: int = 1,
    order: int = 2,
) -> Imbalance | None:
    """Energy that does not add up; none if it does, or if that cannot be told.

    It cannot where constraints that move by themselves work, nor where work is done between
    samples that stand several steps apart. Of very many motions some are looked at.

    Parameters
    ----------
    robot : Robot
    base : BasePath or None
    driven : tuple of int
        Speeds that follow paths.
    motion : Trajectory
    every : int
        Steps between samples.
    order : int
        Of the method that moved it.
    """
    if len(motion) < 2 or robot.depends_on_time or not robot.nv:
        return None
    known = forces_are_known(motion, base, driven)
    return _found(robot, base, driven, motion, every, order, known)


def _found(
    robot: Robot,
    base: BasePath | None,
    driven: tuple[int, ...],
    motion: Trajectory,
    every: int,
    order: int,
    known: bool,
) -> Imbalance | None:
    """The same; ``known``: forces are all that does work."""
    shape = motion.q.shape[1:-1]
    chosen = np.unique(np.linspace(0, math.prod(shape) - 1, MOTIONS).astype(int))
    if math.prod(shape) > MOTIONS:
        found = _found(robot, base, driven, _of(motion, chosen), every, order, known)
        if found is None:
            return None
        place = np.unravel_index(chosen[found.motion[0]], shape)
        return replace(found, motion=tuple(int(i) for i in place))
    part = PART if order > 1 else FIRST_ORDER
    if known and agrees(robot, motion, part, ENERGY_ROUNDING, ENERGY_AT_REST, every):
        return None
    energy, stored = _energies(robot, base, driven, motion)
    by_ends = _beyond(robot, base, driven, motion, energy, stored, part, False, every)
    if by_ends is None or every > 1:
        return by_ends
    by_middles = _beyond(robot, base, driven, motion, energy, stored, part, True)
    return None if by_middles is None else by_ends


def _of(motion: Trajectory, chosen: IntArray) -> Trajectory:
    """Some of many motions."""
    arrays = {
        name: getattr(motion, name).reshape(len(motion), -1, getattr(motion, name).shape[-1])
        for name in ("q", "v", "a", "tau")
    }
    parts = {name: x[:, chosen] for name, x in arrays.items()}
    t, robot = motion.t, motion.robot
    return Trajectory(t, **parts, joint_names=motion.joint_names, robot=robot)


def _energies(
    robot: Robot, base: BasePath | None, driven: tuple[int, ...], motion: Trajectory
) -> tuple[FloatArray, FloatArray]:
    """Energy at all samples, shape (n, motions), and what is stored of it, shape (motions,) [J]."""
    found = [x.energies() for x in _pieces(robot, base, driven, motion)]
    kinetic, potential = (
        np.concatenate([*(x[k][:-1] for x in found), found[-1][k][-1:]]) for k in (0, 1)
    )
    stored = np.maximum(np.ptp(kinetic, axis=0), np.ptp(potential, axis=0))
    return kinetic + potential, stored


def _beyond(
    robot: Robot,
    base: BasePath | None,
    driven: tuple[int, ...],
    motion: Trajectory,
    energy: FloatArray,
    stored: FloatArray,
    part: float,
    better: bool,
    every: int = 1,
) -> Imbalance | None:
    """Energy beyond work that is known from the ends of steps; better, from their middles too."""
    work = np.concatenate([x.work(better) for x in _pieces(robot, base, driven, motion)])
    done = np.abs(work).sum(axis=0)
    if every > 1 and (done > 0.1 * part * stored).any():
        return None
    gained = np.diff(energy, axis=0) - work
    gained[np.diff(motion.t) <= 0.0] = 0.0  # a jump takes no time, and is explained elsewhere
    exchanged = np.maximum(stored, done)
    allowed = part * exchanged + ENERGY_ROUNDING * np.abs(energy).max(axis=0)
    allowed += ENERGY_AT_REST * robot.total_mass
    return _worst(robot, motion, gained, exchanged, allowed)


def _worst(
    robot: Robot,
    motion: Trajectory,
    gained: FloatArray,
    exchanged: FloatArray,
    allowed: FloatArray,
) -> Imbalance | None:
    """Where too much is gained beyond work, if it is."""
    excess = np.cumsum(gained, axis=0)
    most = np.abs(excess).max(axis=0)
    if not (most > allowed).any():
        return None
    n = int(np.argmax(most - allowed))
    k = int(np.abs(gained[:, n]).argmax())
    q, v, a = (
        x.reshape(len(motion), -1, x.shape[-1])[k : k + 2, n]
        for x in (motion.q, motion.v, motion.a)
    )
    # the speed that changes most beside what accelerations say, as energy goes
    jump = v[1] - v[0] - 0.5 * (motion.t[k + 1] - motion.t[k]) * (a[0] + a[1])
    part = np.abs(robot.mass_matrix(q[0]) @ (v[0] + v[1]) * jump)
    return Imbalance(
        float(excess[int(np.abs(excess[:, n]).argmax()), n]),
        float(exchanged[n]),
        float(motion.t[k + 1]),
        speed_names(robot)[int(part.argmax())],
        tuple(int(i) for i in np.unravel_index(n, motion.q.shape[1:-1])),
    )


def _pieces(
    robot: Robot, base: BasePath | None, driven: tuple[int, ...], motion: Trajectory
) -> Iterator[_Piece]:
    """Some steps of all motions after the other."""
    fits = BLOCK // max(1, math.prod(motion.q.shape[1:-1]))
    size = min(max(fits, LEAST_PIECE), MOST_PIECE)
    for first in range(0, len(motion) - 1, size):
        own = slice(first, min(first + size + 1, len(motion)))
        arrays = (motion.q, motion.v, motion.a, motion.tau)
        states = (np.asarray(x[own]).reshape(own.stop - first, -1, x.shape[-1]) for x in arrays)
        yield _Piece(robot, base, driven, np.asarray(motion.t[own]), *states)


class _Piece:
    """Some samples, arrays of shape (n, motions, ...)."""

    def __init__(
        self,
        robot: Robot,
        base: BasePath | None,
        driven: tuple[int, ...],
        t: FloatArray,
        q: FloatArray,
        v: FloatArray,
        a: FloatArray,
        tau: FloatArray,
    ) -> None:
        self._robot, self._base = robot, base
        self._t, self._q, self._v, self._a = t, q, v, a
        self._h = np.diff(t)[:, None]
        #: Forces are held in a step: at its end those of its start act.
        self._held = tau[:-1] - tau[1:]
        self._held[..., list(driven)] = 0.0
        self._free = not driven and not robot.nc

    def energies(self) -> tuple[FloatArray, FloatArray]:
        """Kinetic and potential energy, shape (n, motions) [J]."""
        robot, at = self._robot, self._at(self._t)
        kinetic = robot.kinetic_energy(self._q, self._v, base=at)
        return np.asarray(kinetic), np.asarray(robot.potential_energy(self._q, base=at))

    def work(self, better: bool) -> FloatArray:
        """What each step is given, shape (n - 1, motions) [J].

        From its ends; better: from its middle too, of a motion that is a polynomial in between.
        """
        start = self._power(self._t, self._q, self._v, self._a)
        end = start[1:] + np.einsum("tnk,tnk->tn", self._v[1:], self._held)
        if not better:
            return np.asarray(0.5 * self._h * (start[:-1] + end))
        return np.asarray(self._h / 6.0 * (start[:-1] + 4.0 * self._middle() + end))

    def _middle(self) -> FloatArray:
        """Power half way between samples."""
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
        moving: Any = () if at is None else (at.pose, at.twist, at.acceleration)
        tree = {"tree": True} if robot.nc else {}
        force = robot.function("inverse_dynamics", **tree)(q, v, a, *moving)
        force = force[0] if isinstance(force, tuple) else force
        # damping and friction dissipate what their forces take; springs keep it
        force = force + robot.passive_forces(q, v, base=at)
        force = force - robot.passive_forces(q, np.zeros_like(v), base=at)
        power = np.einsum("tnk,tnk->tn", force, v)
        if at is not None:
            supplied = self._supplied(q, v, a, at)
            twist = np.broadcast_to(at.twist, supplied.shape)
            power = power + np.einsum("tnk,tnk->tn", supplied, twist)
        return np.asarray(power)

    def _supplied(self, q: FloatArray, v: FloatArray, a: FloatArray, at: BaseMotion) -> FloatArray:
        """The wrench of the mover of the base, whatever loops carry of it."""
        robot = self._robot
        if robot.tree_form.nc and not robot.nc:
            return np.asarray(robot.joint_wrenches(q, v, a, joints=(), base=at)["base"])
        loops = (np.zeros(robot.nc),) if robot.nc else ()
        moving = (at.pose, at.twist, at.acceleration)
        return np.asarray(
            robot.function("joint_wrenches", joints=())(q, v, a, *moving, *loops)[..., 0, :]
        )

    def _at(self, t: FloatArray) -> BaseMotion | None:
        """The motion of the base at some times, for all motions."""
        if self._base is None:
            return None
        given = self._base.at(t)
        return BaseMotion(*(x[:, None] for x in (given.pose, given.twist, given.acceleration)))
