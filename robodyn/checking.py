"""What ``robodyn check`` says of files: what is wrong or suspicious, and which loops are open."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.description import Joint, Loop, Pose
from robodyn.errors import RobodynError, UrdfNote, UrdfWarning
from robodyn.results import LoopGap
from robodyn.urdf import findings, record

__all__ = ["check_files", "open_loops"]

#: Gaps of loops [m, rad] above this are more than the rounding of a file.
OPEN = 1e-4

#: Arguments of `robodyn.load` that say what is read, and not what is made of it.
READING = ("package_dirs", "xacro_args", "allow_unphysical", "strict")

#: So many joints are told that move to close loops.
TOLD = 8


def check_files(
    files: Sequence[str],
    *,
    as_json: bool = False,
    options: Mapping[str, Any] | None = None,
) -> bool:
    """Print what is found in files; whether there is no error.

    Parameters
    ----------
    files : sequence of str
    as_json : bool
        As a list of records, for other programs; see `robodyn.urdf.record`.
    options : mapping, optional
        How files are read: keyword arguments of `robodyn.load`.
    """
    options = options or {}
    reading = {name: options[name] for name in READING if name in options}
    sound, records = True, []
    for file in files:
        errors, warned = findings(file, **reading)
        notes: list[UrdfNote] = []
        if not errors:
            more, notes = open_loops(file, options)
            errors += more
        sound = sound and not errors
        everything: tuple[RobodynError | UrdfWarning | UrdfNote, ...] = (*errors, *warned, *notes)
        records += [record(found, file) for found in everything]
        if as_json:
            continue
        for error in errors:
            print(error)
        for warning in warned:
            print(f"{warning} (warning)")
        for note in notes:
            first, line, rest = str(note).partition("\n")
            print(f"{first} (note){line}{rest}")
        if not errors:
            counts = (("warning", len(warned)), ("note", len(notes)))
            print(f"{file}: ok" + "".join(f", {n} {word}{'s'[: n > 1]}" for word, n in counts if n))
    if as_json:
        print(json.dumps(records, indent=2))
    return sound


def open_loops(
    file: str, options: Mapping[str, Any] | None = None
) -> tuple[list[RobodynError], list[UrdfNote]]:
    """What is to say of loops that are open where all joints are at zero, or where one is told.

    Parameters
    ----------
    file : str
    options : mapping, optional
        How it is read: keyword arguments of `robodyn.load`; ``near`` says where a closed posture is
        looked for. Default: with all joints at zero.

    Returns
    -------
    errors : list of RobodynError
        If the robot cannot be made, or no closed posture is found from there.
    notes : list of UrdfNote
        Of each loop that is open there, where its two frames stand; and where they meet.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the file have been told
            robot = rd.load(file, **options or {})
    except RobodynError as error:
        return [error], []
    start = (
        "where it was told to look"
        if options and options.get("near")
        else "where all joints are at zero"
    )
    cuts = {cut.name: cut for cut in robot.loops}
    notes = [
        _open_loop(robot, gap, cuts[gap.name], start)
        for gap in robot.loop_gaps()
        if gap.residual > OPEN
    ]
    try:
        closed = robot.neutral()
    except RobodynError as error:
        return [error], notes
    if notes:
        notes.append(_closing_motion(robot, closed))
    return [], notes


def _open_loop(robot: rd.Robot, gap: LoopGap, cut: Joint | Loop, start: str) -> UrdfNote:
    width = max(map(len, gap.links)) + 2
    lines = [
        f"this {gap.kind} joint closes a loop that is open {start}; its two frames stand in the "
        "world"
    ]
    for link, X in zip(gap.links, gap.poses, strict=True):
        lines.append(f"    on {link!r:{width}} {_placed(X)}")
    instead = f", instead of {cut.distance:.4g} m" if isinstance(cut, Loop) and cut.distance else ""
    return UrdfNote("\n".join((*lines, f"    {gap}{instead}")), **robot.mechanism.where(cut))


def _placed(X: FloatArray) -> str:
    """A pose as a file would say it."""
    pose = Pose.from_matrix(X)
    xyz, rpy = (" ".join(f"{x + 0.0:.4g}" for x in np.round(p, 9)) for p in (pose.xyz, pose.rpy))
    return f'xyz="{xyz}" rpy="{rpy}"'


def _closing_motion(robot: rd.Robot, closed: FloatArray) -> UrdfNote:
    """Which joints move, and how far, from the start to the closed posture."""
    way = robot.difference(robot.start(), closed)
    moved: list[tuple[float, str]] = []
    for name in robot.joint_names:
        part = way[robot.joints[name].v]
        size = float(np.abs(part).max(initial=0.0))
        if size > OPEN:
            shown = ", ".join(f"{x:.4g}" for x in part)
            moved.append((size, f"{name} by {shown} {robot.joints[name].kind.unit(0)}"))
    told = [text for _, text in sorted(moved, reverse=True)]
    more = f" and {len(told) - TOLD} more" if len(told) > TOLD else ""
    return UrdfNote(
        f"all loops close when joints move from there: {'; '.join(told[:TOLD])}{more}",
        file=robot.mechanism.file,
        element=f"robot {robot.name!r}",
    )
