"""A recorded motion: a trajectory as `Trajectory.save` writes it, or a bag of joint states."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from robodyn.caller import warn
from robodyn.errors import ShapeError
from robodyn.robot import Robot
from robodyn.ros.bag import read_bag
from robodyn.simulation.trajectory.files.recording import is_recording
from robodyn.simulation.trajectory.trajectory import Trajectory


def read_motion(path: str | os.PathLike[str], robot: Robot) -> Trajectory:
    """Samples of one motion of a robot.

    Parameters
    ----------
    path : path
        ``.npz``, ``.csv``, a folder that a simulation wrote, or a bag (``.mcap``, ``.db3``, a
        folder; extra ``bag``).
    robot : Robot

    Raises
    ------
    ShapeError
        If the file holds something else, or the motion of another robot.
    BagError, MissingExtraError
    """
    source = Path(path)
    if source.suffix in (".npz", ".csv") or is_recording(source):
        motion = _of_file(source, robot)
    elif source.is_dir() or source.suffix in (".mcap", ".db3"):
        motion = read_bag(source, robot, ignore_unknown=True)
    else:
        raise ShapeError(
            f"cannot read a motion from {source.name!r}: expected .npz, .csv or a bag",
            name="path",
            given=source.suffix,
        )
    check_motion(motion, robot, source.name)
    return motion


def _of_file(source: Path, robot: Robot) -> Trajectory:
    """The motion in a file; of a robot with other masses or loads, with a warning."""
    try:
        return Trajectory.load(source, robot)
    except ShapeError as error:
        if error.name not in ("robot", "energy"):
            raise
        warn(f"it is shown all the same, with forces and energies of the robot given: {error}")
    return replace(Trajectory.load(source), robot=robot, phases=())


def check_motion(motion: Trajectory, robot: Robot, what: str) -> None:
    """Check that a trajectory is a single motion of a robot.

    what: Name of the trajectory, for errors.
    """
    if motion.q.ndim > 2:
        raise ShapeError(
            f"{what}: {' x '.join(map(str, motion.q.shape[1:-1]))} motions at once, of which one "
            "can be shown: motion(0)",
            name="motion",
            given=motion.q.shape,
        )
    if not motion.t.ndim or not len(motion.t):
        found = "no samples" if motion.t.ndim else "a single state, without a path over time"
        raise ShapeError(f"{what}: it has {found}", name="motion", given=motion.t.shape)
    n = len(motion.t)
    expected = {"t": (n,), "q": (n, robot.nq), **dict.fromkeys(("v", "a", "tau"), (n, robot.nv))}
    for name, shape in expected.items():
        values = getattr(motion, name)
        known = name not in ("t", "q") or np.isfinite(values).all()  # a bag may lack the others
        if values.shape != shape or not known:
            raise ShapeError(
                f"{what}: {name} has shape {values.shape}; one motion of {robot.name!r} "
                f"needs {shape}, t and q finite",
                name=name,
                given=values.shape,
                expected=shape,
            )
    if (np.diff(motion.t) < 0.0).any():
        raise ShapeError(f"{what}: time runs backwards", name="t")
