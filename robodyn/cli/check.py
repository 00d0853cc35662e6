"""``robodyn check``: errors and warnings about files, of their closed loops too."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.cli.options.output import print_json, with_options
from robodyn.cli.options.robot import (
    add_robot_options,
    reading_options,
    robot_options,
    robots_and_files,
)
from robodyn.cli.options.values import add
from robodyn.cli.shapes.findings import with_shapes
from robodyn.description import Joint, Loop, Mechanism, Pose, with_exact_turns
from robodyn.errors import LoopWarning, RobodynError, UrdfNote, UrdfWarning, some_of
from robodyn.results import LoopGap
from robodyn.tolerances import LOOP_GAP_SHOWN, WRITTEN_IN_FULL
from robodyn.urdf import findings, load_mechanism, open_document, record
from robodyn.urdf.other_readers import PROGRAMS, read_otherwise

#: Displacement of a linkage in the check of which joints move [rad, m].
STEP = 0.1


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add(parser, "file", "what to check", complete=robots_and_files(), nargs="+")
    text = "compare masses and inertias with meshes, too, not only with boxes and the like"
    add(parser, "--shapes", text, action="store_true")
    text = "name what this program reads otherwise, or not at all"
    add(parser, "--for", text, dest="programs", action="append", choices=PROGRAMS, default=[])
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
            mechanism = _mechanism(file, options)
            warned = with_shapes(
                warned, mechanism, options.get("package_dirs"), meshes=arguments.shapes
            )
            notes += read_otherwise(open_document(file), mechanism, arguments.programs)
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


def _mechanism(file: str, options: Mapping[str, Any]) -> Mechanism:
    """The mechanism of a file without errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are in the findings
        return load_mechanism(file, **reading_options(options))


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


