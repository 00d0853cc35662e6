"""Python: a module of functions over numpy arrays, which needs numpy alone."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from robodyn.codegen.text.assignments import plain
from robodyn.codegen.text.python import RESERVED, python_function, python_head, python_prologue
from robodyn.exporting.unit.statements import Syntax, lines, local_names, whole_arrays
from robodyn.exporting.unit.unit import (
    Call,
    Expression,
    Procedure,
    Unit,
    Value,
    legal_name,
    legal_names,
)
from robodyn.version import __version__

#: Modules that would be hidden by one of ours.
MODULES = frozenset({"numpy", *sys.stdlib_module_names})


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``ROBOT.py``, with a function for each routine and each procedure."""
    names = legal_names(unit.names, RESERVED | local_names(unit.procedures))
    functions = [
        python_function(x.program, names[x.name], x.about, unit.dtype) for x in unit.routines
    ]
    functions += (python_procedure(x, names[x.name], names) for x in unit.procedures)
    head = f'"""Equations of the robot {plain(unit.robot.name)}, by robodyn {__version__}."""\n'
    exported = f"__all__ = {sorted(names.values())!r}\n"
    text = "\n\n".join([python_prologue(unit.dtype), exported, *functions])
    return {f"{legal_name(unit.name, RESERVED | MODULES)}.py": f"{head}\n{text}"}


def python_procedure(procedure: Procedure, name: str, names: Mapping[str, str]) -> str:
    """The text of the function; leading axes of arrays are batches.

    It calls the functions of the module by ``names``, which are those of routines to those in the
    code.
    """
    outputs = [port.name for port in procedure.outputs]
    arrays = [*(port.name for port in procedure.inputs), *outputs]
    text = [*python_head(name, procedure.about, arrays, procedure.inputs, procedure.outputs)]
    text += (f"    {line}" for line in lines(procedure.statements, _syntax(names)))
    return "\n".join([*text, f"    return {', '.join(outputs)}", ""])


def _syntax(names: Mapping[str, str]) -> Syntax:
    def call(x: Call) -> str:
        given, found = (", ".join(y.name for y in values) for values in (x.inputs, x.outputs))
        return f"{found} = {names[x.routine.name]}({given})"

    def assign(result: Value, x: Expression) -> list[str]:
        return [f"{result.name} = {whole_arrays(x, f'np.full({result.size}, {x!r})')}"]

    def loop(gap: Value, least: float, most: int) -> tuple[list[str], list[str], list[str]]:
        # of a batch all states are looked at until none has a gap
        head = ["rounds = 0", f"while rounds < {most} and np.any({gap.name} > {least!r}):"]
        return head, ["rounds += 1"], []

    return Syntax(assign, call, loop)
