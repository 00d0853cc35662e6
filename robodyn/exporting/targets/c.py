"""C99: a header and a source file, without allocation."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.exporting.c_code.header import header
from robodyn.exporting.c_code.signature import Names
from robodyn.exporting.c_code.source import source
from robodyn.exporting.unit.unit import Unit

__all__ = ["write"]


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``ROBOT.h`` and ``ROBOT.c``."""
    names = Names(unit)
    return {f"{names.prefix}.h": header(unit, names), f"{names.prefix}.c": source(unit, names)}
