"""The header of a unit in C."""

from __future__ import annotations

from collections.abc import Iterator

from robodyn.exporting.c_code.motion_state import motion, state
from robodyn.exporting.c_code.signature import CNames, comment, comment_block
from robodyn.exporting.c_code.source import assemblies, routines
from robodyn.exporting.unit.unit import Unit
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
            *_joints(unit),
            f"enum {{ {names.macro}_NQ = {unit.robot.nq}, {names.macro}_NV = {unit.robot.nv} }};",
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


def _joints(unit: Unit) -> Iterator[str]:
    """Which numbers are those of which joint, and where motors are."""
    robot = unit.robot
    lines = []
    for name, joint in robot.joints.items():
        q, v = (
            f"{x}[{part.start}]"
            if part.stop == part.start + 1
            else f"{x}[{part.start}..{part.stop - 1}]"
            for x, part in (("q", joint.q), ("v", joint.v))
        )
        if joint.v.stop > joint.v.start:
            lines.append(comment(f"{q}, {v}: {name}"))
    motors = ", ".join(robot.actuated_joints)
    about = "Joints, by their places in q, and in v, a and tau."
    yield from comment_block(about, [*lines, comment(f"motors: {motors or 'none'}")])
    yield ""


def _declarations(names: CNames) -> Iterator[str]:
    """All that a unit has."""
    unit = names.unit
    for function in routines(names):
        yield from function.declared()
    if unit.procedures:
        yield from _result(names)
    for function in assemblies(names):
        if function.about:
            yield from function.declared()
    if unit.step is not None:
        yield from ("", *state(unit.step, names))
        for function in motion(unit.step, names):
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
