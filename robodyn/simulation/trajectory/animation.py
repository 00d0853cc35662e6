"""Animations of motions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.parts.posture_picture import PosturePicture
from robodyn.pictures.stick_drawing import animate, check_video
from robodyn.pictures.stick_figure import StickFigure
from robodyn.simulation.trajectory.computed_fields import samples_of
from robodyn.simulation.trajectory.states.not_saved import BASE, ROBOTS

#: Number of points of the curves of traced frames, for each picture.
FINER = 5


def animate_motion(
    run: Any,
    path: str | os.PathLike[str],
    speed: float,
    fps: float,
    traces: Sequence[str],
    *,
    forces: bool,
) -> None:
    """Draw a motion; see `Trajectory.animate`."""
    check_video(path)
    samples = samples_of(run, BASE, ROBOTS)
    if samples.batch or len(samples) < 2:
        what = "several motions" if samples.batch else f"{len(samples)} samples"
        raise ShapeError(
            f"one motion can be animated, and this has {what}; motion(k) gives one of several",
            name="q",
            given=run.q.shape,
        )
    for name, value in (("speed", speed), ("fps", fps)):
        if not 0.0 < value < np.inf:
            raise ShapeError(f"{name} is {value!r}, expected a positive number", name=name)
    shown, between = run.resample(speed / fps), run.resample(speed / fps / FINER)
    figures = [x for part in (shown.phases or (shown,)) for x in _figures(part, forces=forces)]
    ways = [_places(part, traces) for part in (between.phases or (between,))] if traces else []
    trace = (between.t, np.concatenate(ways)) if ways else None
    animate(path, figures, shown.t, trace=trace, fps=fps, title=samples.robot.name)


def _figures(run: Any, *, forces: bool) -> list[StickFigure]:
    """Stick figures of all samples."""
    x = samples_of(run)
    names = x.robot.link_names
    poses = x.robot.at(x.time).frame_poses(x.q, names, base=x.base)
    wrenches = run.joint_wrenches().in_frame("world") if forces else {}
    picture = PosturePicture(x.robot)
    return [
        picture.figure(
            dict(zip(names, X, strict=True)), {name: w[k] for name, w in wrenches.items()}
        )
        for k, X in enumerate(poses)
    ]


def _places(run: Any, frames: Sequence[str]) -> FloatArray:
    """Positions of frames at all samples, shape (n, k, 3) [m]."""
    x = samples_of(run)
    poses = x.robot.at(x.time).frame_poses(x.q, frames, base=x.base)
    return np.asarray(poses[..., :3, 3])
