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
from robodyn.simulation.trajectory.states.samples import Samples

__all__ = ["COMPUTED", "computed", "forget_defaults", "samples_of"]


def samples_of(run: Any) -> Samples:
    """Samples of a trajectory, also of a single state, with what is needed to compute from them."""
    if run.robot is None:
        raise SettingsError(
            "this trajectory does not know what moved: give it a robot, "
            "dataclasses.replace(trajectory, robot=robot)"
        )
    x = run if run.t.ndim else run[None]
    return Samples(run.robot, x.t, x.q, x.v, x.a, x.tau, x.driven, x.surroundings)


def computed(run: Any, f: Callable[[Samples], FloatArray]) -> FloatArray:
    """A function of the samples of a trajectory, phase by phase where it has several."""
    if run.phases:
        parts = [computed(phase, f) for phase in run.phases]
        return np.concatenate(parts) if run.t.ndim else parts[0]
    x = samples_of(run).computed(f)
    return x if run.t.ndim else x[0]


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
