"""From a program to a function of MATLAB and Octave, the text of its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robodyn.codegen.text.assignments import Language, argument_names, assignments, indices, plain
from robodyn.literals import Precision
from robodyn.symbolic.graph import Port, Program

#: Words of MATLAB and Octave, and functions that the text uses.
RESERVED = frozenset(
    """
    break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor
    endfunction endif endparfor endswitch endwhile enumeration events for function global if methods
    otherwise parfor persistent properties return spmd switch try until unwind_protect
    unwind_protect_cleanup while
    NaN Inf abs atan2 checked cos cosh double error exp floor isempty isequal isnumeric isreal log
    mat2str max numel real_sqrt select sin single sinh size sqrt tanh zeros
    """.split()
)

_CHECKED = """
function x = checked(x, name, shape)
  if ~isnumeric(x) || ~isreal(x)
    error('robodyn:type', '%s is not an array of real numbers', name);
  end
  if isempty(shape)
    fits = numel(x) == 1;
  elseif numel(shape) == 1
    fits = numel(x) == shape && (shape == 0 || max(size(x)) == shape);
  else
    fits = isequal(size(x), size(zeros(shape)));
  end
  if ~fits
    error('robodyn:size', '%s has the size %s, expected %s', ...
          name, mat2str(size(x)), mat2str(shape));
  end
  x = {dtype}(x);
end
"""

#: Roots of what is negative are complex in MATLAB; here they mean that a result is no number.
_ROOT = """
function y = real_sqrt(x)
  if x < 0
    y = NaN;
  else
    y = sqrt(x);
  end
end
"""

_SELECT = """
function y = select(condition, a, b)
  if condition
    y = a;
  else
    y = b;
  end
end
"""


def matlab_source(program: Program, name: str, about: str, dtype: Precision = "double") -> str:
    """The text of ``name.m``, a function of one state.

    name: Of the function, and of the file; one that MATLAB allows.
    about: What the function computes.
    dtype {"double", "float"}: Of the arithmetic: ``double`` or ``single`` of MATLAB.
    Returns source: Vectors may be rows or columns, results are columns.
    Raises UnknownNameError: For another dtype.
    """
    names = argument_names(program, {*RESERVED, name})
    head = matlab_head(name, about, names, program.inputs, program.outputs)
    body = "\n".join([*head, *_statements(program, names, dtype), "end", ""])
    root, select = (_ROOT if "real_sqrt(" in body else ""), (_SELECT if "select(" in body else "")
    return body + matlab_checks(dtype) + root + select


def matlab_checks(dtype: str) -> str:
    """The function at the end of a file that looks at arguments."""
    return _CHECKED.replace("{dtype}", _kind(dtype))


def matlab_head(
    name: str, about: str, names: Sequence[str], inputs: Sequence[Port], outputs: Sequence[Port]
) -> Iterator[str]:
    """Lines at the beginning of a function: its arguments, which are looked at.

    names: Of all inputs and outputs.
    """
    taken, given = names[: len(inputs)], names[len(inputs) :]
    yield f"function [{', '.join(given)}] = {name}({', '.join(taken)})"
    yield f"%{name.upper()}  {plain(about)}"
    for array, port in zip(names, (*inputs, *outputs), strict=True):
        yield f"%   {array}: {'x'.join(map(str, port.shape)) or 'scalar'} [{port.unit}]"
    for array, port in zip(taken, inputs, strict=True):
        shape = " ".join(map(str, port.shape))
        yield f"  {array} = checked({array}, '{array}', [{shape}]);"


def _kind(dtype: str) -> str:
    return "double" if dtype == "double" else "single"


def _statements(program: Program, names: Sequence[str], dtype: str) -> Iterator[str]:
    """Lines that compute all outputs."""
    language = Language(
        lambda x: {"nan": "NaN", "inf": "Inf"}.get(repr(x), repr(x)),
        _element,
        select="select({}, {}, {})",
        functions={"sqrt": "real_sqrt", "arctan2": "atan2"},
        dtype=dtype,
    )
    nodes, outputs = assignments(program, names, language)
    yield from (f"  {left} = {right};" for left, right in nodes)
    for array, port in zip(names[len(program.inputs) :], program.outputs, strict=True):
        yield f"  {array} = zeros({_sizes(port)}, '{_kind(dtype)}');"
    yield from (f"  {place} = {value};" for place, value in outputs)


def _sizes(port: Port) -> str:
    """Sizes along the axes, of which MATLAB has two at least."""
    return ", ".join(map(str, (*port.shape, 1, 1)[: max(2, len(port.shape))]))


def _element(array: str, port: Port, k: int) -> str:
    return f"{array}({', '.join(map(str, indices(port, k, 1)))})" if port.shape else array
