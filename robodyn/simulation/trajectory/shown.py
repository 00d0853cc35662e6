"""Motions shown: as animations, and as tables of their joints in notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.errors import ShapeError
from robodyn.html_tables import html_table, sparkline
from robodyn.parts.posture_picture import PosturePicture
from robodyn.pictures.stick_drawing import animate, check_video
from robodyn.pictures.stick_figure import StickFigure
from robodyn.robot import Robot
from robodyn.simulation.loads.column_names import force_unit, speed_names, speed_units
from robodyn.simulation.trajectory.computed_fields import samples_of
from robodyn.simulation.trajectory.states.samples import BASE, ROBOTS

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


HEAD = ("joint", "position", "from", "to", "largest speed", "largest torque")


def motion_table(title: str, run: Any) -> str:
    """HTML of a trajectory whose robot is known, with samples."""
    robot, several = run.robot, run.q.shape[1:-1]
    facts = [f"{run.t[-1] - run.t[0]:.4g} s", f"{len(run)} samples"]
    facts += [f"{np.prod(several):.0f} motions at once"] if several else []
    facts += [f"{len(run.events)} events"] if run.events else []
    if robot.nc:
        gap = float(np.abs(run.loop_residual).max(initial=0.0))
        closed = gap <= robot.model.settings.closure_tolerance
        facts.append("loops closed" if closed else f"loops open by {gap:.2g} m or rad at most")
    return html_table(title, HEAD, _rows(robot, run.q, run.v, run.tau), facts=facts)


def _rows(robot: Robot, q: FloatArray, v: FloatArray, tau: FloatArray) -> Iterator[tuple[Any, ...]]:
    columns = _position_columns(robot)
    speeds = zip(speed_names(robot), speed_units(robot), strict=True)
    for k, (name, unit) in enumerate(speeds):
        shown = _shown(q[..., columns[k]], unit) if k in columns else ("", "", "")
        yield name, *shown, _most(v[..., k], f"{unit}/s"), _most(tau[..., k], force_unit(unit))


def _position_columns(robot: Robot) -> dict[int, int]:
    """Indices in q by indices in v, without quaternions."""
    found: dict[int, int] = {}
    for name in robot.joint_names:
        joint = robot.joints[name]
        turning = 4 if joint.kind.coordinates.quaternion else 0
        plain = range(joint.q.start, joint.q.stop - turning)
        found |= dict(zip(range(joint.v.start, joint.v.stop), plain, strict=False))
    return found


def _shown(x: Array, unit: str) -> tuple[str, str, str]:
    """Curve of the first motion, and the range of all motions."""
    first = x.reshape(len(x), -1)[:, 0]
    low, high = (f"{round(float(end), 12):.4g} {unit}" for end in (x.min(), x.max()))
    return sparkline(first), low, high


def _most(x: Array, unit: str) -> str:
    known = np.abs(x[~np.isnan(x)])
    return f"{known.max():.4g} {unit}" if known.size else ""
