"""Programs as functions of CasADi, and as matrices of SymPy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from operator import add, le, lt, mul, truediv
from typing import Any

from robodyn.errors import optional
from robodyn.symbolic import ops
from robodyn.symbolic.evaluate import results_of
from robodyn.symbolic.graph import Port, Program

_ARITHMETIC: dict[int, Callable[..., Any]] = {
    ops.ADD: add, ops.MUL: mul, ops.DIV: truediv, ops.LESS: lt, ops.LESS_EQUAL: le,
    ops.SIDES: lambda a, b: (a, b),
}  # fmt: skip


def casadi_function(program: Program) -> Any:
    """A program as a ``casadi.Function`` over scalars.

    Raises MissingExtraError: Without CasADi.
    """
    casadi = optional("casadi", "casadi", "symbols of CasADi")
    operations = _ARITHMETIC | {
        op: getattr(casadi, _ELSEWHERE.get(name, name)) for op, name in ops.FUNCTIONS.items()
    }
    operations[ops.SELECT] = lambda condition, sides: casadi.if_else(condition, *sides)
    names = _names((*program.inputs, *program.outputs))
    given = [
        casadi.SX.sym(name, *_matrix_shape(port))
        for name, port in zip(names, program.inputs, strict=False)
    ]
    scalars = [x[i, j] for x, port in zip(given, program.inputs, strict=True) for i, j in _at(port)]
    values = iter(results_of(program, scalars, casadi.SX, operations))
    found = []
    for port in program.outputs:
        matrix = casadi.SX.zeros(*_matrix_shape(port))
        for i, j in _at(port):
            matrix[i, j] = next(values)
        found.append(casadi.sparsify(matrix))
    count = len(program.inputs)
    name = re.sub(r"\W|^(?=\d)", "_", program.name)
    return casadi.Function(name, given, found, names[:count], names[count:])


def sympy_matrices(program: Program) -> dict[str, Any]:
    """Inputs and outputs of a program as ``sympy.Matrix`` by name.

    Raises MissingExtraError: Without SymPy.
    """
    sympy = optional("sympy", "sympy", "symbols of SymPy")
    operations = _ARITHMETIC | {
        op: getattr(sympy, {"abs": "Abs"}.get(name, _ELSEWHERE.get(name, name)))
        for op, name in ops.FUNCTIONS.items()
    }
    operations[ops.SELECT] = lambda condition, sides: sympy.Piecewise(
        (sides[0], condition), (sides[1], True)
    )
    names = _names((*program.inputs, *program.outputs))
    scalars, found = [], {}
    for name, port in zip(names, program.inputs, strict=False):
        own = sympy.symbols(f"{name}_:{port.size}", real=True)
        scalars += own
        found[name] = sympy.Matrix(*_matrix_shape(port), own)
    values = results_of(program, scalars, lambda x: _number(sympy, x), operations)
    first = 0
    for name, port in zip(names[len(program.inputs) :], program.outputs, strict=True):
        found[name] = sympy.Matrix(*_matrix_shape(port), values[first : first + port.size])
        first += port.size
    return found


#: Names of functions in CasADi and SymPy, where they differ from numpy's.
_ELSEWHERE = {"arctan2": "atan2", "abs": "fabs"}


def _number(sympy: Any, value: float) -> Any:
    """Whole numbers stay whole; others keep all their digits."""
    return sympy.Integer(int(value)) if value.is_integer() else sympy.Float(value, 17)


def _matrix_shape(port: Port) -> tuple[int, int]:
    """A vector is a column."""
    rows = port.shape[0] if port.shape else 1
    return rows, math.prod(port.shape[1:])


def _at(port: Port) -> list[tuple[int, int]]:
    """Places of the numbers of an array in its matrix, in their order."""
    rows, columns = _matrix_shape(port)
    return [(i, j) for i in range(rows) for j in range(columns)]


def _names(ports: Sequence[Port]) -> list[str]:
    """Names of arrays as identifiers, each once."""
    found: list[str] = []
    for port in ports:
        name = re.sub(r"\W+", "_", port.name).strip("_")
        while name in found:
            name += "_"
        found.append(name)
    return found
