"""``robodyn sim``: simulate, print a summary, and write files."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.options.output import print_json, with_options
from robodyn.cli.sim.arguments import add_options
from robodyn.cli.sim.control import Control, control_of
from robodyn.cli.sim.mechanism import SimulatedRobot, simulated_robot
from robodyn.cli.sim.outputs import outputs_of
from robodyn.cli.sim.states import Start, ending_event, start_of, stops_of
from robodyn.cli.sim.summary import lines, summary
from robodyn.errors import (
    EnergyWarning,
    LimitWarning,
    RobodynError,
    SimulationError,
    SimulationInterrupted,
)

__all__ = ["add_options", "run"]


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    made = simulated_robot(arguments)
    start = start_of(arguments, made.model)
    control = control_of(arguments, made, start)
    if control.reference is not None:
        start = replace(start, q=control.reference(0.0)[0])  # motors begin at their reference
    options = _options(arguments, made, start)
    outputs = outputs_of(arguments, made.model.name)
    began = time.perf_counter()
    run, problem, status = _motion(arguments, made, start, control, options)
    elapsed = time.perf_counter() - began
    report: dict[str, Any] = {"robot": made.model.name, "base": made.model.base}
    if run is not None and len(run):
        with _printed_warnings():
            report |= summary(run, control, arguments, elapsed)
            if not arguments.json:
                for line in lines(report, run, arguments):
                    print(line)
            report["files"] = []
            for path in outputs.write(run, control):
                report["files"].append(path)
                _print_written(path, arguments)
        if arguments.to is not None:
            report["files"].append(Path(f"{arguments.to}{'.partial' if status else ''}"))
            _print_written(report["files"][-1], arguments)
        if outputs.no_picture and not arguments.json:
            print(f"  no picture: {outputs.no_picture}")
    if arguments.json:
        print_json("sim", **report, problem=problem or None)
    if problem:
        sys.stdout.flush()
        print(f"robodyn: {problem}", file=sys.stderr)
    return status


def _print_written(path: Path, arguments: argparse.Namespace) -> None:
    if not arguments.json:
        print(f"  written                 {path}")


def _options(arguments: argparse.Namespace, made: SimulatedRobot, start: Start) -> dict[str, Any]:
    """Keyword arguments of `rd.simulate` and `rd.rollout`."""
    stabilization = arguments.stabilization
    if stabilization is not None and len(stabilization) == 1:
        stabilization = (stabilization[0], stabilization[0])
    wrenches = {}
    for link, values in arguments.wrench:
        if link in wrenches:
            raise RobodynError(f"--wrench gives {link!r} twice; keep one")
        wrenches[link] = (*values, *[0.0] * (6 - len(values)))
    options = {
        "duration": arguments.duration,
        "step": arguments.step,
        "base": made.path,
        "wrenches": wrenches or None,
        "integrator": arguments.integrator,
        "events": [ending_event(x, made.plant, start.q, start.v) for x in arguments.stop_when],
        "limits": "enforce" if arguments.limits == "enforce" else "ignore",  # the summary lists
        "stabilization": stabilization,
        "every": arguments.every,
        "to": arguments.to,
        "stops": stops_of(arguments.stops),
    }
    if arguments.tolerance is not None:
        if arguments.batch is not None:
            raise RobodynError("--tolerance does not go with --batch, whose steps are given")
        options["tolerance"] = arguments.tolerance
    return options


def _motion(
    arguments: argparse.Namespace,
    made: SimulatedRobot,
    start: Start,
    control: Control,
    options: dict[str, Any],
) -> tuple[rd.Trajectory | None, str, int]:
    """Simulate, and return the motion (up to an error), an error message, and the exit status."""
    simulate = rd.simulate if arguments.batch is None else rd.rollout
    try:
        with _printed_warnings():
            run = simulate(
                made.plant, control.controller, q0=start.q, v0=start.v, progress=True, **options
            )
    except SimulationInterrupted as interrupt:
        _end_bar()
        left = interrupt.trajectory
        until = f" at {left.t[-1]:g} s of {arguments.duration:g} s" if left is not None else ""
        return left, f"interrupted{until}", 130
    except SimulationError as error:
        _end_bar()
        return error.trajectory, str(error), 2
    return run, "", 0


def _end_bar() -> None:
    """End the line of an incomplete progress bar."""
    if sys.stderr.isatty():
        print(file=sys.stderr)


@contextmanager
def _printed_warnings() -> Iterator[None]:
    """Print each warning in one line, without its place in the code."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EnergyWarning)
        warnings.simplefilter("ignore", LimitWarning)  # the summary lists all of them
        try:
            yield
        finally:
            for warning in caught:
                print(f"robodyn: warning: {with_options(str(warning.message))}", file=sys.stderr)
