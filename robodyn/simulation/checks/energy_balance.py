"""A quick check whether the work of the known forces explains the energy of a motion.

If the base is at rest and no external wrenches act, nothing but joint torques, dampers and friction
does work. If the energy agrees with their work, the slower check of `energy_check` is not needed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.llvm.programs.sample_passes import work_and_energy
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import once_per_robot
from robodyn.simulation.friction.resistances import dissipation_beyond_smooth
from robodyn.simulation.trajectory.trajectory import Trajectory

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
    parts = [energies(q[k : k + size], v[k : k + size]) for k in range(0, n, size)]
    found = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    kinetic, potential, power = found
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
