"""The source file of a unit in C."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from robodyn.codegen.text.assignments import argument_names, statements
from robodyn.exporting.c_code.motion_state import begin, step
from robodyn.exporting.c_code.signature import (
    CNames,
    assembly_head,
    defined,
    of_procedure,
    of_routine,
    signature,
)
from robodyn.exporting.c_code.statements import body, checks, helpers
from robodyn.exporting.unit.procedure import Procedure, Routine
from robodyn.exporting.unit.unit import Unit
from robodyn.tolerances import LOOP_CLOSED, SINGLE_PRECISION_CLOSURE


def source(unit: Unit, names: CNames) -> str:
    """The source file."""
    head = (f'#include "{names.prefix}.h"', "", "#include <math.h>")
    return "\n".join((*head, *_parts(unit, names), ""))


def _parts(unit: Unit, names: CNames) -> Iterator[str]:
    """Definitions of functions, each after those that it calls."""
    for routine in unit.routines:
        yield from _routine(routine, names)
    if unit.procedures:
        yield from helpers(names, any(x.outputs[-1].name == "residual" for x in unit.procedures))
    for k, assembly in enumerate(unit.assemblies):
        yield from _assembly(assembly, f"assembling{k}", names)
    if unit.step is not None:
        if unit.step.close is not None:
            yield from _procedure(unit.step.close, "close_loops", names)
        yield from _procedure(unit.step.advance, "advance", names)
        yield from begin(unit.step, names)
        yield from step(unit.step, names)


def _routine(routine: Routine, names: CNames) -> Iterator[str]:
    """A function of straight-line code."""
    dtype, given, program = names.unit.dtype, of_routine(routine), routine.program
    by_name = {x.name: x for x in given}
    own = argument_names(program)
    ends = list(accumulate(port.size for port in program.inputs))
    needed = set(program.needed)
    idle = [
        f"(void){name};"
        for name, port, end in zip(own, program.inputs, ends, strict=False)
        if port.size and needed.isdisjoint(range(end - port.size, end))
    ]
    code = statements(program, dtype, own, lambda name, port, k: by_name[name].element(k))
    head = signature("void", names.of(routine.name), (x.declared(dtype) for x in given))
    return defined(head, (*idle, *code))


def _procedure(procedure: Procedure, name: str, names: CNames) -> Iterator[str]:
    """A function of statements."""
    given = (x.declared(names.unit.dtype) for x in of_procedure(procedure))
    return defined(signature("static void", name, given), body(procedure, names))


def _assembly(procedure: Procedure, name: str, names: CNames) -> Iterator[str]:
    """Closing of loops, and whether it succeeded."""
    dtype = names.unit.dtype
    yield from _procedure(procedure, name, names)
    found, residual = procedure.outputs
    closed = SINGLE_PRECISION_CLOSURE if dtype == "float" else LOOP_CLOSED
    lines = [
        f"{dtype} residual[{residual.size}];",
        f"{name}({', '.join(x.name for x in of_procedure(procedure))});",
        *checks([(found.name, found.size)], residual.size, closed, names),
        f"return {names.macro}_OK;",
    ]
    yield from defined(assembly_head(procedure, names), lines)
