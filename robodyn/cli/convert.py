"""``robodyn convert``: convert a robot description to URDF."""

from __future__ import annotations

import argparse
import dataclasses
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.options.output import add_json, print_json
from robodyn.cli.options.robot import add_robot, add_robot_options, robot_options
from robodyn.cli.options.values import FILE, add, file
from robodyn.description import Mechanism
from robodyn.errors import FileError, RobodynError, UrdfError, UrdfWarning, some_of
from robodyn.force_elements import LINK_ELEMENTS
from robodyn.urdf import open_document, parse, write
from robodyn.urdf.extensions import left_out_by_others, refused_by_others
from robodyn.urdf.write import as_written

#: What conversion to URDF loses, by the kind of document.
LOST = {
    "xacro": "properties, macros and conditions are expanded",
    "MJCF": "shapes, materials, cameras, lights and keyframes are not in it",
    "SDF": "shapes, materials, lights, sensors and plugins are not in it",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser)
    add(parser, "out", "what to write", file((".urdf",)), complete=FILE, metavar="OUT.urdf")
    parser.add_argument("--force", action="store_true", help="replace OUT.urdf if it is there")
    text = "write every loop as <loop>, which readers that know trees only pass over"
    parser.add_argument("--strict-tree", action="store_true", help=text)
    add_json(parser)
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    out = arguments.out
    if out.exists() and not arguments.force:
        raise FileError(f"{str(out)!r} is there already: --force replaces it")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = rd.load(arguments.robot, **robot_options(arguments))
    if robot.nc:
        robot.neutral()  # raises an error if the loops do not close
    mechanism = robot.mechanism
    _check(mechanism, strict_tree=arguments.strict_tree)
    write(mechanism, out, strict_tree=arguments.strict_tree)
    lost = list(_losses(arguments.robot, out, mechanism, [item.message for item in caught]))
    for others in (refused_by_others, left_out_by_others):
        lost += others(mechanism, strict_tree=arguments.strict_tree)
    counts = _counts(mechanism)
    if arguments.json:
        print_json("convert", robot=robot.name, files=[out], counts=counts, lost=lost)
        return 0
    shown = (f"{n} {word}{'s'[: n != 1]}" for word, n in counts.items())
    print(f"{out}: {', '.join(shown)}")
    for line in lost:
        print(f"  {line}")
    return 0


def _check(mechanism: Mechanism, *, strict_tree: bool) -> None:
    """Check that the written file reads back as the same robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        read, problems, _ = parse(write(mechanism, strict_tree=strict_tree))
    for problem in problems:
        raise RobodynError(f"URDF cannot say this: {problem}")
    written = as_written(mechanism, strict_tree=strict_tree)
    if read == written:
        return
    assert read is not None
    for one, other in zip(written.movers, read.movers, strict=False):
        for name in (x.name for x in dataclasses.fields(one) if x.compare):
            if getattr(one, name) != getattr(other, name, None):
                raise UrdfError(
                    f"URDF cannot say its {name}: {getattr(one, name)!r} reads back as "
                    f"{getattr(other, name, None)!r}",
                    **mechanism.where(one),
                )
    raise UrdfError(
        "URDF cannot say all of it: what would be written reads back as another robot",
        file=mechanism.file,
    )


def _counts(mechanism: Mechanism) -> dict[str, int]:
    """Numbers of links, joints and other parts."""
    parts = {
        "link": mechanism.links,
        "joint": mechanism.joints,
        "loop": mechanism.loops,
        "coupling": mechanism.couplings,
        "motor": mechanism.actuators,
        "transmission": mechanism.transmissions,
        **{
            tag.replace("_", " "): [x for x in mechanism.link_elements if x.tag == tag]
            for tag in LINK_ELEMENTS
        },
        "rotor": mechanism.rotors,
    }
    return {word: len(items) for word, items in parts.items() if items}


def _losses(source: str, out: Path, mechanism: Mechanism, warned: list[Any]) -> Iterator[str]:
    """Lines about what was read leniently, and what the new file does not contain."""
    for warning in warned:
        for place in getattr(warning, "places", ()) or (warning,):
            done = getattr(place, "leniently", None)
            yield str(place) + (f" -> {done}" if done else "")
    kind = open_document(source).kind
    shapes = "".join(text for link in mechanism.links for text in link.extras)
    if kind in LOST and not shapes:
        yield f"{kind}: {LOST[kind]}"
    beside = [*dict.fromkeys(re.findall(r'filename="([^"/:][^":]*)"', shapes))]
    if beside and Path(mechanism.file or "").parent.resolve() != out.parent.resolve():
        yield f"not copied, and looked for beside the new file: {some_of(beside)}"
    if mechanism.loops and mechanism.start:
        drawn = ", ".join(f"{name} {_numbers(x)}" for name, x in mechanism.start)
        yield f"where joints stand in the drawing (near= of robodyn.load): {drawn}"


def _numbers(x: tuple[float, ...]) -> str:
    return ",".join(f"{value:.6g}" for value in x)
