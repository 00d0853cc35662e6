"""Modelica: a package with the functions, and with forward dynamics a model of the motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robodyn.codegen.text.assignments import plain
from robodyn.codegen.text.modelica import REAL_SQRT, RESERVED, modelica_function
from robodyn.errors import SettingsError
from robodyn.exporting.unit.unit import Routine, Unit, legal_name, legal_names
from robodyn.symbolic.graph import Port
from robodyn.version import __version__

#: Gains (alpha, beta) [1/s] by which the model holds loops closed, unless its user sets others.
GAINS = (20.0, 20.0)

#: Names that the package has besides those of routines.
OWN = {"Motion", "accelerations", "rates"}


def write(unit: Unit) -> Mapping[str, str | bytes]:
    """``ROBOT.mo``: a function for each routine; with forward dynamics the model ``Motion``.

    Raises
    ------
    SettingsError
        For single precision, which Modelica does not have.
    """
    if unit.procedures:
        raise SettingsError(
            f"Modelica moves the robot by itself: leave {unit.procedures[-1].name!r} out; "
            "'forward_dynamics' comes with a model of the motion"
        )
    if unit.dtype != "double":
        raise SettingsError(
            f"dtype is {unit.dtype!r}, but Modelica has one type of real numbers: take 'double'"
        )
    package = legal_name(unit.name, RESERVED | OWN)
    names = legal_names((x.name for x in unit.routines), RESERVED | OWN | {package})
    functions = [modelica_function(x.program, names[x.name], x.about) for x in unit.routines]
    moves = any(x.program.name == "forward_dynamics" for x in unit.routines)
    model = _motion(unit) if moves else []
    title = plain(f"Equations of the robot {unit.robot.name}, by robodyn {__version__}")
    parts = [f'package {package} "{title}"\n', REAL_SQRT, *functions, *model]
    return {f"{package}.mo": "\n".join([*parts, f"end {package};\n"])}


def _motion(unit: Unit) -> list[str]:
    """The model, and the functions that it calls."""
    robot, (q, v) = unit.robot, unit.start
    options: Any = {"stabilization": True} if robot.nc else {}
    dynamics = robot.function("forward_dynamics", **options).program
    accelerations = Routine("accelerations", "Accelerations of the joints.", dynamics)
    rates = Routine(
        "rates", "Rates of the coordinates.", robot.function("coordinate_rates").program
    )
    known = {"q": "q", "v": "v", "tau": "tau", "t": "time", "stabilization": "stabilization"}
    loads = [port for port in dynamics.inputs if port.name not in known]
    arguments = ", ".join(known.get(port.name, port.name) for port in dynamics.inputs)
    lines = [
        'model Motion "The motion of the robot by the forces in its joints"',
        _declared(f"parameter Real q_start[{robot.nq}]", q.tolist(), "rad, m"),
        _declared(f"parameter Real v_start[{robot.nv}]", v.tolist(), "rad/s, m/s"),
    ]
    if robot.nc:
        lines.append(_declared("parameter Real stabilization[2]", list(GAINS), "1/s"))
    lines += [_input(port) for port in (_port(dynamics.inputs, "tau"), *loads)]
    lines += [
        f'  output Real q[{robot.nq}](start = q_start, each fixed = true) "rad, m";',
        f'  output Real v[{robot.nv}](start = v_start, each fixed = true) "rad/s, m/s";',
        "equation",
        "  der(q) = rates(q, v);",
        f"  der(v) = accelerations({arguments});",
        "end Motion;\n",
    ]
    functions = [modelica_function(x.program, x.name, x.about) for x in (accelerations, rates)]
    return [*functions, "\n".join(lines)]


def _port(ports: tuple[Port, ...], name: str) -> Port:
    return next(port for port in ports if port.name == name)


def _declared(what: str, values: list[float], unit: str) -> str:
    numbers = ", ".join(map(repr, values))
    return f'  {what} = {{{numbers}}} "{unit}";'


def _input(port: Port) -> str:
    sizes = f"[{', '.join(map(str, port.shape))}]" if port.shape else ""
    return f'  input Real {port.name}{sizes} "{plain(port.unit)}";'
