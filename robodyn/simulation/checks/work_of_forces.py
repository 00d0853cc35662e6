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
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.simulation.checks.energy_balance import Allowance, EnergyBalance
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["only_known_forces_work", "work_explains_energy"]

#: Numbers of a column that are computed with at once: they fit into a core's caches.
TOGETHER = 32768


def only_known_forces_work(motion: Trajectory) -> bool:
    """Whether nothing but torques, dampers and friction does work."""
    robot, loads = motion.robot, motion.surroundings
    moved = motion.driven or loads.wrenches or loads.base is not None
    return robot is not None and not moved


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
    allowance = Allowance(part, rounding, at_rest * robot.total_mass)
    balance, explained = EnergyBalance(motion.t, v, tau, every > 1, allowance), True
    for first in range(0, n, size):
        own = slice(first, first + size)
        power = of.passive_power(q[own], v[own])
        energies = of.kinetic_energy(q[own], v[own]), of.potential_energy(q[own])
        explained = balance.explained(first, *energies, power)
    return explained


@dataclass(frozen=True, eq=False)
class _Functions:
    """Functions of a robot, of its state alone; no passive or elastic forces without any."""

    kinetic_energy: Callable[..., FloatArray]
    potential_energy: Callable[..., FloatArray]
    passive_forces: Callable[..., FloatArray] | None
    elastic_forces: Callable[..., FloatArray] | None

    def passive_power(self, q: FloatArray, v: FloatArray) -> FloatArray | None:
        """What dampers and friction give, shape (n, motions) [W]; none where there are none."""
        if self.passive_forces is None:
            return None
        taken = self.passive_forces(q, v)
        if self.elastic_forces is not None:
            taken = taken - self.elastic_forces(q)
        return np.asarray(np.einsum("tnk,tnk->tn", v, taken))


@once_per_robot
def _functions_of(robot: Robot) -> _Functions:
    """The functions, or, of a robot whose base can move, methods that let it rest."""
    energies, forces = ("kinetic_energy", "potential_energy"), ("passive_forces", "elastic_forces")
    there = [robot.function(name).work > 0 for name in forces]

    def of(name: str) -> Callable[..., FloatArray]:
        found: Callable[..., FloatArray]
        found = getattr(robot, name) if robot.base == "moving" else robot.function(name)
        return found

    given = [of(name) if is_there else None for name, is_there in zip(forces, there, strict=True)]
    return _Functions(of(energies[0]), of(energies[1]), *given)
