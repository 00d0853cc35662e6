"""C between the functions of FMI and those of a unit: model.h and model.c."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robodyn.exporting.c_code.motion_state import first_or_later
from robodyn.exporting.c_code.signature import CNames, called, parameters
from robodyn.exporting.fmi.variables import Parts, Variable
from robodyn.exporting.templates import template


class Places:
    """Where numbers stand among the values of variables."""

    def __init__(self, names: CNames, parts: Parts) -> None:
        robot = names.unit.robot
        self.q, self.v = 1, 1 + robot.nq
        self.tau = self.v + robot.nv
        self.motors = len(robot.model.gearing.ratios) if parts.motors else robot.nv
        self.signals, end = dict[str, int](), self.tau + self.motors
        for port in parts.signals:
            self.signals[port.name] = end
            end += port.size
        self.outputs = end


def model_header(names: CNames, parts: Parts, variables: Sequence[Variable], token: str) -> str:
    """The text of model.h.

    It has the ``token`` of the model description.
    """
    return template(
        "model.h",
        name=names.prefix,
        prefix=names.prefix,
        token=token,
        step=repr(parts.step.h),
        count=len(variables),
        needs_time=int(parts.needs_time),
        state=names.own("state"),
    )


def model_source(names: CNames, parts: Parts, variables: Sequence[Variable]) -> str:
    """The text of model.c."""
    places = Places(names, parts)
    signals = _signals(parts, places, "state->values").values()
    forces = ""
    if parts.step.update is None:
        forces = "    forces(state, state->motion.tau);\n"
    return template(
        "model.c",
        start=", ".join(repr(x.start or 0.0) for x in variables),
        settable=", ".join(_settable(x) for x in variables),
        state=names.own("state"),
        result=names.own("result"),
        macro=names.macro,
        begin=names.own("begin"),
        q=places.q,
        v=places.v,
        given="" if parts.step.update else _given_forces(names, parts, places),
        forces=forces,
        call=f"{names.own('step')}({', '.join(['&state->motion', *signals])})",
        lines="\n".join(f"    {x}" for x in _outputs(names, parts, places)),
    )


def _given_forces(names: CNames, parts: Parts, places: Places) -> str:
    """A function in C from the forces that are given to those along speeds."""
    nv, m = names.unit.robot.nv, places.motors
    lines = [f"memcpy(tau, state->values + {places.tau}, {nv} * sizeof *tau);"]
    if parts.motors:
        known = {"t": "model_time(state)", "q": "state->motion.q"}
        lines = [
            f"double B[{nv * m}];",
            "int i, k;",
            called(names, parts.motors, known, {parts.motors.program.outputs[0].name: "B"}),
            f"for (i = 0; i < {nv}; i++) {{",
            "    tau[i] = 0.0;",
            f"    for (k = 0; k < {m}; k++)",
            f"        tau[i] += B[{m} * i + k] * state->values[{places.tau} + k];",
            "}",
        ]
    body = "".join(f"    {line}\n" for line in lines)
    return f"static void forces(const model_state *state, double *tau)\n{{\n{body}}}\n\n"


def _settable(variable: Variable) -> str:
    if variable.causality == "input":
        return "MODEL_ALWAYS"
    return "MODEL_NEVER" if variable.start is None else "MODEL_AT_START"


def _signals(parts: Parts, places: Places, values: str) -> dict[str, str]:
    """Signals of the controller as arguments, among the values of variables."""
    return {
        x.port.name: f"{values}[{places.signals[x.port.name]}]"
        if x.is_number
        else f"{values} + {places.signals[x.port.name]}"
        for x in (parameters(parts.step.update) if parts.step.update else ())
        if not x.is_output and x.port.name in places.signals
    }


def _outputs(names: CNames, parts: Parts, places: Places) -> Iterator[str]:
    """Statements that compute what is not part of the motion."""
    step = parts.step
    known = {
        "t": "t",
        "q": "state->motion.q",
        "v": "state->motion.v",
        "applied": "state->motion.tau",
        "state": "state->motion.memory",
    }
    if step.update is not None and step.first is not None:
        given = known | _signals(parts, places, "values")
        to = {"tau": f"values + {places.tau}", "state": "remembered"}
        calls = [called(names, x, given, to) for x in (step.first, step.update)]
        if step.memory:
            yield f"double remembered[{step.memory}];"
        yield from first_or_later(calls, "state->motion.steps", step.first is step.update)
    known |= {"tau": f"values + {places.tau}", "a": "a"}
    if parts.motors:
        known["tau"] = "tau"
        yield f"double tau[{names.unit.robot.nv}];"
        yield "forces(state, tau);"
    if any(port.name == "a" for x in parts.outputs for port in x.program.inputs):
        yield f"double a[{names.unit.robot.nv}];"
        yield called(names, parts.dynamics, known, known)
    at = places.outputs
    for routine in parts.outputs:
        to = {}
        for port in routine.program.outputs:
            to[port.name] = f"values + {at}"
            at += port.size
        yield called(names, routine, known, to)
