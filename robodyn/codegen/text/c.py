"""From a program to C99: one function, no dependency but math.h, no allocation."""

from __future__ import annotations

from robodyn.codegen.text.assignments import (
    C_WORDS,
    argument_names,
    check_type,
    legal_name,
    port_comments,
    statements,
)
from robodyn.symbolic.graph import Program

__all__ = ["c_source"]


def c_source(program: Program, name: str | None = None, dtype: str = "double") -> str:
    """C99 source of a program.

    Parameters
    ----------
    program : Program
    name : str, optional
        Of the function. Default: the program's.
    dtype : {"double", "float"}

    Returns
    -------
    source : str
        ``void name(const dtype *input, ..., dtype *output, ...)``; arrays are row-major.

    Raises
    ------
    UnknownNameError
        For another dtype.
    """
    check_type(dtype)
    names, inputs = argument_names(program), len(program.inputs)
    arguments = [f"const {dtype} *{array}" for array in names[:inputs]]
    arguments += [f"{dtype} *{array}" for array in names[inputs:]]
    body = statements(program, dtype, names, lambda array, port, k: f"{array}[{k}]")
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
