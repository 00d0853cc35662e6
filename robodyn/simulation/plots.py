"""Pictures of trajectories (extra ``plot``)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import MissingExtraError
from robodyn.simulation.trajectory import Trajectory

__all__ = ["draw", "draw_tracking"]


def _figure(rows: int, size: tuple[float, float]) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing a trajectory") from None
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, 1, sharex=True)


def draw(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Positions, velocities, torques and energy over time."""
    figure, axes = _figure(4, (8.0, 9.0))
    rows = (
        (trajectory.q, "position [rad, m]"),
        (trajectory.v, "velocity [rad/s, m/s]"),
        (trajectory.tau, "torque [N m, N]"),
        (trajectory.energy, "energy [J]"),
    )
    for axis, (values, label) in zip(axes, rows, strict=True):
        axis.plot(trajectory.t, values.reshape(len(trajectory), -1), linewidth=1.0)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("time [s]")
    figure.savefig(path, dpi=120)


def draw_tracking(
    trajectory: Trajectory,
    error: NDArray[np.float64],
    title: str,
    path: str | os.PathLike[str],
) -> None:
    """Joint positions, tracking error, shape (n, nv) [rad, m], and torques over time."""
    figure, axes = _figure(3, (8.0, 8.0))
    figure.suptitle(title)
    for axis, values, label in (
        (axes[0], trajectory.q, "position [rad, m]"),
        (axes[1], error, "tracking error [rad, m]"),
        (axes[2], trajectory.tau, "torque [N m, N]"),
    ):
        lines = axis.plot(trajectory.t, values, linewidth=1.2)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("time [s]")
    if len(lines) == len(trajectory.joint_names):
        axes[0].legend(lines, trajectory.joint_names, fontsize="small", ncols=2)
    figure.savefig(path, dpi=120)
