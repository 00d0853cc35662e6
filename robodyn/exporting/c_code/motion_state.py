"""A motion or a controller in C: its state, how it begins, and a step or sample of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from robodyn.codegen.text.assignments import literal
from robodyn.exporting.c_code.signature import CFunction, CNames, Parameter, called, parameters
from robodyn.exporting.c_code.statements import checks
from robodyn.exporting.unit.unit import Call, Control, Procedure, Routine, Step
from robodyn.tolerances import LOOP_APART, LOOP_OPEN, SINGLE_PRECISION_CLOSURE

#: Parameters of a controller that a state knows.
KNOWN = ("t", "q", "v", "applied", "state")


def state(own: Step, names: CNames) -> Iterator[str]:
    """The type of the state."""
    dtype, nq, nv = names.unit.dtype, f"{names.macro}_NQ", f"{names.macro}_NV"
    forces = "of the controller in the last step" if own.update else "for the next steps: set them"
    yield from (
        "/* A motion between two steps. Copies of it are motions of their own. */",
        "typedef struct {",
        "    unsigned long long steps; /* since the motion began */",
        f"    {dtype} q[{nq}]; /* positions [rad, m] */",
        f"    {dtype} v[{nv}]; /* speeds [rad/s, m/s] */",
        f"    {dtype} tau[{nv}]; /* forces {forces} [N m, N] */",
    )
    if own.memory:
        yield f"    {dtype} memory[{own.memory}]; /* what the controller remembers */"
    yield f"}} {names.own('state')};"


def motion(own: Step, names: CNames) -> tuple[CFunction, CFunction]:
    """The functions that begin a motion, and make a step of it."""
    dtype, pointer = names.unit.dtype, f"{names.own('state')} *state"
    sizes = (f"const {dtype} {x}[{names.macro}_N{x.upper()}]" for x in "qv")
    given = signals(own)
    returns = names.own("result")
    return CFunction(
        returns,
        names.own("begin"),
        (pointer, *sizes),
        _begin(own, names),
        "Begin a motion at time zero. Loops that are open by 1 mm or mrad at most are closed.",
    ), CFunction(
        returns,
        names.own("step"),
        (pointer, *(x.declared(dtype) for x in given)),
        _step(own, names),
        f"A step of {own.h:g} s by {own.integrator}. Where it fails the state stays as it was.",
        [x.description for x in given],
    )


def signals(own: Step) -> list[Parameter]:
    """What the controller gets of what only Python knows."""
    given = [] if own.update is None else parameters(own.update)
    return [x for x in given if not (x.is_output or x.port.name in KNOWN)]


def _begin(own: Step, names: CNames) -> list[str]:
    """Statements that begin a motion; loops that are open a little are closed."""
    robot, dtype = names.unit.robot, names.unit.dtype
    zero = literal(0.0, dtype)
    q, v, lines = "q", "v", list[str]()
    if own.close is None:
        lines += checks([("q", robot.nq), ("v", robot.nv)], 0, 0.0, names)
    else:
        rows = own.close.outputs[-1].size
        # how far loops are open: what closing them ends with
        last = own.close.statements[-1]
        assert isinstance(last, Call)
        lines += [
            f"{dtype} q_closed[{robot.nq}];",
            f"{dtype} v_closed[{robot.nv}];",
            f"{dtype} residual[{rows}];",
            called(names, last.routine, {"t": zero}),
            *checks([("q", robot.nq), ("v", robot.nv)], rows, LOOP_OPEN, names),
            _passed("close_loops", own.close, {"t": zero}),
            *checks(
                [("q_closed", robot.nq), ("v_closed", robot.nv)], rows, _breakdown_gap(dtype), names
            ),
        ]
        q, v = "q_closed", "v_closed"
    lines.append("state->steps = 0;")
    lines += [*fill("state->q", f"{q}[i]", robot.nq), *fill("state->v", f"{v}[i]", robot.nv)]
    lines += [*fill("state->tau", zero, robot.nv), *fill("state->memory", zero, own.memory)]
    return [*lines, f"return {names.macro}_OK;"]


def _step(own: Step, names: CNames) -> list[str]:
    """Statements that make a step; where that fails the state stays as it was."""
    robot, dtype = names.unit.robot, names.unit.dtype
    arrays = {"q_next": robot.nq, "v_next": robot.nv}
    rows = own.advance.outputs[-1].size if own.close is not None else 0
    known = {"t": "t", "q": "state->q", "v": "state->v", "tau": "state->tau"}
    lines = [
        f"const {dtype} t = ({dtype})state->steps * {literal(own.h, dtype)};",
        *(f"{dtype} {name}[{size}];" for name, size in arrays.items()),
    ]
    lines += [f"{dtype} residual[{rows}];"] if rows else []
    if own.update is not None and own.first is not None:
        arrays["tau"] = robot.nv
        known["tau"] = "tau"
        lines.append(f"{dtype} tau[{robot.nv}];")
        if own.memory:
            arrays["memory"] = own.memory
            lines.append(f"{dtype} memory[{own.memory}];")
        lines += _controlled(own.first, own.update, names)
    lines += ["(void)t;", _passed("advance", own.advance, known)]
    lines += checks(arrays.items(), rows, _breakdown_gap(dtype), names)
    for name, size in arrays.items():
        lines += fill(f"state->{name.removesuffix('_next')}", f"{name}[i]", size)
    return [*lines, "state->steps++;", f"return {names.macro}_OK;"]


def _controlled(first: Routine, update: Routine, names: CNames) -> Iterator[str]:
    """Forces of the controller."""
    known = {"t": "t", "q": "state->q", "v": "state->v", "applied": "state->tau"}
    known["state"] = "state->memory"
    calls = [called(names, x, known, {"state": "memory", "tau": "tau"}) for x in (first, update)]
    yield from first_or_later(calls, "state->steps", first is update)


def first_or_later(calls: Sequence[str], steps: str, same: bool) -> Iterator[str]:
    """A call at the first sample, and one at all others."""
    if same:
        yield calls[0]
    else:
        yield from (f"if ({steps} == 0) {{", f"    {calls[0]}", "} else {", f"    {calls[1]}", "}")


def _passed(name: str, procedure: Procedure, known: Mapping[str, str]) -> str:
    """A call of a procedure."""
    given = (x.name if x.is_output else known.get(x.name, x.name) for x in parameters(procedure))
    return f"{name}({', '.join(given)});"


def _breakdown_gap(dtype: str) -> float:
    """Gap [m, rad] with which no motion goes on."""
    return SINGLE_PRECISION_CLOSURE if dtype == "float" else LOOP_APART


def fill(array: str, value: str, size: int) -> tuple[str, ...]:
    """Statements that set all numbers of an array."""
    return (f"for (int i = 0; i < {size}; i++) {{", f"    {array}[i] = {value};", "}")[: 3 * size]


#: Parameters of a controller that its state knows.
GIVEN_TO_CONTROLLER = ("t", "applied", "state", "tau")


def controller_state(own: Control, names: CNames) -> Iterator[str]:
    """The type of the state."""
    dtype = names.unit.dtype
    yield from (
        "/* A controller between two samples. Copies of it are controllers of their own. */",
        "typedef struct {",
        "    unsigned long long samples; /* since it began */",
        f"    {dtype} tau[{names.macro}_NV]; /* forces that act until the next sample [N m, N] */",
        f"    {dtype} memory[{own.memory}]; /* what the controller remembers */",
        f"}} {names.own('controller')};",
    )


def controller_functions(own: Control, names: CNames) -> tuple[CFunction, CFunction]:
    """The functions that begin, and that take a sample."""
    dtype, nv = names.unit.dtype, names.unit.robot.nv
    pointer, given = f"{names.own('controller')} *controller", given_of(own)
    begin = [
        "controller->samples = 0;",
        *fill("controller->tau", literal(0.0, dtype), nv),
        *fill("controller->memory", literal(0.0, dtype), own.memory),
    ]
    return CFunction(
        "void", names.own("controller_begin"), (pointer,), begin, "Begin at time zero."
    ), CFunction(
        names.own("result"),
        names.own("controller_step"),
        (pointer, *(x.declared(dtype) for x in given)),
        _sample(own, names),
        f"A sample, {own.h:g} s after the one before: controller->tau are the forces from now on.",
        [
            *(x.description for x in given),
            "Set controller->tau where others act in their place.",
            "Where a result is infinite or no number, all stays as it was.",
        ],
    )


def given_of(own: Control) -> list[Parameter]:
    """What a sample is given: readings of sensors, or positions and speeds, and references."""
    return [
        x for x in parameters(own.update) if not (x.is_output or x.port.name in GIVEN_TO_CONTROLLER)
    ]


def _sample(own: Control, names: CNames) -> Iterator[str]:
    dtype = names.unit.dtype
    arrays = {"tau": names.unit.robot.nv, "memory": own.memory}
    known = {"t": "t", "applied": "controller->tau", "state": "controller->memory"}
    yield f"const {dtype} t = ({dtype})controller->samples * {literal(own.h, dtype)};"
    yield from (f"{dtype} {name}[{size}];" for name, size in arrays.items())
    calls = [
        called(names, x, known, {"state": "memory", "tau": "tau"}) for x in (own.first, own.update)
    ]
    yield "(void)t;"
    yield from first_or_later(calls, "controller->samples", False)
    yield from checks(arrays.items(), 0, 0.0, names)
    for name, size in arrays.items():
        yield from fill(f"controller->{name}", f"{name}[i]", size)
    yield from ("controller->samples++;", f"return {names.macro}_OK;")
