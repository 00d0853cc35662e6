"""C99: a header and a source file without allocation, a test, and a file for CMake."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.exporting.c_code.signature import CNames
from robodyn.exporting.c_code.source import header, source
from robodyn.exporting.c_code.test_main import test_main
from robodyn.exporting.templates import template
from robodyn.exporting.unit.unit import Unit


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``ROBOT.h``, ``ROBOT.c``, a program that compares numbers, and a file for CMake."""
    names = CNames(unit)
    name = names.prefix
    return {
        f"{name}.h": header(names),
        f"{name}.c": source(names),
        f"test_{name}.c": test_main(names),
        "CMakeLists.txt": template("CMakeLists.txt", name=name),
    }
