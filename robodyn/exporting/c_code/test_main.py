"""A program in C that compares the functions of a unit with numbers of robodyn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.text.assignments import literal
from robodyn.errors import SimulationError
from robodyn.exporting.c_code.motion_state import signals
from robodyn.exporting.c_code.signature import Names, comment, of_routine
from robodyn.exporting.unit.procedure import Routine
from robodyn.exporting.unit.unit import Step, Unit
from robodyn.simulation.simulate import simulate
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import MUL, SQRT, Port, Program
from robodyn.tolerances import EXPORTED

__all__ = ["test_main"]

#: States that are tried, to find some at which a function has numbers, and the most that are kept.
EXAMPLES, KEPT = 20, 8

#: Sizes of the numbers of a state, by turns: limits are kept at some, and passed at others.
SIZES = 0.5, 5000.0, 0.005, 50.0
#: The longest time that is tried [s]: single precision knows the phase of a wave at it.
LATEST = 10.0

#: Steps of a motion that are tried.
STEPS = 100

_HEAD = """\
/* Compares the functions of {prefix}.h with numbers of robodyn. */
#include "{prefix}.h"

#include <math.h>
#include <stdio.h>

static int failures = 0;
"""

_COMPARE = """
static void compare(const char *what, const {dtype} *found, const {dtype} *expected, int n)
{{
    double largest = 1.0;
    for (int i = 0; i < n; i++) {{
        largest = fmax(largest, fabs((double)expected[i]));
    }}
    for (int i = 0; i < n; i++) {{
        if (!(fabs((double)found[i] - (double)expected[i]) <= {near!r} * largest)) {{
            printf("%s[%d] is %.9g, expected %.9g\\n", what, i, (double)found[i],
                   (double)expected[i]);
            failures++;
            return;
        }}
    }}
}}
"""


def test_main(names: Names) -> str:
    """The text of the program, whose exit status is 1 where a number differs."""
    unit = names.unit
    rng = np.random.default_rng(0)
    tests, text = list[str](), list[str]()
    for k, routine in enumerate(unit.routines):
        for n, (given, expected) in enumerate(_examples(routine, names, rng)):
            lines, own = _compared(routine, names, given, expected), f"test_{k}_{n}"
            text += ["", f"static void {own}(void) /* {comment(routine.name)} */", "{"]
            text += [*(f"    {x}" for x in lines), "}"]
            tests.append(f"{own}();")
    if unit.step is not None:
        text += ["", "static void test_motion(void)", "{"]
        text += [*(f"    {x}" for x in _motion(names)), "}"]
        tests.append("test_motion();")
    if any("compare(" in line for line in text):
        text.insert(0, _COMPARE.format(dtype=unit.dtype, near=EXPORTED[unit.dtype]))
    text.insert(0, _HEAD.format(prefix=names.prefix))
    end = [*tests, r'printf("%d failed\n", failures);', "return failures != 0;"]
    return "\n".join([*text, "", "int main(void)", "{", *(f"    {x}" for x in end), "}", ""])


def _examples(
    routine: Routine, names: Names, rng: np.random.Generator
) -> Iterator[tuple[Sequence[FloatArray], Sequence[FloatArray]]]:
    """Inputs and outputs of a routine: at one state, or on both sides of each limit it has."""
    program, seen = routine.program, set[tuple[int, bool]]()
    sides = _sides(program)
    kept = 0
    for k in range(EXAMPLES):
        size = SIZES[k % len(SIZES)] if sides.results else SIZES[0]
        given = [_example(port, names, rng, size) for port in program.inputs]
        with np.errstate(all="ignore"):
            expected = evaluate(program, *given)
            (side,) = evaluate(sides, *given)
        new = {*enumerate((side > 0.0).tolist())} - seen
        if all(np.isfinite(x).all() for x in (*expected, side)) and (new or not kept):
            yield given, expected
            seen, kept = seen | new, kept + 1
        if kept and (kept == KEPT or len(seen) == 2 * side.size):
            return


def _sides(program: Program) -> Program:
    """A program with the numbers of which another takes the size, as limits do."""
    graph = program.graph
    roots = (graph.a[node] for node in program.live() if graph.op[node] == SQRT)
    squares = (x >> 1 for x in roots if graph.op[x >> 1] == MUL)
    edges = tuple(graph.a[x] for x in squares if graph.a[x] == graph.b[x])
    outputs = (Port("sides", (len(edges),)),)
    return Program("sides", program.inputs, outputs, graph, edges)


def _compared(
    routine: Routine, names: Names, given: Sequence[FloatArray], expected: Sequence[FloatArray]
) -> Iterator[str]:
    """Statements that call a routine and compare."""
    program, dtype = routine.program, names.unit.dtype
    numbers = [*given, *expected]
    ports = (*program.inputs, *program.outputs)
    arrays = [(x, y) for x, y in zip(ports, numbers, strict=True) if x.size]
    arguments, compared = [], []
    for k, (own, (port, values)) in enumerate(zip(of_routine(routine), arrays, strict=True)):
        texts = ", ".join(literal(x, dtype) for x in values.ravel().tolist())
        if own.is_number:
            arguments.append(texts)
            continue
        yield f"const {dtype} x{k}[{port.size}] = {{{texts}}};"
        arguments.append(f"y{k}" if own.is_output else f"x{k}")
        if own.is_output:
            yield f"{dtype} y{k}[{port.size}];"
            what = comment(f"{routine.name}, {port.name}").replace("%", "%%")
            compared.append(f'compare("{what}", y{k}, x{k}, {port.size});')
    yield f"{names.of(routine.name)}({', '.join(arguments)});"
    yield from compared


def _example(port: Port, names: Names, rng: np.random.Generator, size: float) -> FloatArray:
    """Numbers of an input: a closed posture, and else any of a size."""
    if port.name == "q" and port.shape == (names.unit.robot.nq,):
        return names.unit.start[0]
    if port.name == "t":
        size = min(size, LATEST)
    return np.asarray(rng.uniform(-size, size, port.shape), float)


def _moved(unit: Unit, own: Step) -> Trajectory | None:
    """The motion from rest without forces, as far as it goes; None where it has a controller."""
    if own.update is not None:
        return None
    q, v = unit.start
    run: Trajectory
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            run = simulate(
                unit.robot, q0=q, v0=v, duration=STEPS * own.h, step=own.h,
                integrator=own.integrator, limits="ignore",
            )  # fmt: skip
        except SimulationError as error:
            run = error.trajectory
    return run


def _motion(names: Names) -> Iterator[str]:
    """Statements that begin a motion at rest, do some steps, and compare where it arrives."""
    unit, step = names.unit, names.unit.step
    assert step is not None
    run, steps = _moved(unit, step), STEPS
    if run is not None and len(run) <= STEPS:  # it fails there, and before that digits go
        steps = len(run) // 2
    arguments = ["&motion"]
    for k, x in enumerate(signals(step)):
        if x.is_number:
            arguments.append(literal(0.0, unit.dtype))
        else:
            yield f"const {unit.dtype} x{k}[{x.port.size}] = {{{literal(0.0, unit.dtype)}}};"
            arguments.append(f"x{k}")
    for name, values in zip("qv", unit.start, strict=True):
        numbers = ", ".join(literal(x, unit.dtype) for x in values.tolist())
        yield f"const {unit.dtype} {name}[{names.macro}_N{name.upper()}] = {{{numbers}}};"
    yield f"{names.own('state')} motion;"
    yield f"{names.own('result')} result = {names.own('begin')}(&motion, q, v);"
    yield f"for (int k = 0; k < {steps} && result == {names.macro}_OK; k++) {{"
    yield f"    result = {names.own('step')}({', '.join(arguments)});"
    yield "}"
    yield f"if (result != {names.macro}_OK) {{"
    yield '    printf("the motion ends with result %d\\n", (int)result);'
    yield "    failures++;"
    yield "}"
    if run is not None:
        for name in "qv":
            values = getattr(run, name)[steps]
            numbers = ", ".join(literal(x, unit.dtype) for x in values.tolist())
            yield f"const {unit.dtype} {name}_end[{values.size}] = {{{numbers}}};"
            what = f"motion after {steps} steps, {name}"
            yield f'compare("{what}", motion.{name}, {name}_end, {values.size});'
