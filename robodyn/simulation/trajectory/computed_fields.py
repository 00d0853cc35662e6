"""Fields of a trajectory that are computed from its states when they are first asked for.

They may be given as well, as by a file that has them. What stands here is the default of such a
field: where nothing is given the class computes it, once.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from robodyn.array_types import FloatArray
from robodyn.simulation.trajectory.states import energies

__all__ = ["COMPUTED", "forget_defaults"]


def _energy(run: Any) -> FloatArray:
    """Kinetic and potential, shape (n, ...) [J]."""
    total: FloatArray = run.kinetic_energy + run.potential_energy
    return total


def _gaps(run: Any) -> FloatArray:
    """Largest gap of closed loops, shape (n, ...) [m, rad]."""
    gaps: FloatArray = run._computed(energies.largest_gap)
    return gaps


#: The defaults by the names of the fields.
COMPUTED: dict[str, Any] = {
    "energy": cached_property(_energy),
    "loop_residual": cached_property(_gaps),
}


def forget_defaults(run: Any) -> None:
    """Let the class compute what was not given."""
    for name in COMPUTED:
        if isinstance(vars(run)[name], cached_property):
            del vars(run)[name]
