"""The header of a unit in C."""

from __future__ import annotations

from collections.abc import Iterator

from robodyn.exporting.c_code.motion_state import begin_head, signals, state, step_head
from robodyn.exporting.c_code.signature import (
    CNames,
    assembly_head,
    comment,
    comment_block,
    of_procedure,
    of_routine,
    signature,
)
from robodyn.exporting.unit.procedure import Procedure, Routine
from robodyn.exporting.unit.unit import Step, Unit
from robodyn.version import __version__


def header(unit: Unit, names: CNames) -> str:
    """The header."""
    guard = f"{names.macro}_H"
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
            *_declarations(unit, names),
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


def _declarations(unit: Unit, names: CNames) -> Iterator[str]:
    """All that a unit has."""
    for routine in unit.routines:
        yield from _routine(routine, names)
    if unit.procedures:
        yield from _result(names)
    for assembly in unit.assemblies:
        yield from _assembly(assembly, names)
    if unit.step is not None:
        yield from ("", *state(unit.step, names))
        yield from _motion(unit.step, names)


def _routine(routine: Routine, names: CNames) -> Iterator[str]:
    given = of_routine(routine)
    dtype = names.unit.dtype
    yield from ("", *comment_block(routine.about, (x.description for x in given)))
    yield from _declared(
        signature("void", names.of(routine.name), (x.declared(dtype) for x in given))
    )


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


def _assembly(assembly: Procedure, names: CNames) -> Iterator[str]:
    given = [x for x in of_procedure(assembly) if x.name != "residual"]
    yield from ("", *comment_block(assembly.about, (x.description for x in given)))
    yield from _declared(assembly_head(assembly, names))


def _motion(step: Step, names: CNames) -> Iterator[str]:
    begins = "Begin a motion at time zero. Loops that are open by 1 mm or mrad at most are closed."
    yield from ("", *comment_block(begins, ()), *_declared(begin_head(names)))
    about = (
        f"A step of {step.h:g} s by {step.integrator}. Where it fails the state stays as it was."
    )
    yield from ("", *comment_block(about, (x.description for x in signals(step))))
    yield from _declared(step_head(step, names))


def _declared(head: list[str]) -> list[str]:
    return [*head[:-1], f"{head[-1]};"]
