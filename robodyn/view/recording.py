"""A recorded motion: a trajectory as `Trajectory.save` writes it, or a bag of joint states."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.robot import Robot
from robodyn.ros.bag.trajectories import read_bag
from robodyn.simulation.trajectory import Trajectory

__all__ = ["read_motion"]


def read_motion(path: str | os.PathLike[str], robot: Robot) -> Trajectory:
    """Samples of one motion of a robot.

    Parameters
    ----------
    path : path
        ``.npz``, ``.csv``, or a bag (``.mcap``, ``.db3``, a folder; extra ``bag``).
    robot : Robot

    Raises
    ------
    ShapeError
        If the file holds something else, or the motion of another robot.
    BagError, MissingExtraError
    """
    source = Path(path)
    if source.suffix == ".npz":
        motion = _read_npz(source)
    elif source.suffix == ".csv":
        motion = _read_csv(source)
    elif source.is_dir() or source.suffix in (".mcap", ".db3"):
        motion = read_bag(source, robot, ignore_unknown=True)
    else:
        raise ShapeError(
            f"cannot read a motion from {source.name!r}: expected .npz, .csv or a bag",
            name="path",
            given=source.suffix,
        )
    n = len(motion.t)
    expected = {"t": (n,), "q": (n, robot.nq), **dict.fromkeys(("v", "a", "tau"), (n, robot.nv))}
    for name, shape in expected.items():
        values = getattr(motion, name)
        known = name not in ("t", "q") or np.isfinite(values).all()  # a bag may lack the others
        if values.shape != shape or not n or not known:
            raise ShapeError(
                f"{source.name}: {name} has shape {values.shape}; one motion of {robot.name!r} "
                f"needs {shape}, t and q finite",
                name=name,
                given=values.shape,
                expected=shape,
            )
    if (np.diff(motion.t) < 0.0).any():
        raise ShapeError(f"{source.name}: time runs backwards", name="t")
    return motion


def _read_npz(source: Path) -> Trajectory:
    try:
        with ZipFile(source):  # whose faults numpy takes for pickled data
            pass
        with np.load(source, allow_pickle=False) as held:
            fields: dict[str, Any] = {
                name: np.asarray(held[name], float)
                for name in ("t", "q", "v", "a", "tau", "energy", "loop_residual")
            }
            fields["joint_names"] = tuple(str(name) for name in held["joint_names"])
    except (KeyError, ValueError, TypeError, EOFError, BadZipFile) as error:
        raise ShapeError(
            f"{source.name} is not a trajectory, or is damaged: {error}", name="path"
        ) from error
    return Trajectory(**fields)


def _read_csv(source: Path) -> Trajectory:
    try:
        with source.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        table = np.array(rows[1:], float).reshape(len(rows) - 1, -1)
        heads = dict(zip(rows[0], table.T, strict=True))
        t, energy, residual = heads["t"], heads["energy"], heads["loop_residual"]
    except (IndexError, KeyError, ValueError, csv.Error) as error:
        raise ShapeError(f"{source.name} is not a trajectory: {error}", name="path") from error

    def columns(letter: str) -> FloatArray:
        numbered = [name for name in heads if name.removeprefix(letter).isdecimal()]
        return np.array([heads[name] for name in numbered]).reshape(-1, len(t)).T

    q, v, a, tau = (columns(letter) for letter in ("q", "v", "a", "tau"))
    return Trajectory(t, q, v, a, tau, energy, residual)
