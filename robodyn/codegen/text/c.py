"""From a program to C99: one function, no dependency but math.h, no allocation."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.codegen.text.assignments import (
    C_WORDS,
    argument_names,
    legal_name,
    named_constants,
    port_comments,
    statements,
)
from robodyn.literals import Precision
from robodyn.symbolic.graph import Port, Program


def c_source(
    program: Program,
    name: str | None = None,
    dtype: Precision = "double",
    constants: Mapping[str, float] | None = None,
) -> str:
    """C99 source of a program.

    name, optional: Of the function. Default: the program's.
    constants: Numbers for inputs that are no arguments then, but constants with their names.
    Returns source: ``void name(const dtype *input, ..., dtype *output, ...)``; arrays are
        row-major.
    Raises UnknownNameError: For another dtype, or a constant that is no input.
    Raises SettingsError: For a constant that is an array.
    """
    values = named_constants(program, constants)
    names, inputs = argument_names(program), len(program.inputs)
    ports = [*zip(names, (*program.inputs, *program.outputs), strict=True)]
    given = [array for array, port in ports[:inputs] if port.name not in values]
    arguments = [f"const {dtype} *{array}" for array in given]
    arguments += [f"{dtype} *{array}" for array in names[inputs:]]
    suffix, first = "" if dtype == "double" else "f", 0
    known, body = {}, []
    for array, port in ports[:inputs]:
        if port.name in values:
            known[array] = values[port.name]
            if first in program.needed:
                body.append(f"static const {dtype} {array} = {known[array]!r}{suffix};")
        first += port.size

    def element(array: str, port: Port, k: int) -> str:
        return array if array in known else f"{array}[{k}]"

    body += statements(program, dtype, names, element)
    return "\n".join(
        [
            "#include <math.h>",
            "",
            f"/* {program.name}",
            *port_comments(program, names),
            " * No output may overlap an input. */",
            f"void {legal_name(name or program.name, C_WORDS)}({', '.join(arguments)})",
            "{",
            *(f"    {line}" for line in body),
            "}",
            "",
        ]
    )
