"""Kinds of sensors, with their columns, their units and their equations.

Every file of this folder has a constant ``KINDS``. `robodyn.literals.SensorKindName` lists them
for type checkers; nothing else knows them by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from robodyn.equations.sensors.kinds.common.kind import SensorKind
from robodyn.registry import constants

__all__ = ["KINDS"]


#: Name -> kind.
KINDS: Mapping[str, SensorKind] = MappingProxyType(
    {kind.name: kind for of_file in constants(__name__, "KINDS").values() for kind in of_file}
)
