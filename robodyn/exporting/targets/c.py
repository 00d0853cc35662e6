"""C99: a header, a source file, static memory only."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.codegen.text.c import c_source
from robodyn.exporting.unit.names import legal_name, legal_names
from robodyn.exporting.unit.unit import Unit, refuse_procedures

__all__ = ["write"]


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """The files of a unit."""
    refuse_procedures(unit, "c")
    name = legal_name(unit.robot.name)
    own = legal_names(x.name for x in unit.routines)
    texts = [
        c_source(routine.program, f"{name}_{own[routine.name]}", unit.dtype)
        for routine in unit.routines
    ]
    return {f"{name}.c": "\n".join(texts)}
