"""Kinds of sensors, with their columns, their units and their equations.

Every file of this folder has a constant ``KINDS``. `robodyn.literals.SensorKindName` lists them
for type checkers; nothing else knows them by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from robodyn.equations.sensors.kinds.common.kind import SensorKind

__all__ = ["KINDS"]


def _found() -> dict[str, SensorKind]:
    """The kinds of all files of this folder, by name."""
    names = (f.name for f in pkgutil.iter_modules(__path__) if not f.ispkg)
    files = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return {kind.name: kind for file in files for kind in file.KINDS}


#: Name -> kind.
KINDS: Mapping[str, SensorKind] = MappingProxyType(_found())
