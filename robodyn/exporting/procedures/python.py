"""A procedure as a function of Python, beside the functions that it calls."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.codegen.text.python import python_head
from robodyn.exporting.procedures.statements import Syntax, lines
from robodyn.exporting.unit.procedure import Procedure

__all__ = ["python_procedure"]


def python_procedure(procedure: Procedure, name: str, names: Mapping[str, str]) -> str:
    """The text of the function; leading axes of arrays are batches.

    Parameters
    ----------
    procedure : Procedure
    name : str
        Of the function.
    names : mapping of str to str
        Of functions in the module, by names of routines.
    """
    outputs = [port.name for port in procedure.outputs]
    arrays = [*(port.name for port in procedure.inputs), *outputs]
    text = [*python_head(name, procedure.about, arrays, procedure.inputs, procedure.outputs)]
    text += (f"    {line}" for line in lines(procedure, names, _PYTHON))
    return "\n".join([*text, f"    return {', '.join(outputs)}", ""])


def _loop(gap: str, least: float, most: int) -> tuple[list[str], list[str], list[str]]:
    """Of a batch all states are looked at until none has a gap."""
    head = ["rounds = 0", f"while rounds < {most} and np.any({gap} > {least!r}):"]
    return head, ["rounds += 1"], []


_PYTHON = Syntax(
    filled=lambda size, value: f"np.full({size}, {value!r})",
    call=lambda name, given, found: f"{', '.join(found)} = {name}({', '.join(given)})",
    loop=_loop,
)
