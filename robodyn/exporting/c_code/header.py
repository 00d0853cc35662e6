"""The header of a unit in C, and one of C++ around it: arrays for pointers, and exceptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from robodyn.codegen.text.assignments import C_WORDS
from robodyn.exporting.c_code.motion_state import (
    controller_functions,
    controller_state,
    motion,
    signals,
    state,
)
from robodyn.exporting.c_code.signature import (
    MACROS,
    CNames,
    Parameter,
    comment,
    parameters,
    without_residual,
)
from robodyn.exporting.c_code.source import assemblies, routines
from robodyn.exporting.templates import template
from robodyn.exporting.unit.unit import Step
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


#: Names in the namespace besides those of functions.
OWN = frozenset({"Motion", "Real", "check", "nq", "nv", "std"})


def cpp_header(names: CNames) -> str:
    """The text of the header, for C++11 and later."""
    unit = names.unit
    text = template(
        "unit.hpp",
        title=comment(f"Equations of the robot {unit.robot.name}."),
        macro=names.macro,
        prefix=names.prefix,
        dtype=unit.dtype,
        nq=unit.robot.nq,
        nv=unit.robot.nv,
    )
    parts = [text]
    for routine in unit.routines:
        parts.append(_function(names, routine.name, routine.about, parameters(routine), False))
    if unit.procedures:
        parts.append(
            template(
                "check.hpp", macro=names.macro, prefix=names.prefix, result=names.own("result")
            )
        )
    for own in unit.assemblies:
        parts.append(_function(names, own.name, own.about, without_residual(own), True))
    if unit.step is not None:
        parts.append(_motion(unit.step, names))
    return "\n".join([*parts, "} // namespace", "", "#endif", ""])


def _function(
    names: CNames, name: str, about: str, given: Sequence[Parameter], checked: bool
) -> str:
    """A function that returns what the one in C writes."""
    in_c = names.of(name)
    own = in_c.removeprefix(f"{names.prefix}_")
    own = f"{own}_" if own in OWN | C_WORDS | MACROS else own
    outputs = [x for x in given if x.is_output]
    kinds = [_kind(x) for x in outputs]
    returns = kinds[0] if len(kinds) == 1 else f"std::tuple<{', '.join(kinds)}>"
    shown = (
        outputs[0].name if len(kinds) == 1 else f"{returns}({', '.join(x.name for x in outputs)})"
    )
    call = f"{in_c}({', '.join(map(_argument, given))})"
    lines = [
        *(f"{kind} {x.name}{{}};" for kind, x in zip(kinds, outputs, strict=True)),
        f"check({call});" if checked else f"{call};",
        f"return {shown};",
    ]
    head = [f"/// {comment(about)}", *(f"/// {x.description}" for x in given)]
    head.append(f"inline {returns} {own}({_declared(x for x in given if not x.is_output)})")
    return "\n".join(["", *head, "{", *(f"    {x}" for x in lines), "}", ""])


def _kind(x: Parameter) -> str:
    return f"std::array<Real, {x.port.size}>" if x.port.shape else "Real"


def _declared(given: Iterable[Parameter]) -> str:
    """Parameters of a function."""
    return ", ".join(
        f"Real {x.name}" if x.is_number else f"const {_kind(x)} &{x.name}" for x in given
    )


def _argument(x: Parameter) -> str:
    """An argument of the function in C."""
    if x.is_number:
        return x.name
    return f"{x.name}.data()" if x.port.shape else f"&{x.name}"


def _motion(own: Step, names: CNames) -> str:
    """The class of motions."""
    return template(
        "motion.hpp",
        h=f"{own.h:g}",
        state=names.own("state"),
        begin=names.own("begin"),
        given=_declared(signals(own)) if own.update else "const std::array<Real, nv> &tau",
        statements="\n".join(f"        {x}" for x in _step(own, names)),
    )


def _step(own: Step, names: CNames) -> Iterator[str]:
    if own.update is None:
        yield "std::copy(tau.begin(), tau.end(), state.tau);"
    arguments = ["&state", *map(_argument, signals(own))]
    yield f"check({names.own('step')}({', '.join(arguments)}));"
