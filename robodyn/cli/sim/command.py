"""``robodyn sim``: its options; simulate, print a summary, and write files."""

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
from robodyn.cli.options.robot import ANY_BASE, add_robot
from robodyn.cli.options.values import FILE, FOLDER, add, file, named, number, numbers, whole
from robodyn.cli.sim.control import Control, control_of
from robodyn.cli.sim.mechanism import SimulatedRobot, simulated_robot
from robodyn.cli.sim.outputs import lines, outputs_of, summary
from robodyn.cli.sim.states import Start, ending_event, start_of, stops_of
from robodyn.errors import (
    EnergyWarning,
    LimitWarning,
    RobodynError,
    SimulationError,
    SimulationInterrupted,
)
from robodyn.simulation.integrators import INTEGRATORS
from robodyn.simulation.limits.joint_limits import LIMITS


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


CONTROLLERS = ("none", "hold", "pd", "computed-torque")
REFERENCES = ("sine", "point-to-point", "still")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser, default="puma560")
    _add_robot(parser.add_argument_group("the robot"))
    _add_start(parser.add_argument_group("where it starts"))
    _add_control(parser.add_argument_group("what drives it"))
    _add_surroundings(parser.add_argument_group("what acts on it"))
    _add_time(parser.add_argument_group("time"))
    written = "a table and a picture, in the folder, if none of --csv, --npz, --plot is given"
    _add_files(parser.add_argument_group("what is written", written))


def _add_robot(group: Any) -> None:
    add(group, "--base", "default: fixed", choices=ANY_BASE)
    text = (
        "how the base moves: a table (CSV) of t, x, y, z, qx, qy, qz, qw [s, m], with a smooth "
        "path through its rows; it makes the base a moving one"
    )
    add(group, "--base-path", text, file(), complete=FILE, metavar="FILE")
    text = "mass that a link (default: the last one) carries, at a point of it [kg, m]"
    add(group, "--payload", text, many=True, metavar="[LINK=]MASS[,X,Y,Z]")
    add(group, "--payload-known", "the controller knows of the payload", action="store_true")


def _add_start(group: Any) -> None:
    text = "posture (rad, m; several numbers: 1,2,3); loops are closed with these joints there"
    position = named((), "JOINT=POSITION, several numbers as 1,2,3")
    add(group, "--start", text, position, many=True, metavar="JOINT=POSITION")
    text = "speeds (rad/s, m/s); loops stay closed with these joints as fast"
    speed = named((), "JOINT=SPEED, several numbers as 1,2,3")
    add(group, "--speed", text, speed, many=True, metavar="JOINT=SPEED")
    add(group, "--seed", "start at a random posture, of this seed", whole(0), metavar="NUMBER")
    add(group, "--batch", "so many motions at once, from random postures", whole(1), metavar="N")


def _add_control(group: Any) -> None:
    text = (
        "hold holds the weight, pd is a spring and a damper at each motor, and holds the weight "
        "(default: computed-torque if there are motors)"
    )
    add(group, "--controller", text, choices=CONTROLLERS)
    gains = "a number, or one a motor with commas between"
    text = (
        "of computed-torque 1/s^2 (default 400), of pd N m/rad, N/m (default: 400/s^2 times the "
        f"inertia about the motor, loops open); {gains}"
    )
    add(group, "--stiffness", text, numbers((), gains), metavar="GAIN[,...]")
    text = "1/s; of pd N m s/rad, N s/m (default: critical)"
    add(group, "--damping", text, numbers((), gains), metavar="GAIN[,...]")
    text = "what motors follow (default: sine, or point-to-point if there is a goal)"
    add(group, "--reference", text, choices=REFERENCES)
    text = "of sines, from one turning point to the other [rad, m]"
    add(group, "--amplitude", text, number(above=0.0), metavar="NUMBER")
    add(group, "--frequency", "of sines [Hz]", number(above=0.0), metavar="NUMBER")
    text = "where a motor goes, point to point; others stay"
    goal = named((1,), "JOINT=POSITION")
    add(group, "--goal", text, goal, many=True, metavar="JOINT=POSITION")
    text = "when it is there [s] (default: at the end)"
    add(group, "--arrival", text, number(above=0.0, unit="s"), metavar="TIME")


