"""Whether the energy of a simulated motion adds up, from its samples alone.

What a motion gains between two samples is what is put into it less what it dissipates. That power
is read from how it moves: ``v . (M a + C v + g)``, with what the mover of a base adds, is the rate
of kinetic and potential energy, whichever forces make the accelerations. A step that is too long
for its method shows as energy that comes from nowhere.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import EnergyWarning
from robodyn.motion.base_motion import BaseMotion, BasePath
from robodyn.robot import Robot
from robodyn.simulation.column_names import speed_names
from robodyn.simulation.trajectory import Trajectory

__all__ = ["Imbalance", "announce_imbalance", "imbalance"]

#: Part of the energy exchanged that may be missing.
PART = 0.02

#: Part of the energy itself that rounding may take.
ROUNDING = 1e-9


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
    robot: Robot, base: BasePath | None, driven: tuple[int, ...], motion: Trajectory
) -> None:
    """Warn once, in one line, of energy that does not add up.

    Parameters
    ----------
    robot : Robot
    base : BasePath or None
    driven : tuple of int
        Speeds that follow paths.
    motion : Trajectory
    """
    found = imbalance(robot, base, driven, motion)
    if found is None:
        return
    message = EnergyWarning(
        f"the energy of the motion of {robot.name!r} does not add up: {found}. Steps are too long "
        "for the integrator there: take shorter ones, or integrator='adaptive' or 'auto'"
    )
    warnings.warn_explicit(message, EnergyWarning, filename="robodyn", lineno=0)


def imbalance(
    robot: Robot, base: BasePath | None, driven: tuple[int, ...], motion: Trajectory
) -> Imbalance | None:
    """Energy that does not add up; none if it does, or if constraints that move by themselves work.

    Parameters
    ----------
    robot : Robot
    base : BasePath or None
    driven : tuple of int
        Speeds that follow paths.
    motion : Trajectory
    """
    if len(motion) < 2 or robot.depends_on_time or not robot.nv:
        return None
    samples = _Samples(robot, base, driven, motion)
    for work in (samples.work, samples.better_work):
        found = samples.compare(work())
        if found is None:
            return None
    return found


class _Samples:
    """Samples of motions as one batch: steps first, then motions."""

    def __init__(
        self, robot: Robot, base: BasePath | None, driven: tuple[int, ...], motion: Trajectory
    ) -> None:
        self._robot, self._base, self._batch = robot, base, motion.q.shape[1:-1]
        n = len(motion)
        self._t, self._energy = motion.t, motion.energy.reshape(n, -1)
        q, v, a, tau = (
            x.reshape(n, -1, x.shape[-1]) for x in (motion.q, motion.v, motion.a, motion.tau)
        )
        self._q, self._v, self._a = q, v, a
        #: Forces are held in a step: at its end those of its start act.
        self._held = tau[:-1] - tau[1:]
        self._held[..., list(driven)] = 0.0
        self._free = not driven and not robot.nc
        self._h = np.diff(self._t)[:, None]
        self._start = self._power(self._t, q, v, a)
        self._end = self._start[1:] + np.einsum("tnk,tnk->tn", v[1:], self._held)

    def work(self) -> FloatArray:
        """What each step is given, shape (steps, motions) [J], from its ends."""
        return np.asarray(0.5 * self._h * (self._start[:-1] + self._end))

    def better_work(self) -> FloatArray:
        """The same from its ends and its middle, of a motion that is a polynomial in between."""
        h, (q, v, a), robot = self._h[..., None], (self._q, self._v, self._a), self._robot
        sound = h > 0.0
        one = np.where(sound, h, 1.0)
        last = a[1:]
        if self._free and self._held.any():
            M = robot.mass_matrix(q[1:])
            last = last + np.linalg.solve(M, self._held[..., None])[..., 0]
        moved = robot.difference(q[:-1], q[1:])
        u = 0.5 * moved + one * (5.0 / 32.0) * (v[:-1] - v[1:])
        u = u + one * one / 64.0 * (a[:-1] + last)
        speed = 1.875 / one * moved - 0.4375 * (v[:-1] + v[1:]) + one / 32.0 * (last - a[:-1])
        rate = 1.5 / one * (v[1:] - v[:-1]) - 0.25 * (a[:-1] + last)
        middle = self._t[:-1] + 0.5 * np.diff(self._t)
        power = self._power(middle, robot.integrate(q[:-1], u), speed, rate)
        return np.asarray(self._h / 6.0 * (self._start[:-1] + 4.0 * power + self._end))

    def compare(self, work: FloatArray) -> Imbalance | None:
        """What work leaves unexplained, if that is too much."""
        robot, energy = self._robot, self._energy
        gained = np.diff(energy, axis=0) - work
        gained[self._h[:, 0] <= 0.0] = 0.0  # a jump takes no time, and is explained elsewhere
        excess = np.cumsum(gained, axis=0)
        kinetic = robot.kinetic_energy(self._q, self._v, base=self._at(self._t))
        exchanged = np.maximum(np.ptp(kinetic, axis=0), np.ptp(energy - kinetic, axis=0))
        exchanged = np.maximum(exchanged, np.abs(work).sum(axis=0))
        allowed = PART * exchanged + ROUNDING * np.abs(energy).max(axis=0)
        most = np.abs(excess).max(axis=0)
        if not (most > allowed).any():
            return None
        n = int(np.argmax(most - allowed))
        k = int(np.abs(gained[:, n]).argmax())
        return Imbalance(
            float(excess[int(np.abs(excess[:, n]).argmax()), n]),
            float(exchanged[n]),
            float(self._t[k + 1]),
            self._joint(k, n),
            tuple(int(i) for i in np.unravel_index(n, self._batch)),
        )

    def _joint(self, k: int, n: int) -> str:
        """The joint whose speed changes most beside what accelerations say, as energy goes."""
        v, a = self._v[k : k + 2, n], self._a[k : k + 2, n]
        jump = v[1] - v[0] - 0.5 * (self._t[k + 1] - self._t[k]) * (a[0] + a[1])
        impulse = self._robot.mass_matrix(self._q[k, n]) @ jump
        worst = int(np.abs(impulse * (np.abs(v[0]) + np.abs(v[1]))).argmax())
        return speed_names(self._robot)[worst]

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
            # what the mover of the base supplies in all, whatever loops carry of it
            loops = (np.zeros(robot.nc),) if robot.nc else ()
            wrenches = robot.function("joint_wrenches", joints=())(q, v, a, *moving, *loops)
            twist = np.broadcast_to(at.twist, wrenches[..., 0, :].shape)
            power = power + np.einsum("tnk,tnk->tn", wrenches[..., 0, :], twist)
        return np.asarray(power)

    def _at(self, t: FloatArray) -> BaseMotion | None:
        """The motion of the base at some times, for all motions."""
        if self._base is None:
            return None
        given = self._base.at(t)
        return BaseMotion(*(x[:, None] for x in (given.pose, given.twist, given.acceleration)))
