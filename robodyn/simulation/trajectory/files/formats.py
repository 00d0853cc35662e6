"""Files of motions: formats by the ending of the name, and the check of the robot."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.arrays import expect
from robodyn.errors import MissingFileError, SettingsError, ShapeError
from robodyn.files import as_path, replacing
from robodyn.robot import Robot
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.trajectory.files import archive, recording, table
from robodyn.simulation.trajectory.files.validity import check_contents

__all__ = ["load", "save"]

#: The fields of a trajectory by name.
Fields = Mapping[str, Any]


def save(path: str | os.PathLike[str], fields: Fields, rows: Callable[[], Fields]) -> None:
    """Write a motion; see `Trajectory.save`. ``rows`` returns its fields for tables and bags."""
    target = as_path("path", path)
    fields = rows() if target.suffix in (".mcap", ".csv") else fields
    if target.suffix == ".mcap":
        from robodyn.bags import write_motion

        motion = tuple(fields[name] for name in ("q", "v", "a", "tau"))
        moved = fields["robot"], fields["joint_names"], fields["t"], motion
        return write_motion(target, *moved, fields["measurements"])
    writers: dict[str, Callable[[str, Fields], None]] = {
        ".npz": archive.write, ".csv": table.write,
    }  # fmt: skip
    if target.suffix not in writers:
        raise ShapeError(
            f"cannot save to {target.name!r}: expected a name ending in .npz, .csv or .mcap",
            name="path",
            given=target.suffix,
            expected=(*writers, ".mcap"),
        )
    with replacing(target) as unfinished:
        writers[target.suffix](str(unfinished), fields)


def load(path: str | os.PathLike[str], robot: Robot | None) -> dict[str, Any]:
    """The fields of a trajectory from a file; see `Trajectory.load`."""
    source = as_path("path", path)
    if robot is not None:
        expect("robot", robot, Robot)
    if not source.exists():
        raise MissingFileError(f"no such file: {str(source)!r}")
    if source.suffix == ".mcap":
        return _from_bag(source, robot)
    readers: dict[str, Callable[[Path], dict[str, Any]]] = {
        ".npz": archive.read, ".csv": table.read,
    }  # fmt: skip
    if source.is_dir():
        fields = recording.read(source)
    elif source.suffix in readers:
        fields = readers[source.suffix](source)
    else:
        raise ShapeError(
            f"cannot read a motion from {source.name!r}: expected .npz, .csv, .mcap, or a folder "
            "that a simulation wrote",
            name="path",
            given=source.suffix,
        )
    check_contents(source.name, fields)
    written_for = fields.pop("robot_name", "")
    if robot is not None:
        _check_robot(source, fields, robot, written_for)
    return {**fields, "robot": robot}


def _from_bag(source: Path, robot: Robot | None) -> dict[str, Any]:
    from robodyn.bags import read_motion

    if robot is None:
        raise SettingsError(
            f"joints in {source.name!r} are matched by name: say whose they are, "
            "Trajectory.load(path, robot)"
        )
    t, q, v, a, tau = read_motion(source, robot)
    names = speed_names(robot)
    return {"t": t, "q": q, "v": v, "a": a, "tau": tau, "joint_names": names, "robot": robot}


def _check_robot(source: Path, fields: Fields, robot: Robot, written_for: str) -> None:
    """Check that a motion is one of this robot."""
    expected = {"q": robot.nq, **dict.fromkeys(("v", "a", "tau"), robot.nv)}
    of = f" of {written_for!r}" if written_for else ""
    for name, width in expected.items():
        shape = np.shape(fields[name])
        if shape[-1] != width:
            raise ShapeError(
                f"{source.name} holds a motion{of}: {name} has shape {shape}, {robot.name!r} needs "
                f"{width} columns",
                name=name,
                given=shape,
                expected=(..., width),
            )
    names, known = fields["joint_names"], speed_names(robot)
    if names and names != known:
        there, here = next(pair for pair in zip(names, known, strict=True) if pair[0] != pair[1])
        raise ShapeError(
            f"{source.name} holds a motion{of}, not of {robot.name!r}: a column of joint {there!r} "
            f"where {robot.name!r} has {here!r}",
            name="joint_names",
            given=names,
            expected=known,
        )
