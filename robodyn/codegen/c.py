"""From a program to C99: one function, no dependency but math.h, no allocation."""

from __future__ import annotations

import re

from robodyn.codegen.text import assignments, results
from robodyn.errors import UnknownNameError
from robodyn.symbolic.graph import Port, Program

__all__ = ["c_source"]

TYPES = ("double", "float")


def _identifier(text: str) -> str:
    cleaned = re.sub(r"\W", "_", text)
    return cleaned if cleaned[:1].isalpha() else f"f_{cleaned}"


def _argument(port: Port, dtype: str, const: str) -> str:
    return f"{const}{dtype} *{_identifier(port.name)}"


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
    if dtype not in TYPES:
        raise UnknownNameError("C type", dtype, TYPES)
    suffix = "" if dtype == "double" else "f"
    inputs = [(_identifier(port.name), k) for port in program.inputs for k in range(port.size)]
    outputs = [(_identifier(port.name), k) for port in program.outputs for k in range(port.size)]
    lines = [
        f"    const {dtype} {left} = {right};"
        for left, right in assignments(
            program,
            symbol=lambda index: f"{inputs[index][0]}[{inputs[index][1]}]",
            number=lambda x: repr(x) + suffix,
            call=lambda function, x: f"{function}{suffix}({x})",
        )
    ]
    stores = [
        f"    {array}[{k}] = {value};"
        for (array, k), value in zip(
            outputs,
            results(program, lambda x: repr(x) + suffix),
            strict=True,
        )
    ]
    arguments = [_argument(port, dtype, "const ") for port in program.inputs]
    arguments += [_argument(port, dtype, "") for port in program.outputs]
    comments = [
        f" * {_identifier(port.name)}: {'x'.join(map(str, port.shape)) or 'scalar'} [{port.unit}]"
        for port in (*program.inputs, *program.outputs)
    ]
    return "\n".join(
        [
            "#include <math.h>",
            "",
            f"/* {program.name}",
            *comments,
            " * No output may overlap an input. */",
            f"void {_identifier(name or program.name)}({', '.join(arguments)})",
            "{",
            *lines,
            *stores,
            "}",
            "",
        ]
    )
