"""The source file of a unit in C, the functions in it, and what each costs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from robodyn.codegen.text.assignments import argument_names, statements
from robodyn.exporting.c_code.motion_state import controller_functions, motion
from robodyn.exporting.c_code.signature import CFunction, CNames, parameters, without_residual
from robodyn.exporting.c_code.statements import checks, helpers, procedure_in_c
from robodyn.exporting.unit.unit import Routine
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Program
from robodyn.tolerances import LOOP_CLOSED, SINGLE_PRECISION_CLOSURE


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
