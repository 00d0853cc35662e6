"""``robodyn convert``: convert a robot description to URDF, MJCF, SDF or USD."""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import robodyn as rd
from robodyn.cli.options.output import print_json
from robodyn.cli.options.robot import add_robot, robot_options
from robodyn.cli.options.values import FILE, add, file
from robodyn.description import Mechanism
from robodyn.errors import FileError, some_of
from robodyn.exporting.conversion import SUFFIXES
from robodyn.force_elements import LINK_ELEMENTS
from robodyn.urdf import open_document

#: What conversion loses, by the kind of document.
LOST = {
    "xacro": "properties, macros and conditions are expanded",
    "MJCF": "shapes, materials, cameras, lights and keyframes are not in it",
    "SDF": "shapes, materials, lights, sensors and plugins are not in it",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_robot(parser)
    add(parser, "out", "what to write", file(SUFFIXES), complete=FILE, metavar="OUT")
    parser.add_argument("--force", action="store_true", help="replace OUT if it is there")
    text = "in URDF, write every loop as <loop>, which readers that know trees only pass over"
    parser.add_argument("--strict-tree", action="store_true", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    out = arguments.out
    if out.exists() and not arguments.force:
        raise FileError(f"{str(out)!r} is there already: --force replaces it")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = rd.load(arguments.robot, **robot_options(arguments))
    mechanism = robot.mechanism
    conversion = rd.convert(robot, out, strict_tree=arguments.strict_tree)
    lost = list(_losses(arguments.robot, out, mechanism, [item.message for item in caught]))
    lost += conversion.lost
    counts = _counts(mechanism)
    if arguments.json:
        print_json("convert", robot=robot.name, files=[out], counts=counts, lost=lost)
        return 0
    shown = (f"{n} {word}{'s'[: n != 1]}" for word, n in counts.items())
    print(f"{out}: {', '.join(shown)}")
    for line in lost:
        print(f"  {line}")
    return 0


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
    beside = files_beside(shapes)
    elsewhere = Path(mechanism.file or "").parent.resolve() != out.parent.resolve()
    if beside and elsewhere and out.suffix == ".urdf":
        yield f"not copied, and looked for beside the new file: {some_of(beside)}"


def files_beside(text: str) -> list[str]:
    """Names of files in a description that are looked for beside it."""
    return [*dict.fromkeys(re.findall(r'filename="([^"/:][^":]*)"', text))]
