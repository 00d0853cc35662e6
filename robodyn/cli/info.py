"""``robodyn info``: print links, joints, masses, limits and degrees of freedom."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import robodyn as rd
from robodyn.cli.options.output import print_json
from robodyn.cli.options.robot import ANY_BASE, add_robot, loaded
from robodyn.cli.options.values import FILE, add
from robodyn.files import as_path, replacing
from robodyn.joints import joint_kind


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser, bases=ANY_BASE)
    add(parser, "--graph", "draw bodies, joints and loops", complete=FILE, metavar="FILE.svg")


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    robot = loaded(arguments)
    if arguments.json:
        _print_record(robot)
    else:
        _print(robot)
    if arguments.graph:
        with replacing(as_path("--graph", arguments.graph)) as unfinished:
            unfinished.write_text(robot.graph.svg(), encoding="utf-8")
        print(f"wrote {arguments.graph}", file=sys.stderr if arguments.json else None)
    return 0


def _print_record(robot: rd.Robot) -> None:
    print_json(
        "info",
        robot=robot.name,
        base=robot.base,
        dof=robot.dof,
        nq=robot.nq,
        nv=robot.nv,
        moving_mass_kg=robot.total_mass,
        links=[
            {"name": link.name, "mass_kg": link.inertia.mass if link.inertia else 0.0}
            for link in robot.mechanism.links
        ],
        joints=[_joint_record(joint, robot) for joint in robot.mechanism.joints],
        cuts=[vars(cut) for cut in _cuts(robot)],
        independent=robot.independent_joints if robot.nc else robot.joint_names,
        motors=robot.actuated_joints,
        transmissions=[
            {"name": given.name, "joints": given.joints, "matrix": given.matrix}
            for given in robot.transmissions
        ],
    )


def _joint_record(joint: rd.Joint, robot: rd.Robot) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": joint.name,
        "kind": joint.kind,
        "parent": joint.parent,
        "child": joint.child,
        "follows": robot.joints[joint.name].follows,
    }
    kind = joint_kind(joint.kind)
    if joint.limits and kind.nv == 1:
        unit = robot.joints[joint.name].kind.unit(0)
        record |= {"unit": unit, "effort_unit": "N" if unit == "m" else "N m"}
        known = ("lower", "upper") if kind.limited else ()
        record |= {x: getattr(joint.limits, x) for x in (*known, "velocity", "effort")}
    return record


def _print(robot: rd.Robot) -> None:
    freedom = f"{robot.dof} degree{'s'[: robot.dof != 1]}"
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
            stack.append((joint.child, depth + 1, f"  <- {_joint_text(joint, robot)}"))
    _print_loops(robot)
    for transmission in robot.transmissions:
        print(f"transmission {_transmission_text(transmission, robot.actuators)}")


def _print_loops(robot: rd.Robot) -> None:
    """Print the cut joints, the constraints and the degrees of freedom."""
    if not robot.nc:
        return
    for cut in _cuts(robot):
        name = f"{cut.name} ({cut.kind})" if cut.kind else cut.name
        print(f"cut: {name}, {cut.constraints} constraints, {cut.redundant} of them redundant")
    print(f"independent: {', '.join(robot.independent_joints)}")
    print(f"motors: {', '.join(robot.actuated_joints)}")


@dataclass(frozen=True)
class _Closure:
    """A loop closure or coupling, and its number of constraints."""

    name: str
    kind: str
    constraints: int
    redundant: int


def _cuts(robot: rd.Robot) -> Iterator[_Closure]:
    redundant = robot.redundant_constraints if robot.nc else ()
    kinds = {cut.name: cut.kind for cut in robot.loops}
    for name in dict.fromkeys(row.rsplit("[", 1)[0] for row in robot.constraint_names):
        rows = [row for row in robot.constraint_names if row.rsplit("[", 1)[0] == name]
        extra = sum(row in redundant for row in rows)
        yield _Closure(name, kinds.get(name, ""), len(rows), extra)


def _transmission_text(given: rd.Transmission, motors: Mapping[str, rd.Actuator]) -> str:
    """Speed of each motor as a function of the speeds of joints."""
    turning = []
    for motor, row in zip(given.joints, given.matrix, strict=True):
        ratios = (motors[motor].gear_ratio * x for x in row)
        terms = (f"{x:+.6g} {name}" for x, name in zip(ratios, given.joints, strict=True) if x)
        turning.append(f"motor of {motor} turns with {' '.join(terms)}")
    return f"{given.name}: {', '.join(turning)}"


def _joint_text(joint: rd.Joint, robot: rd.Robot) -> str:
    text = f"{joint.name}: {joint.kind}"
    if joint.mimic:
        text += f", {joint.mimic.multiplier:g} x {joint.mimic.joint} + {joint.mimic.offset:g}"
    elif follows := robot.joints[joint.name].follows:
        text += f", a function of {', '.join(follows)}"
    kind, limits = joint_kind(joint.kind), joint.limits
    if limits and kind.limited:
        text += f" [{limits.lower:.4g}, {limits.upper:.4g}]"
    if limits and kind.nv:
        rates = (("velocity", limits.velocity), ("effort", limits.effort))
        text += "".join(
            f", {name} {x:.4g}" for name, x in rates if kind.limited or 0.0 < x < math.inf
        )
    return text
