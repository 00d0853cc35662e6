"""Robots as files for other programs: the format by the suffix."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.description import Joint, Mechanism
from robodyn.description.graph_check import find_root
from robodyn.errors import SettingsError, UrdfError, UrdfWarning
from robodyn.files import as_path, replacing
from robodyn.force_elements.common.link_element import WORLD
from robodyn.joints import floating
from robodyn.model.settings import Settings
from robodyn.robot import Robot
from robodyn.tolerances import SAME_POSITION
from robodyn.topology.spanning_tree import cut_joints
from robodyn.urdf.common.drawn import DrawnRobot, Written, left_out
from robodyn.urdf.common.sound_inertias import with_sound_inertias
from robodyn.urdf.extensions import left_out_by_others, refused_by_others
from robodyn.urdf.mjcf.writing.write import mjcf_text
from robodyn.urdf.parse import parse
from robodyn.urdf.sdf.write import sdf_text
from robodyn.urdf.usd.write import usda_text
from robodyn.urdf.write import as_written, write


@dataclass(frozen=True)
class Conversion:
    """A robot that was written for another program.

    Attributes
    ----------
    path : Path
    lost : tuple of str
        What the format, or the readers that it is for, cannot say, a line each, with what was
        written instead.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import robodyn as rd
    >>> rd.convert(rd.load("four_bar"), pathlib.Path(tempfile.mkdtemp(), "four_bar.xml")).path.name
    'four_bar.xml'
    """

    path: Path
    lost: tuple[str, ...] = ()


@checked_arguments
def convert(robot: Robot, path: str | os.PathLike[str], *, strict_tree: bool = False) -> Conversion:
    """Write a robot as a file for other programs.

    An MJCF draws the closed posture of `Robot.neutral`, and has it as a keyframe, so that a
    simulation can begin there. Loops are equality constraints between sites, which MuJoCo holds
    softly; where a loop is closed by a joint that is no pin, no ball and no weld, or that carries a
    spring, a damper, a motor or limits, one of its links is cut in two halves, which are welded.

    Parameters
    ----------
    robot : Robot
    path : path
        A file in ``.urdf``, in ``.xml`` for the MJCF of MuJoCo, in ``.sdf``, or in ``.usda`` or
        ``.usd`` (extra ``usd``). It is replaced at once.
    strict_tree : bool
        In URDF, write every loop as ``<loop>``, which readers that know trees only pass over.

    Returns
    -------
    conversion : Conversion
        With what the format, or its readers, cannot say.

    Raises
    ------
    UrdfError
        If the format has no words for something that moves the robot, such as a function of its
        user.
    SettingsError
        If the format has no writer.
    AssemblyError
        If the loops do not close.
    MissingFileError, FileError
        If the file cannot be written; an existing file is then unchanged.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import robodyn as rd
    >>> out = pathlib.Path(tempfile.mkdtemp(), "five_bar.xml")
    >>> lost = rd.convert(rd.load("five_bar"), out).lost
    >>> print(lost[1])
    limits of speed (left_drive, right_drive) are left out
    """
    out = as_path("path", path)
    if out.suffix == ".urdf":
        text, lost = _urdf(robot, strict_tree)
    elif out.suffix in SUFFIXES:
        _check_world(robot)
        text, lost = _drawn(robot, out.suffix)
        lost += _beside(robot)
    else:
        raise SettingsError(
            f"path is {str(out)!r}, expected a name that ends in {', '.join(SUFFIXES)}"
        )
    lost += _given_again(robot, out.suffix)
    with replacing(out) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
    return Conversion(out, tuple(lost))


#: Formats that are written.
SUFFIXES = (".urdf", ".xml", ".sdf", ".usda", ".usd")


def _check_world(robot: Robot) -> None:
    """Refuse a link that is called as the world is in all formats, and moves."""
    moves = robot.base == "floating" or find_root(robot.mechanism) != WORLD
    if moves and WORLD in robot.link_names:
        raise UrdfError(
            f"cannot be written: {WORLD!r} is the name of the ground in this format, and this link "
            "moves; rename it",
            element=f"link {WORLD!r}",
            file=robot.mechanism.file,
        )


def _beside(robot: Robot) -> Iterator[str]:
    """What stands in a URDF beside links and joints, and a base that is moved."""
    extras = "".join(text for link in robot.mechanism.links for text in link.extras)
    if "<visual" in extras or "<collision" in extras:
        yield "shapes are left out"
    if robot.base == "moving":
        yield "the base stands still: how it moves is prescribed"


#: Options of `robodyn.load` that make a robot move otherwise than its file says, and the formats
#: that have no place for them.
GIVEN_AGAIN = {
    "base": (".urdf", ".sdf", ".usda", ".usd"),
    "gravity": (".urdf", ".sdf"),
    "rotor_model": (".urdf", ".sdf"),
    "passive": SUFFIXES,
    "friction_speed": SUFFIXES,
    "ground": SUFFIXES,
}


def _given_again(robot: Robot, suffix: str) -> Iterator[str]:
    """Options of the robot that are in no file."""
    settings, usual = robot.model.settings, Settings()
    turning = any(motor.rotor_inertia for _, motor in robot.mechanism.actuators)
    if suffix not in (".urdf", ".xml") and any(map(_is_free, robot.mechanism.joints)):
        settings = dataclasses.replace(settings, base="floating")
    for name, formats in GIVEN_AGAIN.items():
        value, counts = getattr(settings, name), turning or name != "rotor_model"
        if suffix in formats and counts and value != getattr(usual, name):
            shown = name if name == "ground" else f"{name}={value!r}"
            yield f"an option of robodyn.load is not in the file, give it again: {shown}"


def _is_free(joint: Joint) -> bool:
    """Whether a joint lets a link move freely in the world, which is a joint in MJCF and URDF."""
    return joint.kind == floating.KIND.name and joint.parent == WORLD


def _drawn(robot: Robot, suffix: str) -> Written:
    """Text of a format that draws links where they stand."""
    q, links = robot.neutral(), robot.link_names
    setup = robot.model.setup
    turned = {x.winding: x.motor for x in setup.windings}
    behind = {x.motor: x.joint for x in setup.gear_springs}
    motors = (turned.get(name, name) for name in robot.actuated_joints)
    mechanism, moved = with_sound_inertias(robot.mechanism)
    drawn = DrawnRobot(
        mechanism,
        floating=robot.base == "floating",
        gravity=robot.gravity,
        positions=robot.joint_positions(q),
        poses=dict(zip(links, robot.frame_poses(q, frames=links), strict=True)),
        motors=tuple(behind.get(name, name) for name in motors),
    )
    texts = {".xml": mjcf_text, ".sdf": sdf_text}
    text, lost = texts.get(suffix, usda_text)(drawn)
    return text, moved + lost


def _urdf(robot: Robot, strict_tree: bool) -> Written:
    if robot.nc:
        robot.neutral()  # raises an error if the loops do not close
    mechanism = robot.mechanism
    text = write(mechanism, strict_tree=strict_tree)
    _check(mechanism, text, strict_tree)
    others = refused_by_others, left_out_by_others
    lost = [line for f in others for line in f(mechanism, strict_tree=strict_tree)]
    lost += left_out((("sensors", [x.name for x in mechanism.sensors]),))
    places = robot.joint_positions(robot.neutral()) if robot.model.settings.near else {}
    start = {
        name: np.ravel(places[name])
        for name in robot.joint_names
        if np.abs(places.get(name, 0.0)).max() > SAME_POSITION
    }
    if start and (mechanism.loops or cut_joints(mechanism)):
        drawn = ", ".join(
            f"{name} {','.join(f'{value:.6g}' for value in x)}" for name, x in start.items()
        )
        lost.append(f"where joints stand in the drawing (near= of robodyn.load): {drawn}")
    return text, lost


def _check(mechanism: Mechanism, text: str, strict_tree: bool) -> None:
    """Check that what is written reads back as the same robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UrdfWarning)
        read, problems, _ = parse(text)
    for problem in problems:
        raise UrdfError(f"URDF cannot say this: {problem}")
    written = as_written(mechanism, strict_tree=strict_tree)
    written = dataclasses.replace(written, sensors=())  # which do not move it
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
