"""The command line: ``robodyn sim | check | info | export | publish | view``."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

import robodyn as rd
from robodyn.checking import check_files
from robodyn.errors import MissingExtraError, RobodynError
from robodyn.joints import joint_kind
from robodyn.simulation.limits import LIMITS, effort_bounds, speed_bounds

if TYPE_CHECKING:
    from robodyn.controllers import SineReference

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, or 2 for a mistake in the input."""
    try:
        arguments = _parser().parse_args(argv)
        status = int(arguments.run(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has read enough: robodyn info robot.urdf | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (RobodynError, OSError) as error:
        print(f"robodyn: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, Exception) as error:
        if not _interrupted(error):
            raise
        print("\nrobodyn: interrupted", file=sys.stderr)
        return 130


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: code that it hits may say something else."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("robodyn", description="Dynamics of robots from a URDF.")
    parser.add_argument("--version", action="version", version=f"robodyn {rd.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    bundled = ", ".join(rd.robots())

    sim = commands.add_parser("sim", help="simulate computed-torque tracking")
    sim.add_argument("robot", nargs="?", default="puma560", help=f"URDF file, or one of {bundled}")
    sim.add_argument("--duration", type=float, default=4.0, help="seconds (default 4)")
    sim.add_argument("--step", type=float, default=1e-3, help="seconds (default 0.001)")
    sim.add_argument("--stiffness", type=float, default=400.0, help="1/s^2 (default 400)")
    sim.add_argument("--damping", type=float, help="1/s (default: critical)")
    sim.add_argument("--payload", type=float, default=0.0, help="unmodelled mass at the tip, kg")
    sim.add_argument(
        "--limits", choices=LIMITS, default="report",
        help="of positions, speeds and efforts: say where the motion leaves them (report, the "
        "default), also cut efforts to theirs (enforce), or neither (ignore)",
    )  # fmt: skip
    sim.add_argument("--out", type=Path, default=Path("out"), help="folder (default out)")
    sim.add_argument("--no-plot", action="store_true")
    sim.add_argument(
        "--bag", type=Path, help="also write a bag of ROS 2: .mcap, .db3, or a folder (extra bag)"
    )
    sim.set_defaults(run=_sim)

    check = commands.add_parser("check", help="validate URDF files; exit status 2 if one is bad")
    check.add_argument("file", nargs="+")
    check.add_argument(
        "--json",
        action="store_true",
        help="print a list of file, line, element, severity, message, suggestion",
    )
    _add_near(check)
    check.set_defaults(run=_check)

    info = commands.add_parser("info", help="print tree, masses, limits, degrees of freedom")
    info.add_argument("robot", help=f"URDF file, or one of {bundled}")
    info.add_argument("--base", choices=("fixed", "floating", "moving"), default="fixed")
    _add_near(info)
    info.set_defaults(run=_info)

    export = commands.add_parser("export", help="print C source of a function")
    export.add_argument("robot")
    export.add_argument("function", help="inverse_dynamics, mass_matrix, ...")
    export.add_argument("--base", choices=("fixed", "floating", "moving"), default="fixed")
    export.set_defaults(run=_export)

    view = commands.add_parser("view", help="show a robot in the browser (extra view)")
    view.add_argument("robot", help=f"URDF file, or one of {bundled}")
    view.add_argument("--trajectory", type=Path, help="motion to play: .npz, .csv or a bag")
    view.add_argument("--host", default="127.0.0.1", help="who may connect (default: this machine)")
    view.add_argument("--port", type=int, default=8080, help="default 8080, or the next free one")
    view.add_argument("--base", choices=("fixed", "floating"), default="fixed")
    view.add_argument(
        "--package", action="append", default=[], metavar="NAME=FOLDER", help="for package://NAME"
    )
    _add_near(view)
    view.set_defaults(run=_view)
    publish = commands.add_parser("publish", help="simulate a robot behind ROS topics")
    from robodyn.ros.command import add_arguments

    add_arguments(publish)
    publish.set_defaults(run=_publish)
    return parser


def _add_near(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--near",
        action="append",
        default=[],
        metavar="JOINT=POSITION",
        help="where to look for a posture with closed loops (rad, m; several numbers: 1,2,3)",
    )


def _near(arguments: argparse.Namespace) -> dict[str, list[float]] | None:
    """The positions of ``--near`` by joint name."""
    near = {}
    for text in arguments.near:
        name, _, numbers = text.rpartition("=")
        if name in near:
            raise RobodynError(f"--near gives {name!r} twice; keep one")
        try:
            near[name] = [float(number) for number in numbers.split(",")]
        except ValueError:
            name = ""
        if not name:
            raise RobodynError(f"--near is {text!r}, expected JOINT=POSITION")
    return near or None


def _publish(arguments: argparse.Namespace) -> int:
    from robodyn.ros.command import publish

    return publish(arguments)


def _sim(arguments: argparse.Namespace) -> int:
    from robodyn.controllers import ComputedTorque

    robot = rd.load(arguments.robot)
    reference = _reference(robot)
    controller = ComputedTorque(robot, reference, arguments.stiffness, arguments.damping)
    plant = robot
    if arguments.payload:
        tip = robot.link_names[-1]
        plant = robot.with_(payload={tip: rd.Inertia(arguments.payload)})
    print(
        f"{robot.name}: {robot.nv} joints, {robot.total_mass:.3g} kg, tracking sines for "
        f"{arguments.duration:g} s in steps of {arguments.step:g} s"
    )
    plant.function("forward_dynamics")  # made before the clock starts
    start = time.perf_counter()
    run = rd.simulate(
        plant,
        controller,
        q0=reference(0.0)[0],
        duration=arguments.duration,
        step=arguments.step,
        limits="enforce" if arguments.limits == "enforce" else "ignore",  # told below
        progress=True,
    )
    elapsed = time.perf_counter() - start
    error = np.array([reference(t)[0] for t in run.t]) - run.q
    gained, gap = _energy_balance(plant, run)
    print(f"  largest tracking error  {np.abs(error).max():.3e} rad (m)")
    print(f"  largest torque          {np.abs(run.tau).max():.4g} N m (N){_share(robot, run)}")
    print(f"  energy gained           {gained:.4g} J; work not accounted for {gap:.1e} J")
    if arguments.limits != "ignore":
        for violation in run.limit_violations:
            print(f"  limit left              {violation}")
    speed = arguments.duration / elapsed
    print(f"  simulated in            {elapsed:.2f} s ({speed:.1f} x real time)")
    return _write(arguments, robot, run, error)


def _reference(robot: rd.Robot) -> SineReference:
    """Sines in a part of each joint's range, away from its limits and below its top speed."""
    from robodyn.controllers import SineReference

    if robot.nc:
        raise RobodynError(
            f"{robot.name!r} has closed loops: its joints cannot be moved independently of each "
            "other; simulate it with robodyn.simulate"
        )
    if robot.nv == 0:
        raise RobodynError(f"{robot.name!r} has no moving joint")
    for name in robot.joint_names:
        kind = robot.joints[name].kind
        if not kind.coordinates.flat:
            raise RobodynError(
                f"joint {name!r} of {robot.name!r} is {kind}: sim tracks joints whose coordinates "
                "are independent of each other; simulate this robot with robodyn.simulate"
            )
    low = np.where(np.isfinite(robot.lower_limits), robot.lower_limits, -np.pi)
    high = np.where(np.isfinite(robot.upper_limits), robot.upper_limits, np.pi)
    swing = np.minimum(0.3 * (high - low), 1.0)
    frequency = 0.25 + 0.5 * np.arange(robot.nv) / robot.nv
    # the speed of a sine peaks at pi * frequency * swing
    frequency = np.minimum(frequency, 0.8 * speed_bounds(robot) / (np.pi * np.maximum(swing, 1e-9)))
    return SineReference(low + 0.35 * (high - low), swing, frequency)


def _share(robot: rd.Robot, run: rd.Trajectory) -> str:
    """How much of the motors' strength was asked for, where the file tells it."""
    bounds = effort_bounds(robot)
    known = np.isfinite(bounds)
    if not known.any():
        return ""
    part = np.abs(run.tau).max(axis=0)[known] / bounds[known]
    worst = np.array(run.joint_names)[known][part.argmax()]
    return f"; up to {100 * part.max():.0f} % of the limit, at {worst}"


def _energy_balance(robot: rd.Robot, run: rd.Trajectory) -> tuple[float, float]:
    """Energy gained, and how far it is from the work of motors and passive forces [J]."""
    gained = run.energy[-1] - run.energy[0]
    # torque is constant within a step; passive forces are integrated by the trapezoidal rule
    motors = np.sum(run.tau[:-1] * np.diff(run.q, axis=0))
    power = np.sum(robot.passive_forces(run.q, run.v) * run.v, axis=-1)
    passive = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t))
    return float(gained), float(gained - motors - passive)


def _write(
    arguments: argparse.Namespace, robot: rd.Robot, run: rd.Trajectory, error: np.ndarray
) -> int:
    arguments.out.mkdir(parents=True, exist_ok=True)
    stem = arguments.out / Path(robot.name).name
    table = stem.with_suffix(".csv")
    run.save(table)
    print(f"  written                 {table}")
    if arguments.bag:
        from robodyn.ros.bag.trajectories import write_bag

        write_bag(run, arguments.bag)
        print(f"  written                 {arguments.bag}")
    if arguments.no_plot:
        return 0
    try:
        from robodyn.simulation.panels import panel
        from robodyn.simulation.plots import Panel, draw

        picture = stem.with_suffix(".png")
        off = Panel("tracking error [rad, m]", error, run.joint_names)
        rows = (panel(run, "positions"), off, panel(run, "torques"))
        draw(picture, run.t, rows, title=f"{robot.name}: computed torque", linewidth=1.2)
        print(f"  written                 {picture}")
    except MissingExtraError as missing:
        print(f"  no picture: {missing}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    return 0 if check_files(arguments.file, as_json=arguments.json, near=_near(arguments)) else 2


def _info(arguments: argparse.Namespace) -> int:
    robot = rd.load(arguments.robot, base=arguments.base, near=_near(arguments))
    freedom = "1 degree" if robot.dof == 1 else f"{robot.dof} degrees"
    print(
        f"{robot.name}: {robot.base} base, {freedom} of freedom, nq {robot.nq}, "
        f"nv {robot.nv}, moving mass {robot.total_mass:.6g} kg"
    )
    masses = {link.name: link.inertia for link in robot.mechanism.links}
    children: dict[str, list[rd.Joint]] = {}
    for joint in robot.mechanism.joints:
        children.setdefault(joint.parent, []).append(joint)
    moved = {joint.child for joint in robot.mechanism.joints}
    stack = [(name, 0, "") for name in masses if name not in moved]
    while stack:
        name, depth, by = stack.pop()
        inertia = masses[name]
        mass = f"{inertia.mass:.6g} kg" if inertia else "massless"
        print("  " * depth + f"- {name} ({mass}){by}")
        for joint in reversed(children.get(name, [])):
            stack.append((joint.child, depth + 1, f"  <- {_joint_text(joint)}"))
    _print_loops(robot)
    return 0


def _print_loops(robot: rd.Robot) -> None:
    """What was cut to get a tree, and what that leaves."""
    if not robot.nc:
        return
    redundant = robot.redundant_constraints
    for name in dict.fromkeys(row.rsplit("[", 1)[0] for row in robot.constraint_names):
        rows = [row for row in robot.constraint_names if row.rsplit("[", 1)[0] == name]
        extra = sum(row in redundant for row in rows)
        cut = {cut.name: cut for cut in robot.loops}.get(name)
        kind = f" ({cut.kind})" if cut else ""
        print(f"cut: {name}{kind}, {len(rows)} constraints, {extra} of them redundant")
    print(f"independent: {', '.join(robot.independent_joints)}")
    print(f"motors: {', '.join(robot.actuated_joints)}")


def _joint_text(joint: rd.Joint) -> str:
    text = f"{joint.name}: {joint.kind}"
    if joint.mimic:
        text += f", {joint.mimic.multiplier:g} x {joint.mimic.joint} + {joint.mimic.offset:g}"
    if joint.limits and joint_kind(joint.kind).limited:
        limits = joint.limits
        text += f" [{limits.lower:.4g}, {limits.upper:.4g}], velocity {limits.velocity:.4g}"
        text += f", effort {limits.effort:.4g}"
    return text


def _export(arguments: argparse.Namespace) -> int:
    robot = rd.load(arguments.robot, base=arguments.base)
    print(robot.function(arguments.function).c_source(arguments.function))
    return 0


def _view(arguments: argparse.Namespace) -> int:
    from robodyn.view import Viewer
    from robodyn.view.recording import read_motion

    packages = {}
    for text in arguments.package:
        name, equals, folder = text.partition("=")
        if not (name and equals and folder):
            raise RobodynError(f"--package is {text!r}, expected NAME=FOLDER")
        packages[name] = folder
    robot = rd.load(
        arguments.robot, base=arguments.base, package_dirs=packages, near=_near(arguments)
    )
    motion = read_motion(arguments.trajectory, robot) if arguments.trajectory else None
    viewer = Viewer(robot, motion, host=arguments.host, port=arguments.port, package_dirs=packages)
    for note in viewer.notes:
        print(f"  not shown: {note}", file=sys.stderr)
    with contextlib.suppress(KeyboardInterrupt), viewer:
        print(f"{robot.name}: {viewer.url} (Ctrl-C ends)", flush=True)
        if viewer.is_everywhere:
            name = urlsplit(viewer.url).hostname
            print(f"from elsewhere: the same, with this machine's name for {name}", flush=True)
        viewer.wait()
    return 0
