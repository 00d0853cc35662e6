"""MATLAB and Octave: a file for each function."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.codegen.text.matlab import RESERVED, matlab_checks, matlab_head, matlab_source
from robodyn.errors import SettingsError
from robodyn.exporting.unit.statements import Syntax, lines, local_names, whole_arrays
from robodyn.exporting.unit.unit import Call, Expression, Procedure, Unit, Value, legal_names

#: Letters of a name that MATLAB reads (namelengthmax).
LONGEST = 63


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``NAME.m`` for each routine and each procedure.

    Raises
    ------
    SettingsError
        For a name that is too long.
    """
    names = legal_names(unit.names, RESERVED | local_names(unit.procedures))
    for name in names.values():
        if len(name) > LONGEST:
            raise SettingsError(
                f"the name {name!r} has {len(name)} letters, of which MATLAB reads {LONGEST}: give "
                "the function a shorter one"
            )
    texts = {
        x.name: matlab_source(x.program, names[x.name], x.about, unit.dtype) for x in unit.routines
    }
    for procedure in unit.procedures:
        own = names[procedure.name]
        texts[procedure.name] = matlab_procedure(procedure, own, names, unit.dtype)
    return {f"{names[name]}.m": text for name, text in texts.items()}


def matlab_procedure(procedure: Procedure, name: str, names: Mapping[str, str], dtype: str) -> str:
    """The text of ``name.m``.

    name: Of the function.
    names: Of other functions, by names of routines.
    dtype {"double", "float"}
    """
    arrays = [port.name for port in (*procedure.inputs, *procedure.outputs)]
    text = [*matlab_head(name, procedure.about, arrays, procedure.inputs, procedure.outputs)]
    # columns, as all results are
    text += (f"  {x.name} = {x.name}(:);" for x in procedure.inputs if x.shape)
    text += (f"  {line}" for line in lines(procedure.statements, _syntax(names)))
    return "\n".join([*text, "end", ""]) + matlab_checks(dtype)


def _syntax(names: Mapping[str, str]) -> Syntax:
    def call(x: Call) -> str:
        given, found = (", ".join(y.name for y in values) for values in (x.inputs, x.outputs))
        return f"[{found}] = {names[x.routine.name]}({given});"

    def assign(result: Value, x: Expression) -> list[str]:
        return [f"{result.name} = {whole_arrays(x, f'{x!r} * ones({result.size}, 1)')};"]

    def loop(gap: Value, least: float, most: int) -> tuple[list[str], list[str], list[str]]:
        head = ["rounds = 0;", f"while rounds < {most} && {gap.name} > {least!r}"]
        return head, ["rounds = rounds + 1;"], ["end"]

    return Syntax(assign, call, loop)
