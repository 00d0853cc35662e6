"""The command line: ``robodyn sim | check | info | export``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import robodyn as rd
from robodyn.errors import MissingExtraError, RobodynError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, or 2 for a mistake in the input."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (RobodynError, OSError) as error:
        print(f"robodyn: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nrobodyn: interrupted", file=sys.stderr)
        return 130


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
    sim.add_argument("--out", type=Path, default=Path("out"), help="folder (default out)")
    sim.add_argument("--no-plot", action="store_true")
    sim.set_defaults(run=_sim)

    check = commands.add_parser("check", help="validate URDF files; exit status 2 if one is bad")
    check.add_argument("file", nargs="+")
    check.set_defaults(run=_check)

    info = commands.add_parser("info", help="print tree, masses, limits, degrees of freedom")
    info.add_argument("robot", help=f"URDF file, or one of {bundled}")
    info.add_argument("--base", choices=("fixed", "floating", "moving"), default="fixed")
    info.set_defaults(run=_info)

    export = commands.add_parser("export", help="print C source of a function")
    export.add_argument("robot")
    export.add_argument("function", help="inverse_dynamics, mass_matrix, ...")
    export.add_argument("--base", choices=("fixed", "floating", "moving"), default="fixed")
    export.set_defaults(run=_export)
    return parser


def _progress(part: float) -> None:
    if sys.stderr.isatty():
        filled = round(40 * part)
        end = "\n" if part >= 1.0 else ""
        bar = "#" * filled + "." * (40 - filled)
        print(f"\r  [{bar}] {100 * part:3.0f} %", end=end, file=sys.stderr, flush=True)


def _sim(arguments: argparse.Namespace) -> int:
    from robodyn.controllers import ComputedTorque, SineReference

    robot = rd.load(arguments.robot)
    if robot.nq != robot.nv:
        raise RobodynError(
            f"{robot.name!r} has orientations as coordinates: sim tracks joints only"
        )
    if robot.nv == 0:
        raise RobodynError(f"{robot.name!r} has no moving joint")
    center, amplitude = _workspace(robot)
    frequency = 0.25 + 0.5 * np.arange(robot.nv) / max(robot.nv, 1)
    reference = SineReference(center, amplitude, frequency)
    controller = ComputedTorque(robot, reference, arguments.stiffness, arguments.damping)
    plant = robot
    if arguments.payload:
        tip = robot.link_names[-1]
        plant = robot.with_(payload={tip: rd.Inertia(arguments.payload)})
    print(
        f"{robot.name}: {robot.nv} joints, {robot.total_mass:.3g} kg, tracking sines for "
        f"{arguments.duration:g} s in steps of {arguments.step:g} s"
    )
    start = time.perf_counter()
    run = rd.simulate(
        plant,
        controller,
        q0=center,
        duration=arguments.duration,
        step=arguments.step,
        progress=_progress,
    )
    elapsed = time.perf_counter() - start
    error = np.array([reference(t)[0] for t in run.t]) - run.q
    print(f"  largest tracking error  {np.abs(error).max():.3e} rad (m)")
    print(f"  largest torque          {np.abs(run.tau).max():.4g} N m (N)")
    speed = arguments.duration / elapsed
    print(f"  simulated in            {elapsed:.2f} s ({speed:.1f} x real time)")
    return _write(arguments, robot, run, error)


def _workspace(robot: rd.Robot) -> tuple[np.ndarray, np.ndarray]:
    """Start and swing of each joint: a part of its range, away from the limits."""
    low = np.where(np.isfinite(robot.lower_limits), robot.lower_limits, -np.pi)
    high = np.where(np.isfinite(robot.upper_limits), robot.upper_limits, np.pi)
    return low + 0.35 * (high - low), np.minimum(0.3 * (high - low), 1.0)


def _write(
    arguments: argparse.Namespace, robot: rd.Robot, run: rd.Trajectory, error: np.ndarray
) -> int:
    arguments.out.mkdir(parents=True, exist_ok=True)
    stem = arguments.out / Path(robot.name).name
    table = stem.with_suffix(".csv")
    run.save(table)
    print(f"  written                 {table}")
    if arguments.no_plot:
        return 0
    try:
        from robodyn.simulation.plots import draw_tracking

        picture = stem.with_suffix(".png")
        draw_tracking(run, error, f"{robot.name}: computed torque", picture)
        print(f"  written                 {picture}")
    except MissingExtraError as missing:
        print(f"  no picture: {missing}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from robodyn.urdf import problems

    bad = False
    for file in arguments.file:
        found = problems(file)
        for problem in found:
            print(problem)
        if not found:
            print(f"{file}: ok")
        bad = bad or bool(found)
    return 2 if bad else 0


def _info(arguments: argparse.Namespace) -> int:
    robot = rd.load(arguments.robot, base=arguments.base)
    print(
        f"{robot.name}: {robot.base} base, {robot.dof} degrees of freedom, nq {robot.nq}, "
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
    return 0


def _joint_text(joint: rd.Joint) -> str:
    text = f"{joint.name}: {joint.kind}"
    if joint.mimic:
        text += f", {joint.mimic.multiplier:g} x {joint.mimic.joint} + {joint.mimic.offset:g}"
    if joint.limits and joint.kind != "continuous":
        limits = joint.limits
        text += f" [{limits.lower:.4g}, {limits.upper:.4g}], velocity {limits.velocity:.4g}"
        text += f", effort {limits.effort:.4g}"
    return text


def _export(arguments: argparse.Namespace) -> int:
    robot = rd.load(arguments.robot, base=arguments.base)
    print(robot.function(arguments.function).c_source(arguments.function))
    return 0
