"""Languages and formats: one file a target.

Every file of this folder that has a function ``write`` is a target of the file's name::

    def write(unit: Unit) -> Mapping[str, str | bytes]

It returns the contents of all files by their paths in the folder; what it cannot write it refuses
by `SettingsError`, before anything is written. `robodyn.literals.ExportTarget` lists the targets
for type checkers; nothing else names one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping

from robodyn.exporting.unit.unit import Unit

__all__ = ["TARGETS", "Write"]

#: The files of a unit: contents by path.
Write = Callable[[Unit], Mapping[str, str | bytes]]


def _discovered() -> dict[str, Write]:
    """The targets of this folder."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        write = getattr(importlib.import_module(f"{__name__}.{module.name}"), "write", None)
        if write is not None:
            found[module.name] = write
    return found


#: Name -> what writes it.
TARGETS: Mapping[str, Write] = _discovered()