def _add_surroundings(group: Any) -> None:
    text = "force and moment on a link, in its axes [N, N m]"
    wrench = named((3, 6), "LINK=FX,FY,FZ or LINK=FX,FY,FZ,MX,MY,MZ [N, N m]")
    add(group, "--wrench", text, wrench, many=True, metavar="LINK=FX,FY,FZ[,MX,MY,MZ]")
    text = (
        "of positions, speeds and efforts: say where the motion leaves them (report, the default), "
        "also cut efforts to theirs (enforce), or neither (ignore)"
    )
    add(group, "--limits", text, choices=LIMITS, default="report")
    text = (
        "at the limits of joints: rigid, or rigid,RESTITUTION; or compliant,STIFFNESS, or "
        "compliant,STIFFNESS,DAMPING"
    )
    add(group, "--stops", text, metavar="KIND")
    text = 'end the motion where, for instance, "elbow > 1.2" or "speed of elbow < 0"'
    add(group, "--stop-when", text, many=True, metavar="CONDITION")
    text = "a point of a link, in its axes, that the ground resists [m]"
    point = named((3,), "LINK=X,Y,Z [m]")
    add(group, "--ground", text, point, many=True, metavar="LINK=X,Y,Z")
    for name, read, text in (
        ("height", number(), "of the ground above the origin of the world [m]"),
        ("stiffness", number(above=0.0), "of the ground [N/m^1.5]"),
        ("damping", number(least=0.0), "of the ground [s/m]"),
        ("friction", number(least=0.0), "coefficient of friction of the ground"),
    ):
        add(group, f"--ground-{name}", text, read, metavar="NUMBER")


def _add_time(group: Any) -> None:
    duration, step = number(least=0.0, unit="s"), number(above=0.0, unit="s")
    add(group, "--duration", "seconds (default 4)", duration, metavar="TIME", default=4.0)
    add(group, "--step", "seconds (default 0.001)", step, metavar="TIME", default=1e-3)
    names = tuple(INTEGRATORS)
    text = f"{', '.join(names)} (default rk4)"
    add(group, "--integrator", text, choices=names, metavar="NAME", default="rk4")
    text = "of integrators that choose their steps [rad, m] (default 1e-8)"
    add(group, "--tolerance", text, number(above=0.0), metavar="NUMBER")
    text = "hold loops closed by gains [1/s], in place of closing them after every step"
    gains = numbers((1, 2), "ALPHA or ALPHA,BETA [1/s]")
    add(group, "--stabilization", text, gains, metavar="ALPHA[,BETA]")
    add(group, "--every", "keep every k-th step (default 1)", whole(1), metavar="K", default=1)


def _add_files(group: Any) -> None:
    add(group, "--out", "folder (default out)", complete=FOLDER, type=Path, default=Path("out"))
    for option, endings, what in (
        ("--csv", (".csv",), "a table"),
        ("--npz", (".npz",), "all arrays"),
        ("--plot", (), "a picture"),
    ):
        text = f"write {what}; without a name, into the folder"
        own: dict[str, Any] = {"nargs": "?", "const": True, "metavar": "FILE"}
        add(group, option, text, file(endings), complete=FILE, **own)
    add(group, "--no-plot", "no picture", action="store_true")
    text = "also write a bag of ROS 2: .mcap, .db3, or a folder (extra bag)"
    add(group, "--bag", text, file(), complete=FILE, metavar="FILE")
    text = "also write samples to a new folder while the motion goes on, not to memory"
    add(group, "--to", text, file(), complete=FOLDER, metavar="FOLDER")
