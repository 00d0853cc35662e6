"""C++: what stands in C, with a header of arrays and exceptions."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.exporting.c_code.signature import CNames
from robodyn.exporting.c_code.source import cpp_header
from robodyn.exporting.targets import c
from robodyn.exporting.unit.unit import Unit


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """The files of C, and ``ROBOT.hpp``."""
    names = CNames(unit)
    return {**c.write(unit), f"{names.prefix}.hpp": cpp_header(names)}
