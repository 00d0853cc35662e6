"""MATLAB and Octave: a file for each function."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.codegen.text.matlab import RESERVED, matlab_source
from robodyn.errors import SettingsError
from robodyn.exporting.unit.names import legal_names
from robodyn.exporting.unit.unit import Unit, refuse_procedures

__all__ = ["write"]

#: Letters of a name that MATLAB reads (namelengthmax).
LONGEST = 63


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``NAME.m`` for each routine.

    Raises
    ------
    SettingsError
        For a name that is too long.
    """
    refuse_procedures(unit, "matlab")
    names = legal_names((x.name for x in unit.routines), RESERVED)
    for name in names.values():
        if len(name) > LONGEST:
            raise SettingsError(
                f"the name {name!r} has {len(name)} letters, of which MATLAB reads {LONGEST}: give "
                "the function a shorter one"
            )
    return {
        f"{names[x.name]}.m": matlab_source(x.program, names[x.name], x.about, unit.dtype)
        for x in unit.routines
    }
