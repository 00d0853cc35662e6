"""Kinds of sensors: one file a kind, with its columns, its units and its equations.

Every file of this folder has a constant ``KIND``. `robodyn.literals.SensorKindName` lists the kinds
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
    kinds = (importlib.import_module(f"{__name__}.{name}").KIND for name in names)
    return {kind.name: kind for kind in kinds}


#: Name -> kind.
KINDS: Mapping[str, SensorKind] = MappingProxyType(_found())
