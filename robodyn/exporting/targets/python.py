"""Python: a module of functions over numpy arrays, which needs numpy alone."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from robodyn.codegen.text.assignments import plain
from robodyn.codegen.text.python import RESERVED, python_function, python_prologue
from robodyn.exporting.procedures.python import python_procedure
from robodyn.exporting.procedures.statements import local_names
from robodyn.exporting.unit.names import legal_name, legal_names
from robodyn.exporting.unit.unit import Unit
from robodyn.version import __version__

__all__ = ["write"]

#: Modules that would be hidden by one of ours.
MODULES = frozenset({"numpy", *sys.stdlib_module_names})


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``ROBOT.py``, with a function for each routine and each procedure."""
    names = legal_names(unit.names, RESERVED | local_names(unit.procedures))
    functions = [
        python_function(x.program, names[x.name], x.about, unit.dtype) for x in unit.routines
    ]
    functions += (python_procedure(x, names[x.name], names) for x in unit.procedures)
    head = f'"""Equations of the robot {plain(unit.robot.name)}, by robodyn {__version__}."""\n'
    exported = f"__all__ = {sorted(names.values())!r}\n"
    text = "\n\n".join([python_prologue(unit.dtype), exported, *functions])
    return {f"{legal_name(unit.name, RESERVED | MODULES)}.py": f"{head}\n{text}"}
