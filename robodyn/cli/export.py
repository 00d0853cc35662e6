"""``robodyn export``: functions of a robot as code of other languages."""

from __future__ import annotations

import argparse
import inspect
import runpy
from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.options.output import print_json
from robodyn.cli.options.robot import ANY_BASE, add_robot, loaded
from robodyn.cli.options.values import FILE, FOLDER, add, number
from robodyn.equations.catalogue import QUANTITIES
from robodyn.equations.quantities.common.quantity import REFUSED
from robodyn.errors import MissingFileError, RobodynError, UnknownNameError

#: What can be exported besides the functions of `robodyn.Robot.function`.
OF_MOTIONS = {
    "motor_torques": "Torques at the shafts of motors.",
    "assemble": "A posture with closed loops near a guess (assemble:hold=JOINT).",
    "step": "The state after a step of --step seconds by --integrator.",
    "control": "The controller of --controller alone.",
    "closed_loop": "Accelerations under the controller of --controller.",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser, bases=ANY_BASE)
    text = "inverse_dynamics, frame_pose:frame=NAME, step, assemble:hold=JOINT,JOINT, ..."
    parser.add_argument("function", nargs="*", help=text)
    parser.add_argument("--list", action="store_true", help="print the functions that there are")
    parser.add_argument("--target", default="c", help="c, cpp, python, matlab, modelica, fmu (c)")
    out = "new folder; without it C source is printed"
    add(parser, "--out", out, complete=FOLDER, metavar="DIR")
    text = "function of a Python file, from the robot to the controller of a step"
    add(parser, "--controller", text, complete=FILE, metavar="FILE.py:NAME")
    add(parser, "--step", "of a step and a controller", number(above=0.0, unit="s"))
    parser.add_argument("--integrator", help="of a step: rk4, euler, ...")
    parser.add_argument("--dtype", help="double, float")
    parser.add_argument("--name", help="what files are called after (the robot)")


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    if arguments.list:
        return _list(arguments)
    if not arguments.function:
        raise RobodynError("no function is named: robodyn export ROBOT --list prints what there is")
    options = {x: getattr(arguments, x) for x in ("step", "integrator", "dtype", "name")}
    options = {name: value for name, value in options.items() if value is not None}
    if arguments.out is None and (
        len(arguments.function) > 1
        or arguments.target != "c"
        or arguments.controller
        or options.keys() - {"dtype"}
    ):
        raise RobodynError("C source of one function is printed; give --out DIR for all else")
    robot = loaded(arguments)
    if arguments.out is None:
        name, given = _with_options(arguments.function[0])
        source = robot.function(name, **given).c_source(name, **options)
        if arguments.json:
            print_json("export", robot=robot.name, target="c", source=source)
        else:
            print(source)
        return 0
    if arguments.controller is not None:
        options["controller"] = _controller(arguments.controller, robot)
    functions = [_with_options(text) for text in arguments.function]
    folder = rd.export(robot, functions, arguments.target, arguments.out, **options)
    paths = sorted(folder.iterdir())
    if arguments.json:
        print_json("export", robot=robot.name, target=arguments.target, files=paths)
    else:
        print(*paths, sep="\n")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    """Print the functions of a robot, with what they compute."""
    robot = loaded(arguments)
    names = [x for x, row in QUANTITIES.items() if not (robot.nc and row.closed is REFUSED)]
    found = {name: _summary(name) for name in sorted(names) if hasattr(rd.Robot, name)} | OF_MOTIONS
    if arguments.json:
        functions = [{"name": name, "summary": text} for name, text in found.items()]
        print_json("export", robot=robot.name, functions=functions)
        return 0
    width = max(map(len, found))
    for name, text in found.items():
        print(f"{name:{width}}  {text}")
    return 0


def _summary(name: str) -> str:
    """The first line of the docstring of the method."""
    return (inspect.getdoc(inspect.getattr_static(rd.Robot, name)) or "").partition("\n")[0]


def _with_options(text: str) -> tuple[str, dict[str, Any]]:
    """A name and its options, of ``NAME:OPTION=VALUE:OPTION=VALUE,VALUE``."""
    name, *given = text.split(":")
    options: dict[str, Any] = {}
    for part in given:
        option, equals, value = part.partition("=")
        if not (option and equals):
            raise RobodynError(f"{part!r} of {text!r} is no option, expected NAME:OPTION=VALUE")
        options[option] = tuple(value.split(",")) if "," in value else value
    return name, options


def _controller(text: str, robot: rd.Robot) -> Any:
    """The controller that a function of a Python file returns for the robot."""
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
