"""Methods that move a state through time, by name."""

from __future__ import annotations

from robodyn.errors import UnknownNameError
from robodyn.simulation.integrators import euler, heun, midpoint, rk4, semi_implicit
from robodyn.simulation.integrators.method import Explicit

__all__ = ["INTEGRATORS", "integrator"]

#: Methods by name.
INTEGRATORS: dict[str, Explicit] = {
    "euler": euler.METHOD,
    "semi_implicit": semi_implicit.METHOD,
    "midpoint": midpoint.METHOD,
    "heun": heun.METHOD,
    "rk4": rk4.METHOD,
}


def integrator(name: str) -> Explicit:
    """A method by its name, or `UnknownNameError`."""
    if name not in INTEGRATORS:
        raise UnknownNameError("integrator", name, INTEGRATORS)
    return INTEGRATORS[name]