def loop_findings(
    file: str, options: Mapping[str, Any] | None = None
) -> tuple[list[RobodynError], list[UrdfWarning], list[UrdfNote]]:
    """Findings about the closed loops of a file.

    Errors: the robot cannot be made, or no closed posture is found. Warnings: closing or mobility
    depends on rounding, or joints cannot move. Notes: where the two frames of each loop stand that
    is open at the start, the closed posture, and rounded angles with their exact values.

    options, optional: Keyword arguments of `robodyn.load`. The search for a closed posture starts
        at ``near``. Default: with all joints at zero.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        errors, held, notes = _of_loops(file, options or {})
    # warnings about the file itself have been printed before
    given = [w.message for w in caught if isinstance(w.message, LoopWarning)]
    return errors, [*given, *held], notes


def _of_loops(
    file: str, options: Mapping[str, Any]
) -> tuple[list[RobodynError], list[UrdfWarning], list[UrdfNote]]:
    try:
        robot = rd.load(file, **options)
    except RobodynError as error:
        return [error], [], []
    rounded = _rounded_angles(robot, load_mechanism(file, **reading_options(options)))
    start = "at the given start" if options.get("near") else "where all joints are at zero"
    cuts = {cut.name: cut for cut in robot.loops}
    notes = [
        _open_loop(robot, gap, cuts[gap.name], start)
        for gap in robot.loop_gaps()
        if gap.residual > LOOP_GAP_SHOWN
    ]
    try:
        closed = robot.neutral()
    except RobodynError as error:
        return [error], [], notes + rounded
    if notes:
        notes.append(_closing_motion(robot, closed))
    return [], _held_joints(robot, closed), notes + rounded


def _rounded_angles(robot: rd.Robot, mechanism: Mechanism) -> list[UrdfNote]:
    """Notes on rounded angles in loops of a file, if the robot has the exact values instead."""
    exact, turns = with_exact_turns(mechanism)
    if robot.mechanism.movers != exact.movers:
        return []
    found: dict[str, list[str]] = {}
    for turn in turns:
        if isinstance(turn.written, float) and isinstance(turn.meant, float):
            if abs(turn.written - turn.meant) > WRITTEN_IN_FULL:
                what = f"{turn.written:.6g} for {math.degrees(turn.meant):.6g} degrees"
                found.setdefault(what, []).append(turn.mover.name)
        else:
            what = f"an axis for ({', '.join(f'{x:.6g}' for x in np.ravel(turn.meant))})"
            found.setdefault(what, []).append(turn.mover.name)
    if not found:
        return []
    parts = [f"{what} ({some_of([*dict.fromkeys(names)])})" for what, names in found.items()]
    text = (
        f"rounded numbers of loops are taken for exact ones: {'; '.join(parts)}; rigid=True keeps"
    )
    return [UrdfNote(f"{text} what is written", **_all_of(mechanism))]


def _all_of(mechanism: Mechanism) -> dict[str, Any]:
    """Where findings about a whole robot stand."""
    return {"file": mechanism.file, "element": f"robot {mechanism.name!r}"}


def _held_joints(robot: rd.Robot, closed: FloatArray) -> list[UrdfWarning]:
    """Warnings about joints of loops that cannot move at all."""
    if not robot.nc:
        return []
    still = _immobile_joints(robot, closed)
    if still and len(still) < len(robot.joint_names):
        try:  # a joint also has no speed where its motion reverses: check another posture
            way = STEP * _motions(robot, closed).sum(axis=0)
            still &= _immobile_joints(robot, robot.assemble(robot.integrate(closed, way)))
        except RobodynError:
            return []
    names = [name for name in robot.joint_names if name in still]
    if not names:
        return []
    motors = [name for name in names if name in dict(robot.mechanism.actuators)]
    moved = f"; motors that move nothing: {some_of(motors)}" if motors else ""
    text = f"the loops hold joints that cannot move: {some_of(names)}{moved}"
    return [UrdfWarning(text, **_all_of(robot.mechanism))]


def _motions(robot: rd.Robot, q: FloatArray) -> FloatArray:
    """A basis of the speeds that the loops allow at a posture, shape (dof, nv)."""
    Vt = np.linalg.svd(robot.loop_jacobian(q))[2]
    return np.asarray(Vt[int(robot.loop_rank(q).rank) :])


def _immobile_joints(robot: rd.Robot, q: FloatArray) -> set[str]:
    """Indices of joints that have no speed in any of the possible motions."""
    speeds = np.abs(_motions(robot, q)).max(axis=0, initial=0.0)
    return {name for name in robot.joint_names if speeds[robot.joints[name].v].max() < 1e-9}


def _open_loop(robot: rd.Robot, gap: LoopGap, cut: Joint | Loop, start: str) -> UrdfNote:
    width = max(map(len, gap.links)) + 2
    lines = [
        f"this {gap.kind} joint closes a loop that is open {start}; its two frames stand in the "
        "world"
    ]
    for link, X in zip(gap.links, gap.poses, strict=True):
        lines.append(f"    on {link!r:{width}} {_pose_as_urdf(X)}")
    instead = f", instead of {cut.distance:.4g} m" if isinstance(cut, Loop) and cut.distance else ""
    return UrdfNote("\n".join((*lines, f"    {gap}{instead}")), **robot.mechanism.where(cut))


def _pose_as_urdf(X: FloatArray) -> str:
    """A pose in the notation of URDF."""
    pose = Pose.from_matrix(X)
    xyz, rpy = (" ".join(f"{x + 0.0:.4g}" for x in np.round(p, 9)) for p in (pose.xyz, pose.rpy))
    return f'xyz="{xyz}" rpy="{rpy}"'


def _closing_motion(robot: rd.Robot, closed: FloatArray) -> UrdfNote:
    """A note on how far each joint moves from the start to the closed posture."""
    way = robot.difference(robot.start(), closed)
    moved: list[tuple[float, str]] = []
    for name in robot.joint_names:
        part = way[robot.joints[name].v]
        size = float(np.abs(part).max(initial=0.0))
        if size > LOOP_GAP_SHOWN:
            shown = ", ".join(f"{x:.4g}" for x in part)
            moved.append((size, f"{name} by {shown} {robot.joints[name].kind.unit(0)}"))
    parts = [text for _, text in sorted(moved, reverse=True)]
    text = f"all loops close when joints move from there: {some_of(parts, separator='; ')}"
    return UrdfNote(text, **_all_of(robot.mechanism))
