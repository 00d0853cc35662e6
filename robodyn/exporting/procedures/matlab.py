"""A procedure as a function of MATLAB and Octave, beside the files of those that it calls."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.codegen.text.matlab import matlab_checks, matlab_head
from robodyn.exporting.procedures.statements import Syntax, lines
from robodyn.exporting.unit.procedure import Procedure

__all__ = ["matlab_procedure"]


def matlab_procedure(procedure: Procedure, name: str, names: Mapping[str, str], dtype: str) -> str:
    """The text of ``name.m``.

    Parameters
    ----------
    procedure : Procedure
    name : str
        Of the function.
    names : mapping of str to str
        Of other functions, by names of routines.
    dtype : {"double", "float"}
    """
    arrays = [port.name for port in (*procedure.inputs, *procedure.outputs)]
    text = [*matlab_head(name, procedure.about, arrays, procedure.inputs, procedure.outputs)]
    # columns, as all results are
    text += (f"  {x.name} = {x.name}(:);" for x in procedure.inputs if x.shape)
    text += (f"  {line}" for line in lines(procedure, names, _MATLAB))
    return "\n".join([*text, "end", ""]) + matlab_checks(dtype)


def _loop(gap: str, least: float, most: int) -> tuple[list[str], list[str], list[str]]:
    head = ["rounds = 0;", f"while rounds < {most} && {gap} > {least!r}"]
    return head, ["rounds = rounds + 1;"], ["end"]


_MATLAB = Syntax(
    filled=lambda size, value: f"{value!r} * ones({size}, 1)",
    call=lambda name, given, found: f"[{', '.join(found)}] = {name}({', '.join(given)})",
    loop=_loop,
    end=";",
)
