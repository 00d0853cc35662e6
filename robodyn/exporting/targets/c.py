"""C99: a header and a source file without allocation, a test, and a file for CMake."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.exporting.c_code.header import header
from robodyn.exporting.c_code.signature import CNames
from robodyn.exporting.c_code.source import source
from robodyn.exporting.c_code.test_main import test_main
from robodyn.exporting.unit.unit import Unit

_CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)

add_library({name} STATIC {name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(UNIX)
    target_link_libraries({name} PUBLIC m)
endif()

enable_testing()
add_executable(test_{name} test_{name}.c)
target_link_libraries(test_{name} {name})
add_test(NAME test_{name} COMMAND test_{name})
"""


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``ROBOT.h``, ``ROBOT.c``, a program that compares numbers, and a file for CMake."""
    names = CNames(unit)
    name = names.prefix
    return {
        f"{name}.h": header(names),
        f"{name}.c": source(names),
        f"test_{name}.c": test_main(names),
        "CMakeLists.txt": _CMAKE.format(name=name),
    }
