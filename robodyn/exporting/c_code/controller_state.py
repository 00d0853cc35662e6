"""A controller in C that stands alone: its state, how it begins, and a sample of it."""

from __future__ import annotations

from collections.abc import Iterator

from robodyn.codegen.text.assignments import literal
from robodyn.exporting.c_code.motion_state import fill, first_or_later
from robodyn.exporting.c_code.signature import CFunction, CNames, Parameter, called, parameters
from robodyn.exporting.c_code.statements import checks
from robodyn.exporting.unit.unit import Control

#: Parameters of a controller that its state knows.
KNOWN = ("t", "applied", "state", "tau")


def controller_state(own: Control, names: CNames) -> Iterator[str]:
    """The type of the state."""
    dtype = names.unit.dtype
    yield from (
        "/* A controller between two samples. Copies of it are controllers of their own. */",
        "typedef struct {",
        "    unsigned long long samples; /* since it began */",
        f"    {dtype} tau[{names.macro}_NV]; /* forces that act until the next sample [N m, N] */",
        f"    {dtype} memory[{own.memory}]; /* what the controller remembers */",
        f"}} {names.own('controller')};",
    )


def controller_functions(own: Control, names: CNames) -> tuple[CFunction, CFunction]:
    """The functions that begin, and that take a sample."""
    dtype, nv = names.unit.dtype, names.unit.robot.nv
    pointer, given = f"{names.own('controller')} *controller", given_of(own)
    begin = [
        "controller->samples = 0;",
        *fill("controller->tau", literal(0.0, dtype), nv),
        *fill("controller->memory", literal(0.0, dtype), own.memory),
    ]
    return CFunction(
        "void", names.own("controller_begin"), (pointer,), begin, "Begin at time zero."
    ), CFunction(
        names.own("result"),
        names.own("controller_step"),
        (pointer, *(x.declared(dtype) for x in given)),
        _sample(own, names),
        f"A sample, {own.h:g} s after the one before: controller->tau are the forces from now on.",
        [
            *(x.description for x in given),
            "Set controller->tau where others act in their place.",
            "Where a result is infinite or no number, all stays as it was.",
        ],
    )


def given_of(own: Control) -> list[Parameter]:
    """What a sample is given: readings of sensors, or positions and speeds, and references."""
    return [x for x in parameters(own.update) if not (x.is_output or x.port.name in KNOWN)]


def _sample(own: Control, names: CNames) -> Iterator[str]:
    dtype = names.unit.dtype
    arrays = {"tau": names.unit.robot.nv, "memory": own.memory}
    known = {"t": "t", "applied": "controller->tau", "state": "controller->memory"}
    yield f"const {dtype} t = ({dtype})controller->samples * {literal(own.h, dtype)};"
    yield from (f"{dtype} {name}[{size}];" for name, size in arrays.items())
    calls = [
        called(names, x, known, {"state": "memory", "tau": "tau"}) for x in (own.first, own.update)
    ]
    yield "(void)t;"
    yield from first_or_later(calls, "controller->samples", False)
    yield from checks(arrays.items(), 0, 0.0, names)
    for name, size in arrays.items():
        yield from fill(f"controller->{name}", f"{name}[i]", size)
    yield from ("controller->samples++;", f"return {names.macro}_OK;")
