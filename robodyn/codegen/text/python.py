"""From a program to a function of Python that needs numpy alone."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Iterator, Sequence

from robodyn.codegen.text.assignments import Language, argument_names, assignments, indices, plain
from robodyn.literals import Precision
from robodyn.symbolic.graph import Port, Program

#: Names that Python has, and names in the text around functions.
RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "batch"})

_ARGUMENT = '''\
import numpy as np


def _argument(name, x, shape):
    """The numbers of an argument, whose last axes are those of one state."""
    x = np.asarray(x, {dtype})
    if x.shape[max(x.ndim - len(shape), 0) :] != shape:
        raise ValueError(f"{{name}} has shape {{x.shape}}, expected (..., *{{shape}})")
    return x
'''


def python_prologue(dtype: Precision = "double") -> str:
    """What stands before functions in their module.

    dtype {"double", "float"}: Of the arithmetic.
    Raises UnknownNameError: For another dtype.
    """
    return _ARGUMENT.format(dtype=_kind(dtype))


def python_function(program: Program, name: str, about: str, dtype: Precision = "double") -> str:
    """A function over numpy arrays, whose leading axes are batches.

    name: One that Python allows.
    about: What the function computes.
    dtype {"double", "float"}: As of `python_prologue`.
    """
    names = argument_names(program, RESERVED)
    lines = [*python_head(name, about, names, program.inputs, program.outputs)]
    shapes = [
        f"{array}.shape[: {array}.ndim - {len(port.shape)}]"
        for array, port in zip(names[: len(program.inputs)], program.inputs, strict=True)
    ]
    lines.append(f"    batch = np.broadcast_shapes({', '.join(shapes)})")
    lines += _statements(program, names, dtype)
    returned = ", ".join(f"{array}[()]" for array in names[len(program.inputs) :])
    return "\n".join([*lines, f"    return {returned}", ""])


def python_head(
    name: str, about: str, names: Sequence[str], inputs: Sequence[Port], outputs: Sequence[Port]
) -> Iterator[str]:
    """Lines at the beginning of a function: its arguments, which are looked at.

    names: Of all inputs and outputs.
    """
    taken, given = names[: len(inputs)], names[len(inputs) :]
    yield f"def {name}({', '.join(taken)}):"
    yield f'    """{plain(about)}'
    for title, arrays, ports in (("Parameters", taken, inputs), ("Returns", given, outputs)):
        yield ""
        yield f"    {title}"
        yield f"    {'-' * len(title)}"
        for array, port in zip(arrays, ports, strict=True):
            shape = ", ".join(("...", *map(str, port.shape)))
            yield f"    {array} : ndarray, shape ({shape}) [{plain(port.unit)}]"
    yield '    """'
    for array, port in zip(taken, inputs, strict=True):
        yield f"    {array} = _argument({array!r}, {array}, {port.shape!r})"


def _kind(dtype: str) -> str:
    return "np.float64" if dtype == "double" else "np.float32"


def _statements(program: Program, names: list[str], dtype: str) -> Iterator[str]:
    """Lines that compute all outputs."""
    language = Language(
        lambda x: repr(x) if math.isfinite(x) else f"np.{x!r}",
        _element,
        select="np.where({}, {}, {})",
        call="np.{}({})",
        dtype=dtype,
    )
    nodes, outputs = assignments(program, names, language)
    if nodes:
        yield '    with np.errstate(all="ignore"):'
        yield from (f"        {left} = {right}" for left, right in nodes)
    for array, port in zip(names[len(program.inputs) :], program.outputs, strict=True):
        yield f"    {array} = np.empty((*batch, *{port.shape!r}), {_kind(dtype)})"
    yield from (f"    {place} = {value}" for place, value in outputs)


def _element(array: str, port: Port, k: int) -> str:
    return f"{array}[{', '.join(('...', *map(str, indices(port, k))))}]"
