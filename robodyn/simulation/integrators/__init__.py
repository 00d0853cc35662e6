"""Methods that move a state through time, by name: one file a method.

Every file of this folder that has a constant ``METHOD`` is a method of the file's name, and every
entry of a constant ``METHODS`` is one, too. `robodyn.literals.IntegratorName` lists them for type
checkers; nothing else names them.
"""

from __future__ import annotations

import dataclasses
import math

from robodyn.errors import SettingsError, UnknownNameError
from robodyn.registry import constants
from robodyn.simulation.integrators.method import Coordinates, Integrator, Solver

__all__ = ["EXPLICIT", "INTEGRATORS", "Coordinates", "Integrator", "explicit", "integrator"]


def _found() -> dict[str, Integrator | Solver]:
    """The methods of this folder: those of fixed steps first, by order and name, then solvers."""
    found: dict[str, Integrator | Solver] = constants(__name__, "METHOD")
    for several in constants(__name__, "METHODS").values():
        found |= several
    return dict(
        sorted(
            found.items(), key=lambda item: (isinstance(item[1], Solver), item[1].order, item[0])
        )
    )


#: All methods.
INTEGRATORS: dict[str, Integrator | Solver] = _found()

#: Explicit methods of fixed steps.
EXPLICIT: dict[str, Integrator] = {
    name: method for name, method in INTEGRATORS.items() if not isinstance(method, Solver)
}


def explicit(name: str) -> Integrator | None:
    """An explicit method of fixed steps by its name; none if the name is that of another method.

    Raises UnknownNameError: If there is no method of that name.
    """
    if not isinstance(name, str) or name not in INTEGRATORS:
        raise UnknownNameError("integrator", name, INTEGRATORS)
    return EXPLICIT.get(name)


def integrator(name: str, tolerance: float | None = None) -> Integrator | Solver:
    """A method by its name.

    tolerance [rad, m], optional: What a step may be wrong by, for methods that choose their steps.
    Raises UnknownNameError: If there is none of that name.
    Raises SettingsError: If it has no tolerance, or that is no number above 1e-14.
    """
    method = explicit(name) or INTEGRATORS[name]
    if tolerance is None:
        return method
    able = [key for key, x in INTEGRATORS.items() if isinstance(x, Solver) and x.has_tolerance]
    if name not in able or not isinstance(method, Solver):
        raise SettingsError(
            f"tolerance= is given, but integrator {name!r} takes steps of given length; those that "
            f"choose their steps are {', '.join(able)}"
        )
    number = isinstance(tolerance, (int, float)) and not isinstance(tolerance, bool)
    if not (number and 1e-14 <= tolerance < math.inf):
        raise SettingsError(f"tolerance is {tolerance!r}, expected a number from 1e-14 [rad, m]")
    return dataclasses.replace(method, tolerance=float(tolerance))
