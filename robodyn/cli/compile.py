"""``robodyn compile``: write the machine code of a robot to disk before it is needed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import robodyn as rd
from robodyn.cli.options.output import print_json
from robodyn.cli.options.robot import ANY_BASE, add_robot, loaded
from robodyn.codegen.llvm.cache.object_code import folder, not_stored
from robodyn.errors import RobodynError, SettingsError

#: Functions that are compiled by default, besides a motion.
USUAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_forces")

#: Inputs of the functions that are called by the method of the robot.
STATE = {"q", "v", "a", "tau"}

#: Number of states of a batch, more than fit into a vector.
BATCH = 64


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser, bases=ANY_BASE)
    text = f"default: {', '.join(USUAL)}, and a motion"
    parser.add_argument("functions", nargs="*", metavar="function", help=text)
    parser.add_argument("--derivatives", action="store_true", help="those of the functions, too")


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    where = folder()
    if where is None:
        raise SettingsError("ROBODYN_CACHE=0 keeps no code: unset it for `robodyn compile`")
    rd.set_compilation("eager")  # wait for the full code
    robot = loaded(arguments)
    status, before, compiled = 0, not_stored(), []
    for name, work in _compilations(robot, arguments.functions, arguments.derivatives):
        began = time.perf_counter()
        try:
            work()
        except RobodynError as error:
            print(f"{name}: {error}", file=sys.stderr)
            status = 2
        else:
            compiled.append({"name": name, "time_s": time.perf_counter() - began})
            if not arguments.json:
                print(f"{name}: {compiled[-1]['time_s']:.2f} s", flush=True)
    if not_stored() > before:
        print(
            f"{not_stored() - before} files of code could not be kept in {where}: it must be a "
            "folder of yours, with space left, that nobody else can write to; name another one in "
            "ROBODYN_CACHE_DIR",
            file=sys.stderr,
        )
        status = 2
    elif not arguments.json:
        print(f"kept in {where}")
    if arguments.json:
        print_json(
            "compile", robot=robot.name, folder=where, compiled=compiled,
            kept=not_stored() == before,
        )  # fmt: skip
    return status


def _compilations(
    robot: rd.Robot, names: list[str], derivatives: bool
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Name of everything to compile, and the call that compiles it."""
    for name in names or USUAL:
        function = robot.function(name)
        yield name, partial(_call, robot, function)
        if {port.name for port in function.inputs} <= STATE:
            yield f"robot.{name}", partial(_call, robot, function, getattr(robot, name, function))
        if derivatives:
            for by in [port.name for port in function.inputs if port.name in ("q", "v")]:
                yield f"derivative of {name} by {by}", partial(_derive, robot, function, by)
    if not names:
        yield "a motion", partial(rd.simulate, robot, duration=1e-3, step=1e-3)


def _derive(robot: rd.Robot, function: rd.Function, by: str) -> None:
    _call(robot, function.jacobian(by))


def _call(
    robot: rd.Robot, function: rd.Function, call: Callable[..., object] | None = None
) -> None:
    """Call a function, or something with the same inputs, for one state and for a batch.

    The code does not depend on the values, but methods of a robot need closed loops.
    """
    neutral = robot.neutral()
    arrays = [neutral if port.name == "q" else np.zeros(port.shape) for port in function.inputs]
    for batch in ((), (BATCH,)):
        (call or function)(*(np.broadcast_to(x, (*batch, *x.shape)).copy() for x in arrays))
