"""MATLAB and Octave: a file for each function."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.codegen.text.matlab import RESERVED, matlab_source
from robodyn.errors import SettingsError
from robodyn.exporting.procedures.matlab import matlab_procedure
from robodyn.exporting.procedures.statements import local_names
from robodyn.exporting.unit.names import legal_names
from robodyn.exporting.unit.unit import Unit

__all__ = ["write"]

#: Letters of a name that MATLAB reads (namelengthmax).
LONGEST = 63


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``NAME.m`` for each routine and each procedure.

    Raises
    ------
    SettingsError
        For a name that is too long.
    """
    names = legal_names(unit.names, RESERVED | local_names(unit.procedures))
    for name in names.values():
        if len(name) > LONGEST:
            raise SettingsError(
                f"the name {name!r} has {len(name)} letters, of which MATLAB reads {LONGEST}: give "
                "the function a shorter one"
            )
    texts = {
        x.name: matlab_source(x.program, names[x.name], x.about, unit.dtype) for x in unit.routines
    }
    for procedure in unit.procedures:
        own = names[procedure.name]
        texts[procedure.name] = matlab_procedure(procedure, own, names, unit.dtype)
    return {f"{names[name]}.m": text for name, text in texts.items()}
