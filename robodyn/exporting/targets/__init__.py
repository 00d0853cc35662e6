"""Languages and formats: one file a target.

Every file of this folder that has a function ``write`` is a target of the file's name::

    def write(unit: Unit) -> Mapping[str, str | bytes]

It returns the contents of all files by their paths in the folder; what it cannot write it refuses
by `SettingsError`, before anything is written. `robodyn.literals.ExportTarget` lists the targets
for type checkers; nothing else names one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from robodyn.exporting.unit.unit import Unit
from robodyn.registry import constants

__all__ = ["TARGETS", "Write"]

#: The files of a unit: contents by path.
Write = Callable[[Unit], Mapping[str, str | bytes]]


#: Name -> what writes it.
TARGETS: Mapping[str, Write] = constants(__name__, "write")
