"""Whether the work of forces that are known explains the energy of a motion: a quick look.

Nothing but torques, dampers and friction puts energy into a robot or takes it out, whose base rests
and on whose links nothing acts: ``v . tau``, and what passive forces take. What does not agree with
their work is looked at closely elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.robot import Robot
from robodyn.simulation.reuse.kept import once_per_robot
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["only_known_forces_work", "work_explains_energy"]

#: Numbers of a column that are computed with at once: they fit into a core's caches.
TOGETHER = 32768


def only_known_forces_work(motion: Trajectory) -> bool:
    """Whether nothing but torques, dampers and friction does work."""
    robot, loads = motion.robot, motion.surroundings
    moved = motion.driven or loads.wrenches or loads.base is not None
    return robot is not None and not moved and not robot.ground


def work_explains_energy(
    motion: Trajectory, part: float, rounding: float, at_rest: float, every: int
) -> bool:
    """Whether no more energy is missing, or too much, than part of what is exchanged.

    Parameters
    ----------
    motion : Trajectory
        Of a robot.
    part, rounding : float
        Of what is exchanged, and of the energy itself.
    at_rest : float [J/kg]
    every : int
        Steps between samples; if they are several, work is not known from samples.
    """
    robot = motion.robot
    assert robot is not None
    of, n = _functions_of(robot), len(motion)
    q, v, tau = (x.reshape(n, -1, x.shape[-1]) for x in (motion.q, motion.v, motion.tau))
    size = max(2, TOGETHER // (q.shape[1] * q.shape[2] + 1))
    seen = _Seen(q.shape[1])
    for first in range(0, n, size):
        own = slice(first, min(first + size, n))
        steps = slice(max(first - 1, 0), own.stop)
        work = _work(of, *(x[steps] for x in (motion.t, q, v, tau)))
        seen.add(of.kinetic_energy(q[own], v[own]), of.potential_energy(q[own]), work)
    stored = (seen.most - seen.least).max(axis=0)
    if every > 1 and not (seen.done <= 0.1 * part * stored).all():
        return False
    allowed = part * np.maximum(stored, seen.done) + rounding * seen.size
    allowed += at_rest * robot.total_mass
    return bool((seen.missing <= allowed).all())  # never, where something is not a number


class _Seen:
    """What the samples of some motions have had of energy so far, each shape (motions,) [J].

    Attributes
    ----------
    most, least : ndarray, shape (2, motions)
        Of kinetic and of potential energy.
    size : ndarray
        The largest energy.
    done : ndarray
        Work, whatever its sign.
    missing : ndarray
        Most by which the energy is not what work has made of it.
    """

    def __init__(self, motions: int) -> None:
        self.most, self.least = np.full((2, motions), -np.inf), np.full((2, motions), np.inf)
        self.size, self.done, self.missing = np.zeros((3, motions))
        self._first: FloatArray | None = None
        self._work = np.zeros(motions)

    def add(self, kinetic: FloatArray, potential: FloatArray, work: FloatArray) -> None:
        """The next samples, shape (n, motions), and the steps to each, without one to the first."""
        energy = kinetic + potential
        if self._first is None:
            self._first, energy_after = energy[0], energy[1:]
        else:
            energy_after = energy
        for k, x in enumerate((kinetic, potential)):
            self.most[k] = np.maximum(self.most[k], x.max(axis=0))
            self.least[k] = np.minimum(self.least[k], x.min(axis=0))
        self.size = np.maximum(self.size, np.abs(energy).max(axis=0))
        if not len(work):
            return
        self.done = self.done + np.abs(work).sum(axis=0)
        work = self._work + work.cumsum(axis=0)
        self._work = work[-1]
        missing = np.abs(energy_after - self._first - work)
        self.missing = np.maximum(self.missing, missing.max(axis=0))


def _work(
    of: _Functions, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
) -> FloatArray:
    """What each step is given, shape (n - 1, motions) [J]: forces are held in it."""
    h = 0.5 * (t[1:] - t[:-1])[:, None]
    work = np.zeros((len(h), q.shape[1]))
    if tau.any():
        work = h * np.einsum("tnk,tnk->tn", v[:-1] + v[1:], tau[:-1])
    if of.passive_forces is not None:
        taken = of.passive_forces(q, v) - of.passive_forces(q, np.zeros_like(v))
        power = np.einsum("tnk,tnk->tn", v, taken)
        work += h * (power[:-1] + power[1:])
    return np.asarray(work)


@dataclass(frozen=True, eq=False)
class _Functions:
    """Functions of a robot, of its state alone; no passive forces where there are none."""

    kinetic_energy: Callable[..., FloatArray]
    potential_energy: Callable[..., FloatArray]
    passive_forces: Callable[..., FloatArray] | None


@once_per_robot
def _functions_of(robot: Robot) -> _Functions:
    """The functions, or, of a robot whose base can move, methods that let it rest."""
    passive = robot.function("passive_forces")
    if robot.base == "moving":
        forces = robot.passive_forces if passive.work else None
        return _Functions(robot.kinetic_energy, robot.potential_energy, forces)
    energies = robot.function("kinetic_energy"), robot.function("potential_energy")
    return _Functions(*energies, passive if passive.work else None)
