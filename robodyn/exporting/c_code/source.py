"""The files of a unit in C: the source, with what each function costs, and the headers.

The header of C++ takes arrays for pointers and throws exceptions for results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from robodyn.codegen.text.assignments import C_WORDS, argument_names, statements
from robodyn.exporting.c_code.motion_state import (
    controller_functions,
    controller_state,
    motion,
    signals,
    state,
)
from robodyn.exporting.c_code.signature import (
    MACROS,
    CFunction,
    CNames,
    Parameter,
    comment,
    parameters,
    without_residual,
)
from robodyn.exporting.c_code.statements import checks, helpers, procedure_in_c
from robodyn.exporting.templates import template
from robodyn.exporting.unit.unit import Routine, Step
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Program
from robodyn.tolerances import LOOP_CLOSED, SINGLE_PRECISION_CLOSURE
from robodyn.version import __version__


def source(names: CNames) -> str:
    """The source file, in which functions stand after those that they call."""
    unit, step = names.unit, names.unit.step
    lines = [f'#include "{names.prefix}.h"', "", "#include <math.h>"]
    functions = [*assemblies(names)]
    if step is not None:
        closing = [] if step.close is None else [procedure_in_c(step.close, "close_loops", names)]
        functions += [*closing, procedure_in_c(step.advance, "advance", names)]
        functions += motion(step, names)
    if unit.control is not None:
        functions += controller_functions(unit.control, names)
    for function in routines(names):
        lines += function.defined()
    if unit.procedures or unit.control is not None:
        lines += helpers(names, any(x.outputs[-1].name == "residual" for x in unit.procedures))
    for function in functions:
        lines += function.defined()
    return "\n".join([*lines, ""])


def routines(names: CNames) -> Iterator[CFunction]:
    """Functions of straight-line code."""
    for routine in names.unit.routines:
        dtype, given = names.unit.dtype, parameters(routine)
        declared = [x.declared(dtype) for x in given]
        code = _straight_line(routine, dtype)
        notes = [*(x.description for x in given), cost(routine.program, dtype)]
        yield CFunction("void", names.of(routine.name), declared, code, routine.about, notes)


def _straight_line(routine: Routine, dtype: str) -> Iterator[str]:
    program = routine.program
    by_name = {x.name: x for x in parameters(routine)}
    own = argument_names(program)
    ends = accumulate(port.size for port in program.inputs)
    needed = set(program.needed)
    for name, port, end in zip(own, program.inputs, ends, strict=False):
        if port.size and needed.isdisjoint(range(end - port.size, end)):
            yield f"(void){name};"
    yield from statements(program, dtype, own, lambda name, port, k: by_name[name].element(k))


def assemblies(names: CNames) -> Iterator[CFunction]:
    """Functions that close loops and say whether they did, each after one that tries."""
    dtype = names.unit.dtype
    closed = SINGLE_PRECISION_CLOSURE if dtype == "float" else LOOP_CLOSED
    for k, procedure in enumerate(names.unit.assemblies):
        trying, given = f"assembling{k}", without_residual(procedure)
        yield procedure_in_c(procedure, trying, names)
        found, residual = procedure.outputs
        lines = [
            f"{dtype} residual[{residual.size}];",
            f"{trying}({', '.join(x.name for x in parameters(procedure))});",
            *checks([(found.name, found.size)], residual.size, closed, names),
            f"return {names.macro}_OK;",
        ]
        declared, notes = [x.declared(dtype) for x in given], [x.description for x in given]
        returns, name = names.own("result"), names.of(procedure.name)
        yield CFunction(returns, name, declared, lines, procedure.about, notes)


#: Bytes of a number.
SIZES = {"double": 8, "float": 4}


def cost(program: Program, dtype: str) -> str:
    """A line about a function: its operations, and how much of the stack its numbers take."""
    counted = [f"{n} {kind}" for kind, n in program.operations().items() if n]
    alive = SIZES[dtype] * most_alive(program)
    return f"{', '.join(counted) or 'no operations'}; about {alive} bytes of stack"


def most_alive(program: Program) -> int:
    """The most numbers that are needed later, between two operations in the order of the code."""
    graph, last = program.graph, dict[int, int]()
    unnamed = ops.CONST, ops.LESS, ops.LESS_EQUAL, ops.SIDES
    nodes = [x for x in program.live() if graph.op[x] not in unnamed]
    for k, node in enumerate(nodes):
        for edge in graph.operands(node):
            last[edge >> 1] = k
    for edge in program.results:
        last[edge >> 1] = len(nodes)
    ends = [0] * (len(nodes) + 1)
    alive = most = 0
    for k, node in enumerate(nodes):
        alive += 1 - ends[k]
        ends[last[node]] += 1
        most = max(most, alive)
    return most


def header(names: CNames) -> str:
    """The header."""
    unit, guard = names.unit, f"{names.macro}_H"
    title = comment(f"Equations of the robot {unit.robot.name}, by robodyn {__version__}.")
    return "\n".join(
        (
            f"/* {title}",
            " * Matrices are row-major. What is written overlaps nothing else. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            *_joints(names),
            *_declarations(names),
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            "#endif",
            "",
        )
    )


def _joints(names: CNames) -> Iterator[str]:
    """Which numbers are those of which joint, and the order of motors."""
    about = "Joints, by their places in q, and in v, a and tau"
    yield f"/* {about}; motors (actuated joints) in their order. */"
    yield "enum {"
    places = [
        f"    {own} = {place.value}, /* {comment(place.about)} */"
        for own, place in names.places.items()
    ]
    yield from places
    robot = names.unit.robot
    yield f"    {names.macro}_NU = {len(robot.actuated_joints)}, /* motors */"
    yield f"    {names.macro}_NQ = {robot.nq},"
    yield f"    {names.macro}_NV = {robot.nv}"
    yield "};"


def _declarations(names: CNames) -> Iterator[str]:
    """All that a unit has."""
    unit = names.unit
    for function in routines(names):
        yield from function.declared()
    if unit.procedures or unit.control is not None:
        yield from _result(names)
    for function in assemblies(names):
        if function.about:
            yield from function.declared()
    if unit.step is not None:
        yield from ("", *state(unit.step, names))
        for function in motion(unit.step, names):
            yield from function.declared()
    if unit.control is not None:
        yield from ("", *controller_state(unit.control, names))
        for function in controller_functions(unit.control, names):
            yield from function.declared()


def _result(names: CNames) -> Iterator[str]:
    """What functions return that can fail."""
    yield from (
        "",
        "/* Whether all is well. */",
        "typedef enum {",
        f"    {names.macro}_OK,",
        f"    {names.macro}_OPEN, /* loops are open, or do not close */",
        f"    {names.macro}_NOT_FINITE /* something is infinite or not a number */",
        f"}} {names.own('result')};",
    )


#: Names in the namespace besides those of functions.
OWN = frozenset({"Motion", "Real", "check", "nq", "nv", "std"})


def cpp_header(names: CNames) -> str:
    """The text of the header, for C++11 and later."""
    unit = names.unit
    text = template(
        "unit.hpp",
        title=comment(f"Equations of the robot {unit.robot.name}."),
        macro=names.macro,
        prefix=names.prefix,
        dtype=unit.dtype,
        nq=unit.robot.nq,
        nv=unit.robot.nv,
    )
    parts = [text]
    for routine in unit.routines:
        parts.append(_function(names, routine.name, routine.about, parameters(routine), False))
    if unit.procedures:
        parts.append(
            template(
                "check.hpp", macro=names.macro, prefix=names.prefix, result=names.own("result")
            )
        )
    for own in unit.assemblies:
        parts.append(_function(names, own.name, own.about, without_residual(own), True))
    if unit.step is not None:
        parts.append(_motion(unit.step, names))
    return "\n".join([*parts, "} // namespace", "", "#endif", ""])


def _function(
    names: CNames, name: str, about: str, given: Sequence[Parameter], checked: bool
) -> str:
    """A function that returns what the one in C writes."""
    in_c = names.of(name)
    own = in_c.removeprefix(f"{names.prefix}_")
    own = f"{own}_" if own in OWN | C_WORDS | MACROS else own
    outputs = [x for x in given if x.is_output]
    kinds = [_kind(x) for x in outputs]
    returns = kinds[0] if len(kinds) == 1 else f"std::tuple<{', '.join(kinds)}>"
    shown = (
        outputs[0].name if len(kinds) == 1 else f"{returns}({', '.join(x.name for x in outputs)})"
    )
    call = f"{in_c}({', '.join(map(_argument, given))})"
    lines = [
        *(f"{kind} {x.name}{{}};" for kind, x in zip(kinds, outputs, strict=True)),
        f"check({call});" if checked else f"{call};",
        f"return {shown};",
    ]
    head = [f"/// {comment(about)}", *(f"/// {x.description}" for x in given)]
    head.append(f"inline {returns} {own}({_declared(x for x in given if not x.is_output)})")
    return "\n".join(["", *head, "{", *(f"    {x}" for x in lines), "}", ""])


def _kind(x: Parameter) -> str:
    return f"std::array<Real, {x.port.size}>" if x.port.shape else "Real"


def _declared(given: Iterable[Parameter]) -> str:
    """Parameters of a function."""
    return ", ".join(
        f"Real {x.name}" if x.is_number else f"const {_kind(x)} &{x.name}" for x in given
    )


def _argument(x: Parameter) -> str:
    """An argument of the function in C."""
    if x.is_number:
        return x.name
    return f"{x.name}.data()" if x.port.shape else f"&{x.name}"


def _motion(own: Step, names: CNames) -> str:
    """The class of motions."""
    return template(
        "motion.hpp",
        h=f"{own.h:g}",
        state=names.own("state"),
        begin=names.own("begin"),
        given=_declared(signals(own)) if own.update else "const std::array<Real, nv> &tau",
        statements="\n".join(f"        {x}" for x in _step(own, names)),
    )


def _step(own: Step, names: CNames) -> Iterator[str]:
    if own.update is None:
        yield "std::copy(tau.begin(), tau.end(), state.tau);"
    arguments = ["&state", *map(_argument, signals(own))]
    yield f"check({names.own('step')}({', '.join(arguments)}));"
