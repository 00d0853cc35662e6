"""Torque over speed of motors along a motion, with their limits."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.pictures.figure import COLORS, INK, Canvas, opened_canvas
from robodyn.quick_dataclass import dataclass

#: A limit is drawn if it is at most this many times the largest value.
NEAR = 1.6
#: Range of an axis over the largest value or limit drawn in it.
ROOM = 1.12
DRIVING, BRAKING = COLORS[0], COLORS[1]
LIMIT = "#C1121F"


@dataclass(frozen=True, eq=False)
class MotorCurve:
    """Torque and speed of a motor along a motion.

    torque, speed (n, ...): At all samples.
    continuous: Root mean square of the torque, and mean speed.
    limits: Limits of torque and speed; infinite where there is none.
    units: Units of torque and speed.
    """

    name: str
    torque: FloatArray
    speed: FloatArray
    continuous: tuple[float, float]
    limits: tuple[float, float]
    units: tuple[str, str]


def draw_torque_speed(
    path: str | os.PathLike[str] | None,
    curves: Sequence[MotorCurve],
    *,
    axes: Any = None,
    title: str = "",
) -> Any:
    """Draw the absolute values of torque over speed, in a panel for each motor.

    Given axes are one for each motor. Without a path a window shows it, where there is a display.
    Raises `ShapeError` if there is no motor.
    """
    if not curves:
        raise ShapeError("there is nothing to draw: no joint has a motor", name="motors")
    columns = len(curves) if axes is not None or len(curves) < 4 else 2 + (len(curves) > 4)
    rows = -(-len(curves) // columns)
    size = (1.0 + 3.2 * max(columns, 2), 1.0 + 2.9 * rows)
    with opened_canvas(
        "drawing motors", path, axes, rows=rows, columns=columns, size=size, shared=False
    ) as canvas:
        for axis, curve in zip(canvas.axes, curves, strict=False):
            _draw(axis, curve)
        for axis in canvas.axes[len(curves) :]:
            axis.set_axis_off()
        if canvas.new:
            canvas.figure.suptitle(title, x=0.01, ha="left")
        _legend(canvas)
    return canvas.figure


def _draw(axis: Any, curve: MotorCurve) -> None:
    torque, speed = (x.reshape(len(x), -1) for x in (np.abs(curve.torque), np.abs(curve.speed)))
    driving = (curve.torque * curve.speed).reshape(torque.shape) >= 0.0
    for mask, color in ((driving, DRIVING), (~driving, BRAKING)):
        shown = [np.where(_extended_by_one(mask), x, np.nan) for x in (speed, torque)]
        axis.plot(*shown, color=color, alpha=0.9 if torque.shape[1] == 1 else 0.35)
    rms, mean = curve.continuous
    axis.plot(mean, rms, "X", color=INK, markersize=9.0, markeredgecolor="white", zorder=5)
    for value, top, line, text in (
        (torque, curve.limits[0], axis.axhline, axis.set_ylim),
        (speed, curve.limits[1], axis.axvline, axis.set_xlim),
    ):
        largest = float(value.max(initial=0.0)) or 1.0
        near = top <= NEAR * largest
        if near:
            line(top, color=LIMIT, linestyle="--", linewidth=1.2)
        text(0.0, ROOM * max(largest, top if near else 0.0))
    axis.set_title(
        f"{curve.name}\n{_percentage_used(curve)}", loc="left", fontsize=9.0, fontweight="normal"
    )
    axis.set_xlabel(f"speed [{curve.units[1]}]")
    axis.set_ylabel(f"torque [{curve.units[0]}]" if "m" in curve.units[0] else "force [N]")
    axis.grid(visible=True)


def _extended_by_one(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The mask with the sample after each of its runs, so that curves of two colours meet."""
    wider = mask.copy()
    wider[1:] |= mask[:-1]
    return wider


def _percentage_used(curve: MotorCurve) -> str:
    """The percentage of its limits that a motor uses."""
    parts = [
        f"{100.0 * float(np.abs(value).max(initial=0.0)) / top:.0f} % of {name}"
        for value, top, name in (
            (curve.torque, curve.limits[0], "torque"),
            (curve.speed, curve.limits[1], "speed"),
        )
        if math.isfinite(top)
    ]
    return "uses " + ", ".join(parts) if parts else "no limits given"


def _legend(canvas: Canvas) -> None:
    from matplotlib.lines import Line2D

    cross: dict[str, Any] = {"marker": "X", "linestyle": "", "markersize": 8.0, "color": INK}
    handles = [
        Line2D([], [], color=DRIVING, label="drives"),
        Line2D([], [], color=BRAKING, label="brakes"),
        Line2D([], [], label="RMS torque at mean speed", **cross),
    ]
    if any(line.get_linestyle() == "--" for axis in canvas.axes for line in axis.get_lines()):
        handles.append(Line2D([], [], color=LIMIT, linestyle="--", linewidth=1.2, label="limit"))
    if canvas.new:
        canvas.figure.legend(handles=handles, loc="outside lower center", ncols=4)
    else:
        canvas.axes[-1].legend(
            handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2,
            frameon=False, fontsize=9.0,
        )  # fmt: skip
