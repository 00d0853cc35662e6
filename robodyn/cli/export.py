"""``robodyn export``: functions of a robot as code of other languages."""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.options.robot import add_robot_options, robot_options
from robodyn.cli.options.values import number
from robodyn.errors import MissingFileError, RobodynError, UnknownNameError

__all__ = ["add_to"]


def add_to(commands: Any) -> None:
    """Add the command to a parser's."""
    export = commands.add_parser("export", help="write functions as code of other languages")
    export.add_argument("robot")
    export.add_argument(
        "function", nargs="+",
        help="inverse_dynamics, frame_pose:frame=NAME, step, assemble:hold=JOINT,JOINT, ...",
    )  # fmt: skip
    export.add_argument("--target", default="c", help="c, cpp, python, matlab, modelica, fmu (c)")
    export.add_argument("--out", metavar="DIR", help="new folder; without it C source is printed")
    export.add_argument(
        "--controller", metavar="FILE.py:NAME",
        help="function of a Python file, from the robot to the controller of a step",
    )  # fmt: skip
    export.add_argument(
        "--step", type=number("--step", above=0.0, unit="s"), help="of a step and a controller"
    )
    export.add_argument("--integrator", help="of a step: rk4, euler, ...")
    export.add_argument("--dtype", help="double, float")
    export.add_argument("--base", choices=("fixed", "floating", "moving"), default="fixed")
    add_robot_options(export)
    export.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> int:
    options = {x: getattr(arguments, x) for x in ("step", "integrator", "dtype")}
    options = {name: value for name, value in options.items() if value is not None}
    if arguments.out is None and (
        len(arguments.function) > 1 or arguments.target != "c" or arguments.controller or options
    ):
        raise RobodynError("C source of one function is printed; give --out DIR for all else")
    robot = rd.load(arguments.robot, base=arguments.base, **robot_options(arguments))
    if arguments.out is None:
        (name,) = arguments.function
        print(robot.function(name).c_source(name))
        return 0
    if arguments.controller is not None:
        options["controller"] = _controller(arguments.controller, robot)
    functions = [_function(text) for text in arguments.function]
    folder = rd.export(robot, functions, arguments.target, arguments.out, **options)
    for path in sorted(folder.iterdir()):
        print(path)
    return 0


def _function(text: str) -> str | tuple[str, dict[str, Any]]:
    """A name, or a name with options: ``NAME:OPTION=VALUE``, ``NAME:OPTION=VALUE,VALUE``."""
    name, colon, rest = text.partition(":")
    if not colon:
        return name
    option, equals, value = rest.partition("=")
    if not (option and equals):
        raise RobodynError(f"the function {text!r} has no option, expected NAME:OPTION=VALUE")
    return name, {option: tuple(value.split(",")) if "," in value else value}


def _controller(text: str, robot: rd.Robot) -> Any:
    """What a function of a Python file makes of the robot."""
    path, _, name = text.rpartition(":")
    if not (path and name):
        raise RobodynError(
            f"--controller is {text!r}, expected FILE.py:NAME, a function from robot to controller"
        )
    if not Path(path).is_file():
        raise MissingFileError(f"--controller is {text!r}, but there is no file {path!r}")
    known = runpy.run_path(path)
    if not callable(known.get(name)):
        functions = [x for x, value in known.items() if callable(value)]
        raise UnknownNameError("function", name, functions, f"{path!r}")
    return known[name](robot)
