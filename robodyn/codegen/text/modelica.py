"""From programs to functions of Modelica."""

from __future__ import annotations

import math

from robodyn.codegen.text.assignments import Language, argument_names, assignments, indices, plain
from robodyn.errors import SettingsError
from robodyn.symbolic.graph import Port, Program

#: Words and functions of Modelica, and a function of ours.
RESERVED = frozenset(
    """
    algorithm and annotation assert block break class connect connector constant constrainedby der
    discrete each else elseif elsewhen encapsulated end enumeration equation expandable extends
    external false final flow for function if import impure in initial inner input loop model not
    operator or outer output package parameter partial protected public pure record redeclare
    replaceable return stream then true type when while within
    Boolean Clock Integer Modelica Real StateSelect String abs acos actualStream array asin atan
    atan2 backSample cardinality cat ceil change cos cosh cross delay diagonal div edge exp fill
    floor getInstanceName hold homotopy identity inStream initial integer interval linspace log
    log10 matrix max min mod ndims noClock noEvent ones outerProduct pre previous product promote
    real_sqrt reinit rem sample scalar semiLinear shiftSample sign sin sinh size skew smooth
    spatialDistribution sqrt subSample sum superSample symmetric tan tanh terminal terminate time
    transpose vector zeros
    """.split()
)

#: Roots of what is negative say that equations have no solution; Modelica has no NaN for that.
REAL_SQRT = """\
function real_sqrt "Square root, where equations have a solution"
  input Real x;
  output Real y;
algorithm
  assert(x >= 0, "the loops are open or the state is singular: there are no numbers");
  y := sqrt(x);
end real_sqrt;
"""


def modelica_function(program: Program, name: str, about: str) -> str:
    """A function of one state, which calls the function `REAL_SQRT` of its package.

    name: One that Modelica allows.
    about: What the function computes.
    Returns source
    Raises SettingsError: For equations with infinite numbers, which Modelica cannot write.
    """
    names = argument_names(program, {*RESERVED, name})

    def number(x: float) -> str:
        if math.isnan(x):  # a side of a selection: where it is taken, there is no number
            return "real_sqrt(-1.0)"
        if not math.isfinite(x):
            raise SettingsError(
                f"{program.name} has a number in its equations that is {float(x)}, which Modelica "
                "cannot write; leave this function out"
            )
        return repr(float(x))

    functions = {"sqrt": "real_sqrt", "arctan2": "atan2"}
    language = Language(number, _element, select="if {} then {} else {}", functions=functions)
    body, outputs = assignments(program, names, language)
    lines = [f'function {name} "{plain(about)}"']
    for k, (array, port) in enumerate(zip(names, (*program.inputs, *program.outputs), strict=True)):
        way = "input" if k < len(program.inputs) else "output"
        sizes = f"[{', '.join(map(str, port.shape))}]" if port.shape else ""
        lines.append(f'  {way} Real {array}{sizes} "{plain(port.unit)}";')
    if body:
        lines.append("protected")
        lines += [f"  Real {left};" for left, _ in body]
    lines.append("algorithm")
    lines += [f"  {left} := {right};" for left, right in (*body, *outputs)]
    return "\n".join([*lines, f"end {name};", ""])


def _element(array: str, port: Port, k: int) -> str:
    return f"{array}[{', '.join(map(str, indices(port, k, 1)))}]" if port.shape else array
