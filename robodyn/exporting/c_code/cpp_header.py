"""A header of C++ around a unit in C: arrays for pointers, exceptions for results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from robodyn.codegen.text.assignments import C_WORDS
from robodyn.exporting.c_code.motion_state import signals
from robodyn.exporting.c_code.reserved import MACROS
from robodyn.exporting.c_code.signature import (
    CNames,
    Parameter,
    comment,
    parameters,
    without_residual,
)
from robodyn.exporting.templates import template
from robodyn.exporting.unit.unit import Step

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
