"""A quick check whether the work of the known forces explains the energy of a motion.

If the base is at rest and no external wrenches act, nothing but joint torques, dampers and friction
does work. If the energy agrees with their work, the slower check of `energy_check` is not needed.
"""

from __future__ import annotations

from collections.abc import Callable

from robodyn.array_types import FloatArray
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.simulation.checks.energy_balance import Allowance, EnergyBalance
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["energies_of", "only_known_forces_work", "work_explains_energy"]

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
    """Whether energy and work agree to a fraction of the energy exchanged.

    Parameters
    ----------
    motion : Trajectory
        Of a robot.
    part, rounding : float
        Tolerances as fractions of the energy exchanged, and of the energy itself.
    at_rest : float [J/kg]
    every : int
        Steps between samples; if it is more than one, the work between samples is not known.
    """
    robot = motion.robot
    assert robot is not None
    energies, n = energies_of(robot), len(motion)
    q, v, tau = (x.reshape(n, -1, x.shape[-1]) for x in (motion.q, motion.v, motion.tau))
    size = max(2, TOGETHER // (q.shape[1] * q.shape[2] + 1))
    allowance = Allowance(part, rounding, at_rest * robot.total_mass)
    balance, explained = EnergyBalance(motion.t, v, tau, every > 1, allowance), True
    for first in range(0, n, size):
        own = slice(first, first + size)
        explained = balance.explained(first, *energies(q[own], v[own]))
    return explained


@once_per_robot
def energies_of(robot: Robot) -> Callable[[FloatArray, FloatArray], tuple[FloatArray, ...]]:
    """The function of kinetic and potential energy and power, with the base at rest."""
    function = robot.function("energy_and_power")
    if robot.base != "moving":
        return function
    rest = BaseMotion.at_rest()
    return lambda q, v: function(q, v, rest.pose, rest.twist, rest.acceleration)
