"""The header of a unit in C."""

from __future__ import annotations

from collections.abc import Iterator

from robodyn.exporting.c_code.controller_state import controller_functions, controller_state
from robodyn.exporting.c_code.motion_state import motion, state
from robodyn.exporting.c_code.signature import CNames, comment
from robodyn.exporting.c_code.source import assemblies, routines
from robodyn.version import __version__


def header(names: CNames) -> str:
    """The header."""
    unit, guard = names.unit, f"{names.macro}_H"
    title = comment(f"Equations of the robot {unit.robot.name}, by robodyn {__version__}.")
    return "\n".join(
        (
            f"/* {title}",
            " * Matrices are row-major. What is written overlaps nothing else. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            *_joints(names),
            *_declarations(names),
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            "#endif",
            "",
        )
    )


def _joints(names: CNames) -> Iterator[str]:
    """Which numbers are those of which joint, and the order of motors."""
    about = "Joints, by their places in q, and in v, a and tau"
    yield f"/* {about}; motors (actuated joints) in their order. */"
    yield "enum {"
    places = [
        f"    {own} = {place.value}, /* {comment(place.about)} */"
        for own, place in names.places.items()
    ]
    yield from places
    robot = names.unit.robot
    yield f"    {names.macro}_NU = {len(robot.actuated_joints)}, /* motors */"
    yield f"    {names.macro}_NQ = {robot.nq},"
    yield f"    {names.macro}_NV = {robot.nv}"
    yield "};"


def _declarations(names: CNames) -> Iterator[str]:
    """All that a unit has."""
    unit = names.unit
    for function in routines(names):
        yield from function.declared()
    if unit.procedures or unit.control is not None:
        yield from _result(names)
    for function in assemblies(names):
        if function.about:
            yield from function.declared()
    if unit.step is not None:
        yield from ("", *state(unit.step, names))
        for function in motion(unit.step, names):
            yield from function.declared()
    if unit.control is not None:
        yield from ("", *controller_state(unit.control, names))
        for function in controller_functions(unit.control, names):
            yield from function.declared()


def _result(names: CNames) -> Iterator[str]:
    """What functions return that can fail."""
    yield from (
        "",
        "/* Whether all is well. */",
        "typedef enum {",
        f"    {names.macro}_OK,",
        f"    {names.macro}_OPEN, /* loops are open, or do not close */",
        f"    {names.macro}_NOT_FINITE /* something is infinite or not a number */",
        f"}} {names.own('result')};",
    )
