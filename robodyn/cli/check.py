"""``robodyn check``: errors and warnings about files."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from robodyn.cli.loop_findings import loop_findings
from robodyn.cli.options.output import print_json, with_options
from robodyn.cli.options.robot import (
    add_robot_options,
    reading_options,
    robot_options,
    robots_and_files,
)
from robodyn.cli.options.values import add
from robodyn.cli.shapes.findings import with_shapes
from robodyn.errors import RobodynError, UrdfNote, UrdfWarning
from robodyn.urdf import findings, load_mechanism, record


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add(parser, "file", "what to check", complete=robots_and_files(), nargs="+")
    text = "compare masses and inertias with meshes, too, not only with boxes and the like"
    add(parser, "--shapes", text, action="store_true")
    add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings in all files, as text or as the records of `robodyn.urdf.record`."""
    options = robot_options(arguments)
    sound, records = True, []
    for file in arguments.file:
        errors, warned = findings(file, **reading_options(options))
        notes: list[UrdfNote] = []
        if not errors:
            more, held, notes = loop_findings(file, options)
            warned = _with_shapes(file, options, warned, meshes=arguments.shapes)
            errors, warned = errors + more, warned + held
        sound = sound and not errors
        everything: tuple[RobodynError | UrdfWarning | UrdfNote, ...] = (*errors, *warned, *notes)
        for found in everything:
            plain = record(found, file)
            records.append(plain | {"message": with_options(str(plain["message"]))})
        if not arguments.json:
            _print(file, errors, warned, notes)
    if arguments.json:
        print_json("check", ok=sound, files=arguments.file, findings=records)
    return 0 if sound else 2


def _with_shapes(
    file: str, options: Mapping[str, Any], warned: Sequence[UrdfWarning], *, meshes: bool
) -> list[UrdfWarning]:
    """Warnings, and those about masses that do not go with the shapes of links."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are in the findings
        mechanism = load_mechanism(file, **reading_options(options))
    return with_shapes(warned, mechanism, options.get("package_dirs"), meshes=meshes)


def _print(
    file: str,
    errors: Sequence[RobodynError],
    warned: Sequence[UrdfWarning],
    notes: Sequence[UrdfNote],
) -> None:
    for error in errors:
        done = getattr(error, "leniently", None)
        print(with_options(str(error)) + (f" (--lenient: {done})" if done else ""))
    for warning in warned:
        print(f"{with_options(str(warning))} (warning)")
    for note in notes:
        first, line, rest = with_options(str(note)).partition("\n")
        print(f"{first} (note){line}{rest}")
    if not errors:
        counts = (("warning", len(warned)), ("note", len(notes)))
        print(f"{file}: ok" + "".join(f", {n} {word}{'s'[: n > 1]}" for word, n in counts if n))
