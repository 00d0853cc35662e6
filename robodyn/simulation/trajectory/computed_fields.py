"""Fields of a trajectory that are computed from its states when they are first asked for.

They may be given as well, for example by a file that has them. Otherwise their default, which is
defined here, computes them once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SettingsError
from robodyn.simulation.trajectory.states import energies
from robodyn.simulation.trajectory.states.samples import BASE, ROBOTS, Samples, refuse_not_saved


def samples_of(run: Any, *needed: str) -> Samples:
    """Samples of a trajectory, also of a single state, with what is needed to compute from them.

    ``needed``: of what `not_saved` names, so that files without it are refused.
    """
    refuse_not_saved(run, needed)
    if run.robot is None:
        raise SettingsError(
            "this trajectory does not know what moved: give it a robot, "
            "dataclasses.replace(trajectory, robot=robot)"
        )
    x = run if run.t.ndim else run[None]
    states = x.t, x.q, x.v, x.a, x.tau
    return Samples(run.robot, *states, x.driven, x.surroundings, x.friction)


def computed(run: Any, f: Callable[[Samples], FloatArray], *needed: str) -> FloatArray:
    """A function of the samples of a trajectory, phase by phase where it has several.

    It is refused without the robots of all phases, the motion of the base and what is ``needed``.
    """
    if run.phases:
        parts = [computed(phase, f, *needed) for phase in known_phases(run)]
        return np.concatenate(parts) if run.t.ndim else parts[0]
    x = samples_of(run, ROBOTS, BASE, *needed).computed(f)
    return x if run.t.ndim else x[0]


def known_phases(run: Any) -> tuple[Any, ...]:
    """The phases of a trajectory, or the trajectory alone where it has none.

    Raises SettingsError: If the robot of one of several is not known.
    """
    for phase in run.phases:
        if phase.robot is None:
            start = f" from t = {phase.t[0]:.6g} s on" if phase.t.ndim and len(phase) else ""
            raise SettingsError(
                "events have changed the robot, and a file holds no robots: the one that moved"
                f"{start} is not known. Give all of them, Trajectory.load(path, [first, second]), "
                "as .robot of the phases of the simulated motion has them"
            )
    return run.phases or (run,)


def _energy(run: Any) -> FloatArray:
    """Kinetic and potential, shape (n, ...) [J]."""
    total: FloatArray = run.kinetic_energy + run.potential_energy
    return total


def _gaps(run: Any) -> FloatArray:
    """Largest gap of closed loops, shape (n, ...) [m, rad]."""
    gaps: FloatArray = computed(run, energies.largest_gap)
    return gaps


#: Defaults of the fields by name.
COMPUTED: dict[str, Any] = {
    "energy": cached_property(_energy),
    "loop_residual": cached_property(_gaps),
}


def forget_defaults(run: Any) -> None:
    """Let the class compute what was not given."""
    for name in COMPUTED:
        if isinstance(vars(run)[name], cached_property):
            del vars(run)[name]
