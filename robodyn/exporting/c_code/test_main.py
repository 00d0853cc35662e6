"""A program in C that compares the functions of a unit with numbers of robodyn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.text.assignments import literal
from robodyn.errors import RobodynError, SimulationError
from robodyn.exporting.c_code.motion_state import given_of, signals
from robodyn.exporting.c_code.signature import CNames, comment, parameters
from robodyn.exporting.templates import template
from robodyn.exporting.unit.unit import Control, Routine, Step, Unit
from robodyn.simulation.simulate import simulate
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.symbolic import ops
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Port, Program
from robodyn.tolerances import EXPORTED

#: States that are tried, to find some at which a function has numbers, and the most that are kept.
EXAMPLES, KEPT = 64, 8
#: Largest rounding in single precision, as a part of the largest number, of a state that is kept.
ROUNDED = 1e-3
#: What compilers may differ by, over what single precision differs by here; at least, over the
#: distance of numbers.
MARGIN, LEAST = 20.0, 256.0
#: How far joints move from a closed posture [rad, m], by turns.
REACH = 0.7, 1.5, 0.005, 0.3, 0.0, 1.0, 0.005, 0.1

#: Sizes of the numbers of a state, by turns: limits are kept at some, and passed at others.
SIZES = 0.5, 5000.0, 0.005, 50.0
#: The longest time that is tried [s]: single precision knows the phase of a wave at it.
LATEST = 10.0

#: Steps of a motion, and samples of a controller, that are tried.
STEPS, SAMPLES = 100, 4


def test_main(names: CNames) -> str:
    """The text of the program, whose exit status is 1 where a number differs."""
    unit = names.unit
    rng = np.random.default_rng(0)
    tests, text = list[str](), list[str]()
    for k, routine in enumerate(unit.routines):
        for n, example in enumerate(_examples(routine, names, rng)):
            lines, own = _compared(routine, names, example), f"test_{k}_{n}"
            text += ["", f"static void {own}(void) /* {comment(routine.name)} */", "{"]
            text += [*(f"    {x}" for x in lines), "}"]
            tests.append(f"{own}();")
    if unit.step is not None:
        text += ["", "static void test_motion(void)", "{"]
        text += [*(f"    {x}" for x in _motion(names)), "}"]
        tests.append("test_motion();")
    if unit.control is not None:
        text += ["", "static void test_controller(void)", "{"]
        text += [*(f"    {x}" for x in _controller(unit.control, names, rng)), "}"]
        tests.append("test_controller();")
    if any("compare(" in line for line in text):
        text.insert(0, template("compare.c", dtype=unit.dtype))
    text.insert(0, template("test.c", prefix=names.prefix))
    end = [*tests, r'printf("%d failed\n", failures);', "return failures != 0;"]
    return "\n".join([*text, "", "int main(void)", "{", *(f"    {x}" for x in end), "}", ""])


@dataclass(frozen=True, eq=False)
class _Example:
    """A state, what a routine gives there, and how near code has to come to it."""

    given: Sequence[FloatArray]
    expected: Sequence[FloatArray]
    near: Sequence[float]


def _examples(routine: Routine, names: CNames, rng: np.random.Generator) -> Iterator[_Example]:
    """Generic states of a routine, and those on other sides of the limits it has."""
    program, sides = routine.program, _with_compared_sides(routine.program)
    sizes = [SIZES[k % len(SIZES) if sides.results else 0] for k in range(EXAMPLES)]
    tried = [
        [_example(port, names, rng, size, REACH[k % len(REACH)]) for port in program.inputs]
        for k, size in enumerate(sizes)
    ]
    columns = [np.array(x) for x in zip(*tried, strict=True)]
    with np.errstate(all="ignore"):
        right = evaluate(program, *columns)
        rounded = evaluate(program, *columns, dtype=np.float32)
        (compared,) = evaluate(sides, *columns)
        ways = _ways(program, compared)
    usual, rest = list[_Example](), list[tuple[_Example, set[tuple[int, int]]]]()
    seen = set[tuple[int, int]]()
    most = KEPT // (2 if sides.results else 1) if columns else 1
    for k, (given, size) in enumerate(zip(tried, sizes, strict=True)):
        expected, single = (
            [x[k] if x.ndim > len(y.shape) else x for x, y in zip(z, program.outputs, strict=True)]
            for z in (right, rounded)
        )
        at, way = (compared[k], ways[k]) if ways.ndim > 1 else (compared, ways)
        if not all(np.isfinite(x).all() for x in (*expected, at)):
            continue
        largest = [float(np.abs(x).max(initial=0.0)) for x in expected]
        away = [
            float(np.abs(x - y).max(initial=0.0)) for x, y in zip(expected, single, strict=True)
        ]
        example = _Example(
            given, expected, [_tolerance(*x, names) for x in zip(largest, away, strict=True)]
        )
        on = {*enumerate(way.tolist())}
        exact = all(x <= ROUNDED * y for x, y in zip(away, largest, strict=True))
        if exact and size == SIZES[0] and len(usual) < most:
            usual.append(example)
            seen |= on
        else:
            rest.append((example, on))
    yield from usual
    left = KEPT - len(usual)
    for example, on in rest:
        if left and (on - seen or not (usual or seen)):
            yield example
            seen, left = seen | on, left - 1


def _tolerance(largest: float, difference: float, names: CNames) -> float:
    """How near code has to come to numbers whose rounding in single precision is known."""
    dtype = names.unit.dtype
    if not np.isfinite(difference):
        return EXPORTED[dtype] * largest
    digits = float(np.finfo(np.float32 if dtype == "float" else np.float64).eps)
    known = MARGIN * difference * digits / float(np.finfo(np.float32).eps)
    return min(max(known, LEAST * digits * largest), EXPORTED[dtype] * max(largest, difference))


def _with_compared_sides(program: Program) -> Program:
    """A program with the numbers that another compares, as limits do."""
    given = [program.graph.operands(node) for node in _selections(program)]
    edges = tuple(edges[k] for k in (0, 1) for edges in given)
    return Program("sides", program.inputs, (Port("sides", (2, len(given))),), program.graph, edges)


def _selections(program: Program) -> list[int]:
    return [node for node in program.live() if program.graph.op[node] == ops.SELECT]


def _ways(program: Program, compared: Array) -> Array:
    """Which sides selections take, shape (..., n), with those that are taken within a side."""
    ways: dict[int, Array] = {}
    for k, node in enumerate(_selections(program)):
        *_, first, second = program.graph.operands(node)
        holds = compared[..., 0, k] < compared[..., 1, k]
        within = (ways.get(edge >> 1, 1) for edge in (first, second))
        ways[node] = 2 * np.where(holds, *within) + holds
    return np.stack([*ways.values()], -1) if ways else np.zeros((*compared.shape[:-2], 0), int)


def _compared(routine: Routine, names: CNames, example: _Example) -> Iterator[str]:
    """Statements that call a routine and compare."""
    program, dtype = routine.program, names.unit.dtype
    numbers = [*example.given, *example.expected]
    ports = (*program.inputs, *program.outputs)
    near = [0.0] * len(example.given) + [*example.near]
    arrays = [x for x in zip(ports, numbers, near, strict=True) if x[0].size]
    arguments, compared = [], []
    for k, (own, (port, values, by)) in enumerate(zip(parameters(routine), arrays, strict=True)):
        texts = ", ".join(literal(x, dtype) for x in values.ravel().tolist())
        if own.is_number:
            arguments.append(texts)
            continue
        yield f"const {dtype} x{k}[{port.size}] = {{{texts}}};"
        arguments.append(f"y{k}" if own.is_output else f"x{k}")
        if own.is_output:
            yield f"{dtype} y{k}[{port.size}];"
            what = comment(f"{routine.name}, {port.name}").replace("%", "%%")
            compared.append(f'compare("{what}", y{k}, x{k}, {port.size}, {by:.3g});')
    yield f"{names.of(routine.name)}({', '.join(arguments)});"
    yield from compared


def _example(
    port: Port, names: CNames, rng: np.random.Generator, size: float, reach: float
) -> FloatArray:
    """Numbers of an input, which have all their digits in its precision."""
    unit = names.unit
    if port.name == "q" and port.shape == (unit.robot.nq,):
        way = rng.uniform(-reach, reach, unit.robot.nv)
        x = unit.robot.integrate(unit.start[0], way)
    else:
        if port.name == "t":
            size = min(size, LATEST)
        x = np.asarray(rng.uniform(-size, size, port.shape), float)
    return x.astype(np.float32).astype(float) if unit.dtype == "float" else x


def _controller(own: Control, names: CNames, rng: np.random.Generator) -> Iterator[str]:
    """Statements that take some samples of a controller, and compare what it remembers then."""
    dtype, given = names.unit.dtype, given_of(own)
    samples = [
        {x.port.name: _example(x.port, names, rng, SIZES[0], REACH[3]) for x in given}
        for _ in range(SAMPLES)
    ]
    with np.errstate(all="ignore"):
        right, rounded = (_after(own, samples, real) for real in (np.float64, np.float32))
    if not all(np.isfinite(x).all() for x in right.values()):
        return
    yield f"{names.own('controller')} law;"
    yield f"{names.own('controller_begin')}(&law);"
    for k, sample in enumerate(samples):
        arguments = ["&law"]
        for n, x in enumerate(given):
            numbers = ", ".join(literal(y, dtype) for y in sample[x.port.name].ravel().tolist())
            arguments.append(numbers if x.is_number else f"x{k}_{n}")
            if not x.is_number:
                yield f"const {dtype} x{k}_{n}[{x.port.size}] = {{{numbers}}};"
        yield f"failures += {names.own('controller_step')}({', '.join(arguments)}) != 0;"
    for name, values in right.items():
        away = float(np.abs(values - rounded[name]).max(initial=0.0))
        near = _tolerance(float(np.abs(values).max(initial=0.0)), away, names)
        numbers = ", ".join(literal(x, dtype) for x in values.tolist())
        yield f"const {dtype} {name}[{values.size}] = {{{numbers}}};"
        what = f"controller after {SAMPLES} samples, {name}"
        yield f'compare("{what}", law.{name}, {name}, {values.size}, {near:.3g});'


def _after(own: Control, samples: Sequence[Mapping[str, FloatArray]], real: Any) -> dict[str, Any]:
    """Forces and memory of a controller after some samples, in a precision."""
    found: dict[str, Any] = {}
    for k, sample in enumerate(samples):
        program = (own.update if k else own.first).program
        known: dict[str, Any] = {**sample, "t": k * own.h}
        known |= {"applied": found.get("tau"), "state": found.get("memory")}
        values = evaluate(program, *(known[x.name] for x in program.inputs), dtype=real)
        outputs = {port.name: np.ravel(x) for port, x in zip(program.outputs, values, strict=True)}
        found = {"tau": outputs["tau"], "memory": outputs["state"]}
    return found


def _begin(unit: Unit) -> tuple[FloatArray, FloatArray]:
    """A state at which a motion begins: generic, if loops close near it."""
    q, v = unit.start
    robot, rng = unit.robot, np.random.default_rng(1)
    if robot.depends_on_time:
        return q, v
    q0 = robot.integrate(q, rng.uniform(-REACH[3], REACH[3], robot.nv))
    v0 = rng.uniform(-SIZES[0], SIZES[0], robot.nv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            q0 = robot.assemble(q0) if robot.nc else q0
            v0 = robot.consistent_velocity(q0, v0) if robot.nc else v0
    except RobodynError:
        return q, v
    return q0, v0


def _unforced_motion(
    unit: Unit, own: Step, begin: tuple[FloatArray, FloatArray]
) -> Trajectory | None:
    """The motion without forces, as far as it goes; None where it has a controller."""
    if own.update is not None:
        return None
    q, v = begin
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


def _motion(names: CNames) -> Iterator[str]:
    """Statements that begin a motion, do some steps, and compare where it arrives."""
    unit, step = names.unit, names.unit.step
    assert step is not None
    begin = _begin(unit)
    run, steps = _unforced_motion(unit, step, begin), STEPS
    if run is not None and len(run) <= STEPS:  # it fails there, and before that digits go
        steps = len(run) // 2
    arguments = ["&motion"]
    for k, x in enumerate(signals(step)):
        if x.is_number:
            arguments.append(literal(0.0, unit.dtype))
        else:
            yield f"const {unit.dtype} x{k}[{x.port.size}] = {{{literal(0.0, unit.dtype)}}};"
            arguments.append(f"x{k}")
    for name, values in zip("qv", begin, strict=True):
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
            by = EXPORTED[unit.dtype] * max(1.0, float(np.abs(values).max(initial=0.0)))
            what = f"motion after {steps} steps, {name}"
            yield f'compare("{what}", motion.{name}, {name}_end, {values.size}, {by:.3g});'
