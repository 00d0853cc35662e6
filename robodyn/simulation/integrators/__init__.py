"""Methods that move a state through time, by name."""

from __future__ import annotations

import dataclasses
import math

from robodyn.errors import SettingsError, UnknownNameError
from robodyn.simulation.integrators import (
    adaptive,
    auto,
    euler,
    heun,
    implicit,
    midpoint,
    rk4,
    scipy_methods,
    semi_implicit,
    variational,
)
from robodyn.simulation.integrators.method import Coordinates, Integrator, Solver

__all__ = ["EXPLICIT", "INTEGRATORS", "Coordinates", "Integrator", "explicit", "integrator"]

#: Integrator methods of fixed steps.
EXPLICIT: dict[str, Integrator] = {
    "euler": euler.METHOD,
    "semi_implicit": semi_implicit.METHOD,
    "midpoint": midpoint.METHOD,
    "heun": heun.METHOD,
    "rk4": rk4.METHOD,
}

#: All methods.
INTEGRATORS: dict[str, Integrator | Solver] = {
    **EXPLICIT,
    "adaptive": adaptive.METHOD,
    "variational": variational.METHOD,
    "implicit": implicit.METHOD,
    "auto": auto.METHOD,
    **scipy_methods.METHODS,
}


def explicit(name: str) -> Integrator | None:
    """An explicit method of fixed steps by its name; none if the name is that of another method.

    Raises
    ------
    UnknownNameError
        If there is no method of that name.
    """
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise UnknownNameError("integrator", name, INTEGRATORS)
    return EXPLICIT.get(name)


def integrator(name: str, tolerance: float | None = None) -> Integrator | Solver:
    """A method by its name.

    Parameters
    ----------
    name : str
    tolerance : float, optional [rad, m]
        What a step may be wrong by, for methods that choose their steps.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    SettingsError
        If it has no tolerance, or that is no number above 1e-14.
    """
    method = explicit(name) or INTEGRATORS[name]
    if tolerance is None:
        return method
    able = [key for key, x in INTEGRATORS.items() if hasattr(x, "tolerance")]
    if name not in able:
        raise SettingsError(
            f"tolerance= is given, but integrator {name!r} takes steps of given length; those that "
            f"choose their steps are {', '.join(able)}"
        )
    number = isinstance(tolerance, (int, float)) and not isinstance(tolerance, bool)
    if not (number and 1e-14 <= tolerance < math.inf):
        raise SettingsError(f"tolerance is {tolerance!r}, expected a number from 1e-14 [rad, m]")
    return dataclasses.replace(method, tolerance=float(tolerance))  # type: ignore[type-var]
